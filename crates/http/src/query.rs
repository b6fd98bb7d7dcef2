//! The parameters of a query. An unknown one is an error: a mistyped `tll=60` must not keep a value
//! for ever.

use crate::problem::Problem;
use basalt_http1::percent::{self, Plus};
use basalt_http1::target::{Parameter, parameters};
use std::ops::Range;

/// Longest decoded value of a parameter other than a key: a number.
const SHORT_MAX: usize = 64;

/// The parameters of one request; values as they came.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a> {
    bytes: &'a [u8],
}

impl<'a> Query<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Query<'a> {
        Query { bytes }
    }

    /// Whether there are no parameters.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Refuses parameters that are not known, and those that come twice.
    pub(crate) fn demand(&self, is_known: impl Fn(&[u8]) -> bool) -> Result<(), Problem> {
        for (index, Parameter { name, .. }) in parameters(self.bytes).enumerate() {
            let name = &self.bytes[name];
            let spelled = String::from_utf8_lossy(name);
            if !is_known(name) {
                return Err(Problem::bad_request(format!(
                    "the parameter {spelled:?} is not known"
                )));
            }
            // There are no more before than are known.
            let mut before = parameters(self.bytes).take(index);
            if before.any(|before| &self.bytes[before.name] == name) {
                return Err(Problem::bad_request(format!("{spelled} is given twice")));
            }
        }
        Ok(())
    }

    /// Where the value of a parameter is, as a range of the query.
    pub(crate) fn find(&self, wanted: &str) -> Option<Range<usize>> {
        let mut all = parameters(self.bytes);
        all.find(|found| &self.bytes[found.name.clone()] == wanted.as_bytes())
            .map(|found| found.value)
    }

    /// The value of a parameter, decoded.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        let Some(range) = self.find(name) else { return Ok(None) };
        if range.len() > 3 * SHORT_MAX {
            return Err(Problem::bad_request(format!("{name} is too long")));
        }
        let mut value = self.bytes[range].to_vec();
        let all = 0..value.len();
        let len = percent::decode(&mut value, all, 0, Plus::Space)?;
        value.truncate(len);
        String::from_utf8(value)
            .map(Some)
            .map_err(|_| Problem::bad_request(format!("{name} is not text")))
    }

    /// The value of a parameter that is a whole number from `min` on.
    pub(crate) fn number(&self, name: &str, min: i64) -> Result<Option<i64>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let number = text.parse().ok().filter(|&number: &i64| number >= min);
        number.map(Some).ok_or_else(|| {
            Problem::bad_request(format!("{name} must be a whole number from {min} on"))
        })
    }

    /// Whether a parameter that is `1` or `0` is given as `1`.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.text(name)?.as_deref() {
            None | Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(_) => Err(Problem::bad_request(format!("{name} must be 1 or 0"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_known_or_refused() {
        let query = Query::new(b"ttl=60&op=app%65nd&&keep_ttl=1");
        assert!(query.demand(|name| name != b"tll").is_ok());
        assert!(query.demand(|name| name != b"keep_ttl").is_err());
        assert_eq!(query.number("ttl", 1), Ok(Some(60)));
        assert_eq!(query.text("op"), Ok(Some("append".to_owned())));
        assert_eq!(query.flag("keep_ttl"), Ok(true));
        assert_eq!(query.number("offset", 0), Ok(None));
        assert!(Query::new(b"a=1&a=2").demand(|_| true).is_err());
        for wrong in
            ["ttl=0", "ttl=x", "ttl=", "ttl", "ttl=1.5", "ttl=9223372036854775808", "ttl=%"]
        {
            assert!(Query::new(wrong.as_bytes()).number("ttl", 1).is_err(), "{wrong}");
        }
    }
}
