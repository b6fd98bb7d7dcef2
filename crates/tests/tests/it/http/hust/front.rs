//! Item 11 of what clients of huststore rely on, through its front: queues by verbs at the root.

use super::super::{client, start};
use super::{Hust, Profile};
use basalt_tests::http::HttpClient;
use basalt_tests::server::{Kind, Launch, free_port};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Runs a test with a client of the front, and one of its node.
fn on_a_front(test: impl Fn(&mut Hust, &mut Hust)) {
    let (_server, address) = start(&[]);
    let of = |profile| Hust::new(client(address), profile);
    test(&mut of(Profile::Front), &mut of(Profile::Node));
}

#[test]
fn item_11_the_front_has_the_verbs_of_queues_at_its_root() {
    on_a_front(|front, node| {
        for unknown in [
            "get?queue=none&worker=worker",
            "ack?queue=none&peer=0",
            "lock?queue=none&on=1",
            "max?queue=none&num=1",
            "timeout?queue=none&minute=1",
            "purge?queue=none&priori=0",
            "worker?queue=none",
            "stat?queue=none",
            "stat?queue=",
            "put?queue=q",
            "put?queue=a/b&item=i",
            "ack",
        ] {
            assert_eq!(front.db(unknown).status, 404, "{unknown}");
        }
        assert_eq!(front.db("put?queue=q&item=first").status, 200);
        assert_eq!(front.post("db", "put?queue=q&priori=2", b"second").status, 200);
        let line = format!("PUT {}", front.path("db", "put?queue=q"));
        assert_eq!(front.http.ask(&line, "", b"third").status, 200);
        // What names no queue is an item, whatever it is called.
        assert_eq!(front.db("put?key=q&val=item").status, 200);
        assert_eq!(front.db("get?key=q").text(), "item");
        assert_eq!(front.db("worker?queue=q").status, 404, "nobody has asked");
        let taken = front.db("get?queue=q&worker=worker&ack=false");
        assert_eq!((taken.status, taken.text().as_str()), (200, "second"));
        let token = taken.field("ack-token").expect("a token").to_owned();
        assert_eq!(taken.field("ack-peer"), Some("0"));
        let stat: Value = serde_json::from_slice(&front.db("stat?queue=q").body).unwrap();
        assert_eq!((&stat["ready"], &stat["unacked"]), (&json!([2, 0, 0]), &json!(1)));
        assert_eq!(front.db("stat?queue=q").body, node.get("mq", "stat?queue=q").body);
        let workers: Value = serde_json::from_slice(&front.db("worker?queue=q").body).unwrap();
        assert_eq!(workers[0]["w"], json!("worker"));
        // The status of an acknowledgement is that of the node.
        let ack = |peer: &str, token: &str| format!("ack?queue=q&token={token}{peer}");
        assert_eq!(front.db(&ack("", &token)).status, 404, "no peer");
        assert_eq!(front.db(&ack("&peer=1", &token)).status, 404, "another peer");
        assert_eq!(front.db(&ack("&peer=0", "nonsense")).status, 400);
        assert_eq!(front.db(&ack("&peer=0", &token)).status, 200);
        assert_eq!(front.db(&ack("&peer=0", &token)).status, 412);
        assert_eq!(front.db("autost").status, 200);
    });
}

#[test]
fn item_11_the_front_locks_limits_and_purges() {
    on_a_front(|front, node| {
        assert_eq!(front.db("put?queue=q&item=a").status, 200);
        assert_eq!(front.db("lock?queue=q&on=1").status, 200);
        assert_eq!(front.db("put?queue=q&item=b").status, 404, "locked");
        assert_eq!(front.db("max?queue=q&num=1").status, 404, "locked");
        assert_eq!(front.db("lock?queue=q&on=0").status, 200);
        assert_eq!(front.db("max?queue=q&num=1").status, 200);
        assert_eq!(front.db("max?queue=q&num=x").status, 404);
        assert_eq!(front.db("put?queue=q&item=b").status, 404, "full");
        assert_eq!(front.db("timeout?queue=q&minute=7").status, 200);
        let stat = node.get("mq", "stat?queue=q");
        let stat: Value = serde_json::from_slice(&stat.body).unwrap();
        assert_eq!((&stat["max"], &stat["timeout"]), (&json!(1), &json!(7)));
        assert_eq!(front.db("purge?queue=q&priori=0").status, 200);
        assert_eq!(front.db("get?queue=q&worker=worker").status, 404, "empty");
        assert_eq!(front.post("db", "lock?queue=q&on=1", b"x").status, 405);
    });
}

#[test]
fn the_queues_may_have_a_port_of_their_own() {
    let port = free_port().unwrap();
    let launch = Launch::new(Kind::Basalt).with_http();
    let server = launch.option("hust-mq-port", &port.to_string()).start();
    let address = server.http_address().unwrap();
    let mut queues = HttpClient::open(SocketAddr::new(address.ip(), port)).expect("it listens");
    let mut http = client(address);
    let get = |client: &mut HttpClient, target: &str| {
        let answer = client.ask(&format!("GET {target}"), "", b"");
        (answer.status, answer.text())
    };
    assert_eq!(get(&mut queues, "/put?queue=q&item=i").0, 200);
    let (status, all) = get(&mut queues, "/stat_all");
    assert!(status == 200 && all.contains("\"ready\":[1,0,0]"), "{all}");
    let (status, all) = get(&mut http, "/stat_all");
    assert!(status == 200 && all.contains("TOTALIZE"), "{all}");
    assert_eq!(get(&mut queues, "/put?key=k&val=v").0, 404, "no queue is named");
    assert_eq!(get(&mut queues, "/hustdb/put?key=k&val=v").0, 200);
    assert_eq!(get(&mut queues, "/version"), (200, "1.9".to_owned()));
    assert_eq!(get(&mut queues, "/health/live").0, 200);
    assert_eq!(get(&mut http, "/get?queue=q&worker=worker"), (200, "i".to_owned()));
}
