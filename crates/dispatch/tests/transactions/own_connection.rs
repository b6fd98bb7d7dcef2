//! What commands about the connection do within EXEC, against a real Redis: they take effect in
//! their turn, for the commands behind them.

use crate::harness::TestServer;
use crate::harness::redis::Redis;

/// Transactions, their commands separated by semicolons.
const TRANSACTIONS: &[&str] = &[
    "GET a; CLIENT TRACKING ON; GET b; GET c; CLIENT TRACKINGINFO",
    "CLIENT TRACKING ON; GET a; CLIENT TRACKING OFF; GET b; CLIENT TRACKINGINFO; CLIENT GETREDIR",
    "CLIENT TRACKING ON; CLIENT TRACKINGINFO; GET a; CLIENT GETREDIR",
    "CLIENT TRACKING ON OPTIN; GET a; CLIENT CACHING YES; GET b; GET c; CLIENT TRACKINGINFO",
    "CLIENT TRACKING ON OPTOUT; GET a; CLIENT CACHING NO; GET b; GET c; CLIENT TRACKINGINFO",
    "CLIENT TRACKING ON OPTOUT; CLIENT CACHING YES; CLIENT TRACKING ON OPTIN; GET b",
    "CLIENT TRACKING ON BCAST PREFIX p; CLIENT TRACKINGINFO; SET pa 1; CLIENT TRACKING OFF",
    "CLIENT TRACKING ON BCAST; CLIENT TRACKING ON; CLIENT TRACKING OFF; CLIENT TRACKING ON; GET a",
    "CLIENT TRACKING ON NOLOOP; GET a; SET a 1; GET b; CLIENT TRACKINGINFO",
    "CLIENT CACHING YES; CLIENT TRACKING MAYBE; CLIENT TRACKING ON BOGUS; GET a",
    "CLIENT TRACKING ON REDIRECT 99999; CLIENT TRACKING ON PREFIX p; GET a",
    "CLIENT TRACKING ON; MGET a b c; EVAL return(redis.call('GET',KEYS[1])) 1 d; FLUSHALL; GET b",
    "CLIENT SETNAME me; CLIENT GETNAME; CLIENT SETNAME other; CLIENT GETNAME",
    "SELECT 1; SET k 1; GET k; SELECT 0; GET k; SELECT 99; GET k",
    "SELECT 2; FLUSHDB; CLIENT TRACKING ON; GET k; DBSIZE",
    "CLIENT NO-EVICT ON; CLIENT NO-EVICT MAYBE; PING; CLIENT NO-EVICT OFF",
    "HELLO 3; CLIENT TRACKINGINFO; HGETALL h; HELLO 2; HGETALL h; CLIENT TRACKINGINFO",
    "HELLO 9; PING",
    "CLIENT REPLY ON; PING",
    "CLIENT UNBLOCK 99999; CLIENT KILL ID 99999; CLIENT PAUSE x; CLIENT UNPAUSE; PING",
    "AUTH x; AUTH default y; PING; ECHO z",
];

/// What remains of a transaction.
const AFTERWARDS: &[&str] = &[
    "CLIENT TRACKINGINFO",
    "GET z",
    "CLIENT GETNAME",
    "GET k",
    "HGETALL h",
    "CLIENT TRACKINGINFO",
];

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// What HELLO answers differs in the version and in the number of the connection.
fn reply(bytes: &[u8]) -> String {
    let text = bytes.escape_ascii().to_string();
    let places = [("version\\r\\n", "proto\\r\\n"), ("id\\r\\n", "$4\\r\\nmode")];
    places.iter().fold(text, |text, (from, to)| {
        let parts = text.split(from).enumerate().map(|(number, part)| match part.find(to) {
            Some(end) if number > 0 => part[end..].to_owned(),
            _ => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join(from)
    })
}

/// How many keys are tracked, and by how many clients in all. Redis keeps those of a client that
/// has switched tracking off until it comes across them.
fn tracked(info: &[u8], transaction: &str) -> Vec<String> {
    if transaction.contains("TRACKING OFF") {
        return Vec::new();
    }
    let info = String::from_utf8_lossy(info);
    let names = ["tracking_total_keys", "tracking_total_items", "tracking_total_prefixes"];
    let lines = info.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
    lines.map(str::to_owned).collect()
}

/// What a connection is answered, and what is tracked at the end.
fn answers(run: &mut dyn FnMut(&[&str]) -> Vec<u8>, transaction: &str) -> Vec<String> {
    let before = ["RESET", "FLUSHALL", "HSET h f v", "MSET a 1 b 2 c 3 d 4", "MULTI"];
    before.iter().for_each(|line| drop(run(&words(line))));
    let mut answers: Vec<String> = Vec::new();
    for line in transaction.split("; ").chain(["EXEC"]) {
        answers.push(reply(&run(&words(line))));
    }
    answers.extend(tracked(&run(&["INFO", "stats"]), transaction));
    for line in AFTERWARDS {
        answers.push(reply(&run(&words(line))));
    }
    answers.extend(tracked(&run(&["INFO", "stats"]), transaction));
    answers
}

#[test]
fn commands_about_the_connection_take_effect_in_their_turn() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let mut different = Vec::new();
    for transaction in TRANSACTIONS {
        let ours = answers(&mut |words| server.run_for_bytes(words), transaction);
        let theirs = answers(&mut |words| redis.run_for_bytes(words), transaction);
        for (ours, theirs) in ours.iter().zip(&theirs) {
            if ours != theirs {
                different.push(format!("{transaction}\n  redis:  {theirs}\n  basalt: {ours}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
