//! Item 13 of what clients of huststore rely on: calls that a worker answers.

use super::{client, start};
use crate::http::wait_for_blocked;
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::{HttpClient, Response};
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// Asks, and does not wait for the answer.
fn ask(address: SocketAddr, queue: &str, body: &[u8]) -> HttpClient {
    let mut http = client(address);
    http.request(&format!("POST /do_get?queue={queue}"), "", body).expect("it is taken");
    http
}

/// Takes a call.
fn take(http: &mut HttpClient) -> (String, String, Vec<u8>) {
    taken(&http.ask("POST /do_post", "", b""))
}

fn taken(call: &Response) -> (String, String, Vec<u8>) {
    assert_eq!(call.status, 200, "{call:?}");
    let field = |name| call.field(name).expect("it has one").to_owned();
    (field("queue"), field("token"), call.body.clone())
}

/// Answers a call; returns the status.
fn answer(http: &mut HttpClient, token: &str, body: &[u8]) -> u16 {
    http.ask(&format!("POST /do_post?token={token}"), "", body).status
}

/// A connection to the database of the queues.
fn redis(address: SocketAddr) -> Connection {
    let mut resp = Connection::open(address).expect("it listens");
    resp.run("SELECT 2").unwrap();
    resp
}

fn tasks(http: &mut HttpClient) -> serde_json::Value {
    let status = http.ask("GET /do_get_status", "", b"");
    assert_eq!(status.status, 200, "{status:?}");
    serde_json::from_str(&status.text()).expect("JSON")
}

/// Waits until as many calls as these wait for a worker.
fn wait_for_tasks(http: &mut HttpClient, count: u64) {
    let begun = Instant::now();
    while tasks(http)["unassigned_tasks"] != json!(count) {
        assert!(begun.elapsed() < PATIENCE, "{}", tasks(http));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn item_13_each_caller_gets_its_own_answer() {
    let (_server, address) = start(&[]);
    let mut worker = client(address);
    let all: Vec<u8> = (0..=255).collect();
    let mut callers = Vec::new();
    for (at, queue) in ["sums", "squares", "sums"].into_iter().enumerate() {
        callers.push(ask(address, queue, &[&all[..], &[at as u8]].concat()));
        wait_for_tasks(&mut worker, at as u64 + 1);
    }
    // The oldest first, whatever its queue is.
    let calls: Vec<_> = (0..3).map(|_| take(&mut worker)).collect();
    for (at, (queue, _, body)) in calls.iter().enumerate() {
        assert_eq!(queue, ["sums", "squares", "sums"][at]);
        assert_eq!(*body, [&all[..], &[at as u8]].concat());
    }
    let held = json!({
        "unassigned_tasks": 0, "assigned_tasks": 3, "free_tasks": 1021, "total": 1024,
    });
    assert_eq!(tasks(&mut worker), held);
    // They may be answered in another order.
    for at in [1, 2, 0] {
        let result = format!("answer {at}\r\n\0");
        assert_eq!(answer(&mut worker, &calls[at].1, result.as_bytes()), 200);
        let answered = callers[at].response_to("POST").expect("an answer");
        assert_eq!((answered.status, answered.text()), (200, result));
        assert_eq!(answer(&mut worker, &calls[at].1, b"again"), 404, "it is answered");
    }
    assert_eq!(tasks(&mut worker)["assigned_tasks"], json!(0));
}

#[test]
fn item_13_a_worker_waits_for_a_call() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let mut workers: Vec<_> = (0..3).map(|_| client(address)).collect();
    for worker in &mut workers {
        worker.request("POST /do_post", "", b"").expect("it is taken");
    }
    wait_for_blocked(&mut resp, 3);
    let large = vec![b'x'; 1 << 20];
    let mut callers: Vec<_> = (0..3).map(|_| ask(address, "large", &large)).collect();
    for worker in &mut workers {
        let (queue, token, body) = taken(&worker.response_to("POST").expect("a call"));
        assert_eq!((queue.as_str(), &body), ("large", &large));
        assert_eq!(answer(worker, &token, &body), 200);
    }
    for caller in &mut callers {
        assert_eq!(caller.response_to("POST").expect("an answer").body, large);
    }
}

/// Asks, and takes the call, before the caller's time is over.
fn ask_and_take(address: SocketAddr, worker: &mut HttpClient, body: &[u8]) -> (HttpClient, String) {
    let begun = Instant::now();
    loop {
        let mut caller = ask(address, "sums", body);
        let call = worker.ask("POST /do_post", "", b"");
        if call.status != 408 {
            let (_, token, asked) = taken(&call);
            assert_eq!(asked, body);
            return (caller, token);
        }
        assert!(begun.elapsed() < PATIENCE, "no call has come in time");
        assert_eq!(caller.response_to("POST").expect("an answer").status, 408);
    }
}

#[test]
fn item_13_who_is_not_answered_in_time_is_told() {
    let (_server, address) = start(&[("http-wait-max", "1")]);
    let (mut caller, mut worker) = (client(address), client(address));
    let silence = caller.ask("POST /do_get?queue=sums", "", b"1");
    assert_eq!((silence.status, silence.body), (408, Vec::new()), "no worker");
    assert_eq!(worker.ask("POST /do_post", "", b"").status, 408, "the call is gone");
    let (mut late, old) = ask_and_take(address, &mut worker, b"2");
    assert_eq!(late.response_to("POST").expect("an answer").status, 408, "a slow worker");
    // What comes too late is for nobody, least of all for the next caller.
    let (mut next, token) = ask_and_take(address, &mut worker, b"3");
    assert_eq!(answer(&mut worker, &old, b"of the other"), 404);
    // Whether this comes in time is the machine's affair: it is the caller's own, or nothing.
    let is_in_time = answer(&mut worker, &token, b"its own") == 200;
    let answered = next.response_to("POST").expect("an answer");
    let expected: (u16, &[u8]) = if is_in_time { (200, b"its own") } else { (408, b"") };
    assert_eq!((answered.status, &answered.body[..]), expected);
}

#[test]
fn item_13_the_call_of_a_lost_worker_is_taken_by_another_one() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    resp.run("Q.CONFIG SET hust:rpc lease 100").unwrap();
    let mut caller = ask(address, "sums", b"1");
    let (mut lost, mut other) = (client(address), client(address));
    let (_, old, _) = take(&mut lost);
    drop(lost);
    let (queue, token, body) = take(&mut other);
    assert_eq!((queue.as_str(), &body[..]), ("sums", &b"1"[..]));
    assert_ne!(token, old);
    resp.run("Q.CONFIG SET hust:rpc lease 60000").unwrap();
    assert_eq!(answer(&mut other, &old, b"of the lost one"), 404);
    // The lease was short when the call was taken again, so it may have been over since.
    let mut token = token;
    while answer(&mut other, &token, b"of the other one") != 200 {
        token = take(&mut other).1;
    }
    let answered = caller.response_to("POST").expect("an answer");
    assert_eq!((answered.status, answered.text().as_str()), (200, "of the other one"));
}

#[test]
fn item_13_a_caller_that_goes_takes_its_call_back() {
    let (server, address) = start(&[]);
    let mut worker = client(address);
    let gone = ask(address, "sums", b"1");
    wait_for_tasks(&mut worker, 1);
    drop(gone);
    wait_for_tasks(&mut worker, 0);
    let mut caller = ask(address, "sums", b"2");
    let (_, token, body) = take(&mut worker);
    assert_eq!(body, b"2");
    assert_eq!(answer(&mut worker, &token, b"3"), 200);
    assert_eq!(caller.response_to("POST").expect("an answer").text(), "3");
    assert_eq!(redis(server.address()).run("Q.LEN hust:rpc").unwrap(), Value::Integer(0));
}

#[test]
fn item_13_calls_are_bounded() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    resp.run("Q.CONFIG INIT hust:rpc max 2").unwrap();
    let _callers: Vec<_> = (0..2).map(|_| ask(address, "sums", b"1")).collect();
    let mut http = client(address);
    wait_for_tasks(&mut http, 2);
    assert_eq!(http.ask("POST /do_get?queue=sums", "", b"1").status, 404, "full");
    let (_, token, _) = take(&mut http);
    assert_eq!(answer(&mut http, &token, b"1"), 200);
    let _third = ask(address, "sums", b"1");
    wait_for_tasks(&mut http, 2);
    let settings = |resp: &mut Connection| format!("{:?}", resp.run("Q.CONFIG GET hust:rpc"));
    let before = settings(&mut resp);
    resp.run("DEL hust:rpc").unwrap();
    let _caller = ask(address, "sums", b"1");
    wait_for_tasks(&mut http, 1);
    assert_ne!(settings(&mut resp), before, "it is made with a limit of its own");
    assert_eq!(tasks(&mut http)["total"], json!(1024));
}

#[test]
fn item_13_what_is_missing_or_wrong_is_said() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    for (line, body, status) in [
        ("GET /do_get?queue=q", "", 405),
        ("GET /do_post", "", 405),
        ("POST /do_get", "a", 404),
        ("POST /do_get?queue=q", "", 404),
        ("POST /do_get?queue=a/b", "a", 404),
        ("POST /do_post?token=nonsense", "a", 404),
        ("POST /do_post?token=0:1.1", "a", 404),
        ("POST /do_post?token=0:1.1", "", 404),
        ("GET /do_post_status", "", 501),
        ("POST /hustmq/do_get?queue=q", "a", 404),
        ("POST /hustmq/do_post", "a", 404),
        ("GET /hustmq/evsub?queue=q&idx=1", "", 404),
        ("GET /hustmq/evget?queue=q&worker=worker", "", 404),
    ] {
        let response = http.ask(line, "", body.as_bytes());
        assert_eq!(response.status, status, "{line}: {response:?}");
    }
    let nothing = json!({
        "unassigned_tasks": 0, "assigned_tasks": 0, "free_tasks": 1024, "total": 1024,
    });
    assert_eq!(tasks(&mut http), nothing);
}

#[test]
fn item_13_what_others_have_put_cannot_forge_fields() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let mut http = client(address);
    for body in [&b"a\r\nX-Forged: 1\r\n\r\nb\n"[..], b"plain", b"\n"] {
        resp.call(&[&b"Q.PUT"[..], b"hust:rpc", body]).unwrap();
        let call = http.ask("POST /do_post", "", b"");
        assert_eq!(call.field("x-forged"), None);
        let (queue, token, whole) = taken(&call);
        assert_eq!((queue.as_str(), &whole[..]), ("hust:rpc", body));
        assert_eq!(answer(&mut http, &token, b"a"), 404, "nobody waits");
    }
}
