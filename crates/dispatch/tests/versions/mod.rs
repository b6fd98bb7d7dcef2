//! Versions of keys: what CAS.SET, CAS.GET and CAS.DEL answer, and that whatever changes a key
//! moves its version.

mod elements;
mod every_change;

use crate::harness::TestServer;
use basalt_engine::{ChangeSet, CommandContext, Gate, Txn, Version, View};
use basalt_resp::Value;

impl TestServer {
    /// The version of a key of database 0, without leaving a trace.
    fn version(&self, key: &[u8]) -> Version {
        let engine = &*self.server.engine;
        let key = engine.key(key);
        let session = CommandContext::background(0, self.now_ms());
        let view = View::new(engine, engine.lock(&[key]), session);
        view.peek(&key).map_or(Version::NONE, |object| object.version())
    }

    /// Has a key of database 0, which is in memory, have a version.
    fn make_versioned(&self, key: &[u8]) {
        let engine = &*self.server.engine;
        let key = engine.key(key);
        let session = CommandContext::background(0, self.now_ms());
        let mut changes = ChangeSet::default();
        let mut txn = Txn::new(engine, engine.lock(&[key]), session, &mut changes);
        txn.make_versioned(&key);
        txn.commit(&mut Gate::default());
    }

    fn now_ms(&self) -> u64 {
        self.server.engine.clock().unix_ms()
    }

    /// What a CAS command replies: whether it has done something, and a version.
    fn outcome(&mut self, line: &str) -> (bool, Version) {
        match self.line(line) {
            Value::Array(values) => match &values[..] {
                [Value::Integer(is_done), Value::Bulk(version)] => {
                    let number = str::from_utf8(version).expect("digits").parse();
                    (*is_done == 1, Version::new(number.expect("a number")))
                }
                other => panic!("{line}: {other:?}"),
            },
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn a_write_is_made_if_the_version_is_the_one_expected() {
    let mut server = TestServer::new();
    let (is_done, first) = server.outcome("CAS.SET k a NX");
    assert!(is_done && !first.is_none());
    assert_eq!(server.outcome("CAS.SET k b NX"), (false, first));
    let (is_done, second) = server.outcome(&format!("CAS.SET k b IF {}", first.number()));
    assert!(is_done && second > first);
    assert_eq!(server.outcome(&format!("CAS.SET k c IF {}", first.number())), (false, second));
    assert_eq!(server.line("GET k"), Value::Bulk(b"b".to_vec()));
    assert_eq!(server.outcome(&format!("CAS.DEL k IF {}", first.number())), (false, second));
    assert_eq!(server.outcome(&format!("CAS.DEL k IF {}", second.number())), (true, second));
    assert_eq!(server.outcome("CAS.DEL k"), (false, Version::NONE));
    // Under the old version nobody writes to a key that has gone and come again.
    server.line("SET k d");
    assert_eq!(server.version(b"k"), Version::NONE);
    assert_eq!(
        server.outcome(&format!("CAS.SET k e IF {}", second.number())),
        (false, Version::NONE)
    );
    let (_, third) = server.outcome("CAS.SET k e");
    assert!(third > second);
}

#[test]
fn a_digest_stands_for_the_version_of_a_key_that_has_none() {
    let mut server = TestServer::new();
    server.line("SET k hello");
    assert_eq!(server.outcome("CAS.SET k x IFDEQ 0000000000000000"), (false, Version::NONE));
    let (is_done, version) = server.outcome("CAS.SET k x IFDEQ 9555e8555c62dcfd");
    assert!(is_done && !version.is_none());
    assert_eq!(server.version(b"k"), version);
}

#[test]
fn what_has_expired_has_taken_its_version_along() {
    let mut server = TestServer::new();
    server.server.engine.set_active_expiry(false);
    let (_, version) = server.outcome("CAS.SET k a PX 20");
    server.clock.advance_ms(30);
    assert_eq!(
        server.outcome(&format!("CAS.DEL k IF {}", version.number())),
        (false, Version::NONE)
    );
    // Over an entry that is still there, by each way of putting something.
    for line in ["SET k b", "RPUSH k b", "SADD other k", "SUNIONSTORE k other"] {
        server.outcome("CAS.SET k a PX 20");
        server.clock.advance_ms(30);
        server.line(line);
        assert_eq!(server.version(b"k"), Version::NONE, "{line}");
        assert_eq!(server.reopen().version(b"k"), Version::NONE, "{line}, replayed");
    }
    assert_eq!(server.outcome("CAS.SET k a PXAT 1"), (true, Version::NONE), "has expired");
}

#[test]
fn versions_survive_a_crash_and_a_checkpoint() {
    let mut server = TestServer::new();
    for line in [
        "CAS.SET short a",
        "CAS.SET edited abc",
        "APPEND edited def",
        "CAS.SET list a",
        "RPUSH other x y",
        "COPY other list REPLACE",
        "CAS.SET counted a FORCE 5",
        "CAS.SET counted b COUNTED",
    ] {
        assert!(!matches!(server.line(line), Value::Error(_)), "{line}");
    }
    server.run(&["CAS.SET", "long", &"x".repeat(5_000)]);
    server.line("EXPIRE long 1000");
    // A collection with a row for each element, whose changes wait until it is read.
    let members: Vec<String> = (0..300).map(|number| format!("member:{number}")).collect();
    server.line("CAS.SET set a");
    server.line("DEL other");
    let words: Vec<&str> =
        ["SADD", "other"].into_iter().chain(members.iter().map(String::as_str)).collect();
    server.run(&words);
    server.line("COPY other set REPLACE");
    let keys: [&[u8]; 6] = [b"short", b"edited", b"list", b"counted", b"long", b"set"];
    let versions = keys.map(|key| server.version(key));
    assert!(versions.iter().all(|version| !version.is_none()), "{versions:?}");
    assert_eq!(versions[3], Version::new(6));
    let replayed = server.reopen();
    assert_eq!(keys.map(|key| replayed.version(key)), versions, "replayed");
    server.server.engine.checkpoint().expect("a checkpoint");
    let changes = ["SREM set member:7", "SET short b", "PERSIST long", "RPUSH list z"];
    for line in changes {
        server.line(line);
    }
    let later = keys.map(|key| server.version(key));
    for (at, key) in keys.iter().enumerate() {
        let is_changed =
            changes.iter().any(|line| line.as_bytes().windows(key.len()).any(|w| w == *key));
        assert_eq!(later[at] > versions[at], is_changed, "{}", String::from_utf8_lossy(key));
    }
    let mut replayed = server.reopen();
    for key in keys {
        // Reads it, and what waits for that.
        replayed.run(&[&b"OBJECT"[..], b"ENCODING", key]);
    }
    assert_eq!(keys.map(|key| replayed.version(key)), later, "from rows and the rest of the log");
    let (_, next) = replayed.outcome("CAS.SET short c");
    assert!(later.iter().all(|version| next > *version));
}

#[test]
fn transactions_and_scripts_move_versions() {
    let mut server = TestServer::new();
    let (_, mut last) = server.outcome("CAS.SET k a");
    let steps: [&[&str]; 3] = [
        &["MULTI", "SET k b", "APPEND k c", "EXEC"],
        &["EVAL return{redis.call('set',KEYS[1],'d')} 1 k"],
        &["EVAL return{redis.call('cas.set',KEYS[1],'e')} 1 k"],
    ];
    for lines in steps {
        for line in lines {
            assert!(!matches!(server.line(line), Value::Error(_)), "{line}");
        }
        let version = server.version(b"k");
        assert!(version > last, "{lines:?}");
        last = version;
        assert_eq!(server.reopen().version(b"k"), version, "{lines:?}");
    }
}

#[test]
fn a_field_that_expires_moves_the_version_of_its_hash() {
    let mut server = TestServer::new();
    server.line("HSET other f v g w");
    server.line("CAS.SET h a");
    server.line("COPY other h REPLACE");
    server.line("HPEXPIRE h 20 FIELDS 1 f");
    let before = server.version(b"h");
    server.clock.advance_ms(30);
    server.server.engine.expire_due();
    assert_eq!(server.line("HLEN h"), Value::Integer(1));
    assert!(server.version(b"h") > before);
}

#[test]
fn options_are_given_once_and_make_sense() {
    let mut server = TestServer::new();
    for line in [
        "CAS.SET k v IF 1 IF 1",
        "CAS.SET k v NX XX",
        "CAS.SET k v IF",
        "CAS.SET k v FORCE",
        "CAS.SET k v COUNTED FORCE 1",
        "CAS.SET k v EX 1 PX 1",
        "CAS.SET k v nonsense",
        "CAS.DEL k IF",
        "CAS.DEL k IF 1 IF",
    ] {
        assert_eq!(server.line(line), Value::Error(b"ERR syntax error".to_vec()), "{line}");
    }
    for word in ["0", "-1", "+1", "x", "99999999999999999999", "1.5"] {
        for line in [format!("CAS.SET k v IF {word}"), format!("CAS.SET k v FORCE {word}")] {
            let Value::Error(text) = server.line(&line) else { panic!("{line}") };
            assert!(text.starts_with(b"ERR a version is an integer above 0"), "{line}");
        }
    }
    assert_eq!(server.line("EXISTS k"), Value::Integer(0));
    // The largest that can be forced is not the end.
    server.outcome("CAS.SET k v FORCE 9223372036854775807");
    let (_, next) = server.outcome("CAS.SET k v");
    assert_eq!(next.number(), 1 << 63);
    assert!(server.outcome(&format!("CAS.SET k w IF {}", next.number())).0);
    let beyond = server.line("CAS.SET k v FORCE 9223372036854775808");
    assert!(matches!(beyond, Value::Error(_)), "{beyond:?}");
}
