//! Item 10 of what clients of huststore rely on: the cache.

use super::for_each_profile;

#[test]
fn item_10_any_bytes_are_cached_and_numbers_are_numbers() {
    for_each_profile(|hust| {
        let all: Vec<u8> = (0..=255).collect();
        for target in ["put?key=b", "hset?tb=t&key=b"] {
            assert_eq!(hust.post("cache", target, &all).status, 200);
        }
        assert_eq!(hust.get("cache", "get?key=b").body, all);
        assert_eq!(hust.get("cache", "hget?tb=t&key=b").body, all);
        assert_eq!(hust.post("cache", "append?key=b", &all).status, 200);
        assert_eq!(hust.get("cache", "get?key=b").body, [&all[..], &all].concat());
        let mut cache = |target: &str| {
            let response = hust.get("cache", target);
            (response.status, response.text())
        };
        assert_eq!(cache("hincrbyfloat?tb=t&key=f&val=0.1"), (200, "0.1".to_owned()));
        assert_eq!(cache("hincrbyfloat?tb=t&key=f&val=0.2"), (200, "0.3".to_owned()));
        assert_eq!(cache("hincrbyfloat?tb=t&key=f&val=x").0, 404);
        assert_eq!(cache("hincrbyfloat?tb=t&key=b&val=1").0, 404, "no number is there");
        assert_eq!(cache("hincrby?tb=t&key=n&val=9223372036854775807").0, 200);
        assert_eq!(cache("hincrby?tb=t&key=n&val=1").0, 404, "too large");
        assert_eq!(cache("hincrby?tb=t&key=n&val=0").1, "9223372036854775807");
        assert_eq!(cache("put?key=short&val=v&ttl=1"), (200, String::new()));
        let start = std::time::Instant::now();
        while cache("exist?key=short").0 == 200 {
            assert!(start.elapsed().as_secs() < 30);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert_eq!(cache("get?key=short").0, 404);
    });
}

#[test]
fn item_10_the_cache_has_its_verbs() {
    for_each_profile(|hust| {
        let mut cache = |target: &str| {
            let response = hust.get("cache", target);
            (response.status, response.text())
        };
        let done = (200, String::new());
        let nothing = (404, String::new());
        let is = |text: &str| (200, text.to_owned());
        assert_eq!(cache("get?key=k"), nothing);
        assert_eq!(cache("put?key=k&val=v"), done);
        assert_eq!(cache("get?key=k"), is("v"));
        assert_eq!(cache("append?key=k&val=w"), done);
        assert_eq!(cache("get?key=k"), is("vw"));
        assert_eq!(cache("exist?key=k"), done);
        assert_eq!(cache("ttl?key=k"), is("-1"));
        assert_eq!(cache("persist?key=k"), nothing);
        assert_eq!(cache("expire?key=k&ttl=100"), done);
        assert_eq!(cache("ttl?key=k"), is("100"));
        assert_eq!(cache("persist?key=k"), done);
        assert_eq!(cache("expire?key=k&ttl=0"), nothing);
        assert_eq!(cache("expire?key=absent&ttl=1"), nothing);
        assert_eq!(cache("put?key=k&val=v&ttl=50"), done);
        assert_eq!(cache("ttl?key=k"), is("50"));
        assert_eq!(cache("del?key=k"), done);
        assert_eq!(cache("del?key=k"), nothing);
        assert_eq!(cache("ttl?key=k"), nothing);
        assert_eq!(cache("hset?tb=t&key=f&val=1"), done);
        assert_eq!(cache("hset?tb=t&key=f&val=5"), done);
        assert_eq!(cache("hget?tb=t&key=f"), is("5"));
        assert_eq!(cache("hexist?tb=t&key=f"), done);
        assert_eq!(cache("hincrby?tb=t&key=f&val=-7"), is("-2"));
        assert_eq!(cache("hincrbyfloat?tb=t&key=f&val=0.5"), is("-1.5"));
        assert_eq!(cache("hincrby?tb=t&key=f&val=1"), nothing, "no whole number");
        assert_eq!(cache("append?key=t&val=x"), nothing, "a table");
        assert_eq!(cache("get?key=t"), nothing, "a table");
        assert_eq!(cache("hdel?tb=t&key=f"), done);
        assert_eq!(cache("hdel?tb=t&key=f"), nothing);
        assert_eq!(cache("hget?tb=t&key=f"), nothing);
        assert_eq!(cache("put?key=k"), nothing, "no value");
        // What is cached is no item.
        assert_eq!(cache("put?key=k&val=cached"), done);
        assert_eq!(hust.db("get?key=k").status, 404);
        assert_eq!(hust.db("put?key=k&val=item").status, 200);
        assert_eq!(hust.get("cache", "get?key=k").body, b"cached");
    });
}
