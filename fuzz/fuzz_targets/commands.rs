//! Arbitrary argument lists through the dispatch, over an engine with a log in memory, alone and
//! several in a batch: no command panics, and each gives exactly one reply, or one a channel,
//! unless CLIENT REPLY has switched replies off.
//!
//! Arguments are drawn from what commands understand as well as from the input itself. One server
//! serves many inputs, because opening one takes longer than running a hundred commands, and
//! emptying it as long as running ten: an input begins without the keys that are drawn most, and
//! now and then without any. An input that sets an option gets a server that is thrown away.
//!
//! Run it with `-detect_leaks=0`: looking for leaks after each input, because a server outlives it,
//! takes a hundred times as long as the input.
#![no_main]

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../../crates/dispatch/tests/harness/mod.rs"]
mod harness;

use basalt_service::session::Replies;
use basalt_resp::{decode, encode_request};
use harness::TestServer;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::cell::{Cell, RefCell};

const COMMANDS_MAX: usize = 24;
const ARGUMENTS_MAX: usize = 8;
/// A value may be made this long by offset: small enough for LCS of two of them.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "10",
    "100",
    "3000",
    "5000",
    "1704067200",
    "1704067200000",
    "1704067201",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551616",
    "1.5",
    "-0.0",
    "1e400",
    "inf",
    "nan",
    "0x10",
    "1e-400",
    "01",
    "+1",
    " 1",
    "",
];
const WORDS: &[&str] = &[
    "NX",
    "XX",
    "GT",
    "LT",
    "GET",
    "EX",
    "PX",
    "EXAT",
    "PXAT",
    "KEEPTTL",
    "PERSIST",
    "MATCH",
    "COUNT",
    "TYPE",
    "string",
    "*",
    "?",
    "[a-",
    "k*",
    "IDX",
    "LEN",
    "MINMATCHLEN",
    "WITHMATCHLEN",
    "DB",
    "REPLACE",
    "ASYNC",
    "SYNC",
    "ON",
    "OFF",
    "SKIP",
    "ID",
    "ADDR",
    "LADDR",
    "SKIPME",
    "yes",
    "no",
    "USER",
    "default",
    "AUTH",
    "SETNAME",
    "LIB-NAME",
    "LIB-VER",
    "RELOAD",
    "SLEEP",
    "JMAP",
    "SET-ACTIVE-EXPIRE",
    "OBJECT",
    "QUICKLIST-PACKED-THRESHOLD",
    "all",
    "everything",
    "server",
    "BIT",
    "BYTE",
    "AND",
    "XOR",
    "NOT",
    "SET",
    "INCRBY",
    "OVERFLOW",
    "SAT",
    "FAIL",
    "i64",
    "u7",
    "#3",
    "DECODE",
    "TODENSE",
];
const KEYS: &[&str] = &["k", "key", "{k}1", "{k}2", "other", "number", "{", "{}", "long"];

/// Inputs after which the server is emptied.
const INPUTS_A_FLUSH: u64 = 512;

thread_local! {
    static SERVER: RefCell<Option<TestServer>> = const { RefCell::new(None) };
    static INPUTS: Cell<u64> = const { Cell::new(0) };
}

fn argument(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    Ok(match input.int_in_range(0..=6)? {
        0 | 1 => input.choose(KEYS)?.as_bytes().to_vec(),
        2 => input.choose(NUMBERS)?.as_bytes().to_vec(),
        3 => input.choose(WORDS)?.as_bytes().to_vec(),
        4 => input.arbitrary::<i16>()?.to_string().into_bytes(),
        5 => vec![b'x'; usize::from(input.arbitrary::<u8>()?) * 20],
        _ => {
            let len = input.int_in_range(0..=24)?;
            input.bytes(len)?.to_vec()
        }
    })
}

fn request(names: &[String], input: &mut Unstructured<'_>) -> Result<Vec<Vec<u8>>> {
    let name = if input.ratio(1, 30)? { "?" } else { input.choose(names)?.as_str() };
    let mut words: Vec<Vec<u8>> = name.split('|').map(|word| word.as_bytes().to_vec()).collect();
    for _ in 0..input.int_in_range(0..=ARGUMENTS_MAX)? {
        words.push(argument(input)?);
    }
    Ok(words)
}

/// How many replies may come, by what became of replies before and after.
fn expected(before: Replies, after: Replies) -> &'static [usize] {
    match (before, after) {
        (Replies::On | Replies::Off, Replies::On) => &[1],
        (Replies::SkipNext | Replies::Skip, Replies::On) => &[0, 1],
        _ => &[0],
    }
}

/// Runs requests in one batch, of which nothing is known but that whole replies come out.
fn run_together(server: &mut TestServer, requests: &[Vec<Vec<u8>>]) {
    let mut input = Vec::new();
    requests.iter().for_each(|words| encode_request(words, &mut input));
    let bytes = server.run_bytes(input, requests.len());
    let mut at = 0;
    while at < bytes.len() {
        at += decode(&bytes[at..]).expect("a reply").expect("a whole reply").1;
    }
}

fn run(server: &mut TestServer, words: &[Vec<u8>]) {
    let before = server.session.replies;
    let bytes = server.run_for_bytes(words);
    let (mut at, mut replies) = (0, 0);
    while at < bytes.len() {
        let (_, len) = decode(&bytes[at..]).expect("a reply").expect("a whole reply");
        at += len;
        replies += 1;
    }
    let expected = expected(before, server.session.replies);
    // One for each channel, also in a transaction, and also for a client that wants no replies:
    // they are pushed.
    let name = words[0].to_ascii_lowercase();
    let is_pushed = replies > 0 && (name.ends_with(b"subscribe") || name == b"exec");
    assert!(expected.contains(&replies) || is_pushed, "{replies} replies instead of {expected:?}");
}

fn is_left_out(name: &str) -> bool {
    // It answers only if it fails.
    name == "shutdown"
}

fn is_setting(words: &[Vec<u8>]) -> bool {
    let is = |index: usize, name: &[u8]| {
        words.get(index).is_some_and(|word| word.eq_ignore_ascii_case(name))
    };
    is(0, b"config") && is(1, b"set")
}

fn new_server() -> TestServer {
    let mut server = TestServer::new();
    server.configure("proto-max-bulk-len", "1048576");
    server.log.forget_records();
    server
}

fuzz_target!(|data: &[u8]| {
    SERVER.with_borrow_mut(|kept| {
        let first = kept.get_or_insert_with(new_server);
        let mut server = first.another_connection();
        INPUTS.set(INPUTS.get() + 1);
        if INPUTS.get().is_multiple_of(INPUTS_A_FLUSH) {
            server.run_for_bytes(&["FLUSHALL"]);
        }
        server.run_for_bytes(&[&["DEL"], KEYS].concat());
        let names: Vec<String> = server
            .server
            .commands
            .table
            .all()
            .iter()
            .map(|command| command.spec.name.to_owned())
            .filter(|name| !is_left_out(name))
            .collect();
        let mut input = Unstructured::new(data);
        let mut configures = false;
        let mut together = Vec::new();
        for _ in 0..COMMANDS_MAX {
            if input.is_empty() {
                break;
            }
            let Ok(words) = request(&names, &mut input) else { break };
            // Rarely: a new server takes as long as a hundred inputs.
            if is_setting(&words) && !input.ratio(1, 50).unwrap_or(false) {
                continue;
            }
            configures |= is_setting(&words);
            server.clock.advance_ms(u64::from(input.arbitrary::<u8>().unwrap_or(0)));
            // Some requests come together with the ones before, so that they run in one batch.
            together.push(words);
            if input.ratio(1, 2).unwrap_or(false) {
                continue;
            }
            match &together[..] {
                [words] => run(&mut server, words),
                requests => run_together(&mut server, requests),
            }
            together.clear();
        }
        run_together(&mut server, &together);
        if configures {
            *kept = None;
        }
    });
});
