//! Bytes as scripts would pass them to `cmsgpack.unpack`, `struct.unpack` and `cjson.decode`: none
//! panics, takes more memory than a script may, or does not end; and what was read is written
//! again.
#![no_main]

use basalt_resp::{Arg, Output, Protocol, Reply};
use basalt_script::{
    Denied, Finished, Host, Input, Interpreter, Level, Look, Overseer, Program, Script,
    ScriptLimits, Words,
};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use std::sync::Arc;

/// A server without commands, whose scripts may take as long as they like.
struct Nothing;

impl Host for Nothing {
    fn call(&mut self, _: &Words, _: Protocol, _: &mut Output) -> Result<(), Denied> {
        Err(Denied::Because("ERR no".into()))
    }

    fn may_call(&self, _: &Words) -> Option<bool> {
        None
    }
}

impl Overseer for Nothing {
    fn look(&self) -> Look {
        Look::GoOn
    }

    fn log(&self, _: Level, _: &[u8]) {}
}

const LIMITS: ScriptLimits = ScriptLimits { memory_bytes_max: 8 << 20 };

thread_local! {
    static STATE: RefCell<Interpreter> =
        RefCell::new(Interpreter::new("7.2.4", 1).expect("there is memory"));
}

/// Runs a script with these arguments.
fn run(text: &str, args: Vec<&[u8]>) {
    let (mut buffer, mut words) = (Vec::new(), Vec::new());
    for word in args {
        words.push(Arg { start: buffer.len(), len: word.len() });
        buffer.extend_from_slice(word);
    }
    let script = Script::read(text.as_bytes()).expect("a script");
    let program = Program::Script(Arc::new(script));
    let input = Input { buffer: &buffer, keys: &[], args: &words, random: None };
    STATE.with_borrow_mut(|state| {
        if let Finished::Answered(answer) = state.run(&program, input, LIMITS, &mut Nothing) {
            let mut out = Output::new();
            answer.write(&mut Reply::new(&mut out, Protocol::Resp3), &mut |_, _| ());
        }
    });
}

const SCRIPT: &str = "
local function again(library, write, ok, ...)
  if ok then return pcall(library[write], ...) end
end
again(cmsgpack, 'pack', pcall(cmsgpack.unpack, ARGV[1]))
again(cmsgpack, 'pack', pcall(cmsgpack.unpack_limit, ARGV[1], 2, 1))
again(cjson, 'encode', pcall(cjson.decode, ARGV[1]))
pcall(struct.size, ARGV[2])
pcall(struct.unpack, ARGV[2], ARGV[1])
return {pcall(struct.pack, ARGV[2], 1, 'x', 2.5, -3, ARGV[1], '4')}
";

fuzz_target!(|bytes: &[u8]| {
    // The first byte says how many of the others are the format of a structure.
    let Some((&len, rest)) = bytes.split_first() else { return };
    let (format, data) = rest.split_at(rest.len().min(usize::from(len) % 24));
    run(SCRIPT, vec![data, format]);
});
