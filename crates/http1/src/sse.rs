//! Server-sent events (HTML Standard, section 9.2.5).
//!
//! ```text
//! id: 1-0\n event: b64\n data: first line\n data: second line\n \n
//! ```
//! A client gets its data line by line and joins the lines with line feeds, so a carriage return
//! does not get through: data that must is sent as Base64.

/// The media type of a response that is a stream of events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event<'a> {
    /// What the client says if it comes again, to go on behind it. One line.
    pub id: Option<&'a str>,
    /// What the event is, if it is no `message`. One line.
    pub name: Option<&'static str>,
    /// Any number of lines.
    pub data: &'a str,
}

impl Event<'_> {
    /// Appends the event to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        if let Some(id) = self.id {
            put_line("id: ", id, out);
        }
        if let Some(name) = self.name {
            put_line("event: ", name, out);
        }
        let mut rest = self.data;
        loop {
            let end = rest.find(['\r', '\n']);
            out.extend_from_slice(b"data: ");
            out.extend_from_slice(&rest.as_bytes()[..end.unwrap_or(rest.len())]);
            out.push(b'\n');
            let Some(end) = end else { break };
            let is_pair = rest[end..].starts_with("\r\n");
            rest = &rest[end + 1 + usize::from(is_pair)..];
        }
        out.push(b'\n');
    }
}

/// Appends a line that clients read over: a sign of life.
pub fn write_comment(text: &'static str, out: &mut Vec<u8>) {
    put_line(": ", text, out);
    out.push(b'\n');
}

/// Appends how long clients are to wait before they come again.
pub fn write_retry(milliseconds: u32, out: &mut Vec<u8>) {
    put_line("retry: ", itoa::Buffer::new().format(milliseconds), out);
    out.push(b'\n');
}

/// Puts one line. What would end it, or make an ID void, becomes a space.
fn put_line(name: &str, text: &str, out: &mut Vec<u8>) {
    out.extend(name.bytes());
    let line = text.bytes().map(|byte| if matches!(byte, b'\r' | b'\n' | 0) { b' ' } else { byte });
    out.extend(line);
    out.push(b'\n');
}
