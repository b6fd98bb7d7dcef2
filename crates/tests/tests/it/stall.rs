//! The watchdog of all tests over a socket, tried.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use basalt_tests::server::{Kind, Launch, Server};

#[test]
fn a_server_that_stands_still_is_noticed() {
    let mut server = Server::start(Kind::Basalt);
    server.connect().run("ECHO standing").expect("an answer");
    server.signal("STOP");
    std::thread::sleep(Duration::from_millis(1_600));
    server.signal("CONT");
    let found = catch_unwind(AssertUnwindSafe(|| server.check_for_stalls()));
    let found = found.expect_err("nobody has noticed");
    let message = found.downcast_ref::<String>().expect("a message");
    assert!(message.contains("ECHO") && message.contains("standing"), "{message}");
}

#[test]
fn a_server_that_answers_is_not() {
    let mut server = Launch::new(Kind::Basalt).option("requirepass", "secret").start();
    std::thread::sleep(Duration::from_millis(300));
    server.check_for_stalls();
}
