//! A client that is refused in the midst of what it sends gets to read why.

use crate::harness::TestServer;
use crate::line_front::LINGER_BYTES_MAX;
use basalt_journal::FsyncPolicy;
use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;

const REFUSED: &[u8] = b"! a tag and a command\n";

/// A client whose line is no request, behind what comes first.
fn refused(server: &TestServer, first: &str) -> BufReader<UnixStream> {
    let mut lines = server.connect_in_lines();
    lines.get_mut().write_all(format!("{first}untagged\n").as_bytes()).expect("it is there");
    lines
}

fn until_alone(server: &TestServer) {
    server.until(|server| server.server.clients.all().is_empty());
}

#[test]
fn a_client_that_is_refused_may_send_the_rest_and_then_reads_why() {
    let server = TestServer::start_unwatched(1, FsyncPolicy::Never);
    let mut lines = refused(&server, "1 SET k v\n");
    for _ in 0..LINGER_BYTES_MAX / 1000 {
        lines.get_mut().write_all(&[b'x'; 1000]).expect("it is taken");
    }
    let mut heard = Vec::new();
    lines.read_to_end(&mut heard).expect("an end, and no reset");
    assert_eq!(heard, [b"1 +OK\n", REFUSED].concat());
    drop(lines);
    until_alone(&server);
}

#[test]
fn a_client_sends_no_more_behind_its_refusal_than_it_may() {
    let server = TestServer::start_unwatched(1, FsyncPolicy::Never);
    let mut lines = refused(&server, "");
    // What the sockets hold has been sent, too.
    let most = 4 * LINGER_BYTES_MAX / 1000;
    let sent = (0..most).take_while(|_| lines.get_mut().write_all(&[b'x'; 1000]).is_ok()).count();
    assert!((LINGER_BYTES_MAX / 1000..most).contains(&sent), "{sent} kB");
    until_alone(&server);
}

#[test]
fn a_client_that_stays_when_it_is_refused_is_let_go_in_time() {
    let server = TestServer::start_unwatched(1, FsyncPolicy::Never);
    let mut lines = refused(&server, "HURRY 1 SET k v\n");
    let mut heard = Vec::new();
    lines.read_to_end(&mut heard).expect("an end");
    until_alone(&server);
}
