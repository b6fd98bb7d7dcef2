//! Items 6 to 8 of what clients of huststore rely on: the listings of items, hashes and sets, page
//! by page, and what there is as a whole.

use super::super::{client, start};
use super::{Hust, PROFILES, Profile, for_each_profile};
use basalt_tests::http::Response;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn elements(response: &Response) -> Vec<Value> {
    assert_eq!(response.status, 200, "{response:?}");
    let elements: Vec<Value> = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(response.field("keys"), Some(elements.len().to_string().as_str()));
    elements
}

/// Runs a command of Redis in a database.
fn run(hust: &mut Hust, db: u8, words: &Value) {
    let line = format!("POST /v1/command?db={db}");
    let fields = "Content-Type: application/json\r\n";
    let answer = hust.http.ask(&line, fields, words.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// `count` fields, items or members, a few hundred with each command.
fn fill(hust: &mut Hust, count: usize) {
    let all: Vec<usize> = (0..count).collect();
    for part in all.chunks(500) {
        let pairs = || part.iter().flat_map(|at| [format!("k{at}"), format!("v{at}")]);
        let members = part.iter().map(|at| format!("k{at}"));
        let with = |first: &[&str], rest: Vec<String>| {
            json!(first.iter().map(|it| (*it).to_owned()).chain(rest).collect::<Vec<_>>())
        };
        run(hust, 0, &with(&["MSET"], pairs().collect()));
        run(hust, 1, &with(&["HSET", "h"], pairs().collect()));
        run(hust, 1, &with(&["SADD", "s"], members.collect()));
    }
}

/// What a listing shows of `k0`, `k1` … .
fn expected(count: usize, has_values: bool) -> BTreeMap<String, Value> {
    let encoded = |text: String| {
        let mut encoded = Vec::new();
        base64(text.as_bytes(), &mut encoded);
        String::from_utf8(encoded).unwrap()
    };
    let of = |at: usize| {
        let key = encoded(format!("k{at}"));
        let element = match has_values {
            true => json!({ "key": key, "val": encoded(format!("v{at}")) }),
            false => json!({ "key": key }),
        };
        (key, element)
    };
    (0..count).map(of).collect()
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for part in bytes.chunks(3) {
        let bits = part.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - part.len()));
        let letters = (0..4).map(|at| LETTERS[(bits >> (18 - 6 * at) & 63) as usize]);
        let shown = part.len() + 1;
        out.extend(letters.take(shown).chain(std::iter::repeat_n(b'=', 4 - shown)));
    }
}

const LISTINGS: [(&str, bool); 5] = [
    ("keys?file=0", false),
    ("keys?file=0&noval=false", true),
    ("hkeys?tb=h", false),
    ("hkeys?tb=h&noval=false", true),
    ("smembers?tb=s&noval=false", false),
];

/// All pages of a listing: each element once.
fn all_pages(hust: &mut Hust, target: &str, size: usize) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for offset in (0..).step_by(size) {
        let page = elements(&hust.db(&format!("{target}&offset={offset}&size={size}")));
        let is_last = page.len() < size;
        for element in page {
            let key = element["key"].as_str().unwrap().to_owned();
            assert!(all.insert(key, element).is_none(), "{target}: twice");
        }
        if is_last {
            return all;
        }
    }
    unreachable!("some page is the last");
}

#[test]
fn item_6_pages_have_each_element_once() {
    for_each_profile(|hust| {
        // Few are stored in another form than many.
        for count in [7, 3_000] {
            fill(hust, count);
            for (target, has_values) in LISTINGS {
                let all = all_pages(hust, target, if count == 7 { 3 } else { 700 });
                assert!(all == expected(count, has_values), "{target}: {} of {count}", all.len());
            }
        }
    });
}

#[test]
fn item_6_a_cursor_goes_on_where_a_page_has_ended() {
    for_each_profile(|hust| {
        fill(hust, 3_000);
        for (target, has_values) in LISTINGS {
            let (mut all, mut cursor) = (BTreeMap::new(), "0".to_owned());
            loop {
                let page = hust.db(&format!("{target}&cursor={cursor}&size=500"));
                for element in elements(&page) {
                    all.insert(element["key"].as_str().unwrap().to_owned(), element);
                }
                cursor = page.field("cursor").expect("where to go on").to_owned();
                if cursor == "0" {
                    break;
                }
            }
            assert!(all == expected(3_000, has_values), "{target}: {}", all.len());
        }
    });
}

#[test]
fn item_6_elements_come_with_their_versions() {
    for_each_profile(|hust| {
        for (name, writes) in [("a", 1), ("b", 3)] {
            for number in 1..=writes {
                assert_eq!(hust.db(&format!("put?key={name}&val={number}")).status, 200);
                assert_eq!(hust.db(&format!("hset?tb=h&key={name}&val={number}")).status, 200);
                assert_eq!(hust.post("db", "sadd?tb=s", name.as_bytes()).status, 200);
                let score = format!("zadd?tb=z&key={name}&score={number}");
                assert_eq!(hust.db(&score).status, 200);
            }
        }
        // What was written otherwise has none.
        run(hust, 0, &json!(["SET", "c", "9"]));
        run(hust, 1, &json!(["HSET", "h", "c", "9"]));
        run(hust, 1, &json!(["SADD", "s", "c"]));
        run(hust, 1, &json!(["ZADD", "z", "9", "c"]));
        let listed = |hust: &mut Hust, target: &str| -> BTreeMap<String, Value> {
            let page = hust.db(&format!("{target}&offset=0&size=9"));
            let named = |it: Value| (it["key"].as_str().unwrap().to_owned(), it);
            elements(&page).into_iter().map(named).collect()
        };
        for (target, values) in [
            ("keys?file=0", ["MQ==", "Mw==", "OQ=="].map(|it| json!(it))),
            ("hkeys?tb=h", ["MQ==", "Mw==", "OQ=="].map(|it| json!(it))),
            ("smembers?tb=s", [Value::Null, Value::Null, Value::Null]),
            ("zrangebyrank?tb=z", [json!(1), json!(3), json!(9)]),
            ("zrangebyscore?tb=z&max=9", [json!(1), json!(3), json!(9)]),
        ] {
            let (names, with_values) =
                (listed(hust, target), listed(hust, &format!("{target}&noval=false")));
            let expected = [("YQ==", Some(1)), ("Yg==", Some(3)), ("Yw==", None)];
            assert_eq!(names.len(), 3, "{target}: {names:?}");
            for ((key, version), value) in expected.into_iter().zip(values) {
                let version = version.map_or(Value::Null, |version| json!(version));
                assert_eq!(names[key]["ver"], version, "{target}: {names:?}");
                assert_eq!(names[key].get("val"), None, "{target}: {names:?}");
                assert_eq!(with_values[key]["ver"], version, "{target}: {with_values:?}");
                assert_eq!(with_values[key]["val"], value, "{target}: {with_values:?}");
            }
        }
        // A snapshot has those of its time.
        for (table, target) in
            [("h", "hkeys?tb=h"), ("s", "smembers?tb=s"), ("z", "zrangebyrank?tb=z")]
        {
            assert_eq!(hust.db(&format!("export?tb={table}")).status, 200);
            let before = listed(hust, target);
            match table {
                "h" => hust.db("hset?tb=h&key=a&val=new"),
                "s" => hust.post("db", "sadd?tb=s", b"a"),
                _ => hust.db("zadd?tb=z&key=a&score=1"),
            };
            assert_eq!(listed(hust, target)["YQ=="]["ver"], json!(2));
            assert_eq!(listed(hust, &format!("{target}&async=true")), before);
        }
    });
}

#[test]
fn item_8_listings_have_limits_and_slots() {
    for_each_profile(|hust| {
        fill(hust, 40);
        // The slot of a name is what its bytes sum up to, each 31 times the next.
        let slot =
            |name: &str| name.bytes().fold(0, |hash, byte| hash * 31 + u32::from(byte)) % 1024;
        for target in ["keys?file=0", "hkeys?tb=h", "smembers?tb=s"] {
            let here = (0..40).filter(|at| slot(&format!("k{at}")) < 500).count();
            let half = |range: &str| format!("{target}&offset=0&size=1000&{range}");
            assert_eq!(elements(&hust.db(&half("start=0&end=500"))).len(), here, "{target}");
            assert_eq!(elements(&hust.db(&half("start=500&end=1024"))).len(), 40 - here);
            for (wrong, status) in [
                ("offset=0&size=1001", 400),
                ("offset=0&size=0", 400),
                ("offset=1000001&size=1", 400),
                ("offset=x&size=1", 400),
                ("offset=0&size=1&start=7&end=7", 400),
                ("offset=0&size=1&end=1025", 400),
                ("cursor=x&size=1", 400),
                ("cursor=0&offset=1&size=1", 400),
                ("offset=0", 404),
                ("size=1", 404),
            ] {
                let answer = hust.db(&format!("{target}&{wrong}"));
                assert_eq!(answer.status, hust.status(status), "{target} {wrong}");
            }
            assert!(elements(&hust.db(&format!("{target}&offset=40&size=1"))).is_empty());
            assert!(elements(&hust.db(&format!("{target}&offset=1000000&size=1"))).is_empty());
        }
        for (wrong, status) in [
            ("hkeys?tb=s&offset=0&size=1", 412),
            ("smembers?tb=h&offset=0&size=1", 412),
            ("hkeys?tb=none&offset=0&size=1", 412),
            ("hkeys?offset=0&size=1", 404),
            ("hkeys?tb=a/b&offset=0&size=1", 400),
            ("keys?offset=0&size=1", 404),
            ("keys?file=1&offset=0&size=1", 400),
        ] {
            assert_eq!(hust.db(wrong).status, hust.status(status), "{wrong}");
        }
        if hust.profile == Profile::Front {
            assert_eq!(hust.db("keys?file=0&offset=0&size=1&peer=0").status, 200);
            assert_eq!(hust.db("keys?file=0&offset=0&size=1&peer=1").status, 404);
        }
    });
}

#[test]
fn item_8_names_have_64_letters_at_most() {
    let longest = "aZ9_:.".repeat(11);
    let longest = &longest[..64];
    for_each_profile(|hust| {
        assert_eq!(hust.db(&format!("hset?tb={longest}&key=k&val=v")).status, 200);
        assert_eq!(hust.db(&format!("hget?tb={longest}&key=k")).text(), "v");
        assert_eq!(hust.get("mq", &format!("put?queue={longest}&item=i")).status, 200);
        for wrong in [&format!("{longest}a"), "a-b", "a/b", "a%20b", "a%00", "%ff", "{a}", "a@b"] {
            for (kind, target) in [
                ("db", format!("hset?tb={wrong}&key=k&val=v")),
                ("db", format!("hget?tb={wrong}&key=k")),
                ("db", format!("zadd?tb={wrong}&key=k&score=1")),
                ("db", format!("export?tb={wrong}")),
                ("mq", format!("put?queue={wrong}&item=i")),
                ("mq", format!("stat?queue={wrong}")),
            ] {
                assert_eq!(hust.get(kind, &target).status, hust.status(400), "{target}");
            }
        }
    });
}

/// A page is bounded in bytes, and elements of any size are listed as long as their page is not
/// too large. A name longer than the request's head is one of them.
#[test]
fn item_8_large_elements_are_listed_within_the_limit_of_a_page() {
    let (_server, address) = start(&[("http-json-max", "1mb")]);
    for profile in PROFILES {
        let mut hust = Hust::new(client(address), profile);
        let name = "n".repeat(3_000);
        for at in 0..300 {
            run(&mut hust, 0, &json!(["SET", format!("{name}{at}"), "v".repeat(100_000)]));
            run(&mut hust, 1, &json!(["HSET", "h", format!("{name}{at}"), "v".repeat(100_000)]));
        }
        for target in ["keys?file=0", "hkeys?tb=h"] {
            assert_eq!(elements(&hust.db(&format!("{target}&offset=0&size=200"))).len(), 200);
            assert_eq!(hust.db(&format!("{target}&offset=0&size=300")).status, hust.status(400));
            for offset in [0, 150, 295] {
                let page = hust.db(&format!("{target}&offset={offset}&size=5&noval=false"));
                let page = elements(&page);
                assert_eq!(page.len(), 5, "{target} {offset}");
                let value = page[4]["val"].as_str().unwrap();
                assert_eq!(value.len(), 133_336, "100,000 bytes as base64");
            }
            let page = hust.db(&format!("{target}&offset=0&size=9&noval=false"));
            assert_eq!(page.status, hust.status(400));
            let why = page.field("basalt-error").unwrap();
            assert!(why.starts_with("REPLYTOOLARGE") && why.contains("http-json-max"), "{why}");
        }
        assert_eq!(hust.db("put?key=after&val=1").status, 200, "the connection is as it was");
        run(&mut hust, 0, &json!(["FLUSHALL"]));
    }
}

#[test]
fn tables_and_items_are_counted() {
    for_each_profile(|hust| {
        let total = |response: &Response| -> Value {
            assert_eq!(response.status, 200, "{response:?}");
            serde_json::from_slice(&response.body).unwrap()
        };
        let nothing = total(&hust.db("stat"));
        assert_eq!(nothing["TOTALIZE"]["KVPAIR"]["count"], json!(0));
        assert_eq!(total(&hust.db("stat_all")), json!([nothing]));
        fill(hust, 1_000);
        assert_eq!(hust.db("hset?tb=h:2&key=f&val=v").status, 200);
        assert_eq!(hust.db("zadd?tb=z&key=f&score=1").status, 200);
        run(hust, 1, &json!(["SET", "no_table", "v"]));
        run(hust, 1, &json!(["HSET", "a/b", "f", "v"]));
        let all = total(&hust.db("stat_all"));
        let all = all.as_array().unwrap();
        let totals = &all[0]["TOTALIZE"];
        assert_eq!(totals["KVPAIR"]["count"], json!(1_000));
        assert!(totals["KVPAIR"]["size"].as_u64() > Some(10_000), "{totals}");
        assert_eq!(totals["HASHTABLE"]["count"], json!(1_001));
        let mut tables: Vec<_> = all[1..].iter().collect();
        tables.sort_by_key(|table| table["table"].to_string());
        let shown =
            |table: &Value| (table["table"].clone(), table["type"].clone(), table["count"].clone());
        let expected = [("h", "H", 1_000), ("h:2", "H", 1), ("s", "S", 1_000), ("z", "Z", 1)];
        let expected = expected.map(|(name, kind, count)| (json!(name), json!(kind), json!(count)));
        assert_eq!(tables.iter().map(|table| shown(table)).collect::<Vec<_>>(), expected);
        for (at, (name, _, _)) in expected.iter().enumerate() {
            let one = total(&hust.db(&format!("stat?tb={}", name.as_str().unwrap())));
            assert_eq!(&one, tables[at]);
        }
        assert_eq!(total(&hust.db("stat"))["TOTALIZE"]["HASHTABLE"], totals["HASHTABLE"]);
        for (wrong, status) in [("none", 404), ("no_table", 404), ("a/b", 400)] {
            assert_eq!(hust.db(&format!("stat?tb={wrong}")).status, hust.status(status), "{wrong}");
        }
    });
}

#[test]
fn item_11_all_queues_are_told_of() {
    let (_server, address) = start(&[]);
    let mut hust = Hust::new(client(address), Profile::Node);
    assert_eq!(hust.get("mq", "stat_all").text(), "[]");
    let long = "q".repeat(64);
    for queue in ["a", "b", &long] {
        assert_eq!(hust.get("mq", &format!("put?queue={queue}&item=i&priori=2")).status, 200);
    }
    assert_eq!(hust.get("mq", "pub?queue=pushed&item=i").status, 200);
    run(&mut hust, 2, &json!(["SET", "no_queue", "v"]));
    run(&mut hust, 2, &json!(["XADD", "no_queue_either", "*", "f", "v"]));
    let all: Vec<Value> = serde_json::from_slice(&hust.get("mq", "stat_all").body).unwrap();
    assert_eq!(all.len(), 4, "{all:?}");
    let pushed = hust.get("mq", "stat?queue=pushed");
    assert!(all.contains(&serde_json::from_slice(&pushed.body).unwrap()), "{all:?}");
    for queue in ["a", "b", &long] {
        let one = hust.get("mq", &format!("stat?queue={queue}"));
        let one: Value = serde_json::from_slice(&one.body).unwrap();
        assert_eq!(one["ready"], json!([0, 0, 1]));
        assert!(all.contains(&one), "{one}");
    }
}
