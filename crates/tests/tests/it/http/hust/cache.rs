//! Item 10 of what clients of huststore rely on: the cache.

use super::for_each_profile;

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
