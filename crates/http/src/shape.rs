//! Replies of commands in the form in which HTTP shows them: still in Redis' protocol, from which
//! `json.rs` makes JSON.

use crate::general::Spelling;
use crate::walk::Walk;
use basalt_http1::base64::{self, Alphabet};

/// What becomes of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Shown as it is.
    Whole,
    /// Under a name.
    Named(&'static str),
    /// Under a name, if there is something.
    Taken(&'static str),
    /// A cursor and an array: the array under a name.
    Page(&'static str),
    /// A cursor, and fields with their values.
    Fields,
    /// Rank and score.
    Rank,
    /// A key, and elements of the list there.
    Popped,
    /// Entries of one stream.
    Entries,
    /// One entry, of an array.
    Entry,
    /// Entries of a group that one of its consumers has taken over.
    Claimed,
    /// Where to go on, entries that were taken over, and IDs of those that are gone.
    AutoClaimed,
    /// What consumers of a group have not acknowledged: how many entries, from which to which, and
    /// how many each consumer.
    Pending,
    /// Entries that consumers have not acknowledged.
    PendingEntries,
    /// Messages of one queue that are delivered.
    Deliveries,
    /// A text of sections with names and values.
    Report,
}

/// A reply that has got its shape.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Shaped {
    /// This is shown.
    Reply(Vec<u8>),
    /// There is nothing of the kind that was asked for.
    Missing,
    /// There is nothing now.
    Nothing,
}

impl Shape {
    /// Puts a reply into its shape; `None` if it is of another kind than was expected.
    pub(crate) fn of(self, reply: &[u8], spelling: Spelling) -> Option<Shaped> {
        let mut walk = Walk::new(reply);
        if reply.starts_with(b"_") {
            return Some(match self {
                Shape::Whole | Shape::Rank => Shaped::Missing,
                _ => Shaped::Nothing,
            });
        }
        let mut out = Vec::with_capacity(reply.len() + 64);
        match self {
            Shape::Whole => out.extend_from_slice(reply),
            Shape::Named(name) => {
                begin(&mut out, 1);
                member(&mut out, name, reply);
            }
            Shape::Taken(name) => {
                if walk.array()? == 0 {
                    return Some(Shaped::Nothing);
                }
                begin(&mut out, 1);
                member(&mut out, name, reply);
            }
            Shape::Page(name) => page(&mut walk, name, spelling, &mut out)?,
            Shape::Fields => fields(&mut walk, spelling, &mut out)?,
            Shape::Rank => {
                walk.array()?;
                begin(&mut out, 2);
                member(&mut out, "rank", walk.value()?);
                member(&mut out, "score", walk.value()?);
            }
            Shape::Popped => {
                walk.array()?;
                walk.value()?;
                begin(&mut out, 1);
                member(&mut out, "elements", walk.value()?);
            }
            Shape::Entries => entries(&mut walk, &mut out)?,
            Shape::Entry => {
                if walk.array()? == 0 {
                    return Some(Shaped::Missing);
                }
                entry(&mut walk, &mut out)?;
            }
            Shape::Claimed => {
                begin(&mut out, 1);
                listed(&mut walk, &mut out)?;
            }
            Shape::AutoClaimed => {
                walk.array()?;
                let cursor = walk.value()?;
                begin(&mut out, 3);
                listed(&mut walk, &mut out)?;
                member(&mut out, "deleted", walk.value()?);
                member(&mut out, "cursor", cursor);
            }
            Shape::Pending => pending(&mut walk, &mut out)?,
            Shape::PendingEntries => {
                let members = ["id", "consumer", "idle_ms", "deliveries"];
                records(&mut walk, ("pending", &members), &mut out)?;
            }
            Shape::Deliveries => deliveries(&mut walk, &mut out)?,
            Shape::Report => report(walk.bulk()?, &mut out),
        }
        Some(Shaped::Reply(out))
    }
}

/// Begins a map with this number of members.
pub(crate) fn begin(out: &mut Vec<u8>, members: usize) {
    out.extend_from_slice(format!("%{members}\r\n").as_bytes());
}

/// Adds a member to a map: a name, and a reply.
pub(crate) fn member(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(format!("+{name}\r\n").as_bytes());
    out.extend_from_slice(value);
}

/// Adds a string.
pub(crate) fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(format!("${}\r\n", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// A name as the request spells its own.
fn name(out: &mut Vec<u8>, bytes: &[u8], spelling: Spelling) {
    match spelling {
        Spelling::Plain => bulk(out, bytes),
        Spelling::Base64 => {
            let mut spelled = Vec::new();
            base64::encode(bytes, Alphabet::Url, &mut spelled);
            bulk(out, &spelled);
        }
    }
}

fn page(walk: &mut Walk<'_>, of: &str, spelling: Spelling, out: &mut Vec<u8>) -> Option<()> {
    walk.array()?;
    let cursor = walk.value()?;
    let count = walk.array()?;
    begin(out, 2);
    member(out, of, format!("*{count}\r\n").as_bytes());
    for _ in 0..count {
        name(out, walk.bulk()?, spelling);
    }
    member(out, "cursor", cursor);
    Some(())
}

fn fields(walk: &mut Walk<'_>, spelling: Spelling, out: &mut Vec<u8>) -> Option<()> {
    walk.array()?;
    let cursor = walk.value()?;
    let count = walk.array()? / 2;
    begin(out, 2);
    member(out, "fields", format!("%{count}\r\n").as_bytes());
    for _ in 0..count {
        name(out, walk.bulk()?, spelling);
        out.extend_from_slice(walk.value()?);
    }
    member(out, "cursor", cursor);
    Some(())
}

fn entries(walk: &mut Walk<'_>, out: &mut Vec<u8>) -> Option<()> {
    // One stream: its key, and its entries.
    walk.map()?;
    walk.value()?;
    begin(out, 1);
    listed(walk, out)
}

/// Entries, as a member of a map.
fn listed(walk: &mut Walk<'_>, out: &mut Vec<u8>) -> Option<()> {
    let count = walk.array()?;
    member(out, "entries", format!("*{count}\r\n").as_bytes());
    (0..count).try_for_each(|_| entry(walk, out))
}

fn entry(walk: &mut Walk<'_>, out: &mut Vec<u8>) -> Option<()> {
    walk.array()?;
    let (id, fields) = (walk.value()?, walk.value()?);
    begin(out, 2);
    member(out, "id", id);
    if fields.starts_with(b"_") {
        // A consumer has got it, and it has been removed since.
        member(out, "fields", fields);
        return Some(());
    }
    let mut fields = Walk::new(fields);
    let count = fields.array()? / 2;
    member(out, "fields", format!("%{count}\r\n").as_bytes());
    (0..2 * count).try_for_each(|_| {
        out.extend_from_slice(fields.value()?);
        Some(())
    })
}

fn pending(walk: &mut Walk<'_>, out: &mut Vec<u8>) -> Option<()> {
    walk.array()?;
    begin(out, 4);
    for name in ["pending", "first", "last"] {
        member(out, name, walk.value()?);
    }
    let mut consumers = Walk::new(walk.value()?);
    let count = consumers.array().unwrap_or(0);
    member(out, "consumers", format!("%{count}\r\n").as_bytes());
    for _ in 0..count {
        consumers.array()?;
        out.extend_from_slice(consumers.value()?);
        // A number, as a string.
        out.extend_from_slice(&[b":", consumers.bulk()?, b"\r\n"].concat());
    }
    Some(())
}

/// An array of arrays becomes one of maps with these members, under a name.
fn records(walk: &mut Walk<'_>, (name, members): (&str, &[&str]), out: &mut Vec<u8>) -> Option<()> {
    let count = walk.array()?;
    begin(out, 1);
    member(out, name, format!("*{count}\r\n").as_bytes());
    for _ in 0..count {
        walk.array()?;
        begin(out, members.len());
        for name in members {
            member(out, name, walk.value()?);
        }
    }
    Some(())
}

/// The queue's name is left out of each: it is the one that was asked for.
fn deliveries(walk: &mut Walk<'_>, out: &mut Vec<u8>) -> Option<()> {
    const MEMBERS: [&str; 5] = ["token", "body", "deliveries", "put_ms", "priority"];
    let count = walk.array()?;
    begin(out, 1);
    member(out, "messages", format!("*{count}\r\n").as_bytes());
    for _ in 0..count {
        walk.array()?;
        walk.value()?;
        begin(out, MEMBERS.len());
        for name in MEMBERS {
            member(out, name, walk.value()?);
        }
    }
    Some(())
}

/// A report has lines `# Section` and `name:value`.
fn report(text: &[u8], out: &mut Vec<u8>) {
    type Line<'a> = (&'a [u8], &'a [u8]);
    let mut sections: Vec<(&[u8], Vec<Line<'_>>)> = Vec::new();
    // Its format, three letters and a colon.
    for line in text.get(4..).unwrap_or_default().split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
        if let Some(section) = line.strip_prefix(b"# ") {
            sections.push((section, Vec::new()));
        } else if let Some(colon) = line.iter().position(|&byte| byte == b':')
            && let Some((_, members)) = sections.last_mut()
        {
            members.push((&line[..colon], &line[colon + 1..]));
        }
    }
    begin(out, sections.len());
    for (section, members) in sections {
        bulk(out, &section.to_ascii_lowercase());
        begin(out, members.len());
        for (name, value) in members {
            bulk(out, name);
            bulk(out, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn shown(shape: Shape, reply: &[u8]) -> String {
        match shape.of(reply, Spelling::Plain) {
            Some(Shaped::Reply(reply)) => {
                String::from_utf8(json::of_reply(&reply, 1000).unwrap()).unwrap()
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn replies_get_their_shapes() {
        let page = b"*2\r\n$1\r\n7\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n";
        let entries = b"%1\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n";
        let info = b"=21\r\ntxt:# Server\r\na:b:c\r\n\r\n";
        for (shape, reply, expected) in [
            (Shape::Page("keys"), &page[..], r#"{"keys":["a","b"],"cursor":"7"}"#),
            (Shape::Fields, page, r#"{"fields":{"a":"b"},"cursor":"7"}"#),
            (Shape::Named("elements"), b"*1\r\n$1\r\na\r\n", r#"{"elements":["a"]}"#),
            (Shape::Taken("members"), b"~0\r\n", "Some(Nothing)"),
            (Shape::Taken("members"), b"~1\r\n$1\r\na\r\n", r#"{"members":["a"]}"#),
            (Shape::Rank, b"*2\r\n:3\r\n,1.5\r\n", r#"{"rank":3,"score":1.5}"#),
            (Shape::Rank, b"_\r\n", "Some(Missing)"),
            (Shape::Popped, b"*2\r\n$1\r\nk\r\n*1\r\n$1\r\na\r\n", r#"{"elements":["a"]}"#),
            (Shape::Popped, b"_\r\n", "Some(Nothing)"),
            (Shape::Entries, entries, r#"{"entries":[{"id":"1-0","fields":{"f":"v"}}]}"#),
            (Shape::Entry, b"*0\r\n", "Some(Missing)"),
            (
                Shape::Claimed,
                b"*1\r\n*2\r\n$3\r\n1-0\r\n_\r\n",
                r#"{"entries":[{"id":"1-0","fields":null}]}"#,
            ),
            (
                Shape::AutoClaimed,
                b"*3\r\n$3\r\n0-0\r\n*0\r\n*1\r\n$3\r\n1-0\r\n",
                r#"{"entries":[],"deleted":["1-0"],"cursor":"0-0"}"#,
            ),
            (
                Shape::Pending,
                b"*4\r\n:2\r\n$3\r\n1-0\r\n$3\r\n2-0\r\n*1\r\n*2\r\n$1\r\nc\r\n$1\r\n2\r\n",
                r#"{"pending":2,"first":"1-0","last":"2-0","consumers":{"c":2}}"#,
            ),
            (
                Shape::Pending,
                b"*4\r\n:0\r\n_\r\n_\r\n_\r\n",
                r#"{"pending":0,"first":null,"last":null,"consumers":{}}"#,
            ),
            (
                Shape::PendingEntries,
                b"*1\r\n*4\r\n$3\r\n1-0\r\n$1\r\nc\r\n:5\r\n:1\r\n",
                r#"{"pending":[{"id":"1-0","consumer":"c","idle_ms":5,"deliveries":1}]}"#,
            ),
            (Shape::Deliveries, b"_\r\n", "Some(Nothing)"),
            (
                Shape::Deliveries,
                b"*1\r\n*6\r\n$1\r\nq\r\n$5\r\n0-1-9\r\n$1\r\nb\r\n:1\r\n:8\r\n:0\r\n",
                r#"{"messages":[{"token":"0-1-9","body":"b","deliveries":1,"put_ms":8,"priority":0}]}"#,
            ),
            (Shape::Report, info, r#"{"server":{"a":"b:c"}}"#),
            (Shape::Page("keys"), b":1\r\n", "None"),
        ] {
            assert_eq!(shown(shape, reply), expected, "{shape:?}");
        }
        let spelled = Shape::Page("keys").of(page, Spelling::Base64).unwrap();
        let Shaped::Reply(reply) = spelled else { panic!("{spelled:?}") };
        assert!(json::of_reply(&reply, 1000).unwrap().starts_with(br#"{"keys":["YQ","Yg"]"#));
    }
}
