//! The attacks.

use super::attack::{Attack, Scale, Stop, attack};
use super::web::web;
use super::{data, held, scripts};
use crate::client::Connection;
use crate::descriptors::Thousands;
use crate::random::Random;
use crate::server::Server;
use basalt_resp::encode_request;

/// Scripts that end by themselves in tests of a second or two, and are said to be busy before.
const IMPATIENT: &[(&str, &str)] = &[("busy-reply-threshold", "100")];
/// What a client may send before it hears anything.
const SMALL_QUERIES: &[(&str, &str)] = &[("client-query-buffer-limit", "64mb")];
/// What an unread list has, in bytes, and how often it is asked for.
const LIST_BYTES: u64 = 50_000_000;
const LISTS_UNREAD: usize = 60;
const LARGEST_STRING: u64 = 512 << 20;
const LONG_KEY_BYTES: u64 = 500_000_000;
const DIGESTED_BYTES: u64 = 200_000_000;
const DIGESTS: usize = 64;
const MILLIONS: u64 = 2_000_000;
const MANY_KEYS: u64 = 10_000_000;
const HALF_REQUESTS: u64 = 10_000;
/// More elements than there are.
const ALL: &str = "1000000000";

/// All of them, in the order of the table.
pub fn attacks() -> Vec<Attack> {
    [scripted(), unread(), large(), asking_for_many(), many(), held::held(), web()].concat()
}

fn scripted() -> Vec<Attack> {
    let script =
        |name, run| Attack { options: IMPATIENT, allowed_log: &["script"], ..attack(name, run) };
    vec![
        script("endless script", scripts::endless),
        script("endless script that reads a key", scripts::endless_with_a_key),
        script("endless script after a change", scripts::endless_after_a_change),
        script("script that swallows errors", scripts::swallows_errors),
        script("exponential pattern in a script", scripts::exponential_pattern),
        script("table.insert at -2^31", scripts::table_insert),
        script("script that doubles a string", scripts::large_string),
        script("library that does not end", scripts::endless_library),
    ]
}

fn unread() -> Vec<Attack> {
    vec![
        Attack {
            prepare: |server, scale| data::list(server, "list", scale.of(LIST_BYTES)),
            ..attack("60 unread replies of 50 MB", |server, _, stop| unread_lists(server, 1, stop))
        },
        Attack {
            prepare: |server, scale| data::list(server, "list", scale.of(LIST_BYTES)),
            ..attack("five clients with 60 unread replies", |server, _, stop| {
                unread_lists(server, 5, stop);
            })
        },
        Attack {
            prepare: |server, scale| data::string(server, "large", scale.of(LARGEST_STRING)),
            ..attack("unread replies of 512 MB", |server, _, stop| {
                flood(server, &["GET", "large"], LISTS_UNREAD, stop);
            })
        },
        Attack {
            prepare: |server, scale| data::list(server, "list", scale.of(LIST_BYTES)),
            ..attack("EXEC with 60 replies of 50 MB", transaction_of_lists)
        },
        attack("subscriber that does not read", publish_to_the_deaf),
    ]
}

fn large() -> Vec<Attack> {
    let two_sets = |server: &Server, scale: Scale| {
        data::set(server, "{s}one", scale.of(MILLIONS));
        data::set(server, "{s}other", scale.of(MILLIONS));
    };
    vec![
        Attack {
            prepare: two_sets,
            ..attack("SINTERCARD of two sets of 2 M", |server, _, stop| {
                repeat(server, &["SINTERCARD", "2", "{s}one", "{s}other"], stop);
            })
        },
        Attack {
            prepare: two_sets,
            data_bytes: |scale| scale.of(MILLIONS * 200),
            ..attack("SUNIONSTORE of two sets of 2 M", |server, _, stop| {
                repeat(server, &["SUNIONSTORE", "{s}to", "{s}one", "{s}other"], stop);
            })
        },
        Attack {
            prepare: |server, scale| data::set(server, "set", scale.of(MILLIONS)),
            ..attack("SORT of 2 M", |server, _, stop| {
                repeat(server, &["SORT", "set", "ALPHA", "LIMIT", "0", "1"], stop);
            })
        },
        Attack {
            prepare: |server, scale| data::sorted_set(server, "zset", scale.of(MILLIONS)),
            data_bytes: |scale| scale.of(MILLIONS * 200),
            ..attack("ZUNIONSTORE of 2 M", |server, _, stop| {
                repeat(server, &["ZUNIONSTORE", "{zset}to", "1", "zset"], stop);
            })
        },
        Attack {
            prepare: |server, scale| data::hash(server, "{h}one", scale.of(MILLIONS)),
            ..attack("RENAME of a hash of 2 M", |server, _, stop| {
                let mut connection = server.connect();
                while !stop.is_set()
                    && connection.run("RENAME {h}one {h}other").is_ok()
                    && connection.run("RENAME {h}other {h}one").is_ok()
                {}
            })
        },
        Attack {
            prepare: |server, scale| data::string(server, "key", scale.of(DIGESTED_BYTES)),
            ..attack("64 pipelined digests of 200 MB", |server, _, stop| {
                let mut connection = server.connect();
                let mut request = Vec::new();
                encode_request(&["SET", "key", "v", "IFDEQ", &"0".repeat(16)], &mut request);
                let requests = request.repeat(DIGESTS);
                while !stop.is_set() && connection.send_raw(&requests).is_ok() {
                    if (0..DIGESTS).any(|_| stop.is_set() || connection.receive().is_err()) {
                        return;
                    }
                }
            })
        },
        Attack {
            prepare: |server, scale| data::string(server, "{b}one", scale.of(LARGEST_STRING)),
            data_bytes: |scale| scale.of(LARGEST_STRING),
            ..attack("BITOP on 512 MB", |server, _, stop| {
                repeat(server, &["BITOP", "NOT", "{b}to", "{b}one"], stop);
            })
        },
    ]
}

/// Few words that ask for many elements.
fn asking_for_many() -> Vec<Attack> {
    vec![
        Attack {
            prepare: |server, _| data::set(server, "set", 1_000),
            ..attack("SRANDMEMBER of 5 M with repetitions", |server, scale, stop| {
                let count = format!("-{}", scale.of(5_000_000));
                repeat(server, &["SRANDMEMBER", "set", &count], stop);
            })
        },
        Attack {
            prepare: |server, scale| data::sorted_set(server, "zset", scale.of(MILLIONS)),
            ..attack("ZRANGEBYSCORE of 2 M", |server, _, stop| {
                repeat(server, &["ZRANGEBYSCORE", "zset", "-inf", "+inf"], stop);
            })
        },
        Attack {
            prepare: |server, scale| data::set(server, "set", scale.of(MILLIONS)),
            ..attack("SSCAN of 2 M in one call", |server, _, stop| {
                repeat(server, &["SSCAN", "set", "0", "COUNT", ALL, "MATCH", "none"], stop);
            })
        },
        Attack {
            prepare: |server, scale| data::strings(server, scale.of(MANY_KEYS)),
            ..attack("SCAN of 10 M keys in one call", |server, _, stop| {
                repeat(server, &["SCAN", "0", "COUNT", ALL, "MATCH", "none"], stop);
            })
        },
    ]
}

fn many() -> Vec<Attack> {
    vec![
        Attack {
            prepare: |server, scale| data::strings(server, scale.of(MANY_KEYS)),
            ..attack("KEYS over 10 M keys", |server, _, stop| {
                repeat(server, &["KEYS", "*a*b*c*d"], stop);
            })
        },
        Attack {
            prepare: |server, _| {
                let key = "a".repeat(200);
                data::load(server, &["MSET"], 1_000, |number, words| {
                    words.extend([format!("{key}{number}"), "v".to_owned()]);
                });
            },
            ..attack("KEYS with an exponential pattern", |server, _, stop| {
                let pattern = format!("{}b", "*a".repeat(60));
                repeat(server, &["KEYS", &pattern], stop);
            })
        },
        attack("10,000 half requests", half_requests),
        Attack {
            // The connection's buffer, and the one before, which the allocator keeps for a second.
            data_bytes: |scale| scale.of(2 * LARGEST_STRING),
            ..attack("GET of keys of 500 MB", |server, scale, stop| {
                repeat_with_long_key(server, scale.of(LONG_KEY_BYTES), stop);
            })
        },
        Attack {
            options: SMALL_QUERIES,
            ..attack("endless request", |server, _, stop| {
                endless(server, b"*1000000\r\n", &large_word(), stop);
            })
        },
        Attack {
            options: SMALL_QUERIES,
            ..attack("endless transaction", |server, _, stop| {
                let mut set = Vec::new();
                encode_request(&["SET", "key", &"x".repeat(1 << 20)], &mut set);
                endless(server, b"MULTI\r\n", &set, stop);
            })
        },
        attack("EXEC of 1 M commands", long_transaction),
        attack("connections that come and go", |server, _, stop| {
            while !stop.is_set() {
                let open = || Connection::open(server.address());
                let Ok(connections) = (0..100).map(|_| open()).collect::<Result<Vec<_>, _>>()
                else {
                    return;
                };
                drop(connections);
            }
        }),
        attack("random bytes", random_bytes),
    ]
}

/// Sends a request and reads its reply, again and again.
fn repeat(server: &Server, request: &[&str], stop: &Stop) {
    let Ok(mut connection) = Connection::open(server.address()) else { return };
    while !stop.is_set() && connection.call(request).is_ok() {}
}

/// Sends a request with this many bytes of key and reads its reply, again and again.
fn repeat_with_long_key(server: &Server, bytes: u64, stop: &Stop) {
    let mut request = Vec::new();
    encode_request(&["GET", &"k".repeat(bytes as usize)], &mut request);
    let mut connection = server.connect();
    while !stop.is_set() && connection.send_raw(&request).is_ok() && connection.receive().is_ok() {}
}

/// Sends a request `count` times in one go and reads nothing.
fn flood(server: &Server, request: &[&str], count: usize, stop: &Stop) {
    let mut bytes = Vec::new();
    (0..count).for_each(|_| encode_request(request, &mut bytes));
    let mut connection = server.connect();
    let _ = connection.send_raw(&bytes);
    stop.wait();
}

fn unread_lists(server: &Server, clients: usize, stop: &Stop) {
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| flood(server, &["LRANGE", "list", "0", "-1"], LISTS_UNREAD, stop));
        }
    });
}

fn transaction_of_lists(server: &Server, _: Scale, stop: &Stop) {
    let mut bytes = b"MULTI\r\n".to_vec();
    for _ in 0..LISTS_UNREAD {
        encode_request(&["LRANGE", "list", "0", "-1"], &mut bytes);
    }
    bytes.extend(b"EXEC\r\n");
    let mut connection = server.connect();
    let _ = connection.send_raw(&bytes);
    stop.wait();
}

fn publish_to_the_deaf(server: &Server, _: Scale, stop: &Stop) {
    let mut deaf = server.connect();
    let _ = deaf.send(&["SUBSCRIBE", "channel"]);
    repeat(server, &["PUBLISH", "channel", &"x".repeat(1 << 20)], stop);
}

fn half_requests(server: &Server, scale: Scale, stop: &Stop) {
    let count = scale.of(HALF_REQUESTS);
    let Some(_permission) = Thousands::open(count + 1_000) else { return };
    let mut connections = Vec::new();
    let half = format!("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$100000\r\n{}", "x".repeat(1_000));
    while !stop.is_set() && (connections.len() as u64) < count {
        let Ok(mut connection) = Connection::open(server.address()) else { break };
        if connection.send_raw(half.as_bytes()).is_ok() {
            connections.push(connection);
        }
    }
    stop.wait();
}

fn large_word() -> Vec<u8> {
    let mut word = format!("${}\r\n", 1 << 20).into_bytes();
    word.resize(word.len() + (1 << 20), b'x');
    word.extend(b"\r\n");
    word
}

/// Sends `head` once and `rest` for as long as it is taken, on one connection after the other.
fn endless(server: &Server, head: &[u8], rest: &[u8], stop: &Stop) {
    while !stop.is_set() {
        let Ok(mut connection) = Connection::open(server.address()) else { return };
        let mut goes_on = connection.send_raw(head).is_ok();
        while goes_on && !stop.is_set() {
            goes_on = connection.send_raw(rest).is_ok();
        }
    }
}

fn long_transaction(server: &Server, scale: Scale, stop: &Stop) {
    let commands = scale.of(1_000_000) as usize;
    let mut bytes = b"MULTI\r\n".to_vec();
    (0..commands).for_each(|_| encode_request(&["INCR", "counter"], &mut bytes));
    bytes.extend(b"EXEC\r\n");
    while !stop.is_set() {
        let Ok(mut connection) = Connection::open(server.address()) else { return };
        let Ok(mut sender) = connection.sender() else { return };
        std::thread::scope(|scope| {
            scope.spawn(|| std::io::Write::write_all(&mut sender, &bytes));
            for _ in 0..commands + 2 {
                if connection.receive().is_err() {
                    break;
                }
            }
        });
    }
}

fn random_bytes(server: &Server, _: Scale, stop: &Stop) {
    let mut random = Random::from_environment();
    while !stop.is_set() {
        let Ok(mut connection) = Connection::open(server.address()) else { return };
        let length = 1 + random.below(100_000) as usize;
        let _ = connection.send_raw(&random.bytes(length));
        let _ = connection.finish_sending();
        let _ = connection.receive_to_end();
    }
}
