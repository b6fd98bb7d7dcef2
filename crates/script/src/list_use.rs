//! What a script or a function does with its lists of words, as its compiled code tells.
//!
//! A list that is only read — `KEYS[1]`, `#ARGV` — may be the same table in the next run, with
//! other words in it, and one that it cannot see needs not be there. Nearly all scripts are like
//! that, and a table costs some 500 instructions with what the collector has to do for it. Whatever
//! else is done with a list counts as keeping it: that it is passed on, compared, captured by
//! another function or assigned to, or held over a jump, behind which this does not look.
//!
//! A script's lists are globals. A script that can reach the table of globals in another way can do
//! anything with them, so it must use no global but those that cannot lead there.

use crate::bytecode::{Code, Instruction, Opcode};

/// What is done with a list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum ListUse {
    /// It cannot be seen.
    Unseen,
    /// Its elements and its length are read.
    Read,
    /// It may be kept, or changed.
    Kept,
}

/// What is done with both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ListUses {
    pub(crate) keys: ListUse,
    pub(crate) args: ListUse,
}

impl ListUses {
    /// Nothing is known.
    pub(crate) const UNKNOWN: ListUses = ListUses { keys: ListUse::Kept, args: ListUse::Kept };
}

/// Globals of scripts, besides the lists, that lead neither to the table of globals nor to code
/// that is not looked at here.
const HARMLESS: &[&[u8]] = &[
    b"assert",
    b"bit",
    b"cjson",
    b"cmsgpack",
    b"error",
    b"ipairs",
    b"math",
    b"next",
    b"os",
    b"pairs",
    b"pcall",
    b"redis",
    b"select",
    b"string",
    b"struct",
    b"table",
    b"tonumber",
    b"tostring",
    b"type",
    b"unpack",
];

/// Of a script, whose lists are the globals `KEYS` and `ARGV`.
pub(crate) fn of_script(dumped: &[u8]) -> ListUses {
    let mut uses = ListUses { keys: ListUse::Unseen, args: ListUse::Unseen };
    let code = Code::read(dumped);
    let is_known = code.is_some_and(|code| look_at_globals(&code, &mut uses).is_some());
    if is_known { uses } else { ListUses::UNKNOWN }
}

/// Of a function, whose lists are its parameters.
pub(crate) fn of_function(dumped: &[u8]) -> ListUses {
    let Some(code) = Code::read(dumped).filter(|code| !code.is_vararg) else {
        return ListUses::UNKNOWN;
    };
    let of = |parameter: u32| {
        if parameter >= u32::from(code.parameters) {
            return ListUse::Unseen;
        }
        let lets_go = |it: &Instruction| lets_go(*it, parameter);
        if code.instructions.iter().any(lets_go) { ListUse::Kept } else { ListUse::Read }
    };
    ListUses { keys: of(0), args: of(1) }
}

/// `None` if it may do anything with the lists.
fn look_at_globals(code: &Code, uses: &mut ListUses) -> Option<()> {
    for (index, instruction) in code.instructions.iter().enumerate() {
        match instruction.opcode()? {
            Opcode::GetGlobal => {
                let list = match code.text(instruction.constant())? {
                    b"KEYS" => &mut uses.keys,
                    b"ARGV" => &mut uses.args,
                    name if HARMLESS.contains(&name) => continue,
                    _ => return None,
                };
                *list = (*list).max(from_load(code, index));
            }
            // It is an error; what comes of it is not looked at.
            Opcode::SetGlobal => return None,
            _ => {}
        }
    }
    code.inner.iter().try_for_each(|inner| look_at_globals(inner, uses))
}

/// What is done with a list that the instruction of this number loads: one that loads an element or
/// the length into the same register ends it, and so does the end of the function.
fn from_load(code: &Code, index: usize) -> ListUse {
    let [load, rest @ ..] = &code.instructions[index..] else { return ListUse::Kept };
    let register = load.a();
    if is_captured(code, register) {
        return ListUse::Kept;
    }
    for instruction in rest {
        let Some(opcode) = instruction.opcode() else { return ListUse::Kept };
        let is_left = match opcode {
            // They may jump, or are followed by what is no instruction.
            Opcode::LoadBool | Opcode::Jump | Opcode::Loop | Opcode::Compare => true,
            Opcode::Test | Opcode::TestSet | Opcode::Closure | Opcode::SetList => true,
            _ => lets_go(*instruction, register),
        };
        if is_left {
            return ListUse::Kept;
        }
        let ends = match opcode {
            Opcode::GetTable | Opcode::Length => instruction.a() == register,
            Opcode::Return => true,
            _ => false,
        };
        if ends {
            return ListUse::Read;
        }
    }
    ListUse::Kept
}

/// Whether a function within may have captured the register, before or after the list is in it.
/// What says so behind a closure looks like a copy to the register 0.
fn is_captured(code: &Code, register: u32) -> bool {
    let captures =
        |it: &Instruction| it.opcode() == Some(Opcode::Move) && it.a() == 0 && it.b() == register;
    code.instructions.iter().any(captures)
}

/// Whether an instruction may do more with the list in a register than read an element or the
/// length. What follows a closure and says what it captures is no instruction, but looks like one
/// that copies the register.
fn lets_go(instruction: Instruction, register: u32) -> bool {
    let (a, b, c) = (instruction.a(), instruction.b(), instruction.c());
    let Some(opcode) = instruction.opcode() else { return true };
    match opcode {
        Opcode::Load | Opcode::LoadBool | Opcode::GetGlobal | Opcode::Length => false,
        Opcode::Jump | Opcode::Close | Opcode::Closure => false,
        Opcode::Move | Opcode::OfOne | Opcode::TestSet => b == register,
        Opcode::GetTable => c == register,
        Opcode::SetGlobal | Opcode::SetUpvalue | Opcode::Test => a == register,
        Opcode::SetTable => [a, b, c].contains(&register),
        Opcode::This | Opcode::OfTwo | Opcode::Compare => b == register || c == register,
        Opcode::Concat => (b..=c).contains(&register),
        Opcode::Call | Opcode::Loop => a <= register,
        // B is how many values there are and one more, 0 all up to the top.
        Opcode::Return => a <= register && (b == 0 || register + 1 < a + b),
        // With C of 0 a number follows that is no instruction.
        Opcode::SetList => a <= register || c == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlua::Lua;

    const UNSEEN: ListUse = ListUse::Unseen;
    const READ: ListUse = ListUse::Read;
    const KEPT: ListUse = ListUse::Kept;

    fn script(text: &str) -> (ListUse, ListUse) {
        let lua = Lua::new();
        let function = lua.load(text).into_function().expect("it is Lua");
        let ListUses { keys, args } = of_script(&function.dump(true));
        (keys, args)
    }

    fn function(text: &str) -> (ListUse, ListUse) {
        let lua = Lua::new();
        let function = lua.load(format!("return {text}")).eval::<mlua::Function>();
        let ListUses { keys, args } = of_function(&function.expect("it is Lua").dump(true));
        (keys, args)
    }

    #[test]
    fn scripts_that_read_elements_only_are_known() {
        for (text, expected) in [
            ("return 1", (UNSEEN, UNSEEN)),
            ("return redis.call('get', KEYS[1])", (READ, UNSEEN)),
            ("return redis.call('set', KEYS[1], ARGV[1])", (READ, READ)),
            ("local key = KEYS[1] if key then return #ARGV end", (READ, READ)),
            ("for i = 1, #KEYS do redis.call('del', KEYS[i]) end", (READ, UNSEEN)),
            ("local i = 1 return KEYS[i + 1] .. ARGV[tonumber(ARGV[1])]", (READ, READ)),
            ("if redis.call('get', KEYS[1]) == ARGV[1] then return 1 end", (READ, READ)),
            ("local function f(i) return KEYS[i] end return f(1)", (READ, UNSEEN)),
            ("return { KEYS[1], ARGV[1] }", (READ, READ)),
        ] {
            assert_eq!(script(text), expected, "{text}");
        }
    }

    #[test]
    fn scripts_that_could_do_more_are_not_taken_for_such() {
        for text in [
            "return KEYS",
            "KEYS[1] = 'x'",
            "KEYS[1], KEYS[2] = KEYS[2], KEYS[1]",
            "return unpack(KEYS)",
            "local list = KEYS list[1] = 'x'",
            "local list = KEYS for i = 1, #list do redis.call('del', list[i]) end",
            "local list = KEYS return function() return list[1] end",
            "local list local function f() list[1] = 'x' end list = KEYS f()",
            "return { KEYS }",
            "local t = {} t[KEYS] = 1",
            "return redis[KEYS]",
            "return KEYS == ARGV",
            "return KEYS .. 'x'",
            "return not KEYS",
            "return -KEYS",
            "return KEYS:concat()",
            "return KEYS and KEYS[1]",
            "if KEYS then return 1 end",
            "local x = KEYS[1] and KEYS return x",
            "local list = ARGV[1] and KEYS or ARGV list[1] = 1",
            "local function f() return KEYS end",
            "list = KEYS",
            "KEYS = {}",
            "return _G.redis.call('get', KEYS[1])",
            "loadstring('KEYS[1] = 1')() return KEYS[1]",
            "return load(redis.call)() or KEYS[1]",
            "return unheard_of or KEYS[1]",
        ] {
            assert_eq!(script(text).0, KEPT, "{text}");
        }
    }

    #[test]
    fn functions_are_known_by_their_parameters() {
        for (text, expected) in [
            ("function() return 1 end", (UNSEEN, UNSEEN)),
            ("function(keys) return redis.call('get', keys[1]) end", (READ, UNSEEN)),
            ("function(keys, args) return #keys + #args end", (READ, READ)),
            ("function(_, args) for i = 1, #args do print(args[i]) end end", (READ, READ)),
            ("function(keys, args, more) if more then return args[1] end end", (READ, READ)),
            ("function(keys, args) keys[1] = args[1] end", (KEPT, READ)),
            ("function(keys, args) return unpack(args) end", (READ, KEPT)),
            ("function(keys) return keys end", (KEPT, UNSEEN)),
            ("function(keys) local list = keys return #list end", (KEPT, UNSEEN)),
            ("function(keys) return function() return keys[1] end end", (KEPT, UNSEEN)),
            ("function(keys) list = keys end", (KEPT, UNSEEN)),
            ("function(keys, args) return { keys = args } end", (READ, KEPT)),
            ("function(keys, args) return { args } end", (READ, KEPT)),
            ("function(keys, args) return args[keys] end", (KEPT, READ)),
            ("function(keys, args) return keys == args end", (KEPT, KEPT)),
            ("function(keys, args) return keys .. args end", (KEPT, KEPT)),
            ("function(keys, args) return keys:x() or #args end", (KEPT, READ)),
            ("function(keys, args) local list = keys and args return list end", (KEPT, KEPT)),
            ("function(...) return select('#', ...) end", (KEPT, KEPT)),
            ("function(keys, ...) return keys[1] end", (KEPT, KEPT)),
            ("print", (KEPT, KEPT)),
        ] {
            assert_eq!(function(text), expected, "{text}");
        }
    }

    #[test]
    fn code_that_is_cut_or_broken_is_unknown_and_never_a_panic() {
        let text = "local a = KEYS[1] return function(x) return { x, a, 1.5, true, nil } end";
        let lua = Lua::new();
        let function = lua.load(text).into_function().expect("it is Lua");
        let dumped = function.dump(true);
        for len in 0..dumped.len() {
            assert_eq!(of_script(&dumped[..len]), ListUses::UNKNOWN);
        }
        for index in 0..dumped.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut broken = dumped.clone();
                broken[index] = byte;
                of_script(&broken);
                of_function(&broken);
            }
        }
    }
}
