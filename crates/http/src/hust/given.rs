//! The parameters of a request, by huststore's rules: of several with one name the last counts, a
//! body stands for the parameter that it may stand for, and nothing can be empty.
//!
//! Values are percent-decoded once, all of them; a plus sign is a plus sign.

use super::answer::Answered;
use super::talk::{Profile, Word};
use basalt_config::HustSettings;
use basalt_http1::Method;
use basalt_http1::percent::{self, Plus};
use basalt_http1::target::parameters;

/// Longest name of a table or a queue.
pub(super) const NAME_BYTES_MAX: usize = 64;

/// See the head of this file.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) query: &'a [u8],
    pub(crate) method: Method,
    pub(crate) body_bytes: usize,
    pub(crate) profile: Profile,
    pub(crate) settings: &'a HustSettings,
    /// `http-json-max`.
    pub(crate) json_bytes_max: usize,
    /// `maxmemory`; 0 is no limit.
    pub(crate) memory_bytes_max: u64,
    pub(crate) now_ms: u64,
}

impl Given<'_> {
    /// A parameter as it is given; `None` if it is not, or empty.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<Vec<u8>>, Answered> {
        let all =
            parameters(self.query).filter(|it| &self.query[it.name.clone()] == name.as_bytes());
        let Some(last) = all.last() else { return Ok(None) };
        let mut value = self.query[last.value].to_vec();
        let all = 0..value.len();
        let len = percent::decode(&mut value, all, 0, Plus::Itself)
            .map_err(|refusal| Answered::wrong(format!("ERR {name}: {refusal}")))?;
        value.truncate(len);
        Ok((!value.is_empty()).then_some(value))
    }

    /// A parameter that must be given.
    pub(crate) fn value(&self, name: &str) -> Result<Vec<u8>, Answered> {
        self.optional(name)?.ok_or_else(|| Answered::missing(name))
    }

    /// The body, or the parameter that it stands for. A POST has it in its body; a PUT may not, as
    /// huststore's own clients send some.
    pub(crate) fn content(&self, name: &str) -> Result<Word, Answered> {
        match self.body_bytes {
            0 if self.method != Method::Post => self.value(name).map(Word::Own),
            0 => Err(Answered::missing("the body")),
            _ => Ok(Word::Body),
        }
    }

    /// The name of a table.
    pub(crate) fn name(&self, name: &str) -> Result<Vec<u8>, Answered> {
        let value = self.value(name)?;
        if !is_name(&value) {
            let text = format!("ERR {name} must be 1 to {NAME_BYTES_MAX} of 0-9 A-Z a-z _ : .");
            return Err(Answered::wrong(text));
        }
        Ok(value)
    }

    /// A switch: on if it is `true` or `1`.
    pub(crate) fn switch(&self, name: &str) -> Result<bool, Answered> {
        let value = self.optional(name)?;
        Ok(matches!(value.as_deref(), Some(b"true" | b"1")))
    }

    /// A whole number; `None` if it is not given.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, Answered> {
        let Some(value) = self.optional(name)? else { return Ok(None) };
        let number = str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
        number.map(Some).ok_or_else(|| Answered::wrong(format!("ERR {name} is no whole number")))
    }

    /// A whole number that is not negative; 0 if it is not given.
    pub(crate) fn count(&self, name: &str) -> Result<u64, Answered> {
        let number = self.number(name)?.unwrap_or(0);
        u64::try_from(number).map_err(|_| Answered::wrong(format!("ERR {name} is negative")))
    }

    /// The seconds for which an item lives; `None` for ever.
    pub(crate) fn ttl(&self) -> Result<Option<u64>, Answered> {
        let ttl = self.count("ttl")?;
        let is_for_ever = ttl == 0 || self.settings.ttl_max_s.is_some_and(|max| ttl > max);
        Ok((!is_for_ever).then_some(ttl))
    }
}

/// Whether a table or a queue may have this name.
pub(super) fn is_name(name: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:.".contains(byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.iter().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_config::Config;

    fn given<T>(query: &str, body_bytes: usize, method: Method, f: impl Fn(Given<'_>) -> T) -> T {
        let settings = Config::default().settings();
        f(Given {
            query: query.as_bytes(),
            method,
            body_bytes,
            profile: Profile::Node,
            settings: &settings.http.hust,
            json_bytes_max: settings.http.json_bytes_max,
            memory_bytes_max: 0,
            now_ms: 0,
        })
    }

    fn get<T>(query: &str, f: impl Fn(Given<'_>) -> T) -> T {
        given(query, 0, Method::Get, f)
    }

    #[test]
    fn the_last_of_several_counts_and_empty_is_missing() {
        let value = |query| get(query, |given| given.value("key").map_err(|it| it.status.code()));
        assert_eq!(value("key=a&key=b"), Ok(b"b".to_vec()));
        assert_eq!(value("xkey=a"), Err(404));
        assert_eq!(value("key="), Err(404));
        assert_eq!(value("key=a&key="), Err(404));
        assert_eq!(value("key=%3Fa+b%00%ff"), Ok(b"?a+b\0\xff".to_vec()));
        assert_eq!(value("key=%3"), Err(400));
    }

    #[test]
    fn a_body_stands_for_its_parameter() {
        let content = |query, body, method| {
            given(query, body, method, |given| given.content("val").map_err(|it| it.status.code()))
        };
        assert_eq!(content("val=a", 0, Method::Get), Ok(Word::Own(b"a".to_vec())));
        assert_eq!(content("val=a", 1, Method::Get), Ok(Word::Body));
        assert_eq!(content("val=a", 0, Method::Post), Err(404));
        assert_eq!(content("val=a", 0, Method::Put), Ok(Word::Own(b"a".to_vec())));
        assert_eq!(content("", 1, Method::Post), Ok(Word::Body));
    }

    #[test]
    fn numbers_are_numbers() {
        let count = |query| get(query, |given| given.count("n").map_err(|it| it.status.code()));
        assert_eq!(
            [count("n=7"), count(""), count("n=x"), count("n=-1")],
            [Ok(7), Ok(0), Err(400), Err(400)]
        );
        let ttl = |query| get(query, |given| given.ttl().unwrap());
        assert_eq!(
            [ttl("ttl=2592000"), ttl("ttl=2592001"), ttl("ttl=0")],
            [Some(2_592_000), None, None]
        );
    }
}
