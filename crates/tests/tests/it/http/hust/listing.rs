//! What is asked about nodes and tables, and the listings.

use super::{Profile, for_each_profile, version};
use basalt_tests::http::Response;

#[test]
fn item_14_what_is_asked_about_nodes_is_said_of_one() {
    for_each_profile(|hust| {
        assert_eq!(hust.db("file_count").text(), "1");
        assert_eq!(hust.db("binlog?host=127.0.0.1:1&method=1&key=a").status, 501);
        for (verb, body) in [
            ("version", "1.9"),
            ("peer_count", "1"),
            (
                "sync_status",
                r#"{"status":{},"total_status":{"processed_items":0,"synced_items":0}}"#,
            ),
            ("sync_alive", "ok"),
            ("get_table", r#"{"table":[{"item":{"key":[0,1024],"val":[]}}]}"#),
        ] {
            if hust.profile == Profile::Node {
                assert_eq!(hust.db(verb).status, 404, "{verb}");
                continue;
            }
            let answer = hust.db(verb);
            assert_eq!((answer.status, answer.text().as_str()), (200, body), "{verb}");
        }
        if hust.profile == Profile::Front {
            assert_eq!(hust.post("db", "set_table?id=1", b"a table").status, 501);
            assert_eq!(hust.db("peer_count").text(), "1", "the body was passed over");
        }
    });
}

#[test]
fn item_14_reads_of_both_nodes_are_reads() {
    for_each_profile(|hust| {
        assert_eq!(hust.db("put?key=k&val=v").status, 200);
        assert_eq!(hust.db("hset?tb=h&key=f&val=w").status, 200);
        assert_eq!(hust.post("db", "sadd?tb=s", b"m").status, 200);
        assert_eq!(hust.db("zadd?tb=z&key=m&score=-7").status, 200);
        for target in ["get2?key=none", "hget2?tb=h&key=g", "zscore2?tb=z&key=n"] {
            assert_eq!(hust.db(target).status, 404, "{target}");
        }
        if hust.profile == Profile::Node {
            assert_eq!(hust.db("get2?key=k").status, 404);
            return;
        }
        for (target, body) in
            [("get2?key=k", "v"), ("hget2?tb=h&key=f", "w"), ("zscore2?tb=z&key=m", "-7")]
        {
            let read = hust.db(target);
            assert_eq!((version(&read), read.text().as_str()), ((200, Some(1)), body), "{target}");
        }
        assert_eq!(version(&hust.post("db", "sismember2?tb=s", b"m")), (200, Some(1)));
        assert_eq!(hust.post("db", "sismember2?tb=s", b"n").status, 404);
        assert_eq!(hust.db("sismember2?tb=s&key=m").status, 405);
    });
}

/// Status, `Keys` and body.
fn listed(response: &Response) -> (u16, Option<&str>, String) {
    (response.status, response.field("keys"), response.text())
}

#[test]
fn item_6_ranges_of_sorted_sets_are_listed() {
    for_each_profile(|hust| {
        for (member, score) in [("a", 3), ("b", -5), ("c", 0), ("d%00", 7)] {
            assert_eq!(hust.db(&format!("zadd?tb=z&key={member}&score={score}")).status, 200);
        }
        let all = hust.db("zrangebyrank?tb=z&offset=0&size=1000&noval=false");
        let text = concat!(
            r#"[{"key":"Yg==","val":-5,"ver":1},{"key":"Yw==","val":0,"ver":1},"#,
            r#"{"key":"YQ==","val":3,"ver":1},{"key":"ZAA=","val":7,"ver":1}]"#
        );
        assert_eq!(listed(&all), (200, Some("4"), text.to_owned()));
        assert_eq!(all.field("totalcount"), Some("0"));
        let part = hust.db("zrangebyrank?tb=z&offset=1&size=2");
        let text = r#"[{"key":"Yw==","ver":1},{"key":"YQ==","ver":1}]"#;
        assert_eq!(listed(&part), (200, Some("2"), text.to_owned()));
        let part = hust.db("zrangebyscore?tb=z&min=-5&max=3&offset=1&size=2");
        assert_eq!(listed(&part), (200, Some("2"), text.to_owned()), "bounds are inclusive");
        let part = hust.db("zrangebyscore?tb=z&offset=0&size=2");
        assert_eq!(listed(&part), (200, Some("1"), r#"[{"key":"Yw==","ver":1}]"#.to_owned()));
        for beyond in
            ["zrangebyrank?tb=z&offset=4&size=1", "zrangebyscore?tb=z&min=8&max=9&offset=0&size=1"]
        {
            assert_eq!(listed(&hust.db(beyond)), (200, Some("0"), "[]".to_owned()), "{beyond}");
        }
        for (wrong, status) in [
            ("tb=z&offset=0&size=1001", 400),
            ("tb=z&offset=0&size=0", 400),
            ("tb=z&offset=1000001&size=1", 400),
            ("tb=z&offset=-1&size=1", 400),
            ("tb=z&offset=0&size=1&start=5&end=5", 400),
            ("tb=z&offset=0&size=1&end=1025", 400),
            ("tb=z&offset=0", 404),
            ("offset=0&size=1", 404),
            ("tb=none&offset=0&size=1", 412),
            // The slot of `z` is 122.
            ("tb=z&offset=0&size=1&start=123", 412),
        ] {
            for verb in ["zrangebyrank", "zrangebyscore"] {
                let answer = hust.db(&format!("{verb}?{wrong}"));
                assert_eq!(answer.status, hust.status(status), "{verb}?{wrong}");
            }
        }
        assert_eq!(hust.db("zrangebyrank?tb=z&offset=0&size=1&start=122&end=123").status, 200);
        assert_eq!(
            hust.db("zrangebyscore?tb=z&min=1&max=0&offset=0&size=1").status,
            hust.status(400)
        );
        assert_eq!(hust.db("zrangebyscore?tb=z&offset=0&size=1&async=1").status, 501);
        assert_eq!(hust.db("hset?tb=h&key=f&val=w").status, 200);
        assert_eq!(hust.db("zrangebyrank?tb=h&offset=0&size=1").status, hust.status(412));
    });
}

#[test]
fn a_page_is_no_larger_than_other_json() {
    let (server, address) = super::start(&[("http-json-max", "1kb")]);
    let mut http = super::client(address);
    let members = (0..9).map(|number| format!(" {number} {}{number}", "m".repeat(200)));
    let zadd = format!("ZADD z{}", members.collect::<String>());
    let mut client = server.connect();
    client.run("SELECT 1").expect("it is there");
    client.run(&zadd).expect("they are added");
    for (size, status) in [(2, 200), (9, 400), (1, 200)] {
        let target = format!("GET /hustdb/zrangebyrank?tb=z&offset=0&size={size}");
        let answer = http.ask(&target, "", b"");
        assert_eq!(answer.status, status, "{size}: {}", answer.text());
    }
}
