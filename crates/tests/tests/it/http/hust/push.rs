//! Item 12 of what clients of huststore rely on: push queues.

use super::{Hust, Profile, client, for_each_profile, start};
use crate::http::wait_for_blocked;
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::descriptors::Thousands;
use basalt_tests::http::{HttpClient, Response};
use basalt_tests::server::{Kind, Launch};
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

impl Hust {
    fn publish(&mut self, rest: &str) -> u16 {
        self.get("mq", &format!("pub?queue=p&{rest}")).status
    }

    fn at(&mut self, index: u64) -> Response {
        self.get("mq", &format!("sub?queue=p&idx={index}"))
    }

    /// What is outside of the window, which a node tells.
    fn assert_outside(&mut self, index: u64, window: &str) {
        let outside = self.at(index);
        assert_eq!(outside.status, self.status(401), "{outside:?}");
        let told = (self.profile == Profile::Node).then_some(window);
        assert_eq!(outside.field("index"), told, "{outside:?}");
        assert_eq!(outside.field("www-authenticate"), None);
    }
}

/// Runs a test with a client of the front, and where the server is.
fn on_the_front(options: &[(&str, &str)], test: impl Fn(&mut Hust, SocketAddr, &mut Connection)) {
    let (server, address) = start(options);
    let mut resp = Connection::open(server.address()).expect("it listens");
    test(&mut Hust::new(client(address), Profile::Front), address, &mut resp);
}

/// Asks for an item, and does not wait for it.
fn wait_for(address: SocketAddr, index: u64) -> HttpClient {
    let mut http = client(address);
    http.request(&format!("GET /evsub?queue=p&idx={index}"), "", b"").expect("it is taken");
    http
}

fn assert_is(response: &Response, item: &str) {
    assert_eq!((response.status, response.text().as_str()), (200, item), "{response:?}");
}

#[test]
fn item_12_every_subscriber_reads_by_its_own_index() {
    for_each_profile(|hust| {
        for item in ["a", "b", "c"] {
            assert_eq!(hust.publish(&format!("item={item}")), 200);
        }
        for _ in 0..2 {
            for (index, item) in [(1, "a"), (3, "c"), (2, "b")] {
                assert_is(&hust.at(index), item);
            }
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(hust.post("mq", "pub?queue=p", &all).status, 200);
        assert_eq!(hust.at(4).body, all);
        let large = vec![b'x'; 1 << 20];
        assert_eq!(hust.post("mq", "pub?queue=p&ttl=7200", &large).status, 200);
        assert_eq!(hust.at(5).body, large);
    });
}

#[test]
fn item_12_an_index_outside_of_the_window_is_told_where_that_is() {
    for_each_profile(|hust| {
        assert_eq!(hust.at(1).status, hust.status(412), "no queue");
        for item in ["a", "b"] {
            assert_eq!(hust.publish(&format!("item={item}")), 200);
        }
        hust.assert_outside(0, "0-2");
        hust.assert_outside(3, "0-2");
        // One ahead moves the window, one that is not is none.
        assert_eq!(hust.publish("item=c&idx=10"), 200);
        assert_is(&hust.at(10), "c");
        hust.assert_outside(2, "9-10");
        assert_eq!(hust.publish("item=d&idx=4"), 200);
        assert_eq!(hust.publish("item=e&idx=12"), 200);
        for (index, item) in [(10, "c"), (11, "d"), (12, "e")] {
            assert_is(&hust.at(index), item);
        }
        hust.assert_outside(9, "9-12");
        let greatest = (1u64 << 53) - 1;
        assert_eq!(hust.publish(&format!("item=f&idx={greatest}")), 200);
        assert_eq!(hust.publish("item=g"), 200, "there is no last index");
        assert_is(&hust.at(greatest + 1), "g");
    });
}

#[test]
fn item_12_what_is_over_is_not_delivered_and_goes_with_the_next_item() {
    for_each_profile(|hust| {
        let begun = Instant::now();
        for item in ["a", "b"] {
            assert_eq!(hust.publish(&format!("item={item}&ttl=1")), 200);
        }
        assert_eq!(hust.publish("item=c"), 200);
        while hust.at(2).status == 200 {
            assert!(begun.elapsed() < PATIENCE, "they live for ever");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(begun.elapsed() > Duration::from_millis(500), "they were over at once");
        assert_is(&hust.at(3), "c");
        assert_eq!(hust.publish("item=d"), 200);
        hust.assert_outside(2, "2-4");
        assert_is(&hust.at(3), "c");
        assert_is(&hust.at(4), "d");
    });
}

#[test]
fn item_12_an_item_drops_what_is_over_before_it() {
    for_each_profile(|hust| {
        let json = "Content-Type: application/json\r\n";
        let old = br#"["XADD","p","0-*","item","a","at","1000.7200"]"#;
        for _ in 0..20 {
            assert_eq!(hust.http.ask("POST /v1/command?db=2", json, old).status, 200);
        }
        for index in [1, 20] {
            assert_eq!(hust.at(index).status, 404, "inside of the window");
        }
        hust.assert_outside(21, "0-20");
        assert_eq!(hust.publish("item=b"), 200);
        hust.assert_outside(16, "16-21");
        assert_eq!(hust.at(17).status, 404, "not all of them at once");
        assert_eq!(hust.publish("item=c"), 200);
        hust.assert_outside(20, "20-22");
        assert_is(&hust.at(21), "b");
        assert_is(&hust.at(22), "c");
    });
}

#[test]
fn item_12_what_is_missing_or_wrong_is_said() {
    for_each_profile(|hust| {
        for missing in ["pub?queue=p", "pub?item=a", "sub?queue=p", "sub?idx=1", "pub", "sub"] {
            assert_eq!(hust.get("mq", missing).status, 404, "{missing}");
        }
        assert_eq!(hust.post("mq", "pub?queue=p&item=a", b"").status, 404);
        for wrong in [
            "pub?queue=p/q&item=a",
            "pub?queue=p&item=a&ttl=0",
            "pub?queue=p&item=a&ttl=7201",
            "pub?queue=p&item=a&ttl=x",
            "pub?queue=p&item=a&idx=-1",
            "pub?queue=p&item=a&idx=9007199254740992",
            "sub?queue=p&idx=x",
            "sub?queue=p&idx=-1",
        ] {
            assert_eq!(hust.get("mq", wrong).status, hust.status(400), "{wrong}");
        }
        let json = "Content-Type: application/json\r\n";
        for other in [r#"["XADD","p","*","item","a"]"#, r#"["SET","p","a"]"#] {
            let made = hust.http.ask("POST /v1/command?db=2", json, other.as_bytes());
            assert_eq!(made.status, 200, "{}", made.text());
            assert_eq!(hust.publish("item=a"), hust.status(412), "{other}");
            assert_eq!(hust.publish("item=a&idx=7"), hust.status(412), "{other}");
            assert_eq!(hust.at(1).status, hust.status(412), "{other}");
            assert_eq!(hust.http.ask("POST /v1/command?db=2", json, br#"["DEL","p"]"#).status, 200);
        }
    });
}

#[test]
fn item_12_queues_and_push_queues_are_of_two_kinds() {
    let (_server, address) = start(&[]);
    let mut hust = Hust::new(client(address), Profile::Node);
    assert_eq!(hust.publish("item=a"), 200);
    for of_queues in [
        "put?queue=p&item=a",
        "get?queue=p&worker=worker",
        "ack?queue=p&token=0:1.1",
        "timeout?queue=p&minute=1",
        "lock?queue=p&on=1",
        "max?queue=p&num=1",
        "purge?queue=p&priori=0",
    ] {
        assert_eq!(hust.get("mq", of_queues).status, 412, "{of_queues}");
    }
    assert_eq!(hust.get("mq", "put?queue=q&item=a").status, 200);
    assert_eq!(hust.get("mq", "pub?queue=q&item=a").status, 412);
    assert_eq!(hust.get("mq", "sub?queue=q&idx=1").status, 412);
    assert_is(&hust.at(1), "a");
    assert_eq!(hust.publish("item=b&idx=7"), 200);
    let stat = hust.get("mq", "stat?queue=p").text();
    let mut stat: serde_json::Value = serde_json::from_str(&stat).expect("JSON");
    assert!(stat["tm"].as_u64() > Some(1_600_000_000), "{stat}");
    stat["tm"] = json!(0);
    let expected = json!({
        "queue": "p", "ready": [1, 0, 0], "unacked": 0, "max": 0, "lock": 0, "type": 1,
        "timeout": 0, "si": 6, "ci": 7, "tm": 0,
    });
    assert_eq!(stat, expected);
    let json = "Content-Type: application/json\r\n";
    let made = hust.http.ask("POST /v1/command?db=2", json, br#"["SET","s","a"]"#);
    assert_eq!(made.status, 200, "{}", made.text());
    assert_eq!(hust.get("mq", "stat?queue=s").status, 412);
}

#[test]
fn item_12_many_publishers_give_each_item_an_index_of_its_own() {
    const EACH: usize = 50;
    let (_server, address) = start(&[]);
    std::thread::scope(|scope| {
        for publisher in 0..4 {
            scope.spawn(move || {
                let mut hust = Hust::new(client(address), Profile::Node);
                for at in 0..EACH {
                    // Some have an index that others have come to by then.
                    let ahead = if at % 7 == 0 { "&idx=1" } else { "" };
                    let item = format!("item={publisher}-{at}{ahead}");
                    assert_eq!(hust.publish(&item), 200);
                }
            });
        }
    });
    let mut hust = Hust::new(client(address), Profile::Node);
    let mut seen: Vec<String> = (1..=4 * EACH as u64).map(|at| hust.at(at).text()).collect();
    hust.assert_outside(4 * EACH as u64 + 1, "0-200");
    for publisher in 0..4 {
        let own = seen.iter().filter(|item| item.starts_with(&format!("{publisher}-")));
        let expected: Vec<String> = (0..EACH).map(|at| format!("{publisher}-{at}")).collect();
        assert!(own.eq(&expected), "in the order in which they were published");
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4 * EACH);
}

#[test]
fn item_12_subscribers_are_woken_all_at_once_and_resume() {
    const SUBSCRIBERS: usize = 2_000;
    let Some(_thousands) = Thousands::open(14_096) else { return };
    on_the_front(&[], |hust, address, resp| {
        let mut waiting: Vec<_> = (0..SUBSCRIBERS).map(|_| wait_for(address, 1)).collect();
        wait_for_blocked(resp, SUBSCRIBERS);
        for index in 1..=3 {
            assert_eq!(hust.publish(&format!("item=item{index}")), 200);
            for subscriber in &mut waiting {
                assert_is(&subscriber.response().expect("it is woken"), &format!("item{index}"));
                let next = format!("GET /evsub?queue=p&idx={}", index + 1);
                subscriber.request(&next, "", b"").expect("it is taken");
            }
            wait_for_blocked(resp, SUBSCRIBERS);
        }
        // What is there already comes at once, to each where it is.
        for index in [2, 1, 3] {
            assert_is(
                &hust.http.ask(&format!("GET /evsub?queue=p&idx={index}"), "", b""),
                &format!("item{index}"),
            );
        }
    });
}

#[test]
fn item_12_a_subscriber_outside_of_the_window_is_told_at_once() {
    on_the_front(&[], |hust, address, resp| {
        // Nothing is there, so nobody knows where the window will be.
        let mut early = wait_for(address, 7);
        wait_for_blocked(resp, 1);
        for item in ["a", "b"] {
            assert_eq!(hust.publish(&format!("item={item}")), 200);
        }
        let outside = early.response().expect("it is told");
        assert_eq!(outside.status, 403, "{outside:?}");
        assert!(["0-1", "0-2"].contains(&outside.field("index").unwrap()), "{outside:?}");
        assert_eq!(hust.publish("item=c&idx=10"), 200);
        for index in [0, 1, 9, 12] {
            let told = hust.http.ask(&format!("GET /evsub?queue=p&idx={index}"), "", b"");
            assert_eq!((told.status, told.field("index")), (403, Some("9-10")), "{index}");
        }
        let mut next = wait_for(address, 11);
        wait_for_blocked(resp, 1);
        assert_eq!(hust.publish("item=d&idx=20"), 200);
        let told = next.response().expect("it is told");
        assert_eq!((told.status, told.field("index")), (403, Some("19-20")));
    });
}

#[test]
fn item_12_a_subscriber_passes_over_what_is_over() {
    on_the_front(&[], |hust, address, resp| {
        for item in ["a", "b"] {
            assert_eq!(hust.publish(&format!("item={item}&ttl=1")), 200);
        }
        let begun = Instant::now();
        while hust.at(2).status == 200 {
            assert!(begun.elapsed() < PATIENCE, "it lives for ever");
            std::thread::sleep(Duration::from_millis(20));
        }
        // As a client does: it goes on behind the first number.
        let mut index = 1;
        while index < 3 {
            let told = hust.http.ask(&format!("GET /evsub?queue=p&idx={index}"), "", b"");
            assert_eq!(told.status, 403, "{told:?}");
            let (over, newest) = told.field("index").unwrap().split_once('-').unwrap();
            assert_eq!((over.parse(), newest), (Ok(index), "2"));
            index += 1;
        }
        let mut waiting = wait_for(address, index);
        wait_for_blocked(resp, 1);
        assert_eq!(hust.publish("item=c"), 200);
        assert_is(&waiting.response().expect("it is woken"), "c");
    });
}

#[test]
fn item_12_a_subscriber_does_not_wait_for_ever() {
    on_the_front(&[("http-wait-max", "1")], |hust, address, resp| {
        let nothing = hust.http.ask("GET /evsub?queue=p&idx=1", "", b"");
        assert_eq!((nothing.status, nothing.field("index")), (404, None), "no queue");
        assert_eq!(hust.publish("item=a"), 200);
        assert_eq!(hust.http.ask("GET /evsub?queue=p&idx=2", "", b"").status, 404);
        assert_eq!(hust.http.ask("POST /evsub?queue=p&idx=1", "", b"x").status, 405);
        // A client that goes waits no more.
        drop(wait_for(address, 2));
        wait_for_blocked(resp, 0);
    });
}

#[test]
fn item_12_a_restart_keeps_items_and_indexes() {
    let dir = tempfile::tempdir().unwrap();
    let launch = || {
        let launch = Launch::new(Kind::Basalt).with_http().dir(dir.path()).allow_log("torn tail");
        launch.option("appendonly", "yes").option("appendfsync", "always").start()
    };
    let mut server = launch();
    let mut hust = Hust::new(client(server.http_address().unwrap()), Profile::Node);
    for item in ["a&idx=5", "b", "c"] {
        assert_eq!(hust.publish(&format!("item={item}")), 200);
    }
    server.kill();
    let server = launch();
    let mut hust = Hust::new(client(server.http_address().unwrap()), Profile::Node);
    assert_eq!(hust.publish("item=d"), 200);
    for (index, item) in [(5, "a"), (6, "b"), (7, "c"), (8, "d")] {
        assert_is(&hust.at(index), item);
    }
    hust.assert_outside(4, "4-8");
}

#[test]
fn item_12_a_window_that_is_empty_goes_on_counting() {
    let (server, address) = start(&[]);
    let mut hust = Hust::new(client(address), Profile::Node);
    assert_eq!(hust.publish("item=a"), 200);
    let mut resp = Connection::open(server.address()).expect("it listens");
    resp.run("SELECT 2").unwrap();
    assert_eq!(resp.run("XTRIM p MAXLEN 0").unwrap(), Value::Integer(1));
    for index in [0, 1, 2] {
        assert_eq!(hust.at(index).status, 404, "{index}");
    }
    assert_eq!(hust.publish("item=b"), 200);
    assert_is(&hust.at(2), "b");
    hust.assert_outside(1, "1-2");
}
