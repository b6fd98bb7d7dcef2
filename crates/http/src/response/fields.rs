//! HOT PATH
//! The fields of a response with a value.

use basalt_http1::Value;

/// They are on the stack.
pub(crate) struct Fields<'a> {
    fields: [(&'static str, Value<'a>); 3],
    count: usize,
}

impl Default for Fields<'_> {
    #[inline]
    fn default() -> Self {
        const NOTHING: (&str, Value<'static>) = ("", Value::Number(0));
        Fields { fields: [NOTHING; 3], count: 0 }
    }
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn push(&mut self, name: &'static str, value: Value<'a>) {
        self.fields[self.count] = (name, value);
        self.count += 1;
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[(&'static str, Value<'a>)] {
        &self.fields[..self.count]
    }
}
