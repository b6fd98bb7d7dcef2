//! Item 16 of what clients of huststore rely on, methods and users; and requests one behind the
//! other.

use super::super::{client, start};
use super::{Hust, PROFILES, Profile, for_each_profile};
use basalt_resp::Value;
use basalt_tests::http::HttpClient;
use basalt_tests::server::{Kind, free_port, program};
use std::net::SocketAddr;
use std::process::Command;

#[test]
fn item_16_methods_users_and_pages() {
    let (_server, address) = start(&[("requirepass", "secret")]);
    let right = "Authorization: Basic ZGVmYXVsdDpzZWNyZXQ=\r\n";
    for profile in PROFILES {
        let mut hust = Hust::new(client(address), profile);
        for (method, target, status) in [
            ("POST", "get?key=k", 405),
            ("DELETE", "del?key=k", 405),
            ("HEAD", "get?key=k", 405),
            ("PUT", "put?key=k", if profile == Profile::Node { 405 } else { 200 }),
            ("GET", "gett?key=k", 404),
        ] {
            let line = format!("{method} {}", hust.path("db", target));
            let body: &[u8] = if method == "PUT" { b"v" } else { b"" };
            assert_eq!(hust.http.ask(&line, right, body).status, status, "{line}");
        }
        let line = format!("GET {}", hust.path("db", "get?key=k"));
        let refused = hust.http.ask(&line, "", b"");
        assert_eq!(refused.status, 401);
        assert!(refused.field("www-authenticate").is_some_and(|it| it.starts_with("Basic")));
        assert_eq!(hust.http.ask("GET /status.html", "", b"").text(), "ok\n");
    }
}

#[test]
fn item_16_pages_change_nothing() {
    for_each_profile(|hust| {
        let put = format!("GET {}", hust.path("db", "put?key=k&val=v"));
        let get = format!("GET {}", hust.path("db", "get?key=k"));
        let browser = "User-Agent: Mozilla/5.0\r\n";
        let mut status = |line: &str, fields: &str| hust.http.ask(line, fields, b"").status;
        for page in [
            "Sec-Fetch-Site: cross-site\r\n",
            "Referer: https://evil.example/\r\n",
            "Origin: https://evil.example\r\n",
            "",
        ] {
            assert_eq!(status(&put, &format!("{browser}{page}")), 403, "{page}");
        }
        assert_eq!(status(&get, browser), 404, "a user may look");
        assert_eq!(status(&put, &format!("{browser}Sec-Fetch-Site: none\r\n")), 200);
        assert_eq!(status(&put, &format!("{browser}Referer: http://localhost/\r\n")), 200);
    });
}

/// Requests of one command and of several, one behind the other in one write.
#[test]
fn requests_are_answered_in_their_order() {
    let (_server, address) = start(&[]);
    for profile in PROFILES {
        let mut hust = Hust::new(client(address), profile);
        let (mut sent, mut expected) = (String::new(), Vec::new());
        for round in 0..200 {
            for (target, of_node) in [
                (format!("put?key=p{round}&val={round}"), 200),
                (format!("put?key=p{round}&val=x&ver=5"), 401),
                (format!("put?key=p{round}&val={round}r&ver=9&is_dup=true"), 200),
                (format!("get?key=p{round}"), 200),
                (format!("del?key=p{round}&ver=7"), 401),
                (format!("del?key=p{round}&ver=9"), 200),
                (format!("del?key=p{round}&ver=9"), 404),
                (format!("get?key=p{round}"), 404),
            ] {
                let path = hust.path("db", &target);
                sent.push_str(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
                sent.push_str("GET /v1/strings/absent HTTP/1.1\r\nHost: localhost\r\n\r\n");
                let body =
                    (target.starts_with("get") && of_node == 200).then(|| format!("{round}r"));
                expected.push((target, hust.status(of_node), body));
            }
        }
        hust.http.send(&sent).unwrap();
        for (target, status, body) in expected {
            let response = hust.http.response().unwrap();
            assert_eq!(response.status, status, "{target}: {response:?}");
            if let Some(body) = body {
                assert_eq!(response.text(), body, "{target}");
            }
            let between = hust.http.response().unwrap();
            assert_eq!(between.status, 404);
            assert_eq!(between.field("content-type"), Some("application/problem+json"));
        }
    }
}

/// The interface can be left out.
#[test]
fn it_can_be_switched_off() {
    let (_server, address) = start(&[("hust-interface", "no")]);
    let mut http = client(address);
    for path in ["/put?key=k&val=v", "/hustdb/get?key=k", "/cache/get?key=k", "/status.html"] {
        assert_eq!(http.ask(&format!("GET {path}"), "", b"").status, 404, "{path}");
    }
}

#[test]
fn databases_that_are_not_there_are_named() {
    // Nobody has named databases: with two, as many programs have them, the server starts.
    let (_server, address) = start(&[("databases", "2")]);
    let mut http = client(address);
    let response = http.ask("GET /hustdb/get?key=k", "", b"");
    assert_eq!(response.status, 500);
    assert!(response.field("basalt-error").is_some_and(|it| it.contains("hust-databases")));
    let mut set = |databases: &str| {
        let words = serde_json::json!(["CONFIG", "SET", "hust-databases", databases]);
        let fields = "Content-Type: application/json\r\n";
        http.ask("POST /v1/command", fields, words.to_string().as_bytes())
    };
    for wrong in ["0 1 0 2", "0 1 0", "a b c d"] {
        let refused = set(wrong);
        assert_eq!(refused.status, 400, "{wrong}");
        assert!(refused.text().contains("hust-databases"), "{}", refused.text());
    }
    assert_eq!(set("0 1 0 1").status, 200);
    assert_eq!(http.ask("GET /hustdb/get?key=k", "", b"").status, 404);
}

#[test]
fn the_server_does_not_start_with_databases_that_are_not_there() {
    for (given, why) in [
        (&["--hust-databases", "0 1 2 99"][..], "there is no database 99: 'databases' is 16"),
        (&["--hust-databases", "0 1 2 3", "--databases", "3"], "there is no database 3"),
        (&["--hust-databases", "0 1 2"], "name four databases"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let ended = Command::new(program(Kind::Basalt))
            .args(["--port", "0", "--http-port", "0", "--dir"])
            .arg(dir.path())
            .args(given)
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
        assert!(!ended.status.success(), "{said}");
        assert!(said.contains("hust-databases") && said.contains(why), "{said}");
    }
}

/// A request in pieces, with a body in chunks.
#[test]
fn bodies_may_come_in_chunks_and_late() {
    let (_server, address) = start(&[]);
    for profile in PROFILES {
        let mut hust = Hust::new(client(address), profile);
        for target in ["put?key=c", "put?key=c&is_dup=true&ver=3"] {
            let path = hust.path("db", target);
            let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n");
            hust.http.send(format!("{head}Transfer-Encoding: chunked\r\n\r\n3\r\nab")).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
            hust.http.send("c\r\n2\r\nde\r\n0\r\n\r\n").unwrap();
            assert_eq!(hust.http.response().unwrap().status, 200);
            assert_eq!(hust.db("get?key=c").body, b"abcde");
        }
    }
}

/// What a client gets that connects from an address and asks whether the server is well.
fn answer_to(source: [u8; 4], server: SocketAddr) -> Option<u16> {
    let mut http = HttpClient::open_from(source.into(), server).expect("it listens");
    // Its socket may be closed before it has asked.
    let _ = http.request("GET /status.html", "", b"");
    http.response().ok().map(|response| response.status)
}

#[test]
fn item_16_clients_that_are_not_listed_are_not_answered() {
    let (at_home, next_door) = ([127, 0, 0, 1], [127, 0, 0, 2]);
    let queues = free_port().unwrap();
    let options = [("http-allow", "127.0.0.1 fd00::/8"), ("hust-mq-port", &queues.to_string())];
    let (server, address) = start(&options);
    let of_queues = SocketAddr::new(address.ip(), queues);
    for port in [address, of_queues] {
        assert_eq!(answer_to(at_home, port), Some(200), "{port}");
        assert_eq!(answer_to(next_door, port), None, "{port}");
    }

    // Redis' protocol has no such list, so this can be set right from everywhere.
    let mut redis = server.connect();
    let mut set = |list: &str| {
        let words = ["CONFIG", "SET", "http-allow", list];
        redis.call(&words).unwrap()
    };
    assert_eq!(set("127.0.0.2-127.0.0.9"), Value::Simple("OK".into()));
    assert_eq!(answer_to(at_home, address), None);
    assert_eq!(answer_to(next_door, address), Some(200));
    for (wrong, why) in [
        ("127.0.0.1/8", "did you mean 127.0.0.0/8?"),
        ("127.0.0.1, 127.0.0.2", "'127.0.0.1,' is no address"),
    ] {
        let Value::Error(text) = set(wrong) else { panic!("{wrong} was taken") };
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains(why), "{text}");
    }
    assert_eq!(answer_to(next_door, address), Some(200), "nothing has changed");
    assert_eq!(set(""), Value::Simple("OK".into()));
    let mut http = HttpClient::open_from(at_home.into(), address).unwrap();
    let metrics = http.ask("GET /metrics", "", b"").text();
    let refused = "basalt_connections_rejected_total{reason=\"http-allow\"} 3\n";
    assert!(metrics.contains(refused), "{metrics}");
}
