//! Item 11 of what clients of huststore rely on: queues.

use super::{Hust, PROFILES, Profile, client, for_each_profile, start};
use crate::http::wait_for_blocked;
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::Response;
use basalt_tests::server::{Kind, Launch};
use serde_json::json;
use std::time::Duration;

impl Hust {
    fn mq(&mut self, target: &str) -> Response {
        self.get("mq", target)
    }

    /// The token of a message that is taken and must be this one.
    fn held(&mut self, queue: &str, item: &str) -> String {
        let taken = self.mq(&format!("get?queue={queue}&worker=worker&ack=false"));
        assert_eq!((taken.status, taken.text().as_str()), (200, item), "{taken:?}");
        taken.field("ack-token").expect("a token").to_owned()
    }

    fn stat(&mut self, queue: &str) -> serde_json::Value {
        let stat = self.mq(&format!("stat?queue={queue}"));
        assert_eq!(stat.status, 200, "{stat:?}");
        serde_json::from_str(&stat.text()).expect("JSON")
    }
}

/// Runs a test with a client of a node.
fn on_a_node(test: impl Fn(&mut Hust)) {
    let (_server, address) = start(&[]);
    test(&mut Hust::new(client(address), Profile::Node));
}

#[test]
fn item_11_messages_come_by_priority_and_then_as_they_were_put() {
    for_each_profile(|hust| {
        for at in 0..20 {
            let priority = at % 3;
            let target = format!("put?queue=q&item=p{priority}-{at}&priori={priority}");
            assert_eq!(hust.mq(&target).status, 200);
        }
        assert_eq!(hust.stat("q")["ready"], json!([7, 7, 6]));
        for priority in [2, 1, 0] {
            for at in (0..20).filter(|at| at % 3 == priority) {
                let taken = hust.mq("get?queue=q&worker=worker");
                assert_eq!(taken.text(), format!("p{priority}-{at}"));
                assert_eq!(taken.field("ack-token"), None);
            }
        }
        assert_eq!(hust.mq("get?queue=q&worker=worker").status, 404, "empty");
        assert_eq!(hust.stat("q")["unacked"], json!(0), "what is taken with ack=true is gone");
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(hust.post("mq", "put?queue=q", &all).status, 200);
        assert_eq!(hust.mq("get?queue=q&worker=worker").body, all);
    });
}

#[test]
fn item_11_what_is_not_acknowledged_comes_again_before_the_others() {
    for_each_profile(|hust| {
        assert_eq!(hust.mq("put?queue=q&item=first").status, 200);
        let first = hust.held("q", "first");
        assert_eq!(hust.stat("q")["unacked"], json!(1));
        assert_eq!(hust.mq(&format!("ack?queue=q&token={first}&peer=0")).status, 200);
        assert_eq!(hust.mq(&format!("ack?queue=q&token={first}&peer=0")).status, 412, "twice");
        assert_eq!(hust.mq("ack?queue=absent&token=0:1.1&peer=0").status, 412);
        assert_eq!(hust.mq("ack?queue=q&token=nonsense&peer=0").status, 400);
        // A lease as short as a test needs it; huststore's are minutes.
        let lease = br#"["Q.CONFIG","SET","q","lease","100"]"#;
        let json = "Content-Type: application/json\r\n";
        assert_eq!(hust.http.ask("POST /v1/command?db=2", json, lease).status, 200);
        hust.mq("put?queue=q&item=low");
        let old = hust.held("q", "low");
        hust.mq("put?queue=q&item=high&priori=2");
        std::thread::sleep(Duration::from_millis(150));
        let new = hust.held("q", "low");
        assert_eq!(
            hust.mq(&format!("ack?queue=q&token={old}&peer=0")).status,
            412,
            "another delivery"
        );
        assert_eq!(hust.mq(&format!("ack?queue=q&token={new}&peer=0")).status, 200);
        hust.held("q", "high");
    });
}

#[test]
fn item_11_a_queue_is_locked_limited_and_purged() {
    on_a_node(|hust| {
        let of_all = ["lock?queue=q&on=1", "max?queue=q&num=1", "timeout?queue=q&minute=1"];
        for target in of_all.iter().chain(&["purge?queue=q&priori=0", "worker?queue=q"]) {
            assert_eq!(hust.mq(target).status, 412, "{target}: no queue");
        }
        assert_eq!(hust.mq("stat?queue=q").status, 412);
        assert_eq!(hust.mq("get?queue=q&worker=worker").status, 412);
        assert_eq!(hust.mq("put?queue=q&item=a").status, 200);
        assert_eq!(hust.stat("q")["timeout"], json!(5));
        assert_eq!(hust.mq("lock?queue=q&on=1").status, 200);
        assert_eq!(hust.mq("put?queue=q&item=b").status, 401);
        assert_eq!(hust.stat("q")["lock"], json!(1));
        assert_eq!(hust.mq("get?queue=q&worker=worker").status, 200, "a lock stops puts alone");
        assert_eq!(hust.mq("lock?queue=q&on=0").status, 200);
        assert_eq!(hust.mq("max?queue=q&num=2").status, 200);
        assert_eq!(hust.mq("timeout?queue=q&minute=255").status, 200);
        assert_eq!(hust.mq("put?queue=q&item=c").status, 200);
        assert_eq!(hust.mq("put?queue=q&item=d&priori=1").status, 200);
        assert_eq!(hust.mq("put?queue=q&item=e").status, 401, "full");
        assert_eq!(hust.mq("purge?queue=q&priori=0").status, 200);
        let expected = json!({
            "queue": "q", "ready": [0, 1, 0], "unacked": 0, "max": 2, "lock": 0, "type": 0,
            "timeout": 255, "si": 0, "ci": 0, "tm": 0,
        });
        assert_eq!(hust.stat("q"), expected, "a put leaves the settings");
        let workers = hust.mq("worker?queue=q").text();
        let workers: serde_json::Value = serde_json::from_str(&workers).unwrap();
        assert_eq!(workers[0]["w"], json!("worker"));
        assert!(workers[0]["t"].as_u64() > Some(1_600_000_000), "{workers}");
    });
}

/// A failure or another client between two commands cannot leave a queue without its settings, or
/// without its first message: there is one command.
#[test]
fn item_11_a_put_makes_its_queue_by_one_command() {
    let (server, address) = start(&[]);
    let mut hust = Hust::new(client(address), Profile::Node);
    let mut redis = server.connect();
    assert_eq!(hust.mq("put?queue=q&item=a").status, 200);
    assert_eq!(hust.mq("put?queue=q&item=b&priori=2").status, 200);
    let Value::Bulk(stats) = redis.run("INFO commandstats").unwrap() else { panic!("a text") };
    let stats = String::from_utf8_lossy(&stats);
    assert!(stats.contains("cmdstat_q.put:calls=2,"), "{stats}");
    assert!(!stats.contains("cmdstat_q.config"), "{stats}");
    redis.run("SELECT 2").unwrap();
    let settings = format!("{:?}", redis.run("Q.CONFIG GET q").unwrap());
    let default = format!("{:?}", {
        redis.run("Q.CONFIG SET default lease 300000 overdue-first yes").unwrap();
        redis.run("Q.CONFIG GET default").unwrap()
    });
    assert_eq!(settings, default);
}

#[test]
fn item_11_what_is_missing_or_wrong_is_said() {
    on_a_node(|hust| {
        assert_eq!(hust.mq("put?queue=q&item=a").status, 200);
        for missing in [
            "put?queue=q",
            "put?item=a",
            "get?queue=q",
            "get?worker=worker",
            "ack?queue=q",
            "ack?token=0:1.1",
            "timeout?queue=q",
            "lock?queue=q",
            "max?queue=q",
            "purge?queue=q",
            "worker",
            "stat",
            "get",
            "put?queue=&item=a",
        ] {
            assert_eq!(hust.mq(missing).status, 404, "{missing}");
        }
        for wrong in [
            "put?queue=a/b&item=a",
            "put?queue=q&item=a&priori=3",
            "put?queue=q&item=a&priori=-1",
            "get?queue=q&worker=four",
            "timeout?queue=q&minute=0",
            "timeout?queue=q&minute=256",
            "lock?queue=q&on=maybe",
            "max?queue=q&num=-1",
            "purge?queue=q&priori=3",
        ] {
            assert_eq!(hust.mq(wrong).status, 400, "{wrong}");
        }
        assert_eq!(hust.post("mq", "get?queue=q&worker=worker", b"x").status, 405);
        assert_eq!(hust.stat("q")["ready"], json!([1, 0, 0]), "nothing has changed");
    });
}

#[test]
fn item_11_a_restart_keeps_what_is_not_acknowledged() {
    for profile in PROFILES {
        let dir = tempfile::tempdir().unwrap();
        let launch = || {
            let launch = Launch::new(Kind::Basalt).with_http().dir(dir.path());
            let launch = launch.allow_log("torn tail").option("appendonly", "yes");
            launch.option("appendfsync", "always").start()
        };
        let hust = |address| Hust::new(client(address), profile);
        let mut server = launch();
        let mut node = hust(server.http_address().unwrap());
        for item in ["held", "ready"] {
            assert_eq!(node.mq(&format!("put?queue=q&item={item}")).status, 200);
        }
        let token = node.held("q", "held");
        server.kill();
        let server = launch();
        let mut node = hust(server.http_address().unwrap());
        let stat = node.stat("q");
        assert_eq!((&stat["ready"], &stat["unacked"]), (&json!([1, 0, 0]), &json!(1)));
        assert_eq!(node.mq(&format!("ack?queue=q&token={token}&peer=0")).status, 200);
        assert_eq!(node.mq("get?queue=q&worker=worker").text(), "ready");
    }
}

#[test]
fn item_11_a_worker_waits_for_a_message() {
    let (server, address) = start(&[]);
    let mut resp = Connection::open(server.address()).expect("it listens");
    let mut node = Hust::new(client(address), Profile::Node);
    let waits = "GET /evget?queue=q&worker=worker&ack=false";
    let mut workers: Vec<_> = (0..3).map(|_| client(address)).collect();
    for (at, worker) in workers.iter_mut().enumerate() {
        worker.request(waits, "", b"").expect("it is taken");
        wait_for_blocked(&mut resp, at + 1);
    }
    // The worker that has waited longest is served first, with the message itself.
    for (at, worker) in workers.iter_mut().enumerate() {
        assert_eq!(node.mq(&format!("put?queue=q&item=item{at}")).status, 200);
        let taken = worker.response().expect("a message");
        assert_eq!((taken.status, taken.text()), (200, format!("item{at}")));
        assert_eq!(taken.field("ack-peer"), Some("0"));
        let token = taken.field("ack-token").expect("a token");
        assert_eq!(node.mq(&format!("ack?queue=q&token={token}")).status, 200);
    }
    // What was not acknowledged comes again to one that waits, with nobody else's doing.
    resp.run("SELECT 2").unwrap();
    resp.run("Q.CONFIG SET q lease 100").unwrap();
    assert_eq!(node.mq("put?queue=q&item=again").status, 200);
    for worker in &mut workers[..2] {
        assert_eq!(worker.ask(waits, "", b"").text(), "again");
    }
    for (wrong, status) in [("evget?queue=q&worker=four", 404), ("evget?queue=q", 404)] {
        assert_eq!(workers[0].ask(&format!("GET /{wrong}"), "", b"").status, status, "{wrong}");
    }
    assert_eq!(workers[0].ask("POST /evget?queue=q&worker=worker", "", b"x").status, 405);
    node.mq("pub?queue=p&item=a");
    assert_eq!(workers[0].ask("GET /evget?queue=p&worker=worker", "", b"").status, 404);
}

#[test]
fn item_11_a_worker_does_not_wait_for_ever() {
    let (_server, address) = start(&[("http-wait-max", "1")]);
    let mut http = client(address);
    assert_eq!(http.ask("GET /evget?queue=q&worker=worker", "", b"").status, 404, "no queue");
    let mut node = Hust::new(client(address), Profile::Node);
    assert_eq!(node.mq("put?queue=q&item=a").status, 200);
    assert_eq!(http.ask("GET /evget?queue=q&worker=worker", "", b"").text(), "a");
    assert_eq!(http.ask("GET /evget?queue=q&worker=worker", "", b"").status, 404, "empty");
}
