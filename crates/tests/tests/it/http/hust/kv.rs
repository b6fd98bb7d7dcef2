//! Items 1 to 3 of what clients of huststore rely on: bytes, versions, writes of other nodes.

use super::super::{client, start};
use super::{Hust, PROFILES, Profile, for_each_profile, version};
use basalt_resp::Value;

#[test]
fn item_1_any_bytes_come_back_and_nothing_empty_goes_in() {
    for_each_profile(|hust| {
        let all: Vec<u8> = (0..=255).collect();
        let large: Vec<u8> = (0..1_000_003u32).map(|at| (at % 251) as u8).collect();
        for value in [&all[..], b"x", &large] {
            let written = hust.post("db", "put?key=bytes", value);
            assert_eq!(written.status, 200, "{written:?}");
            let read = hust.db("get?key=bytes");
            assert_eq!(read.status, 200);
            assert!(read.body == value, "{} bytes of {}", read.body.len(), value.len());
            assert_eq!(read.field("content-type"), Some("text/plain"));
        }
        // Every byte of a key, and `%3F` does not end it.
        let encoded: String = (0..=255).map(|byte| format!("%{byte:02X}")).collect();
        assert_eq!(hust.post("db", &format!("put?key={encoded}"), b"v").status, 200);
        assert_eq!(hust.db(&format!("get?key={encoded}")).body, b"v");
        assert_eq!(hust.db("put?key=a%3Fb&val=1").status, 200);
        assert_eq!(hust.db("get?key=a").status, 404);
        assert_eq!(hust.db("get?key=a?b").body, b"1");
        // A body stands for the parameter, also of a GET; the last of several counts.
        assert_eq!(hust.db("put?key=q&val=a+b%20c&val=d%25").status, 200);
        assert_eq!(hust.db("get?key=q").body, b"d%");
        let line = format!("GET {}", hust.path("db", "put?key=q&val=query"));
        assert_eq!(hust.http.ask(&line, "", b"body").status, 200);
        assert_eq!(hust.db("get?key=q").body, b"body");
        for missing in
            ["put?key=k", "put?val=v", "put?key=&val=v", "put?key=k&val=", "get", "get?k=k"]
        {
            assert_eq!(hust.db(missing).status, 404, "{missing}");
        }
        assert_eq!(hust.post("db", "put?key=k&val=v", b"").status, 404, "a POST without a body");
    });
}

#[test]
fn item_2_versions_count_and_a_wrong_one_changes_nothing() {
    for_each_profile(|hust| {
        for expected in 1..=3 {
            let put = hust.db(&format!("put?key=k&val=v{expected}"));
            assert_eq!(version(&put), (200, Some(expected)), "{put:?}");
        }
        assert_eq!(version(&hust.db("get?key=k")), (200, Some(3)));
        assert_eq!(version(&hust.db("exist?key=k")), (200, Some(3)));
        assert_eq!(version(&hust.db("put?key=k&val=new&ver=3")), (200, Some(4)));
        let refused = hust.db("put?key=k&val=worse&ver=3");
        match hust.profile {
            Profile::Node => {
                assert_eq!(version(&refused), (401, Some(4)));
                assert_eq!(refused.field("vererror"), Some("true"));
                assert_eq!(refused.field("www-authenticate"), None);
            }
            Profile::Front => {
                assert_eq!(version(&refused), (404, Some(0)));
                assert_eq!(refused.field("vererror"), None);
            }
        }
        assert_eq!(hust.db("get?key=k").body, b"new");
        // No create-if-version.
        let absent = hust.db("put?key=absent&val=v&ver=1");
        assert_eq!(version(&absent), (hust.status(401), Some(0)));
        if hust.profile == Profile::Node {
            assert_eq!(absent.field("vererror"), Some("false"));
        }
        assert_eq!(version(&hust.db("get?key=absent")), (404, Some(0)));
        // A removal returns the version that was there, and forgets it.
        let other = hust.db("del?key=k&ver=3");
        assert_eq!(other.status, hust.status(401));
        assert_eq!(version(&hust.db("del?key=k&ver=4")), (200, Some(4)));
        assert_eq!(version(&hust.db("del?key=k")), (404, Some(0)));
        assert_eq!(version(&hust.db("del?key=k&ver=4")), (404, Some(0)));
        assert_eq!(hust.db("exist?key=k").status, 404);
        assert_eq!(version(&hust.db("put?key=k&val=again")), (200, Some(1)));
    });
}

/// The table of writes that repeat those of another node.
#[test]
fn item_3_writes_of_other_nodes_win_against_lower_and_equal_versions() {
    for_each_profile(|hust| {
        let refused = hust.db("put?key=r&val=v&is_dup=true");
        assert_eq!(refused.status, hust.status(401), "a write without a version");
        assert_eq!(version(&hust.db("put?key=r&val=a&is_dup=true&ver=7")), (200, Some(7)));
        assert_eq!(version(&hust.db("put?key=r&val=b&is_dup=1&ver=7")), (200, Some(7)), "equal");
        assert_eq!(hust.db("get?key=r").body, b"b");
        assert_eq!(version(&hust.db("put?key=r&val=c&is_dup=true&ver=9")), (200, Some(9)));
        let lower = hust.db("put?key=r&val=old&is_dup=true&ver=8");
        assert_eq!(version(&lower), (200, Some(9)), "ignored");
        if hust.profile == Profile::Node {
            assert_eq!(lower.field("vererror"), Some("true"));
        }
        assert_eq!(hust.db("get?key=r").body, b"c");
        // Versions have 63 bits: none of them is followed by 1 again.
        let high = i64::MAX as u64;
        let put = hust.db(&format!("put?key=r&val=d&is_dup=true&ver={high}"));
        assert_eq!(version(&put), (200, Some(high)));
        assert_eq!(version(&hust.db("put?key=r&val=e&is_dup=true&ver=1")), (200, Some(high)));
        let above = hust.db(&format!("put?key=r&val=e&is_dup=true&ver={}", high + 1));
        assert_eq!(above.status, hust.status(400));
        // The next write by a client counts on.
        assert_eq!(version(&hust.db("put?key=s&val=a&is_dup=true&ver=5")), (200, Some(5)));
        assert_eq!(version(&hust.db("put?key=s&val=b")), (200, Some(6)));
        assert_eq!(version(&hust.db("del?key=s&is_dup=true&ver=5")), (200, Some(6)), "ignored");
        assert_eq!(version(&hust.db("del?key=s&is_dup=true&ver=6")), (200, Some(6)));
        assert_eq!(hust.db("get?key=s").status, 404);
        assert_eq!(hust.db("del?key=s&is_dup=true&ver=6").status, 404);
        assert_eq!(version(&hust.db("put?key=s&val=b")), (200, Some(1)));
        assert_eq!(version(&hust.db("del?key=s&is_dup=true")), (200, Some(1)), "whatever is there");
    });
}

/// Whether there is an item, and which version it has, is found out without its value.
#[test]
fn item_2_no_value_is_read_to_see_whether_it_is_there() {
    let (server, address) = start(&[]);
    for profile in PROFILES {
        let mut hust = Hust::new(client(address), profile);
        for (target, expected) in [
            ("put?key=k&val=v", (200, Some(1))),
            ("exist?key=k", (200, Some(1))),
            ("exist?key=absent", (404, Some(0))),
            ("put?key=k&val=w&is_dup=true&ver=9", (200, Some(9))),
            ("put?key=k&val=w&is_dup=true&ver=8", (200, Some(9))),
            ("del?key=k&is_dup=true&ver=9", (200, Some(9))),
            ("hset?tb=t&key=k&val=v", (200, Some(1))),
            ("hexist?tb=t&key=k", (200, Some(1))),
            ("hexist?tb=t&key=absent", (404, Some(0))),
            ("hset?tb=t&key=k&val=w&is_dup=true&ver=9", (200, Some(9))),
            ("hdel?tb=t&key=k&is_dup=true&ver=8", (200, Some(9))),
            ("hdel?tb=t&key=k&is_dup=true&ver=9", (200, Some(9))),
            ("hexist?tb=t&key=k", (hust.status(412), Some(0))),
        ] {
            assert_eq!(version(&hust.db(target)), expected, "{target}");
        }
    }
    let Value::Bulk(stats) = server.connect().run("INFO commandstats").unwrap() else {
        panic!("a text")
    };
    let stats = String::from_utf8_lossy(&stats);
    assert!(stats.contains("cmdstat_cas.exists:"), "{stats}");
    for reads_values in ["cmdstat_cas.get:", "cmdstat_cas.hget:"] {
        assert!(!stats.contains(reads_values), "{stats}");
    }
}

#[test]
fn item_7_a_time_to_live_is_that_of_the_last_write() {
    for_each_profile(|hust| {
        assert_eq!(hust.db("put?key=t&val=a&ttl=1").status, 200);
        assert_eq!(hust.db("put?key=u&val=a&ttl=1").status, 200);
        assert_eq!(hust.db("put?key=u&val=b").status, 200, "for ever, from now on");
        assert_eq!(hust.db("put?key=w&val=b&ttl=2592001").status, 200, "more than there is");
        assert_eq!(hust.db("put?key=x&val=b&ttl=-1").status, hust.status(400));
        assert_eq!(hust.db("put?key=x&val=b&ttl=soon").status, hust.status(400));
        let start = std::time::Instant::now();
        while hust.db("exist?key=t").status == 200 {
            assert!(start.elapsed().as_secs() < 30);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert_eq!(hust.db("get?key=t").status, 404);
        assert_eq!(hust.db("get?key=u").body, b"b");
        let left = hust.http.ask("GET /v1/strings/w", "", b"");
        assert_eq!(left.field("basalt-ttl-ms"), None);
        // Made again, it counts from 1.
        assert_eq!(version(&hust.db("put?key=t&val=b")), (200, Some(1)));
    });
}
