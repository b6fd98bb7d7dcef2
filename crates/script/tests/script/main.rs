//! Scripts against a host that writes down what they ask for.

mod libraries;
mod lists;
mod patterns;
mod sandbox;

use basalt_resp::{Arg, Output, Protocol, Reply, Value, decode};
use basalt_script::{
    Denied, Finished, Host, Input, Interpreter, Level, Look, Overseer, Program, RandomState,
    Script, ScriptLimits, Words,
};
use std::io::IoSlice;
use std::sync::Arc;

const LIMITS: ScriptLimits = ScriptLimits { memory_bytes_max: 16 << 20 };

/// A server that answers `ECHO`, `INT`, `OK`, `NULL`, `MAP` and `BIG`, and gives up at `GIVE-UP`.
#[derive(Default)]
struct Recorder {
    calls: Vec<Vec<String>>,
}

impl Overseer for Recorder {
    fn look(&self) -> Look {
        Look::GoOn
    }

    fn log(&self, _: Level, _: &[u8]) {}
}

impl Host for Recorder {
    fn call(&mut self, words: &Words, protocol: Protocol, out: &mut Output) -> Result<(), Denied> {
        let words: Vec<String> =
            words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let mut reply = Reply::new(out, protocol);
        let result = match words[0].as_str() {
            "ECHO" => {
                reply.bulk(words[1].as_bytes());
                Ok(())
            }
            "MAP" => {
                reply.map(1);
                reply.bulk(b"field");
                reply.double(1.5);
                Ok(())
            }
            "BIG" => {
                let value = Arc::new(vec![b'x'; 1_000_000]);
                reply.array(20);
                (0..20).for_each(|_| reply.bulk_shared(Arc::clone(&value)));
                Ok(())
            }
            "INT" => {
                reply.integer(9_007_199_254_740_993);
                Ok(())
            }
            "OK" => {
                reply.simple("fine");
                Ok(())
            }
            "NULL" => {
                reply.null();
                Ok(())
            }
            "GIVE-UP" => Err(Denied::GiveUp),
            _ => Err(Denied::Because("ERR no".into())),
        };
        self.calls.push(words);
        result
    }

    fn may_call(&self, _: &Words) -> Option<bool> {
        Some(true)
    }
}

/// Runs a script in a state; its reply in a protocol, errors included.
fn run_in(
    interpreter: &mut Interpreter,
    host: &mut Recorder,
    protocol: Protocol,
    text: &str,
) -> Option<Value> {
    run_full(interpreter, host, protocol, text, &[b"a", b"b"])
}

/// Runs a script with these arguments.
fn run_with(
    interpreter: &mut Interpreter,
    host: &mut Recorder,
    text: &str,
    args: &[&[u8]],
) -> Option<Value> {
    run_full(interpreter, host, Protocol::Resp2, text, args)
}

fn run_full(
    interpreter: &mut Interpreter,
    host: &mut Recorder,
    protocol: Protocol,
    text: &str,
    args: &[&[u8]],
) -> Option<Value> {
    reply(finish(interpreter, host, text, args, None), protocol)
}

/// What a client gets; `None` if the run was given up.
fn reply(finished: Finished, protocol: Protocol) -> Option<Value> {
    let mut out = Output::new();
    match finished {
        Finished::Answered(answer) => {
            answer.write(&mut Reply::new(&mut out, protocol), &mut |_, _| ());
        }
        Finished::Failed(error, _) => Reply::new(&mut out, protocol).error(error),
        Finished::GivenUp(_) => return None,
    }
    let mut slices = [IoSlice::new(&[])];
    out.io_slices(&mut slices);
    Some(decode(&slices[0]).expect("a reply").expect("a whole reply").0)
}

/// Runs a script that is given up, from where its random numbers stood before.
fn run_from(
    interpreter: &mut Interpreter,
    host: &mut Recorder,
    text: &str,
    random: Option<RandomState>,
) -> Option<RandomState> {
    match finish(interpreter, host, text, &[], random) {
        Finished::GivenUp(random) => Some(random),
        _ => None,
    }
}

fn finish(
    interpreter: &mut Interpreter,
    host: &mut Recorder,
    text: &str,
    args: &[&[u8]],
    random: Option<RandomState>,
) -> Finished {
    let script = Script::read(text.as_bytes()).expect("a script");
    let program = Program::Script(Arc::new(script));
    run_program(interpreter, host, &program, (&[b"k"], args), random)
}

fn run_program(
    interpreter: &mut Interpreter,
    host: &mut Recorder,
    program: &Program,
    (keys, args): (&[&[u8]], &[&[u8]]),
    random: Option<RandomState>,
) -> Finished {
    let (mut buffer, mut words) = (Vec::new(), Vec::new());
    for word in [keys, args].concat() {
        words.push(Arg { start: buffer.len(), len: word.len() });
        buffer.extend_from_slice(word);
    }
    let (keys, args) = words.split_at(keys.len());
    let input = Input { buffer: &buffer, keys, args, random };
    interpreter.run(program, input, LIMITS, host)
}

fn interpreter() -> Interpreter {
    Interpreter::new("7.2.4", 1).expect("there is memory")
}

/// What a script answers, in a state of its own.
fn run(text: &str) -> Value {
    let mut host = Recorder::default();
    run_in(&mut interpreter(), &mut host, Protocol::Resp2, text).expect("it is not given up")
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

#[test]
fn words_reach_the_host_as_redis_writes_them() {
    let mut host = Recorder::default();
    let text = "redis.call('ECHO', 1.5, -7, 1e15, KEYS[1], ARGV[2]) return redis.call('ECHO', 'x')";
    let reply = run_in(&mut interpreter(), &mut host, Protocol::Resp2, text);
    assert_eq!(reply, Some(bulk("x")));
    assert_eq!(host.calls[0], ["ECHO", "1.5", "-7", "1000000000000000", "k", "b"]);
}

#[test]
fn a_script_that_is_given_up_asks_for_nothing_more() {
    let mut host = Recorder::default();
    for text in [
        "redis.call('GIVE-UP') redis.call('ECHO', 'x')",
        "pcall(redis.call, 'GIVE-UP') redis.call('ECHO', 'x')",
        "redis.pcall('GIVE-UP') redis.call('ECHO', 'x')",
        "xpcall(function() redis.call('GIVE-UP') end, function() end) redis.call('ECHO', 'x')",
        "local f = coroutine.create(function() redis.call('GIVE-UP') end) coroutine.resume(f) \
         redis.call('ECHO', 'x')",
    ] {
        host.calls.clear();
        assert_eq!(run_in(&mut interpreter(), &mut host, Protocol::Resp2, text), None, "{text}");
        assert_eq!(host.calls, [["GIVE-UP"]], "{text}");
    }
}

#[test]
fn replies_of_version_three_are_seen_after_setresp_only() {
    assert_eq!(run("return redis.call('MAP')"), Value::Array(vec![bulk("field"), bulk("1.5")]));
    let text = "redis.setresp(3) local map = redis.call('MAP').map return map.field.double * 2";
    assert_eq!(run(text), Value::Integer(3));
    let mut host = Recorder::default();
    let text = "redis.setresp(3) return redis.call('MAP')";
    let reply = run_in(&mut interpreter(), &mut host, Protocol::Resp3, text);
    assert_eq!(reply, Some(Value::Map(vec![(bulk("field"), Value::Double(1.5))])));
    // Each script begins with version 2.
    assert_eq!(run("return redis.call('MAP')"), Value::Array(vec![bulk("field"), bulk("1.5")]));
}
