//! Requests by HTTP that nobody would think of, to a whole server in this process, and what must
//! hold for whatever is sent: each request has one response, in its order, or the connection closes
//! and says so; heads are well formed and lengths are right; and the same bytes cut into other
//! pieces have the same responses. Some requests repeat the one before under another key, which
//! takes a shorter way if they come whole.
//!
//! How many requests there are is asked of the reader of `basalt_http1`, which has a fuzz target of
//! its own.

use crate::harness::TestServer;
use basalt_http::{HttpFront, Logins};
use basalt_http1::{Body, ChunkedBody, HeadLimits, HeadReader, Method};
use basalt_net::{Acceptor, Front, Listening, NetThreads, STOP_GRACE};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Longest that a response may take: beyond it, it does not come.
const STUCK: Duration = Duration::from_secs(60);
const BODY_BYTES_MAX: usize = 64 << 20;
const REQUESTS_MAX: u64 = 8;
/// A request behind all others, whose response must be the last.
const LAST: &[u8] = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

const METHODS: &[&str] =
    &["GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE", "get"];
/// None of them waits, or answers by chance.
const TARGETS: &[&str] = &[
    "/v1/strings/k",
    "/v1/strings/k?ttl=100000",
    "/v1/strings/k%20%00?db=1",
    "/v1/strings/k?db=99",
    "/v1/hashes/h",
    "/v1/hashes/h/f",
    "/v1/hashes/h/f?ttl=100000",
    "/v1/sets/s",
    "/v1/sets/s/m",
    "/v1/sorted-sets/z?by=score&from=1",
    "/v1/sorted-sets/z/m",
    "/v1/lists/l",
    "/v1/streams/x",
    "/v1/streams/x/groups",
    "/v1/streams/x/groups/g?from=0",
    "/v1/streams/x/groups/g?op=read&consumer=c",
    "/v1/streams/x/groups/g?op=ack",
    "/v1/streams/x/groups/g/pending/1-0",
    "/v1/queues/q",
    "/v1/keys?match=*",
    "/v1/command",
    "/v1/batch",
    "/v1/batch?atomic=1",
    "/v1/openapi.json",
    "/health/live",
    "/health/ready",
    "/",
    "/../v1",
    "/nothing/%zz",
    "/hustdb/put?key=k&val=v",
    "/hustdb/put?key=k&val=v&ver=1",
    "/hustdb/get?key=k",
    "/hustdb/exist?key=k",
    "/hustdb/del?key=k",
    "/hustdb/hset?tb=t&key=k&val=v",
    "/hustdb/hget?tb=t&key=k",
    "/hustdb/zadd?tb=t&key=k&score=1",
    "/hustdb/sadd?tb=t&key=k",
    "/put?key=k&val=v",
    "/get?key=k",
    "/hustmq/put?queue=q&item=i",
    "/hustmq/stat?queue=q",
    "/hustcache/put?key=k&val=v",
    "http://localhost/v1/strings/k",
    "*",
];
const FIELDS: &[&str] = &[
    "If-None-Match: *",
    "If-Match: *",
    "If-Match: \"7\"",
    "Range: bytes=1-2",
    "Range: bytes=-1",
    "Accept: application/json",
    "Authorization: Bearer none",
    "Origin: http://elsewhere",
    "Origin: http://listed",
    "Expect: 100-continue",
    "Connection: close",
    "Connection: keep-alive",
    "Content-Type: application/json",
    "Content-Length: 3",
    "Transfer-Encoding: chunked",
    "Host: elsewhere",
    "X:",
    "Version: 3",
    "Durable: yes",
    "Durable: no",
];
const BODIES: &[&str] = &[
    "",
    "v",
    "17",
    r#"["SET","k","v"]"#,
    r#"["GET","k"]"#,
    r#"["INCR","n"]"#,
    r#"["LPUSH","l","1","2"]"#,
    r#"["HSET","h","f","v"]"#,
    r#"[["SET","k","v"],["INCR","k"],["GET","k"]]"#,
    r#"[["MULTI"],["EXEC"]]"#,
    r#"{"a":"1","b":"2"}"#,
    r#"{"a":1.5}"#,
    r#"["a","b"]"#,
    "[[",
    "GET /v1/strings/k HTTP/1.1\r\nHost: localhost\r\n\r\n",
];

/// Numbers below a bound, from wherever.
pub type Draw<'a> = dyn FnMut(u64) -> u64 + 'a;

fn one_of<'l>(list: &[&'l str], draw: &mut Draw<'_>) -> &'l str {
    list[draw(list.len() as u64) as usize]
}

/// What a client sends: some requests, and now and then a byte that is wrong.
pub fn requests(draw: &mut Draw<'_>) -> Vec<u8> {
    let (mut bytes, mut latest) = (Vec::new(), 0);
    for _ in 0..1 + draw(REQUESTS_MAX) {
        let repeats = draw(3) == 0;
        let start = bytes.len();
        if repeats {
            let repeated = under_another_key(&bytes[latest..]);
            bytes.extend_from_slice(&repeated);
        } else {
            put_request(&mut bytes, draw);
        }
        latest = start;
    }
    if draw(6) == 0 && !bytes.is_empty() {
        let at = draw(bytes.len() as u64) as usize;
        match draw(3) {
            0 => bytes[at] = draw(256) as u8,
            1 => drop(bytes.remove(at)),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

/// A request once more, under another key if it is for a string.
fn under_another_key(request: &[u8]) -> Vec<u8> {
    const PATH: &[u8] = b"/v1/strings/k";
    let mut other = request.to_vec();
    if let Some(at) = request.windows(PATH.len()).position(|part| part == PATH) {
        let last = at + PATH.len() - 1;
        other.splice(last..=last, *b"other");
    }
    other
}

fn put_request(bytes: &mut Vec<u8>, draw: &mut Draw<'_>) {
    let (method, target) = (one_of(METHODS, draw), one_of(TARGETS, draw));
    let version = if draw(12) == 0 { "1.0" } else { "1.1" };
    bytes.extend_from_slice(format!("{method} {target} HTTP/{version}\r\n").as_bytes());
    if draw(30) > 0 {
        bytes.extend_from_slice(b"Host: localhost\r\n");
    }
    for _ in 0..draw(3) {
        let field = one_of(FIELDS, draw);
        // Rarely one that contradicts the body that follows.
        let says_how_long = field.starts_with("Content-L") || field.starts_with("Transfer");
        if !says_how_long || draw(8) == 0 {
            bytes.extend_from_slice(format!("{field}\r\n").as_bytes());
        }
    }
    let long = "x".repeat(draw(9_000) as usize);
    let body = if draw(10) == 0 { &long } else { one_of(BODIES, draw) };
    match draw(3) {
        0 => bytes.extend_from_slice(b"\r\n"),
        1 => {
            let head = format!("Content-Length: {}\r\n\r\n{body}", body.len());
            bytes.extend_from_slice(head.as_bytes());
        }
        _ => {
            bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            let mut rest = body.as_bytes();
            while !rest.is_empty() {
                let (chunk, behind) = rest.split_at(1 + draw(rest.len() as u64) as usize);
                bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
                rest = behind;
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
    }
}

/// Pieces of some bytes, of lengths that are drawn.
pub fn pieces<'b>(mut bytes: &'b [u8], draw: &mut Draw<'_>) -> Vec<&'b [u8]> {
    let mut pieces = Vec::new();
    let longest = [3, 40, 400, 4_000][draw(4) as usize];
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at(bytes.len().min(1 + draw(longest) as usize));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

/// What there is in what a client sends.
#[derive(Debug)]
struct Sent {
    /// The methods of the requests that are whole.
    methods: Vec<Method>,
    ending: Ending,
}

#[derive(Debug, PartialEq, Eq)]
enum Ending {
    /// All of it is requests.
    Whole,
    /// A request that is not whole.
    Incomplete,
    /// Something else: in the head of a request, or in the body of one with this method. A head
    /// that begins as that of a HEAD is one of a client that reads no body.
    Refused(Option<Method>),
}

impl Sent {
    fn of(bytes: &[u8]) -> Sent {
        let (mut reader, mut buf) = (HeadReader::new(), bytes.to_vec());
        let mut methods = Vec::new();
        let ending = loop {
            if buf.is_empty() {
                break Ending::Whole;
            }
            let head = match reader.read(&buf, &HeadLimits::default()) {
                Ok(Some(head)) => head,
                Ok(None) => break Ending::Incomplete,
                Err(_) => {
                    let start = buf.iter().position(|&byte| !b"\r\n".contains(&byte)).unwrap_or(0);
                    let is_for_head = buf[start..].starts_with(b"HEAD ");
                    break Ending::Refused(is_for_head.then_some(Method::Head));
                }
            };
            buf.drain(..head.bytes);
            match head.body {
                Body::Length(length) if length > buf.len() as u64 => break Ending::Incomplete,
                Body::Length(length) => drop(buf.drain(..length as usize)),
                Body::Chunked => {
                    let Ok(decoded) = ChunkedBody::new().decode(&mut buf, BODY_BYTES_MAX) else {
                        break Ending::Refused(Some(head.method));
                    };
                    buf.drain(decoded.spent);
                    if decoded.wanted > 0 {
                        break Ending::Incomplete;
                    }
                    buf.drain(..decoded.body_bytes);
                }
            }
            methods.push(head.method);
        };
        Sent { methods, ending }
    }
}

/// A response, without what differs from one time to the next.
#[derive(PartialEq, Eq, Debug)]
pub struct Response {
    status: u16,
    head: String,
    body: String,
    closes: bool,
}

/// Takes out words with digits in them: versions, times, identifiers.
fn lasting(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let words = text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit())).collect()
}

/// Reads a response; `None` at the end of the connection.
fn read_response(stream: &mut BufReader<UnixStream>, method: Option<Method>) -> Option<Response> {
    let (mut head, mut length, mut closes) = (Vec::new(), None, false);
    let mut status = None;
    loop {
        let mut line = Vec::new();
        match stream.read_until(b'\n', &mut line) {
            Ok(0) if head.is_empty() => return None,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                assert!(head.is_empty(), "a response ends in its head");
                return None;
            }
            read => assert_ne!(read.expect("a response in time"), 0, "a response ends in its head"),
        }
        assert!(line.ends_with(b"\r\n"), "{}", line.escape_ascii());
        line.truncate(line.len() - 2);
        assert!(line.iter().all(|&byte| byte >= b' '), "{}", line.escape_ascii());
        let text = str::from_utf8(&line).expect("a head is text");
        if status.is_none() {
            let code = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
            status = Some(code.and_then(|code| code.parse().ok()).expect("a status"));
        } else if text.is_empty() {
            break;
        } else {
            let (name, value) = text.split_once(": ").expect("a field has a name and a value");
            match &*name.to_ascii_lowercase() {
                // Padded, where the head is written over what stood in its room.
                "content-length" => {
                    let length = length.replace(value.trim_start().parse().expect("a length"));
                    assert_eq!(length, None, "one length");
                }
                "connection" => closes = value == "close",
                "transfer-encoding" => panic!("bodies have lengths"),
                _ => head.extend_from_slice(&line),
            }
        }
        head.push(b'\n');
    }
    let status: u16 = status.expect("a status line");
    assert!((100..600).contains(&status), "{status}");
    let mut body = vec![0; length.unwrap_or(0)];
    if matches!(status, 100..200 | 204 | 304) {
        assert!(length.unwrap_or(0) == 0 || status == 304, "{status} has no body");
        body.clear();
    } else if method == Some(Method::Head) {
        body.clear();
    } else {
        assert!(length.is_some(), "a body has a length: {status}");
    }
    if let Err(error) = stream.read_exact(&mut body) {
        panic!("{error} in {status} {method:?}: {}", lasting(&head));
    }
    Some(Response { status, head: lasting(&head), body: lasting(&body), closes })
}

/// A server behind a Unix socket.
pub struct Served {
    server: TestServer,
    path: PathBuf,
    running: Option<(Acceptor, NetThreads)>,
    _dir: TempDir,
}

impl Served {
    pub fn start() -> Served {
        let server = TestServer::new();
        server.server.config.adjust("http-cors-origins", "http://listed").expect("an origin");
        let dir = tempfile::tempdir().expect("a folder");
        let net = NetThreads::start(&server.server).expect("threads");
        let mut network = server.server.config.settings().network.clone();
        (network.port, network.unixsocket) = (0, Some(dir.path().join("resp")));
        let listening = Listening::open(&network).expect("a socket");
        let path = dir.path().join("http");
        network.unixsocket = Some(path.clone());
        let (dispatcher, logins) = (Arc::clone(&server.server), Arc::<Logins>::default());
        let front = move || {
            Box::new(HttpFront::new(Arc::clone(&dispatcher), Arc::clone(&logins))) as Box<dyn Front>
        };
        listening.add(&network, front).expect("a socket");
        let acceptor =
            Acceptor::start(&Arc::new(listening), &server.server, &net).expect("a thread");
        Served { server, path, running: Some((acceptor, net)), _dir: dir }
    }

    /// Sends bytes whole and in pieces, each time to an empty server.
    pub fn check(&mut self, bytes: &[u8], pieces: &[&[u8]]) {
        let sent = Sent::of(bytes);
        let whole = self.responses(&sent, &[bytes]);
        let cut = self.responses(&sent, pieces);
        assert_eq!(whole, cut, "{sent:?}: {}", bytes.escape_ascii());
    }

    /// The responses to what is sent, which are as many as they must be.
    fn responses(&mut self, sent: &Sent, pieces: &[&[u8]]) -> Vec<Response> {
        self.server.run_for_bytes(&["FLUSHALL"]);
        self.server.log.forget_records();
        let stream = UnixStream::connect(&self.path).expect("it accepts connections");
        stream.set_read_timeout(Some(STUCK)).expect("a socket");
        let mut writing = stream.try_clone().expect("a socket");
        std::thread::scope(|threads| {
            threads.spawn(move || {
                let last = (sent.ending == Ending::Whole).then_some(LAST);
                for piece in pieces.iter().copied().chain(last) {
                    // The server may have closed the connection.
                    if writing.write_all(piece).is_err() {
                        return;
                    }
                }
            });
            read_all(sent, BufReader::new(stream))
        })
    }
}

fn read_all(sent: &Sent, mut stream: BufReader<UnixStream>) -> Vec<Response> {
    let mut responses: Vec<Response> = Vec::new();
    let last = (sent.ending == Ending::Whole).then_some(Method::Get);
    let mut expected: Vec<Option<Method>> =
        sent.methods.iter().copied().chain(last).map(Some).collect();
    if let Ending::Refused(method) = sent.ending {
        expected.push(method);
    }
    for method in expected {
        let response = loop {
            match read_response(&mut stream, method) {
                Some(Response { status: 100, .. }) => {}
                read => break read,
            }
        };
        let response = response.unwrap_or_else(|| {
            panic!("{} responses to {sent:?}: {responses:?}", responses.len());
        });
        let closes = response.closes;
        responses.push(response);
        if closes {
            let behind = read_response(&mut stream, None);
            assert!(behind.is_none(), "{behind:?} behind the last: {responses:?}");
            return responses;
        }
    }
    assert_eq!(sent.ending, Ending::Incomplete, "the connection stays: {responses:?}");
    responses
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some((acceptor, net)) = self.running.take() {
            acceptor.stop();
            net.stop(STOP_GRACE);
        }
    }
}
