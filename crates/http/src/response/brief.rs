//! Replies of which the first line says all.

use super::Response;
use super::first_line::Line;
use super::lines::{OF_JSON, OF_NOTHING};
use crate::json;
use crate::plan::Answer;
use crate::problem::Problem;
use basalt_http1::Status;

impl Response<'_> {
    /// A reply of which the first line says all.
    pub(crate) fn brief(&mut self, answer: Answer) {
        let line = self.first_line();
        match (answer, line) {
            (_, Line::Error(text)) if is_about_nothing(&text) => self.problem(&Problem::no_key()),
            (_, Line::Error(text)) => self.problem(&Problem::of_error(&text)),
            (Answer::NotModified, Line::Bulk(..)) => {
                self.write_head(Status::NotModified, OF_NOTHING, &[], None);
            }
            (Answer::Put, Line::Nothing) => self.write(Status::Created, OF_NOTHING, &[], b""),
            (Answer::Added, Line::Integer(added)) if added == b"1" => {
                self.write(Status::Created, OF_NOTHING, &[], b"");
            }
            (Answer::Found, Line::Integer(found)) if found == b"0" => {
                self.problem(&Problem::no_key());
            }
            (Answer::Renamed, Line::Integer(renamed)) if renamed == b"0" => {
                self.problem(&Problem::key_exists());
            }
            (Answer::Added | Answer::Found | Answer::Renamed, Line::Integer(_))
            | (Answer::Done | Answer::Renamed, Line::Other) => {
                self.write_head(Status::NoContent, OF_NOTHING, &[], None);
            }
            (Answer::Created, Line::Other) => self.write(Status::Created, OF_NOTHING, &[], b""),
            (Answer::FieldExpiry, Line::Other) => self.field_expiry(),
            (Answer::Removed, Line::Bulk(..)) | (Answer::Put, _) => {
                self.write_head(Status::NoContent, OF_NOTHING, &[], None);
            }
            (Answer::Member(name), Line::Integer(number)) => self.member(name, &number),
            (Answer::Number, Line::Integer(number)) => {
                let number = json::of_reply(&[b":", &number[..], b"\r\n"].concat(), usize::MAX);
                self.member("value", &number.unwrap_or_default());
            }
            // ZINCRBY writes a double.
            (Answer::Number, Line::Double) => {
                let number = json::of_reply(&self.take(), usize::MAX).unwrap_or_default();
                self.member("value", &number);
            }
            // INCRBYFLOAT writes its number as a string.
            (Answer::Number, Line::Bulk(..)) => {
                let reply = self.take();
                let (Some(start), Some(end)) = (
                    reply.iter().position(|&byte| byte == b'\n').map(|at| at + 1),
                    reply.len().checked_sub(2),
                ) else {
                    return self.unexpected(Line::Other);
                };
                self.member("value", &reply[start..end]);
            }
            (_, line) => self.unexpected(line),
        }
    }

    /// What HPEXPIRE and HPERSIST say of one field: -2 if it is not there.
    fn field_expiry(&mut self) {
        match &self.take()[..] {
            b"*1\r\n:-2\r\n" => self.problem(&Problem::no_key()),
            _ => self.write_head(Status::NoContent, OF_NOTHING, &[], None),
        }
    }

    fn member(&mut self, name: &str, number: &[u8]) {
        let body = [b"{\"", name.as_bytes(), b"\":", number, b"}"].concat();
        self.write(Status::Ok, OF_JSON, &[], &body);
    }
}

/// Whether a command says by an error that what it was to change is not there.
pub(super) fn is_about_nothing(error: &[u8]) -> bool {
    matches!(error, b"ERR no such key" | b"ERR index out of range")
        || error.starts_with(b"ERR The XGROUP subcommand requires the key to exist")
}
