//! Server-sent events: what is written is read as the HTML Standard, section 9.2.6, says.

use basalt_http1::sse::{Event, write_comment, write_retry};
use proptest::prelude::*;

/// What a browser hands to a page: the last ID, the event's name, its data.
type Received = (String, String, String);

fn read(stream: &str) -> (Vec<Received>, Option<u32>) {
    let (mut received, mut retry) = (Vec::new(), None);
    let (mut id, mut name, mut data) = (String::new(), String::new(), String::new());
    assert!(stream.is_empty() || stream.ends_with('\n'));
    for line in stream.replace("\r\n", "\n").replace('\r', "\n").lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() => {
                if !data.is_empty() {
                    data.pop();
                    received.push((id.clone(), name.clone(), data.clone()));
                }
                name.clear();
                data.clear();
            }
            "" => {}
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            "event" => value.clone_into(&mut name),
            "data" => data = format!("{data}{value}\n"),
            "retry" => retry = value.parse().ok(),
            _ => panic!("{line:?}"),
        }
    }
    (received, retry)
}

fn written(event: Event<'_>) -> String {
    let mut out = Vec::new();
    event.write(&mut out);
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn an_event_is_lines_and_an_empty_one() {
    let event = Event { id: Some("1-0"), name: Some("b64"), data: "a\nb\r\nc\rd" };
    let text = "id: 1-0\nevent: b64\ndata: a\ndata: b\ndata: c\ndata: d\n\n";
    assert_eq!(written(event), text);
    assert_eq!(written(Event { id: None, name: None, data: "" }), "data: \n\n");
    assert_eq!(written(Event { id: None, name: None, data: "\n" }), "data: \ndata: \n\n");
}

#[test]
fn an_id_is_one_line() {
    let event = Event { id: Some("1\nevent: x\r\0"), name: None, data: "d" };
    assert_eq!(written(event), "id: 1 event: x  \ndata: d\n\n");
}

#[test]
fn signs_of_life_are_no_events() {
    let mut out = Vec::new();
    write_retry(1000, &mut out);
    write_comment("ping", &mut out);
    assert_eq!(out, b"retry: 1000\n\n: ping\n\n");
    assert_eq!(read(str::from_utf8(&out).expect("ASCII")), (vec![], Some(1000)));
}

proptest! {
    #[test]
    fn what_was_written_is_received(
        datas in proptest::collection::vec("[a-z: \u{e4}\u{2028}\n]{0,20}", 0..5), id in "[0-9-]{1,9}",
    ) {
        let (mut stream, mut expected) = (String::new(), Vec::new());
        for data in &datas {
            stream += &written(Event { id: Some(&id), name: Some("e"), data });
            expected.push((id.clone(), "e".to_owned(), data.clone()));
        }
        prop_assert_eq!(read(&stream), (expected, None));
    }
}
