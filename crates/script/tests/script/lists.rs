//! A list of words is what a program was called with, whatever ran before, and what it keeps of one
//! stays as it was.
//!
//! Programs are drawn from pieces that read, change and keep their lists. A state in which many
//! have run is compared with one in which nothing has, and what functions have kept with a model.

use super::patterns::Draw;
use super::{LIMITS, Recorder, bulk, interpreter, reply, run_program};
use basalt_resp::{Protocol, Value};
use basalt_script::{Interpreter, Level, Library, LibrarySource, Look, Overseer, Program, Script};
use std::sync::Arc;

/// Statements. Those of a script are as many as are drawn, each in a block of its own.
const PIECES: &[&str] = &[
    "seen[#seen + 1] = KEYS[1] or '-'",
    "seen[#seen + 1] = ARGV[2] or '-'",
    "seen[#seen + 1] = #KEYS .. ':' .. #ARGV",
    "for i = 1, #KEYS do seen[#seen + 1] = KEYS[i] end",
    "local i = 1 seen[#seen + 1] = KEYS[i + 1] or '-'",
    "for i, word in ipairs(ARGV) do seen[#seen + 1] = i .. word end",
    "for name, word in pairs(KEYS) do seen[#seen + 1] = name .. word end",
    "seen[#seen + 1] = table.concat(ARGV, ',')",
    "seen[#seen + 1] = tostring(next(KEYS)) .. select('#', unpack(ARGV))",
    "if ARGV[1] == KEYS[1] then seen[#seen + 1] = 'equal' end",
    "seen[#seen + 1] = redis.call('ECHO', ARGV[#ARGV] or 'none')",
    "KEYS[1] = 'changed'",
    "KEYS[#KEYS + 1] = 'added'",
    "KEYS[1], ARGV[1] = ARGV[1], KEYS[1]",
    "ARGV.name = 'named' seen[#seen + 1] = ARGV.name",
    "ARGV[2] = nil",
    "table.insert(KEYS, 1, 'inserted')",
    "table.remove(ARGV)",
    "table.sort(KEYS)",
    "rawset(KEYS, 7, 'raw')",
    "setmetatable(ARGV, { __index = function() return 'meta' end })",
    "local list = KEYS list[2] = 'by another name'",
    "local list = { ARGV } list[1][1] = 'from a table'",
    "local function change() KEYS[1] = 'from within' end change()",
    "local list = KEYS local function change() list[1] = 'captured' end change()",
    "local list local function change() list[9] = 'captured before' end list = KEYS change()",
    "local list = KEYS for i = 1, 2 do list[i] = 'in a loop' end",
    "(function(list) list[1] = 'passed' end)(ARGV)",
    "local a, b = KEYS, ARGV a[1], b[1] = b[1], a[1]",
    "local list = KEYS if list then list[3] = 'behind a jump' end",
    "local list = ARGV[1] and KEYS or ARGV list[1] = 'chosen'",
    "local list = ARGV while #list < 3 do list[#list + 1] = 'more' end",
    "local list = #KEYS > 0 and KEYS seen[#seen + 1] = tostring(list and list[1])",
    "pcall(rawset, KEYS, 1, 'by a function')",
    "pcall(function() KEYS[1] = 'protected' error(KEYS) end)",
    "coroutine.wrap(function() KEYS[1] = 'yielded' coroutine.yield() end)()",
    "_G.KEYS[1] = 'by the globals'",
    "rawget(_G, 'ARGV')[1] = 'by the raw globals'",
    "local name = 'KEYS' _G[name][2] = 'by a name'",
    "loadstring(\"KEYS[1] = 'loaded'\")()",
    "seen[#seen + 1] = tostring(pcall(function() KEYS = {} end))",
    "error('ended early')",
    "redis.call('FAIL', KEYS[1])",
    "redis.call('GIVE-UP')",
];

const LIBRARY: &str = "#!lua name=lists\n
local kept = {}
local function show(keys, args)
  return table.concat(keys, ',') .. ';' .. table.concat(args, ',')
end
redis.register_function('first', function(keys) return keys[1] or '-' end)
redis.register_function('counts', function(keys, args) return #keys .. ':' .. #args end)
redis.register_function('none', function() return 'none' end)
redis.register_function('last', function(keys, args)
  local words = ''
  for i = 1, #args do words = words .. args[i] end
  return words .. (keys[#keys] or '')
end)
redis.register_function('shown', show)
redis.register_function('all', function(...) local lists = { ... } return show(lists[1], lists[2]) end)
redis.register_function('old', function(keys, ...) return show(keys, arg[1]) end)
redis.register_function('changed', function(keys, args)
  keys[1], args[5] = 'changed', 'added'
  return (keys[1] or '') .. #keys
end)
redis.register_function('keeps', function(keys, args)
  kept[#kept + 1] = { keys, args }
  return 'kept'
end)
redis.register_function('captures', function(keys, args)
  kept[#kept + 1] = function() return keys, args end
  return 'kept'
end)
redis.register_function('keeps_second', function(_, args)
  local list = args
  kept[#kept + 1] = { {}, list }
  return 'kept'
end)
redis.register_function('global', function() return (pcall(function() return KEYS end)) and 1 or 0 end)
redis.register_function('told', function()
  local texts = {}
  for i, pair in ipairs(kept) do
    if type(pair) == 'function' then texts[i] = show(pair()) else texts[i] = show(unpack(pair)) end
  end
  kept = {}
  return table.concat(texts, '|')
end)";

/// Nobody ends what is loaded.
struct Patient;

impl Overseer for Patient {
    fn look(&self) -> Look {
        Look::GoOn
    }

    fn log(&self, _: Level, _: &[u8]) {}
}

fn library(interpreter: &mut Interpreter, id: u64) -> Arc<Library> {
    let source = LibrarySource::read(Arc::new(LIBRARY.as_bytes().to_vec()), id).expect("a library");
    let functions = interpreter.load(&source, Arc::new(Patient), LIMITS).expect("it loads");
    Arc::new(Library { source, functions })
}

/// A script of some pieces that tells what it has seen, and what there is in the end.
fn script(random: &mut Draw) -> String {
    let count = random.below(4);
    let pieces = (0..count).map(|_| PIECES[random.below(PIECES.len())]);
    let pieces: Vec<String> = pieces.map(|piece| format!("do {piece} end\n")).collect();
    let end = [
        "return seen",
        "seen[#seen + 1] = #KEYS .. (KEYS[1] or '-') .. (KEYS[2] or '-') return seen",
        "seen[#seen + 1] = #ARGV .. (ARGV[1] or '-') .. (ARGV[2] or '-') return seen",
        "return { seen, KEYS, ARGV }",
        "return KEYS",
    ];
    let end = end[random.below(end.len())];
    format!("local seen = {{}}\n{}{end}", pieces.concat())
}

/// Few words, and sometimes many or a long one.
fn words(random: &mut Draw, letter: char) -> Vec<Vec<u8>> {
    let count = match random.below(10) {
        0 => 40,
        draw => draw / 3,
    };
    let word = |number: usize| match number {
        4 => vec![b'x'; 5_000],
        number => format!("{letter}{number}").into_bytes(),
    };
    let first = random.below(3);
    (first..first + count).map(word).collect()
}

fn run(
    interpreter: &mut Interpreter,
    program: &Program,
    (keys, args): (&[Vec<u8>], &[Vec<u8>]),
) -> Option<Value> {
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
    let mut host = Recorder::default();
    reply(run_program(interpreter, &mut host, program, (&keys, &args), None), Protocol::Resp2)
}

/// What functions have kept, as they tell it.
#[derive(Default)]
struct Model(Vec<String>);

impl Model {
    fn shown(keys: &[Vec<u8>], args: &[Vec<u8>]) -> String {
        let joined = |words: &[Vec<u8>]| String::from_utf8_lossy(&words.join(&b',')).into_owned();
        format!("{};{}", joined(keys), joined(args))
    }

    fn called(&mut self, name: &str, keys: &[Vec<u8>], args: &[Vec<u8>]) -> String {
        let concat = |words: &[Vec<u8>]| String::from_utf8_lossy(&words.concat()).into_owned();
        match name {
            "first" => keys.first().map_or("-".into(), |key| concat(std::slice::from_ref(key))),
            "counts" => format!("{}:{}", keys.len(), args.len()),
            "none" => "none".into(),
            "last" => concat(args) + &concat(keys.last().map_or(&[], std::slice::from_ref)),
            "shown" | "all" | "old" => Model::shown(keys, args),
            "changed" => format!("changed{}", keys.len().max(1)),
            "keeps" | "captures" => {
                self.0.push(Model::shown(keys, args));
                "kept".into()
            }
            "keeps_second" => {
                self.0.push(Model::shown(&[], args));
                "kept".into()
            }
            "told" => std::mem::take(&mut self.0).join("|"),
            other => unreachable!("no function is called {other}"),
        }
    }
}

#[test]
fn lists_are_what_a_program_was_called_with_whatever_ran_before() {
    let mut random = Draw(7);
    let mut used = interpreter();
    let library = library(&mut used, 1);
    let mut model = Model::default();
    for step in 0..3_000 {
        let (keys, args) = (words(&mut random, 'k'), words(&mut random, 'a'));
        if random.below(2) == 0 {
            let index = random.below(library.functions.len());
            let name = library.functions[index].name.as_str();
            let program = Program::Function(Arc::clone(&library), index);
            let reply = run(&mut used, &program, (&keys, &args));
            if name == "global" {
                assert_eq!(reply, Some(Value::Integer(0)), "step {step}");
            } else {
                let expected = model.called(name, &keys, &args);
                assert_eq!(reply, Some(bulk(&expected)), "step {step}: {name}");
            }
            continue;
        }
        let text = script(&mut random);
        let program = Program::Script(Arc::new(Script::read(text.as_bytes()).expect("a script")));
        let reply = run(&mut used, &program, (&keys, &args));
        if step % 4 == 0 {
            let alone = run(&mut interpreter(), &program, (&keys, &args));
            assert_eq!(reply, alone, "step {step}: {text}\n{keys:?} {args:?}");
        }
    }
}
