//! The files of the web console, as a browser gets them.

use super::{client, start};
use basalt_resp::Value;
use std::collections::BTreeSet;

#[test]
fn the_console_is_served_once_and_then_known() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    let page = http.ask("GET /", "", b"");
    assert_eq!((page.status, page.field("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().starts_with("<!doctype html>"), "{}", page.text());
    let policy = page.field("content-security-policy").expect("a policy");
    for part in ["default-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert_eq!(page.field("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.field("referrer-policy"), Some("no-referrer"));

    let tag = page.field("etag").expect("a tag").to_owned();
    let known = http.ask("GET /", &format!("If-None-Match: {tag}\r\n"), b"");
    assert_eq!((known.status, known.field("etag")), (304, Some(tag.as_str())));
    let other = http.ask("GET /", "If-None-Match: \"d0000000000000000\"\r\n", b"");
    assert_eq!((other.status, other.body == page.body), (200, true));

    let head = http.ask("HEAD /console/app.js", "", b"");
    let length = http.ask("GET /console/app.js", "", b"").body.len().to_string();
    assert_eq!((head.status, head.field("content-length")), (200, Some(length.as_str())));
    assert_eq!(head.field("content-type"), Some("text/javascript; charset=utf-8"));
    let refused = http.ask("PUT /", "", b"x");
    assert_eq!((refused.status, refused.field("allow")), (405, Some("GET, HEAD, OPTIONS")));
    assert_eq!(http.ask("OPTIONS /console/", "", b"").status, 204);
    for path in
        ["/console", "/console/../app.js", "/console/%61pp.js", "/app.js", "/console/lib.rs"]
    {
        assert_eq!(http.ask(&format!("GET {path}"), "", b"").status, 404, "{path}");
    }
}

/// Only the user's own way to the page is free to come from another site.
#[test]
fn links_lead_to_the_console_and_other_pages_fetch_nothing_of_it() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    let link =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    let frame =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n";
    let script =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: script\r\n";
    assert_eq!(http.ask("GET /", link, b"").status, 200);
    assert_eq!(http.ask("GET /", frame, b"").status, 403);
    assert_eq!(http.ask("GET /console/app.js", script, b"").status, 403);
    assert_eq!(http.ask("GET /console/app.js", link, b"").status, 403);
    http.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").unwrap();
    assert_eq!(http.response().unwrap().status, 421);
}

/// The page asks for the password, so it must be there before it is known.
#[test]
fn the_page_needs_no_password_and_its_requests_do() {
    let (_server, address) = start(&[("requirepass", "secret")]);
    let mut http = client(address);
    assert_eq!(http.ask("GET /", "", b"").status, 200);
    http.send("GET / HTTP/1.1\r\nHost: db.example\r\n\r\n").unwrap();
    assert_eq!(http.response().unwrap().status, 200);
    let asked = "Content-Type: application/json\r\nX-Basalt: 1\r\n";
    assert_eq!(http.ask("POST /v1/command", asked, b"[\"PING\"]").status, 401);
}

#[test]
fn the_option_leaves_the_console_out() {
    let (_server, address) = start(&[("console", "no")]);
    let mut http = client(address);
    assert_eq!(http.ask("GET /", "", b"").status, 404);
    assert_eq!(http.ask("GET /console/app.js", "", b"").status, 404);
}

/// A field that INFO has no more is shown as a dash, which nobody notices.
#[test]
fn info_has_every_field_that_the_console_shows() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let asked = "INFO server clients memory persistence stats keyspace";
    let Ok(Value::Bulk(info)) = server.connect().run(asked) else { panic!("a text") };
    let info = String::from_utf8(info).expect("text");
    let fields: BTreeSet<&str> =
        info.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
    let mut shown = BTreeSet::new();
    for file in ["warnings.js", "pages/overview.js", "pages/storage.js"] {
        let page = http.ask(&format!("GET /console/{file}"), "", b"");
        assert_eq!(page.status, 200, "{file}");
        let text = page.text();
        for start in ["info.", "number(\""] {
            let names = text.split(start).skip(1).map(|rest| {
                let end = rest.find(|byte: char| !byte.is_ascii_alphanumeric() && byte != '_');
                rest[..end.unwrap_or(rest.len())].to_owned()
            });
            // The others are variables and functions.
            shown.extend(names.filter(|name| name.contains('_')));
        }
    }
    assert!(shown.len() > 40, "{shown:?}");
    let missing: Vec<&String> =
        shown.iter().filter(|name| !fields.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
