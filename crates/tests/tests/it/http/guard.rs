//! Users, and pages of other sites.

use super::{client, start};
use basalt_resp::Value;
use basalt_tests::server::{Kind, Launch};

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

#[test]
fn a_token_stands_for_the_password() {
    let (server, address) = start(&[("requirepass", "secret"), ("http-login-time", "2")]);
    let mut http = client(address);
    let json = "Content-Type: application/json\r\n";
    let right = "Authorization: Basic ZGVmYXVsdDpzZWNyZXQ=\r\n";
    let token = |response: &basalt_tests::http::Response| {
        assert_eq!(response.status, 200, "{}", response.text());
        assert_eq!(response.field("cache-control"), Some("no-store"));
        response.text().split('"').nth(3).expect("a token").to_owned()
    };
    let one = token(&http.ask("POST /v1/login", right, b""));
    let other = token(&http.ask("POST /v1/login", json, br#"{"password":"secret"}"#));
    assert_ne!(one, other);
    for token in [&one, &other] {
        let bearer = format!("Authorization: Bearer {token}\r\n");
        assert_eq!(http.ask("PUT /v1/strings/k", &bearer, b"v").status / 100, 2);
        assert_eq!(client(address).ask("GET /v1/strings/k", &bearer, b"").text(), "v");
        // A token that buys another would never end.
        assert_eq!(http.ask("POST /v1/login", &bearer, b"").status, 400);
    }
    for (fields, body) in [
        (json, r#"{"password":"wrong"}"#),
        (json, r#"{"user":"other","password":"secret"}"#),
        ("Authorization: Basic ZGVmYXVsdDp3cm9uZw==\r\n", ""),
    ] {
        assert_eq!(http.ask("POST /v1/login", fields, body.as_bytes()).status, 401, "{body}");
    }
    for (fields, body) in [(json, "{}"), (json, r#"{"password":"secret","x":1}"#), (json, "[")] {
        assert_eq!(http.ask("POST /v1/login", fields, body.as_bytes()).status, 400, "{body}");
    }
    assert_eq!(http.ask("POST /v1/login", "", br#"{"password":"secret"}"#).status, 415);
    let cross = format!("{right}Sec-Fetch-Site: cross-site\r\n");
    assert_eq!(http.ask("POST /v1/login", &cross, b"").status, 403);
    // On a connection that knows it, too, a token ends with its time …
    let bearer = format!("Authorization: Bearer {one}\r\n");
    let start = std::time::Instant::now();
    while http.ask("GET /v1/strings/k", &bearer, b"").status == 200 {
        assert!(start.elapsed().as_secs() < 60, "it does not end");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // … and with its password.
    let last = token(&http.ask("POST /v1/login", right, b""));
    let bearer = format!("Authorization: Bearer {last}\r\n");
    assert_eq!(http.ask("GET /v1/strings/k", &bearer, b"").status, 200);
    let mut redis = server.connect();
    redis.run("AUTH secret").unwrap();
    redis.run("CONFIG SET requirepass another").unwrap();
    assert_eq!(http.ask("GET /v1/strings/k", &bearer, b"").status, 401);
    redis.call(&["CONFIG", "SET", "requirepass", ""]).unwrap();
    let without = http.ask("POST /v1/login", json, br#"{"password":"another"}"#);
    assert_eq!(without.status, 400);
    assert!(without.text().contains("NOPASSWORD"), "{}", without.text());
}

#[test]
fn pages_with_a_listed_origin_may_use_the_server() {
    let origins = "https://app.example http://localhost:3000";
    let (_server, address) = start(&[("http-cors-origins", origins), ("requirepass", "secret")]);
    let mut http = client(address);
    let asks =
        "Access-Control-Request-Method: PUT\r\nAccess-Control-Request-Headers: authorization\r\n";
    let listed = "Origin: https://app.example\r\nSec-Fetch-Site: cross-site\r\n";
    let right = "Authorization: Basic ZGVmYXVsdDpzZWNyZXQ=\r\n";
    // A browser asks first, without credentials.
    let asked = http.ask("OPTIONS /v1/strings/k", &format!("{listed}{asks}"), b"");
    assert_eq!(asked.status, 204);
    assert_eq!(asked.field("access-control-allow-origin"), Some("https://app.example"));
    assert!(asked.field("access-control-allow-methods").is_some_and(|it| it.contains("PUT")));
    assert!(asked.field("access-control-allow-headers").is_some_and(|it| it.contains("Authoriz")));
    assert_eq!(asked.field("vary"), Some("Origin"));
    for foreign in ["https://evil.example", "null", "https://app.example.evil.example", "*"] {
        let fields = format!("Origin: {foreign}\r\n{asks}");
        let refused = http.ask("OPTIONS /v1/strings/k", &fields, b"");
        assert!(matches!(refused.status, 401 | 403), "{foreign}");
        assert_eq!(refused.field("access-control-allow-origin"), None, "{foreign}");
        let refused = http.ask("GET /v1/strings/k", &format!("{right}Origin: {foreign}\r\n"), b"");
        assert_eq!(refused.status, 403, "{foreign}");
    }
    // Then it sends, and shows the page what comes: values, parts, JSON, errors.
    let fields = format!("{listed}{right}");
    assert_eq!(http.ask("PUT /v1/strings/k", &fields, b"value").status, 201);
    let large = vec![b'x'; 50_000];
    assert_eq!(http.ask("PUT /v1/strings/large", &fields, &large).status, 201);
    for (line, more, status, body) in [
        ("GET /v1/strings/k", "", 200, &b"value"[..]),
        ("GET /v1/strings/k", "Range: bytes=1-2\r\n", 206, b"al"),
        ("GET /v1/strings/large", "", 200, &large[..]),
        ("GET /v1/lists/none", "", 200, br#"{"elements":[]}"#),
        ("POST /v1/strings/n?op=increment", "", 200, br#"{"value":1}"#),
    ] {
        let response = http.ask(line, &format!("{fields}{more}"), b"");
        assert_eq!((response.status, &response.body[..]), (status, body), "{line}");
        assert_eq!(response.field("access-control-allow-origin"), Some("https://app.example"));
    }
    let refused = http.ask("GET /v1/strings/k", listed, b"");
    assert_eq!(refused.status, 401);
    assert_eq!(refused.field("access-control-allow-origin"), Some("https://app.example"));
    // No other client is told of any page.
    let plain = http.ask("GET /v1/strings/k", right, b"");
    assert_eq!((plain.status, plain.field("access-control-allow-origin")), (200, None));
}

/// A request that differs from the one before in its key alone takes a shorter way, which must not
/// pass over what has been decided meanwhile.
#[test]
fn what_is_repeated_is_judged_by_what_holds_now() {
    let (server, address) = start(&[("http-hosts", "db.example")]);
    let (mut http, mut redis) = (client(address), server.connect());
    let mut status = |key: &str, fields: &str| {
        http.send(format!("GET /v1/strings/{key} HTTP/1.1\r\n{fields}\r\n")).unwrap();
        http.response().unwrap().status
    };
    let named = "Host: db.example\r\n";
    assert_eq!((status("a", named), status("b", named)), (404, 404));
    redis.run("CONFIG SET http-hosts other.example").unwrap();
    assert_eq!(status("c", named), 421);
    redis.run("CONFIG SET http-hosts db.example").unwrap();
    assert_eq!((status("a", named), status("b", named)), (404, 404));

    // alice:one
    let alice = "Host: localhost\r\nAuthorization: Basic YWxpY2U6b25l\r\n";
    redis.run("ACL SETUSER alice on >one ~* +@all").unwrap();
    assert_eq!((status("a", alice), status("b", alice)), (404, 404));
    redis.run("ACL SETUSER alice resetkeys ~b").unwrap();
    assert_eq!((status("a", alice), status("b", alice)), (403, 404));
    redis.run("ACL SETUSER alice resetpass >two").unwrap();
    assert_eq!(status("b", alice), 401);
    redis.run("ACL SETUSER default on >secret").unwrap();
    assert_eq!(status("a", "Host: localhost\r\n"), 401);

    let (_server, address) = start(&[("http-path-max", "256")]);
    let mut http = client(address);
    let ends = |len| "k".repeat(256 - "/v1/strings/".len() + len);
    for (key, expected) in [("k".to_owned(), 404), (ends(0), 404), (ends(1), 414)] {
        let got = http.ask(&format!("GET /v1/strings/{key}"), "", b"");
        assert_eq!(got.status, expected, "{}", key.len());
    }
}

/// RFC 9110, section 15.5.6: with this status the methods are always said.
#[test]
fn a_method_that_is_refused_is_told_the_others() {
    let (_server, address) = start(&[]);
    for line in ["TRACE /v1/keys", "DELETE /v1/keys", "PUT /health/live", "POST /v1/info"] {
        let refused = client(address).ask(line, "", b"");
        assert_eq!(refused.status, 405, "{line}");
        assert!(refused.field("allow").is_some_and(|allow| allow.contains("OPTIONS")), "{line}");
    }
}

#[test]
fn the_list_of_clients_tells_their_fronts() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    assert_eq!(http.ask("GET /health/live", "", b"").status, 200);
    let Value::Bulk(list) = server.connect().run("CLIENT LIST").unwrap() else { panic!("no list") };
    let list = String::from_utf8(list).unwrap();
    let fronts: Vec<bool> = list.lines().map(|line| line.ends_with(" front=http")).collect();
    assert_eq!(fronts.iter().filter(|is_http| **is_http).count(), 1, "{list}");
    assert_eq!(list.matches("front=").count(), 1, "{list}");
}

#[test]
fn a_port_that_was_asked_for_is_not_done_without() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let launch = Launch::new(Kind::Basalt).option("http-port", &port);
    assert!(launch.try_start().is_err(), "it starts without HTTP");
}
