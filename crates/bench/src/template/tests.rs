use super::*;
use crate::keys::Distribution;

fn vocabulary() -> Vocabulary {
    Vocabulary {
        key_prefix: "key:".into(),
        key_bytes: 16,
        keyspace: 1000,
        value_bytes_min: 3,
        value_bytes_max: 3,
        keys_per_request: 2,
        wire: Wire::Resp,
    }
}

fn encode(command: &str, vocabulary: &Vocabulary) -> String {
    let template = Template::compile(command, vocabulary).expect("the command is valid");
    let keys = KeyDraw::new(Distribution::Sequential, vocabulary.keyspace);
    let mut draws = Draws::new(vocabulary, keys, Random::new(1, 0));
    draws.pool.fill(b'v');
    draws.sequence = 7;
    let mut out = Vec::new();
    template.encode(&mut draws, &mut out);
    String::from_utf8(out).expect("all bytes are ASCII here")
}

#[test]
fn set_is_encoded() {
    assert_eq!(
        encode("set __key__ __data__", &vocabulary()),
        "*3\r\n$3\r\nset\r\n$16\r\nkey:000000000007\r\n$3\r\nvvv\r\n"
    );
}

#[test]
fn get_and_set_are_encoded_for_http() {
    let vocabulary = Vocabulary { wire: Wire::Http, ..vocabulary() };
    assert_eq!(
        encode("GET __key__", &vocabulary),
        "GET /v1/strings/key:000000000007 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    );
    assert_eq!(
        encode("SET __key__ __data__", &vocabulary),
        "PUT /v1/strings/key:000000000007 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nvvv"
    );
    for command in ["DEL __key__", "SET __key__", "GET"] {
        assert!(Template::compile(command, &vocabulary).is_err(), "{command}");
    }
}

#[test]
fn several_keys_are_drawn_separately() {
    assert_eq!(
        encode("MSET __pairs__", &vocabulary()),
        "*5\r\n$4\r\nMSET\r\n$16\r\nkey:000000000007\r\n$3\r\nvvv\r\n$16\r\nkey:000000000008\r\n$3\r\nvvv\r\n"
    );
}

#[test]
fn placeholders_inside_words_and_quotes() {
    assert_eq!(
        encode("LPUSH 'my list' a:__rand_int__:b", &vocabulary()),
        "*3\r\n$5\r\nLPUSH\r\n$7\r\nmy list\r\n$16\r\na:000000000007:b\r\n"
    );
}

#[test]
fn value_sizes_in_a_range_carry_their_own_length() {
    let vocabulary = Vocabulary { value_bytes_min: 0, value_bytes_max: 12, ..vocabulary() };
    let text = encode("SET __key__ __data__", &vocabulary);
    let (head, tail) = text.split_once("key:000000000007\r\n$").expect("the key is there");
    assert_eq!(head, "*3\r\n$3\r\nSET\r\n$16\r\n");
    let (len, value) = tail.split_once("\r\n").expect("the length is there");
    assert_eq!(value.len(), len.parse::<usize>().expect("it is a number") + 2);
    assert!(Template::compile("SET a b__data__", &vocabulary).is_err());
}

#[test]
fn numbers_below_a_bound_have_their_own_width() {
    assert_eq!(encode("GET k:__rand:1__", &vocabulary()), "*2\r\n$3\r\nGET\r\n$3\r\nk:0\r\n");
    let text = encode("SETBIT bits:__rand:256__ __rand:1000__ 1", &vocabulary());
    let words: Vec<&str> = text.split("\r\n").collect();
    let key: u32 = words[4].strip_prefix("bits:").expect("the key").parse().expect("a number");
    assert!(key < 256 && words[4].len() == 8, "{text}");
    assert!(words[6].len() == 3 && words[6].parse::<u32>().is_ok(), "{text}");
}

#[test]
fn mistakes_are_refused() {
    assert!(Template::compile("GET __rand:0__", &vocabulary()).is_err());
    assert!(Template::compile("GET __rand:x__", &vocabulary()).is_err());
    assert!(Template::compile("GET __rand:5", &vocabulary()).is_err());
    assert!(Template::compile("", &vocabulary()).is_err());
    assert!(Template::compile("SET 'a", &vocabulary()).is_err());
    assert!(Vocabulary { key_bytes: 6, ..vocabulary() }.check().is_err());
    assert!(Vocabulary { keyspace: 0, ..vocabulary() }.check().is_err());
    assert!(Vocabulary { key_bytes: 7, ..vocabulary() }.check().is_ok());
}
