//! Heads: every row is read whole, cut at every byte, and byte by byte, with the same outcome.

use basalt_http1::{Body, Field, HEADERS_MAX, Head, HeadLimits, HeadReader, Method, Refusal};
use proptest::prelude::*;

type Outcome = Result<Option<Head>, Refusal>;

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: &HeadLimits) -> Outcome {
    let (mut reader, mut bytes) = (HeadReader::new(), Vec::new());
    for piece in pieces {
        bytes.extend_from_slice(piece);
        match reader.read(&bytes, limits) {
            Ok(None) => {}
            decided => return decided,
        }
    }
    Ok(None)
}

/// Reads the bytes in all ways and returns the outcome of all.
fn read_all_ways(bytes: &[u8], limits: &HeadLimits) -> Outcome {
    let whole = read([bytes], limits);
    for cut in 0..=bytes.len() {
        let (left, right) = bytes.split_at(cut);
        assert_eq!(read([left, right], limits), whole, "cut at {cut}: {}", bytes.escape_ascii());
    }
    assert_eq!(read(bytes.chunks(1), limits), whole, "{}", bytes.escape_ascii());
    whole
}

fn head(text: &str) -> Head {
    let read = read_all_ways(text.as_bytes(), &HeadLimits::default());
    read.expect("a good head").unwrap_or_else(|| panic!("a whole head: {text:?}"))
}

#[track_caller]
fn refused(text: &str, refusal: Refusal) {
    let read = read_all_ways(text.as_bytes(), &HeadLimits::default());
    assert_eq!(read, Err(refusal), "{text:?}");
}

fn with(lines: &str) -> String {
    format!("PUT /k HTTP/1.1\r\nHost: a\r\n{lines}\r\n")
}

#[test]
fn a_head_says_where_everything_is() {
    let text = "POST /v1/strings/k%20?ttl=7&x HTTP/1.1\r\nhOST:  a.example:80 \r\n\
                If-Match:\t\"v7\"\t\r\nX-Unknown: ~\r\nContent-Length: 12\r\n\r\n";
    let bytes = format!("{text}GET / HTTP/1.1\r\n\r\n");
    let head = head(&bytes);
    assert_eq!((head.method, head.body, head.bytes), (Method::Post, Body::Length(12), text.len()));
    assert!(head.keeps_alive && !head.is_old && !head.expects_continue);
    assert_eq!(&bytes[head.path()], "/v1/strings/k%20");
    assert_eq!(&bytes[head.query()], "ttl=7&x");
    assert_eq!(&bytes[head.field(Field::Host).expect("there")], "a.example:80");
    assert_eq!(&bytes[head.field(Field::IfMatch).expect("there")], "\"v7\"");
    assert_eq!(head.field(Field::IfNoneMatch), None);
}

#[test]
fn an_empty_value_is_there() {
    let text = with("Origin:\r\nReferer: \t \r\n");
    let head = head(&text);
    assert_eq!(&text[head.field(Field::Origin).expect("there")], "");
    assert_eq!(&text[head.field(Field::Referer).expect("there")], "");
}

#[test]
fn methods_are_known_by_their_exact_names() {
    for (name, method) in [
        ("GET", Method::Get),
        ("HEAD", Method::Head),
        ("POST", Method::Post),
        ("PUT", Method::Put),
        ("DELETE", Method::Delete),
        ("PATCH", Method::Patch),
        ("OPTIONS", Method::Options),
    ] {
        assert_eq!(head(&format!("{name} / HTTP/1.1\r\nHost: a\r\n\r\n")).method, method);
    }
    refused("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", Refusal::MethodRefused);
    refused("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", Refusal::MethodRefused);
    refused("QUERY / HTTP/1.1\r\nHost: a\r\n\r\n", Refusal::MethodRefused);
    refused("get / HTTP/1.1\r\nHost: a\r\n\r\n", Refusal::MethodUnknown);
    refused("GE(T / HTTP/1.1\r\nHost: a\r\n\r\n", Refusal::HeadMalformed);
}

/// A client that speaks Redis' protocol would wait, since no empty line ends its head.
#[test]
fn another_protocol_is_refused_at_its_first_line() {
    refused("*1\r\n$4\r\nPING\r\n", Refusal::HeadMalformed);
    refused("PING\r\n", Refusal::HeadMalformed);
    refused("PRI * HTTP/2.0\r\n", Refusal::VersionUnknown);
    refused("\r\nset k 0 0 1\r\nv\r\n", Refusal::HeadMalformed);
}

#[test]
fn only_two_versions_are_spoken() {
    refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Refusal::VersionUnknown);
    refused("GET / HTTP/1.2\r\nHost: a\r\n\r\n", Refusal::VersionUnknown);
    refused("GET / HTTP/0.9\r\n\r\n", Refusal::VersionUnknown);
    refused("GET / http/1.1\r\nHost: a\r\n\r\n", Refusal::HeadMalformed);
    refused("GET / HTTP/1.10\r\nHost: a\r\n\r\n", Refusal::HeadMalformed);
    refused("GET /\r\n\r\n", Refusal::HeadMalformed);
    refused("SSH-2.0-x\r\n\r\n", Refusal::HeadMalformed);
}

#[test]
fn lines_are_as_strict_as_can_be() {
    refused("GET / HTTP/1.1\nHost: a\r\n\r\n", Refusal::BareLineFeed);
    refused("GET / HTTP/1.1\r\nHost: a\n\r\n", Refusal::BareLineFeed);
    refused("GET / HTTP/1.1\r\nHost: a\r\n\n", Refusal::BareLineFeed);
    refused("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Refusal::BareLineFeed);
    for text in [
        "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\rY: c\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /  HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n",
        " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\t: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\u{7f}c\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX\u{e4}: b\r\n\r\n",
    ] {
        refused(text, Refusal::HeadMalformed);
    }
}

#[test]
fn empty_lines_before_a_request_are_skipped() {
    let text = "\r\n\r\nGET /k HTTP/1.1\r\nHost: a\r\n\r\n";
    let head = head(text);
    assert_eq!((head.bytes, &text[head.path()]), (text.len(), "/k"));
    assert_eq!(read_all_ways(b"\r\n\r\n\r\n\r", &HeadLimits::default()), Ok(None));
}

#[test]
fn a_body_ends_in_one_way_only() {
    assert_eq!(head(&with("")).body, Body::Length(0));
    assert_eq!(head(&with("Content-Length: 007\r\n")).body, Body::Length(7));
    assert_eq!(
        head(&with("Content-Length: 99999999999999999999\r\n")).body,
        Body::Length(u64::MAX)
    );
    assert_eq!(head(&with("Transfer-Encoding: Chunked\r\n")).body, Body::Chunked);
    for value in ["", "+1", "-1", "1 1", "1,1", "0x1", "1.0", "\"1\""] {
        refused(&with(&format!("Content-Length: {value}\r\n")), Refusal::LengthMalformed);
    }
    for value in ["", "gzip", "gzip, chunked", "chunked, chunked", "chunked;q=1", "\"chunked\""] {
        refused(&with(&format!("Transfer-Encoding: {value}\r\n")), Refusal::CodingUnknown);
    }
    let both = "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n";
    refused(&with(both), Refusal::LengthAndCoding);
    refused(&with("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), Refusal::LengthAndCoding);
    refused(&with("Content-Length: 1\r\nContent-Length: 1\r\n"), Refusal::FieldRepeated);
    let twice = "Transfer-Encoding: chunked\r\ntransfer-encoding: chunked\r\n";
    refused(&with(twice), Refusal::FieldRepeated);
    let old = "PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
    refused(old, Refusal::CodingInOldVersion);
    refused(&with("Transfer-Encoding : chunked\r\n"), Refusal::HeadMalformed);
}

#[test]
fn there_is_one_host() {
    refused("GET / HTTP/1.1\r\n\r\n", Refusal::HostMissing);
    refused("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", Refusal::FieldRepeated);
    refused("GET / HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n", Refusal::FieldRepeated);
    assert_eq!(head("GET / HTTP/1.0\r\n\r\n").field(Field::Host), None);
    for value in ["", "a b", "a,b", "u@a", "a/b", "a:b", "a:65536", ":80", "[::1", "[a]", "a%41"] {
        refused(&format!("GET / HTTP/1.1\r\nHost: {value}\r\n\r\n"), Refusal::HostMalformed);
    }
}

#[test]
fn a_field_that_is_kept_occurs_once() {
    let twice = "If-Match: \"a\"\r\nIf-Match: \"a\"\r\n";
    refused(&with(twice), Refusal::FieldRepeated);
    refused(&with("Authorization: \r\nAuthorization: \r\n"), Refusal::FieldRepeated);
    let text = with("Accept: a/b\r\nAccept: c/d\r\nX: 1\r\nX: 2\r\n");
    assert_eq!(&text[head(&text).field(Field::Accept).expect("there")], "a/b");
}

#[test]
fn a_target_is_a_path_or_a_url_of_the_host() {
    let parts = |target: &str, host: &str| {
        let text = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let head = head(&text);
        (text[head.path()].to_owned(), text[head.query()].to_owned())
    };
    let own = |path: &str, query: &str| (path.to_owned(), query.to_owned());
    assert_eq!(parts("/", "a"), own("/", ""));
    assert_eq!(parts("/a?", "a"), own("/a", ""));
    assert_eq!(parts("/a?b?c", "a"), own("/a", "b?c"));
    assert_eq!(parts("//a/../b|{}", "a"), own("//a/../b|{}", ""));
    assert_eq!(parts("http://a/b?c", "A"), own("/b", "c"));
    assert_eq!(parts("HTTP://a:80/", "a"), own("/", ""));
    assert_eq!(parts("https://a:443", "a"), own("", ""));
    assert_eq!(parts("http://[::1]:8085?c", "[::1]:8085"), own("", "c"));
    for target in [
        "*",
        "a:80",
        "k",
        "?x",
        "/#x",
        "/\u{e4}",
        "http://b/",
        "http://a:81/",
        "http://u@a/",
        "http:/a/",
        "http://",
        "ftp://a/",
    ] {
        let text = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
        refused(&text, Refusal::TargetMalformed);
    }
    refused("GET http://a/ HTTP/1.0\r\n\r\n", Refusal::TargetMalformed);
}

#[test]
fn connections_are_kept_as_their_version_says() {
    let keeps = |version: &str, line: &str| {
        head(&format!("GET / HTTP/{version}\r\nHost: a\r\n{line}\r\n")).keeps_alive
    };
    assert!(keeps("1.1", "") && keeps("1.1", "Connection: Keep-Alive\r\n"));
    assert!(keeps("1.1", "Connection: upgrade, x\r\n"));
    assert!(!keeps("1.1", "Connection: x, Close\r\n"));
    assert!(!keeps("1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
    assert!(!keeps("1.0", "") && keeps("1.0", "Connection: ,keep-alive\r\n"));
    assert!(!keeps("1.0", "Connection: keep-alive, close\r\n"));
    assert!(head("GET / HTTP/1.0\r\n\r\n").is_old);
}

#[test]
fn one_expectation_is_known() {
    assert!(head(&with("Expect: 100-Continue\r\n")).expects_continue);
    assert!(!head("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").expects_continue);
    refused(&with("Expect: more\r\n"), Refusal::ExpectationUnknown);
}

#[test]
fn heads_and_targets_are_limited() {
    let limits = HeadLimits { head_bytes_max: 200, target_bytes_max: 100 };
    let of_len = |target: usize, head: usize| {
        let line = format!("GET /{} HTTP/1.1\r\nHost: a\r\nX: ", "k".repeat(target - 1));
        let filler = "x".repeat(head - line.len() - 4);
        format!("{line}{filler}\r\n\r\n")
    };
    let read = |text: &str| read_all_ways(text.as_bytes(), &limits).map(|head| head.is_some());
    assert_eq!(read(&of_len(100, 200)), Ok(true));
    assert_eq!(read(&of_len(101, 200)), Err(Refusal::TargetTooLong));
    assert_eq!(read(&of_len(100, 201)), Err(Refusal::HeadTooLarge));
    assert_eq!(read(&of_len(180, 250)), Err(Refusal::TargetTooLong));
    assert_eq!(read(&"x".repeat(1000)), Err(Refusal::TargetTooLong));
    assert_eq!(read(&"\r\n".repeat(1000)), Err(Refusal::HeadTooLarge));
    assert_eq!(read(&format!("{}\n", "x".repeat(132))), Err(Refusal::TargetTooLong));
    let tiny = HeadLimits { head_bytes_max: 50, target_bytes_max: 100 };
    let read = read_all_ways("x".repeat(1000).as_bytes(), &tiny);
    assert_eq!(read, Err(Refusal::HeadTooLarge));
}

#[test]
fn the_largest_head_is_read_to_its_end() {
    let limits = HeadLimits { head_bytes_max: u16::MAX, target_bytes_max: u16::MAX };
    let (line, last) = ("GET / HTTP/1.1\r\nHost: a\r\nX: ", "\r\nOrigin: o\r\n\r\n");
    let filler = "x".repeat(usize::from(u16::MAX) - line.len() - last.len());
    let text = format!("{line}{filler}{last}");
    let head = read([text.as_bytes()], &limits).expect("good").expect("whole");
    assert_eq!(head.bytes, text.len());
    assert_eq!(&text[head.field(Field::Origin).expect("there")], "o");
    let more = format!("{line}x{filler}{last}");
    assert_eq!(read([more.as_bytes()], &limits), Err(Refusal::HeadTooLarge));
}

#[test]
fn fields_are_counted() {
    let most = with(&"X: 1\r\n".repeat(HEADERS_MAX - 1));
    assert!(read([most.as_bytes()], &HeadLimits::default()).expect("good").is_some());
    let more = with(&"X: 1\r\n".repeat(HEADERS_MAX));
    refused(&more, Refusal::HeadTooLarge);
}

#[test]
fn a_reader_begins_again_behind_a_head() {
    let (one, two) = ("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /22 HTTP/1.1\r\nHost: a\r\n\r\n");
    let both = format!("{one}{two}");
    let (mut reader, limits) = (HeadReader::new(), HeadLimits::default());
    let mut next = |bytes: &str| reader.read(bytes.as_bytes(), &limits).expect("good");
    assert_eq!(next(&both).expect("whole").bytes, one.len());
    assert_eq!(next(&both[one.len()..both.len() - 1]), None);
    assert_eq!(next(&both[one.len()..]).expect("whole").bytes, two.len());
}

/// What heads are made of, and what does them harm.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static [u8]> = vec![
        b"GET ",
        b"/k?a=b",
        b" HTTP/1.1",
        b" HTTP/1.0",
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b"Host: ",
        b"Content-Length: 3",
        b"Transfer-Encoding: ",
        b"chunked",
        b":",
        b"http://a",
        b"\r\n\r\n",
    ];
    prop_oneof![
        12 => proptest::sample::select(pieces).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..5),
    ]
}

/// Lines that are good by themselves, most of them, and their ends.
fn line() -> impl Strategy<Value = String> {
    let lines = vec![
        "Host: a",
        "host:b",
        "Content-Length: 3",
        "content-length:0",
        "Transfer-Encoding: chunked",
        "transfer-encoding:\tchunked ",
        "Connection: close",
        "X: y",
        "X : y",
        " folded",
        "If-Match: *",
        "IF-MATCH: *",
    ];
    let ends = prop_oneof![20 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r\r\n")];
    (proptest::sample::select(lines), ends).prop_map(|(line, end)| format!("{line}{end}"))
}

/// How many lines have a name, for a reader that knows nothing of HTTP but lines.
fn count(head: &str, name: &str) -> usize {
    let names = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    names.filter(|(found, _)| found.trim().eq_ignore_ascii_case(name)).count()
}

proptest! {
    #[test]
    fn any_bytes_have_one_outcome(fragments in proptest::collection::vec(fragment(), 0..20)) {
        let bytes = fragments.concat();
        let limits = HeadLimits { head_bytes_max: 90, target_bytes_max: 20 };
        if let Ok(Some(head)) = read_all_ways(&bytes, &limits) {
            prop_assert!(head.bytes <= 90 && head.path().end <= head.bytes);
            prop_assert!(head.query().len() + head.path().len() <= 20);
            prop_assert!(bytes[..head.bytes].ends_with(b"\r\n\r\n"));
        }
    }

    #[test]
    fn what_two_readers_could_understand_in_two_ways_is_refused(
        version in proptest::sample::select(vec!["1.1", "1.1", "1.1", "1.0"]),
        target in proptest::sample::select(vec!["/", "/", "/", "http://a/", "a"]),
        lines in proptest::collection::vec(line(), 0..5),
    ) {
        let text = format!("GET {target} HTTP/{version}\r\n{}\r\n", lines.concat());
        let read = read_all_ways(text.as_bytes(), &HeadLimits::default());
        let (hosts, matches) = (count(&text, "host"), count(&text, "if-match"));
        let (lengths, codings) =
            (count(&text, "content-length"), count(&text, "transfer-encoding"));
        let is_old = version == "1.0";
        let ends = text.matches('\n').count();
        let is_plain = text.matches("\r\n").count() == ends
            && text.matches('\r').count() == ends
            && !text.contains("\n ")
            && !text.contains(" :");
        let is_own = target == "/" || text.contains("Host: a") && target == "http://a/";
        let is_good = is_plain
            && is_own
            && (hosts == 1 || is_old && hosts == 0)
            && matches <= 1
            && (lengths + codings == 0 || lengths + codings == 1 && (lengths == 1 || !is_old));
        prop_assert_eq!(matches!(read, Ok(Some(_))), is_good, "{:?}: {:?}", text, read);
        if let Ok(Some(head)) = read {
            prop_assert_eq!(head.body == Body::Chunked, codings == 1);
            prop_assert_eq!(head.bytes, text.len());
        }
    }
}
