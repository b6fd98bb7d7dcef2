//! CLIENT KILL: when the killer has its answer, the other client's commands run no more, and its
//! connection ends at once.

use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::server::{Kind, Launch, is_redis};

const ROUNDS: usize = 200;
/// From the killer's answer to the end of the other connection. Redis closes it before it answers;
/// here its own thread does, which is told before.
const END_TIME: Duration = Duration::from_secs(2);

#[test]
fn a_killed_client_runs_nothing_more_and_hears_the_end_at_once() {
    let launch = Launch::new(Kind::Basalt);
    let server =
        if is_redis(Kind::Basalt) { launch } else { launch.option("io-threads", "3") }.start();
    let mut killer = server.connect();
    let mut longest = Duration::ZERO;
    for round in 0..ROUNDS {
        let mut other = server.connect();
        let Value::Integer(id) = other.run("CLIENT ID").expect("a number") else {
            panic!("no number")
        };
        match round % 4 {
            1 => other.send(&["BLPOP", "nothing", "0"]).expect("a request is sent"),
            2 => drop(other.run("SUBSCRIBE c").expect("an answer")),
            3 => drop(other.run("MULTI").expect("an answer")),
            _ => {}
        }
        let killed = killer.run(&format!("CLIENT KILL ID {id}")).expect("an answer");
        assert_eq!(killed, Value::Integer(1), "round {round}");
        let since = Instant::now();
        // It may find the connection closed.
        let _ = other.send(&["SET", "after", "1"]);
        let said = other.receive();
        assert!(said.is_err(), "round {round}: {said:?}");
        longest = longest.max(since.elapsed());
        assert_eq!(killer.run("EXISTS after").expect("an answer"), Value::Integer(0));
        let listed = killer.run(&format!("CLIENT LIST ID {id}")).expect("an answer");
        assert_eq!(listed, Value::Bulk(Vec::new()), "round {round}");
    }
    assert!(longest < END_TIME, "{longest:?}");
}
