//! A client that runs a script which does not end by itself, and runs it again when the server has
//! ended it: the load of `compare scripts`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::compare::made::Made;
use crate::compare::server::Contender;
use crate::error::BenchError;
use crate::target::{Client, Target};

/// How long the server lets a script run, in milliseconds: several runs fit into a phase.
const SCRIPT_TIME_MAX_MS: &str = "1000";
/// How long an answer may take beyond that.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// A script that has to be stopped.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) name: &'static str,
    text: &'static str,
}

impl Script {
    /// It names a key if it uses one, which keeps the key's partition from others while it runs.
    fn call(&self) -> Vec<&'static str> {
        match self.text.contains("KEYS") {
            true => vec!["EVAL", self.text, "1", "a key of its own"],
            false => vec!["EVAL", self.text, "0"],
        }
    }
}

/// What scripts may do to others: take time, memory, the stack, and time where no instruction of
/// theirs is counted.
pub(super) const SCRIPTS: [Script; 6] = [
    Script { name: "loops", text: "while true do end" },
    Script { name: "loops-reading", text: "while true do redis.call('get', KEYS[1]) end" },
    Script { name: "allocates", text: "local t = {} while true do t[#t + 1] = {} end" },
    Script { name: "doubles-a-string", text: "local s = 'x' while true do s = s .. s end" },
    Script { name: "recurses", text: "local function f() return 1 + f() end return f()" },
    Script {
        name: "matches",
        text: "return string.find(string.rep('a', 60), string.rep('a?', 60) .. string.rep('a', 61))",
    },
];

/// A server that ends scripts soon.
pub(super) fn contender(side: &Contender) -> Contender {
    let mut contender = side.clone();
    contender.extra.extend(["--script-time-max", SCRIPT_TIME_MAX_MS].map(str::to_owned));
    contender
}

/// Does some work while a client runs the script.
pub(super) fn beside<R>(
    target: &Target,
    script: &Script,
    work: impl FnOnce() -> Result<R, BenchError>,
) -> Result<(R, Made), BenchError> {
    let mut client = Client::connect(target)?;
    client.set_read_timeout(ANSWER_MAX)?;
    let (begun, is_over) = (Instant::now(), AtomicBool::new(false));
    thread::scope(|scope| {
        let attacker = scope.spawn(|| run_again_and_again(&mut client, script, &is_over));
        let result = work();
        // A flag on its own.
        is_over.store(true, Ordering::Relaxed);
        let (ended, first_error) = attacker.join().expect("errors are counted and do not panic");
        let per_second = ended as f64 / begun.elapsed().as_secs_f64();
        let failed = u64::from(first_error.is_some());
        Ok((result?, Made { per_second, failed, first_error }))
    })
}

/// How many runs the server has ended with an error, and what went wrong otherwise.
fn run_again_and_again(
    client: &mut Client,
    script: &Script,
    is_over: &AtomicBool,
) -> (u64, Option<String>) {
    let mut ended = 0;
    while !is_over.load(Ordering::Relaxed) {
        match client.call(&script.call()) {
            Ok(reply) if reply.first() == Some(&b'-') => ended += 1,
            Ok(reply) => return (ended, Some(String::from_utf8_lossy(&reply).into_owned())),
            Err(error) => return (ended, Some(error.to_string())),
        }
    }
    (ended, None)
}
