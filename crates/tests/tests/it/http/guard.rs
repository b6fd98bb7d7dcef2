//! Users, and pages of other sites.

use super::{client, start};

#[test]
fn pages_of_other_sites_are_refused() {
    let (_server, address) = start(&[("http-hosts", "db.example other.example")]);
    let mut http = client(address);
    let mut status = |line: &str, fields: &str| {
        http.send(format!("{line} HTTP/1.1\r\n{fields}\r\n")).unwrap();
        http.response().unwrap().status
    };
    let line = "GET /v1/strings/k";
    for (fields, expected) in [
        ("Host: localhost\r\n", 404),
        ("Host: LOCALHOST:8085\r\n", 404),
        ("Host: 127.0.0.1:8085\r\n", 404),
        ("Host: 10.1.2.3\r\n", 404),
        ("Host: [::1]:8085\r\n", 404),
        ("Host: db.example\r\n", 404),
        // The name of a page that leads here.
        ("Host: evil.example\r\n", 421),
        ("Host: localhost.evil.example\r\n", 421),
        ("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403),
        ("Host: localhost\r\nSec-Fetch-Site: same-site\r\n", 403),
        ("Host: localhost\r\nSec-Fetch-Site: same-origin\r\n", 404),
        ("Host: localhost\r\nSec-Fetch-Site: none\r\n", 404),
        ("Host: localhost:1\r\nOrigin: http://localhost:1\r\n", 404),
        ("Host: localhost:1\r\nOrigin: http://localhost:2\r\n", 403),
        ("Host: localhost\r\nOrigin: null\r\n", 403),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", 403),
        ("Host: localhost\r\nReferer: https://evil.example/page\r\n", 403),
        ("Host: localhost:7\r\nReferer: http://localhost:7/page?x\r\n", 404),
        (
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\
             Sec-Fetch-Dest: document\r\n",
            403,
        ),
    ] {
        assert_eq!(status(line, fields), expected, "{fields}");
    }
    // Those who start and stop servers may call them as they like.
    assert_eq!(status("GET /health/live", "Host: evil.example\r\n"), 200);
    assert_eq!(status("GET /health/ready", "Host: evil.example\r\n"), 200);
}

#[test]
fn each_request_proves_who_sends_it() {
    let (server, address) = start(&[("requirepass", "secret")]);
    let mut http = client(address);
    // default:secret, default:wrong, other:secret
    let right = "Authorization: Basic ZGVmYXVsdDpzZWNyZXQ=\r\n";
    let wrong = ["ZGVmYXVsdDp3cm9uZw==", "b3RoZXI6c2VjcmV0", "ZGVmYXVsdA=="];
    let line = "PUT /v1/strings/k";
    let refused = http.ask(line, "", b"v");
    assert_eq!(refused.status, 401);
    assert!(refused.field("www-authenticate").is_some_and(|field| field.starts_with("Basic")));
    let browser = http.ask(line, "User-Agent: Mozilla/5.0\r\n", b"v");
    assert_eq!((browser.status, browser.field("www-authenticate")), (401, None));
    for _ in 0..2 {
        assert_eq!(http.ask("GET /v1/strings/k", right, b"").status, 404);
        assert_eq!(http.ask("GET /v1/strings/k", "", b"").status, 401, "nothing is kept");
    }
    for credentials in wrong {
        let field = format!("Authorization: Basic {credentials}\r\n");
        let refused = http.ask(line, &field, b"v");
        assert!(matches!(refused.status, 400 | 401), "{credentials}: {}", refused.status);
    }
    let bearer = http.ask(line, "Authorization: Bearer abc\r\n", b"v");
    assert_eq!(bearer.status, 401);
    // With a password any name will do: a page does not know it.
    http.send(format!("GET /v1/strings/k HTTP/1.1\r\nHost: any.example\r\n{right}\r\n")).unwrap();
    assert_eq!(http.response().unwrap().status, 404);
    // A change of the password holds for the next request.
    let mut redis = server.connect();
    redis.run("AUTH secret").unwrap();
    redis.run("CONFIG SET requirepass another").unwrap();
    assert_eq!(http.ask("GET /v1/strings/k", right, b"").status, 401);
    assert_eq!(http.ask("GET /health/live", "", b"").status, 200);
}

#[test]
fn a_page_that_is_stored_is_not_shown() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    http.ask("PUT /v1/strings/page", "", b"<script>alert(1)</script>");
    let fields = "Sec-Fetch-Site: none\r\nSec-Fetch-Dest: document\r\nRange: bytes=0-100\r\n";
    let shown = http.ask("GET /v1/strings/page", fields, b"");
    assert_eq!(shown.text(), "<script>alert(1)</script>");
    assert_eq!(shown.field("content-type"), Some("application/octet-stream"));
    assert_eq!(shown.field("content-disposition"), Some("attachment"));
    assert_eq!(shown.field("content-security-policy"), Some("sandbox"));
}
