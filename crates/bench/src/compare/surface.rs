//! `compare surface`: what users with rules, a client that monitors, scripts and functions cost:
//! the server's CPU time of GET and SET without them, and beside or by them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::compare::Arena;
use crate::compare::scenario::{Manner, Round, Sending, server_cpu_us};
use crate::compare::server::{Contender, Server};
use crate::error::BenchError;
use crate::target::{Client, Socket};

const CONNECTIONS: usize = 50;
const PIPELINE: u32 = 50;
const VALUE_BYTES: usize = 64;
/// How often the client that monitors looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

const GET: &str = "GET __key__";
const SET: &str = "SET __key__ __data__";
const SCRIPT: &str = "return redis.call('get', KEYS[1])";
const EVALSHA: &str = "EVALSHA 4e6d8fc8bb01276962cce5371fa795a7763657ae 1 __key__";
const LIBRARY: &str = "#!lua name=surface\n\
    redis.register_function('surface_get', function(keys) return redis.call('get', keys[1]) end)";
const FCALL: &str = "FCALL surface_get 1 __key__";
const DENIED_ELSEWHERE: &[&str] = &["ACL", "SETUSER", "default", "resetkeys", "~key:*", "~other:*"];
const MAY_ALL: &[&str] = &["ACL", "SETUSER", "default", "resetkeys", "~*"];

/// One test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SurfaceCell {
    pub(crate) name: &'static str,
    /// What it is compared with, of the same side.
    base: Option<&'static str>,
    before: Option<&'static [&'static str]>,
    command: &'static str,
    after: Option<&'static [&'static str]>,
    is_monitored: bool,
    /// Requests of the others for one of it.
    divisor: u64,
}

/// All tests. The first ones are what the others are compared with.
pub(crate) fn cells() -> Vec<SurfaceCell> {
    let plain = |name, command| SurfaceCell {
        name,
        base: None,
        before: None,
        command,
        after: None,
        is_monitored: false,
        divisor: 1,
    };
    let beside = |name, base, command| SurfaceCell { base: Some(base), ..plain(name, command) };
    let with_rules = |name, base, command| SurfaceCell {
        before: Some(DENIED_ELSEWHERE),
        after: Some(MAY_ALL),
        ..beside(name, base, command)
    };
    let script = Some(&["SCRIPT", "LOAD", SCRIPT][..]);
    let library = Some(&["FUNCTION", "LOAD", "REPLACE", LIBRARY][..]);
    vec![
        plain("get", GET),
        plain("set", SET),
        with_rules("get-key-patterns", "get", GET),
        with_rules("set-key-patterns", "set", SET),
        SurfaceCell { is_monitored: true, divisor: 10, ..beside("get-monitored", "get", GET) },
        SurfaceCell { is_monitored: true, divisor: 10, ..beside("set-monitored", "set", SET) },
        SurfaceCell { before: script, divisor: 4, ..beside("evalsha-get", "get", EVALSHA) },
        SurfaceCell { before: library, divisor: 4, ..beside("fcall-get", "get", FCALL) },
    ]
}

/// How much there is to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amount {
    pub(crate) requests: u64,
    pub(crate) keys: u64,
}

pub(super) fn run(
    arena: &Arena<'_>,
    cells: &[SurfaceCell],
    amount: Amount,
) -> Result<(), BenchError> {
    let servers = arena.introduce()?;
    let rounds = arena.rounds(|round, side| one_life(arena, (cells, amount), round, side))?;
    arena.print(&format!(
        "{CONNECTIONS} connections, pipeline {PIPELINE}, {} keys, values of {VALUE_BYTES} bytes\n{}",
        amount.keys,
        table(arena, cells, &rounds)
    ))?;
    arena.write_json(servers, &rounds)
}

fn one_life(
    arena: &Arena<'_>,
    (cells, Amount { requests, keys }): (&[SurfaceCell], Amount),
    round: usize,
    contender: &Contender,
) -> Result<Round, BenchError> {
    let life = arena.start(contender)?;
    let (server, display) = (&life.server, arena.display);
    let sending = |command: &str, requests: u64| Sending {
        command: command.into(),
        keyspace: keys.max(1),
        value_bytes: VALUE_BYTES,
        requests: requests.max(1),
    };
    let fill = Manner::Fill { connections: CONNECTIONS };
    sending(SET, keys).run("filling", server, fill, display)?;
    server.wait_quiet();
    let mut control = Client::connect(&server.target())?;
    let mut tests = Vec::with_capacity(cells.len());
    for cell in cells {
        if let Some(words) = cell.before {
            control.text(words)?;
        }
        let manner = Manner::Measure { connections: CONNECTIONS, pipeline: PIPELINE };
        let test = sending(cell.command, requests / cell.divisor);
        let measure = || test.run(cell.name, server, manner, display);
        let report = if cell.is_monitored { monitored(server, measure) } else { measure() }?;
        if let Some(words) = cell.after {
            control.text(words)?;
        }
        tests.push((cell.name, report));
    }
    life.server.stop()?;
    Ok(Round { round, side: contender.name, tests })
}

/// Measures while a client monitors and reads all that it is told.
fn monitored<R>(
    server: &Server,
    measure: impl FnOnce() -> Result<R, BenchError>,
) -> Result<R, BenchError> {
    let mut listener = Client::connect(&server.target())?;
    listener.text(&["MONITOR"])?;
    let mut socket = listener.into_socket();
    socket.set_read_timeout(LOOK_EVERY)?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(&mut socket, &is_over));
        let measured = measure();
        // Relaxed: it orders nothing.
        is_over.store(true, Ordering::Relaxed);
        match reader.join() {
            Ok(Ok(())) => measured,
            Ok(Err(error)) => measured.and(Err(error)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Reads what comes; that it ends before it is to is an error.
fn read_until(socket: &mut Socket, is_over: &AtomicBool) -> Result<(), BenchError> {
    let mut chunk = vec![0; 1 << 20];
    while !is_over.load(Ordering::Relaxed) {
        match socket.stream().read(&mut chunk) {
            Ok(0) => return Err(BenchError::Closed { outstanding: 1 }),
            Ok(_) => {}
            Err(error) if is_to_try_again(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The time of one wait is over, or a signal has ended it.
fn is_to_try_again(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// One line for each cell: each side's CPU time, as a multiple of its own base; for two sides the
/// ratio.
fn table(arena: &Arena<'_>, cells: &[SurfaceCell], rounds: &[Round]) -> String {
    let mut text = format!("  {:18}", "server cpu µs/op");
    for contender in &arena.contenders {
        text.push_str(&format!(" {:>15} {:>9}", contender.name, "of plain"));
    }
    text.push('\n');
    for cell in cells {
        text.push_str(&format!("  {:18}", cell.name));
        let mut medians = Vec::new();
        for contender in &arena.contenders {
            let own = server_cpu_us(rounds, contender.name, cell.name);
            let base = cell.base.map(|base| server_cpu_us(rounds, contender.name, base).median);
            let of_base = base.filter(|base| *base > 0.0).map(|base| own.median / base);
            let of_base = of_base.map_or(String::new(), |ratio| format!("{ratio:.2}x"));
            let number = format!("{:.3} ±{:2.0}%", own.median, own.spread * 100.0);
            text.push_str(&format!(" {number:>15} {of_base:>9}"));
            medians.push(own.median);
        }
        if let [first, second] = medians[..] {
            text.push_str(&format!(" {:>8.2}x", first / second));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_compared_with_one_that_comes_before_it() {
        let cells = cells();
        for (index, cell) in cells.iter().enumerate() {
            let earlier = &cells[..index];
            assert!(earlier.iter().all(|other| other.name != cell.name), "{}", cell.name);
            let has_base = |base| earlier.iter().any(|other| other.name == base);
            assert!(cell.base.is_none_or(has_base), "{}", cell.name);
        }
    }
}
