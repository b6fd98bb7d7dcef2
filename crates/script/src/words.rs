//! The words of a command that a script calls, one behind the other in a buffer that is used again.

use basalt_resp::Arg;
use mlua::Value;

/// A request of a script's.
#[derive(Debug, Default)]
pub struct Words {
    bytes: Vec<u8>,
    words: Vec<Arg>,
}

/// Why a value is not taken as a word; what the script is told.
pub(crate) type Refused = &'static str;

pub(crate) const NOT_A_WORD: Refused =
    "ERR Lua redis lib command arguments must be strings or integers";
const TOO_LARGE: Refused = "ERR the arguments of the call are larger than 'script-memory-max'";

impl Words {
    /// Where the words stand.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Which bytes are which word.
    pub fn words(&self) -> &[Arg] {
        &self.words
    }

    /// The words, the first of which is the command's name.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.words.iter().map(|word| word.of(&self.bytes))
    }

    pub(crate) fn clear(&mut self) {
        const KEPT_BYTES_MAX: usize = 1 << 20;
        self.words.clear();
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            self.bytes = Vec::new();
        }
    }

    /// Adds what a script has given as a word, as [`Words::push_text`] and [`Words::push_number`]
    /// do.
    ///
    /// # Errors
    /// It is no string or number, or the words get larger than `bytes_max`.
    pub(crate) fn push(&mut self, value: &Value, bytes_max: usize) -> Result<(), Refused> {
        match value {
            Value::String(text) => self.push_text(&text.as_bytes(), bytes_max)?,
            Value::Integer(number) => self.push_number(*number as f64),
            Value::Number(number) => self.push_number(*number),
            _ => return Err(NOT_A_WORD),
        }
        Ok(())
    }

    /// Adds a string. The words are no part of Lua's memory, and one string may be given many
    /// times, so all together have a bound.
    ///
    /// # Errors
    /// The words get larger than `bytes_max`.
    #[inline]
    pub(crate) fn push_text(&mut self, text: &[u8], bytes_max: usize) -> Result<(), Refused> {
        if text.len() > bytes_max.saturating_sub(self.bytes.len()) {
            return Err(TOO_LARGE);
        }
        self.push_bytes(text);
        Ok(())
    }

    /// Adds a number. One that is whole has no fraction and no exponent.
    pub(crate) fn push_number(&mut self, number: f64) {
        match whole(number) {
            Some(whole) => self.push_bytes(itoa::Buffer::new().format(whole).as_bytes()),
            None => self.push_bytes(basalt_resp::double_text(number).as_bytes()),
        }
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        self.words.push(Arg { start: self.bytes.len(), len: bytes.len() });
        self.bytes.extend_from_slice(bytes);
    }
}

/// The whole number that this one is, unless it is that of no integer, such as -0.
fn whole(number: f64) -> Option<i64> {
    const RANGE: std::ops::Range<f64> = i64::MIN as f64..-(i64::MIN as f64);
    let whole = number as i64;
    (RANGE.contains(&number) && (whole as f64).to_bits() == number.to_bits()).then_some(whole)
}
