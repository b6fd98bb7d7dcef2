//! Requests that two readers could understand in two ways, or that name what is not theirs to name.
//!
//! Behind each comes a request for a reader that has taken the first one for another one: it makes
//! the key [`SMUGGLED`], which must not be there afterwards.

use super::answers::Answer;
use super::attacks::connect;
use super::{SMUGGLED, Scene};

/// What a path may be answered that is none, or is another key's.
pub(super) const OF_PATHS: [u16; 5] = [400, 404, 405, 414, 421];

/// Has each of them answered, on a connection of its own.
pub(super) fn play(scene: &Scene<'_>, tricks: Vec<Vec<u8>>) {
    for trick in tricks.iter().cycle() {
        let Some(mut client) = connect(scene) else { return };
        // It may be refused before all of it has come.
        let _ = client.send(trick);
        if scene.answers.note_next(&mut client) {
            scene.answers.note(Answer::Wrong("and may send more".to_owned()));
        } else if client.read_to_end().is_ok_and(|rest| rest > 0) {
            scene.answers.note(Answer::Wrong("and then another response".to_owned()));
        }
        if scene.stop.is_set() {
            return;
        }
    }
}

/// The request that is hidden.
fn hidden() -> String {
    format!("PUT /v1/strings/{SMUGGLED} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx")
}

/// Targets that mean nothing, or not what they seem to. The key `key` is there.
pub(super) fn paths() -> Vec<Vec<u8>> {
    let targets: [&[u8]; 34] = [
        b"/v1/strings/%",
        b"/v1/strings/%zz",
        b"/v1/strings/%6",
        b"/v1/strings/%u006b",
        b"/v1/strings/ke%79%00",
        b"/v1/strings/%25%36%62ey",
        b"/v1/strings/%c0%aekey",
        b"/v1/strings/key/../key",
        b"/v1/strings/../strings/key",
        b"/v1/strings/%2e%2e/strings/key",
        b"/v1/strings/./key",
        b"/v1/%2e/strings/key",
        b"/v1//strings/key",
        b"//v1/strings/key",
        b"/v1/strings//key",
        b"/v1/strings/key/",
        b"/v1%2fstrings%2fkey",
        b"/v1\\strings\\key",
        b"/V1/strings/key",
        b"/v1/STRINGS/key",
        b"/v1/strings/key;jsessionid=1",
        b"/v1/strings/KEY",
        b"/v1/strings/key?db=256",
        b"/v1/strings/key?db=-1",
        b"/v1/strings/key?db=0&db=0",
        b"/v1/strings/key?key=other",
        b"/v1/strings/key?nonsense=1",
        b"/v1/strings/key#part",
        b"/console/..%2f..%2f..%2fetc%2fpasswd",
        b"/console/%2e%2e/%2e%2e/etc/passwd",
        b"/v1/strings/k\xffy",
        b"/v1/strings/k\tey",
        b"http://elsewhere.example/v1/strings/key",
        b"*",
    ];
    let of = |target: &[u8]| {
        let ending = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        [b"GET ", target, ending, hidden().as_bytes()].concat()
    };
    targets.into_iter().map(of).collect()
}

/// Bodies whose end is a matter of opinion.
pub(super) fn lengths() -> Vec<Vec<u8>> {
    const FIELDS: [&str; 30] = [
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunkedx\r\n",
        "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding: chunked;q=1\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding:\x0bchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding\r\n : chunked\r\n",
        " Transfer-Encoding: chunked\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length: 5a\r\n",
        "Content-Length:\r\n",
        "Content-Length : 5\r\n",
    ];
    let of = |fields: &str| {
        let head = format!("PUT /v1/strings/victim HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
        format!("{head}0\r\n\r\n{}", hidden()).into_bytes()
    };
    let old = "PUT /v1/strings/victim HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let mut all: Vec<Vec<u8>> = FIELDS.into_iter().map(of).collect();
    all.push(format!("{old}{}", hidden()).into_bytes());
    all
}

/// Lines that end otherwise than by CR LF, and bytes that no line has.
pub(super) fn lines() -> Vec<Vec<u8>> {
    let hidden = hidden();
    let head = "PUT /v1/strings/victim HTTP/1.1\r\nHost: localhost\r\n";
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    [
        format!("GET /v1/strings/key HTTP/1.1\nHost: localhost\n\n{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1\r\nHost: localhost\n\r\n{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1\r\nHost: localhost\r\n\n{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1\r\nHost: localhost\r\r\n\r\n{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1\rHost: localhost\r\r{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1\r\nHost: localhost\r\nX: a\rb: c\r\n\r\n{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1\r\nHost: localhost\r\nX: a\nB: c\r\n\r\n{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n{hidden}"),
        format!("GET /v1/strings/key\0 HTTP/1.1\r\nHost: localhost\r\n\r\n{hidden}"),
        format!("GET  /v1/strings/key HTTP/1.1\r\nHost: localhost\r\n\r\n{hidden}"),
        format!("GET /v1/strings/key  HTTP/1.1\r\nHost: localhost\r\n\r\n{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1 \r\nHost: localhost\r\n\r\n{hidden}"),
        format!("GET\t/v1/strings/key HTTP/1.1\r\nHost: localhost\r\n\r\n{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n{hidden}"),
        format!("GET /v1/strings/key HTTP/1.1\r\nHost: localhost\r\nX\r\n\r\n{hidden}"),
        format!("{chunked}1\nx\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}1\r\nx\n0\r\n\r\n{hidden}"),
        format!("{chunked}1\r\nx\r\n0\n\r\n{hidden}"),
        format!("{chunked}1\rx\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}1;a\nb\r\nx\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}1;a\0b\r\nx\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}1\r\nxy\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}-1\r\nx\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}0x1\r\nx\r\n0\r\n\r\n{hidden}"),
        format!("{chunked} 1\r\nx\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}1 \r\nx\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}10000000000000001\r\nx\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}0\r\nX: y\n\r\n\r\n{hidden}"),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect()
}
