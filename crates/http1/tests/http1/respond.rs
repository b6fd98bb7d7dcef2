//! Heads of responses: what is written is read by `httparse`, as a client would.

use basalt_http1::{CONTINUE, Connection, ContentRange, Date, ETag, ResponseHead, Status, Value};
use proptest::prelude::*;

const LINES: &str = "Content-Type: application/octet-stream\r\nCache-Control: no-cache\r\n";

fn head<'a>(date: &'a Date, fields: &'a [(&'static str, Value<'a>)]) -> ResponseHead<'a> {
    ResponseHead {
        status: Status::Ok,
        lines: LINES,
        fields,
        connection: Connection::Unsaid,
        date,
        content_length: Some(1024),
    }
}

fn written(head: &ResponseHead<'_>) -> String {
    let mut out = b"before".to_vec();
    head.write(&mut out);
    String::from_utf8(out.split_off("before".len())).expect("ASCII")
}

/// Status and fields, as a client reads them.
fn read(bytes: &[u8]) -> (u16, Vec<(String, Vec<u8>)>) {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(bytes).expect("good");
    assert_eq!(parsed, httparse::Status::Complete(bytes.len()), "{}", bytes.escape_ascii());
    let fields = response.headers.iter();
    let fields = fields.map(|field| (field.name.to_owned(), field.value.to_vec())).collect();
    (response.code.expect("there"), fields)
}

#[test]
fn a_head_is_written() {
    let date = Date::new(784_111_777_000);
    let fields = [
        ("ETag", Value::ETag(ETag::Version(7))),
        ("Basalt-Ttl-Ms", Value::Number(1500)),
        ("Access-Control-Allow-Origin", Value::Text(b"http://a")),
        ("Content-Range", Value::ContentRange(ContentRange::Part { range: 5..10, length: 20 })),
    ];
    assert_eq!(
        written(&head(&date, &fields)),
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nCache-Control: no-cache\r\n\
         ETag: \"v7\"\r\nBasalt-Ttl-Ms: 1500\r\nAccess-Control-Allow-Origin: http://a\r\n\
         Content-Range: bytes 5-9/20\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
         Content-Length: 1024\r\n\r\n"
    );
    let unsatisfied = ContentRange::Unsatisfied { length: 20 };
    let fields = [("Content-Range", Value::ContentRange(unsatisfied))];
    assert!(written(&head(&date, &fields)).contains("\r\nContent-Range: bytes */20\r\n"));
}

#[test]
fn the_connection_is_named_where_it_must_be() {
    let date = Date::new(0);
    let with = |connection| written(&ResponseHead { connection, ..head(&date, &[]) });
    assert!(!with(Connection::Unsaid).contains("Connection"));
    assert!(with(Connection::Kept).contains("\r\nConnection: keep-alive\r\n"));
    assert!(with(Connection::Closes).contains("\r\nConnection: close\r\n"));
}

#[test]
fn a_response_without_a_length_ends_with_its_date() {
    let date = Date::new(0);
    let head = ResponseHead {
        status: Status::NoContent,
        lines: "",
        content_length: None,
        ..head(&date, &[])
    };
    let text = "HTTP/1.1 204 No Content\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n";
    assert_eq!(written(&head), text);
    let mut room = vec![b'x'; text.len() + 3];
    assert!(head.write_over(&mut room));
    assert_eq!(room, text.replace("Date: ", "Date:    ").as_bytes());
}

#[test]
fn text_begins_no_line() {
    let date = Date::new(0);
    let fields = [("Location", Value::Text(b"/a\r\nSet-Cookie: b\0"))];
    let text = written(&head(&date, &fields));
    assert!(text.contains("\r\nLocation: /a  Set-Cookie: b \r\n"), "{text}");
}

#[test]
fn a_client_that_waits_is_told_to_go_on() {
    assert_eq!(read(CONTINUE.as_bytes()), (100, vec![]));
}

proptest! {
    #[test]
    fn a_head_fills_its_room_and_says_the_same(
        more in 0..300usize,
        content_length in proptest::option::of(any::<u64>()),
        number in any::<u64>(),
        text in "[ -~]{0,40}",
        second in 0..u64::MAX / 1000,
    ) {
        let date = Date::new(second * 1000);
        let fields = [
            ("ETag", Value::ETag(ETag::Digest(number))),
            ("Basalt-Ttl-Ms", Value::Number(number)),
            ("X", Value::Text(text.as_bytes())),
        ];
        let head = ResponseHead { content_length, ..head(&date, &fields) };
        let plain = written(&head);
        let mut room = vec![b'x'; plain.len() + more];
        prop_assert!(head.write_over(&mut room));
        prop_assert_eq!(read(&room), read(plain.as_bytes()));
        let (status, fields) = read(&room);
        prop_assert_eq!((status, fields.len()), (200, 6 + usize::from(content_length.is_some())));
        let mut tight = vec![b'x'; plain.len()];
        prop_assert!(head.write_over(&mut tight));
        prop_assert_eq!(tight, plain.as_bytes());
        let mut long = vec![b'x'; plain.len() + more];
        prop_assert_eq!(head.write_to_start(&mut long), Some(plain.len()));
        prop_assert_eq!(&long[..plain.len()], plain.as_bytes());
        prop_assert_eq!(head.write_to_start(&mut long[..plain.len() - 1]), None);
        for len in 0..plain.len() {
            prop_assert!(!head.write_over(&mut vec![b'x'; len]), "{} bytes are too few", len);
        }
    }
}
