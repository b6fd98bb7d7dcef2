//! The opening of a WebSocket.

use basalt_http1::{HeadLimits, HeadReader, Refusal, Status, accept_websocket};

const LINES: [&str; 4] = [
    "Upgrade: websocket",
    "Connection: keep-alive, Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
];

fn accept(line: &str, fields: &[&str]) -> Result<String, Refusal> {
    let text = format!("{line}\r\nHost: a\r\n{}\r\n\r\n", fields.join("\r\n"));
    let head = HeadReader::new().read(text.as_bytes(), &HeadLimits::default());
    accept_websocket(&head.expect("good").expect("whole"), text.as_bytes())
}

#[test]
fn the_example_of_the_rfc() {
    let accepted = accept("GET /chat HTTP/1.1", &LINES);
    assert_eq!(accepted.as_deref(), Ok("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
}

#[test]
fn what_asks_otherwise_is_refused() {
    let with = |at: usize, line: &'static str| {
        let mut lines = LINES;
        lines[at] = line;
        accept("GET / HTTP/1.1", &lines)
    };
    assert!(with(0, "Upgrade: h2c, WebSocket").is_ok());
    for (at, line) in [
        (0, "Upgrade: h2c"),
        (0, "X: websocket"),
        (1, "Connection: close"),
        (2, "X: y"),
        (2, "Sec-WebSocket-Key: "),
        (2, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ"),
        (2, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j"),
    ] {
        assert_eq!(with(at, line), Err(Refusal::UpgradeMalformed), "{line}");
    }
    for line in ["Sec-WebSocket-Version: 8", "Sec-WebSocket-Version: 13, 8", "X: 13"] {
        assert_eq!(with(3, line), Err(Refusal::WebSocketVersionUnknown), "{line}");
    }
    assert_eq!(Refusal::WebSocketVersionUnknown.status(), Status::UpgradeRequired);
    assert!(!Refusal::WebSocketVersionUnknown.closes() && !Refusal::UpgradeMalformed.closes());
    assert_eq!(accept("POST / HTTP/1.1", &LINES), Err(Refusal::UpgradeMalformed));
    assert_eq!(accept("GET / HTTP/1.0", &LINES), Err(Refusal::UpgradeMalformed));
}
