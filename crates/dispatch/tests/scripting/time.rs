//! TIME in scripts.

use super::eval;
use crate::harness::TestServer;
use basalt_resp::Value;

#[test]
fn time_stands_still_until_a_script_is_busy() {
    let mut server = TestServer::new();
    let clock = server.clock.clone();
    let script = "local a = redis.call('TIME') for i = 1, 20 do redis.call('PING') end \
                  local b = redis.call('TIME') return a[1] == b[1] and a[2] == b[2]";
    assert_eq!(eval(&mut server, script, &[], &[]), Value::Integer(1));
    // The script is busy from its first look on.
    server.configure("busy-reply-threshold", "1");
    // However far the clock gets meanwhile.
    server.configure("script-time-max", "0");
    let script = "local a, b = redis.call('TIME')[1], nil \
                  repeat b = redis.call('TIME')[1] until b ~= a return b - a";
    std::thread::scope(|scope| {
        let running = scope.spawn(|| eval(&mut server, script, &[], &[]));
        while !running.is_finished() {
            clock.advance_ms(2000);
            std::thread::yield_now();
        }
        match running.join().expect("it ends") {
            Value::Integer(seconds) => assert!(seconds > 0),
            other => panic!("{other:?}"),
        }
    });
}
