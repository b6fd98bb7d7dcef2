//! Items 4 to 6 of what clients of huststore rely on: tables, sums, scores.

use super::{Hust, Profile, for_each_profile, version};
use basalt_tests::http::Response;

/// A verb whose member the front takes from the body of a POST alone.
fn member(hust: &mut Hust, target: &str, member: &str) -> Response {
    hust.post("db", target, member.as_bytes())
}

#[test]
fn item_4_tables_have_a_type_and_vanish_when_they_are_empty() {
    for_each_profile(|hust| {
        assert_eq!(version(&hust.db("hset?tb=h&key=f&val=a")), (200, Some(1)));
        assert_eq!(version(&hust.db("hset?tb=h&key=f&val=b&ver=1")), (200, Some(2)));
        assert_eq!(hust.db("hset?tb=h&key=f&val=c&ver=1").status, hust.status(401));
        let read = hust.db("hget?tb=h&key=f");
        assert_eq!((version(&read), read.body.as_slice()), ((200, Some(2)), &b"b"[..]));
        assert_eq!(version(&hust.db("hexist?tb=h&key=f")), (200, Some(2)));
        assert_eq!(hust.db("hget?tb=h&key=g").status, 404, "no field");
        assert_eq!(hust.db("hget?tb=none&key=g").status, hust.status(412), "no table");
        for (gone, status) in [("tb=h&key=g", 404), ("tb=none&key=g", 412)] {
            let gone = hust.db(&format!("hdel?{gone}"));
            assert_eq!(version(&gone), (hust.status(status), Some(0)));
            let told = (hust.profile == Profile::Node).then_some("false");
            assert_eq!(gone.field("vererror"), told, "{gone:?}");
        }
        assert_eq!(member(hust, "sadd?tb=h", "m").status, hust.status(412), "a hash");
        assert_eq!(hust.db("hset?tb=a-b&key=f&val=a").status, hust.status(400));
        assert_eq!(hust.db("hdel?tb=h&key=f&ver=1").status, hust.status(401));
        assert_eq!(version(&hust.db("hdel?tb=h&key=f&ver=2")), (200, Some(2)));
        assert_eq!(hust.db("hget?tb=h&key=f").status, hust.status(412), "the table is gone");
        assert_eq!(version(&member(hust, "sadd?tb=h", "m\0\u{ff}")), (200, Some(1)));
        assert_eq!(version(&member(hust, "sadd?tb=h", "m\0\u{ff}")), (200, Some(2)));
        assert_eq!(version(&member(hust, "sismember?tb=h", "m\0\u{ff}")), (200, Some(2)));
        assert_eq!(member(hust, "sismember?tb=h", "n").status, 404);
        assert_eq!(version(&member(hust, "srem?tb=h", "m\0\u{ff}")), (200, Some(2)));
        assert_eq!(member(hust, "sismember?tb=h", "m").status, hust.status(412));
        if hust.profile == Profile::Front {
            assert_eq!(hust.db("sadd?tb=h&key=m").status, 405);
        }
        // Writes of other nodes.
        assert_eq!(version(&hust.db("hset?tb=h&key=r&val=a&is_dup=1&ver=7")), (200, Some(7)));
        assert_eq!(version(&hust.db("hset?tb=h&key=r&val=b&is_dup=1&ver=6")), (200, Some(7)));
        assert_eq!(hust.db("hget?tb=h&key=r").body, b"a");
        assert_eq!(version(&hust.db("hdel?tb=h&key=r&is_dup=1&ver=6")), (200, Some(7)));
        assert_eq!(version(&hust.db("hdel?tb=h&key=r&is_dup=1&ver=7")), (200, Some(7)));
        // Times to live are those of items.
        assert_eq!(member(hust, "sadd?tb=t&ttl=1", "m").status, 200);
        assert_eq!(member(hust, "sadd?tb=t", "n").status, 200);
        let start = std::time::Instant::now();
        while member(hust, "sismember?tb=t", "m").status == 200 {
            assert!(start.elapsed().as_secs() < 30);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert_eq!(member(hust, "sismember?tb=t", "n").status, 200);
    });
}

#[test]
fn item_5_sums_are_of_whole_numbers() {
    for_each_profile(|hust| {
        let sum = hust.db("hincrby?tb=h&key=n&val=5");
        assert_eq!((version(&sum), sum.text()), ((200, Some(1)), "5".to_owned()));
        assert_eq!(hust.db("hincrby?tb=h&key=n&val=-7").text(), "-2");
        assert_eq!(hust.db("hincrby?tb=h&key=n&val=1&ver=1").status, hust.status(401));
        assert_eq!(hust.db("hincrby?tb=h&key=n&val=1&ver=2").text(), "-1");
        assert_eq!(hust.db("hset?tb=h&key=t&val=text").status, 200);
        assert_eq!(hust.db("hincrby?tb=h&key=t&val=1").status, hust.status(403));
        assert_eq!(hust.db("hincrby?tb=h&key=t&val=x").status, hust.status(400));
    });
}

#[test]
fn item_6_scores_are_set_added_and_subtracted() {
    for_each_profile(|hust| {
        let added = member(hust, "zadd?tb=z&score=5", "m");
        assert_eq!((version(&added), added.text()), ((200, Some(1)), "5".to_owned()));
        assert_eq!(member(hust, "zadd?tb=z&score=3&opt=1", "m").text(), "8");
        assert_eq!(member(hust, "zadd?tb=z&score=10&opt=-1", "m").text(), "-2");
        let score = member(hust, "zscore?tb=z", "m");
        assert_eq!((version(&score), score.text()), ((200, Some(3)), "-2".to_owned()));
        assert_eq!(hust.db("zscore?tb=z&key=m").text(), "-2");
        assert_eq!(version(&member(hust, "zismember?tb=z", "m")), (200, Some(3)));
        assert_eq!(member(hust, "zadd?tb=z&score=1&ver=1", "m").status, hust.status(401));
        assert_eq!(member(hust, "zadd?tb=z", "m").status, 404, "no score");
        assert_eq!(member(hust, "zscore?tb=z", "n").status, 404);
        assert_eq!(member(hust, "zscore?tb=none", "n").status, hust.status(412));
        assert_eq!(version(&member(hust, "zrem?tb=z&ver=3", "m")), (200, Some(3)));
        assert_eq!(member(hust, "zrem?tb=z", "m").status, hust.status(412));
    });
}
