//! Scripts: EVAL and its like, SCRIPT, and what there is of functions. How a script runs is in
//! `dispatch/script.rs`.

mod debug;
mod eval;
mod function;
mod script;

use basalt_call::entry::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[
    debug::SCRIPT_DEBUG,
    eval::EVAL,
    eval::EVALSHA,
    eval::EVALSHA_RO,
    eval::EVAL_RO,
    function::FUNCTION,
    function::FUNCTION_FLUSH,
    function::FUNCTION_HELP,
    script::SCRIPT,
    script::SCRIPT_EXISTS,
    script::SCRIPT_FLUSH,
    script::SCRIPT_HELP,
    script::SCRIPT_KILL,
    script::SCRIPT_LOAD,
];
