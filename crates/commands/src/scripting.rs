//! Scripts and functions: EVAL, FCALL and their like, SCRIPT and FUNCTION. How a script runs is in
//! `dispatch/script.rs`.

mod debug;
mod eval;
mod fcall;
mod function;
mod function_changes;
mod function_figures;
mod kill;
mod script;

use basalt_call::entry::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[
    debug::SCRIPT_DEBUG,
    eval::EVAL,
    eval::EVALSHA,
    eval::EVALSHA_RO,
    eval::EVAL_RO,
    fcall::FCALL,
    fcall::FCALL_RO,
    function::FUNCTION,
    function_changes::FUNCTION_DELETE,
    function_figures::FUNCTION_DUMP,
    function_changes::FUNCTION_FLUSH,
    function::FUNCTION_HELP,
    function::FUNCTION_KILL,
    function_figures::FUNCTION_LIST,
    function_changes::FUNCTION_LOAD,
    function_changes::FUNCTION_RESTORE,
    function_figures::FUNCTION_STATS,
    script::SCRIPT,
    script::SCRIPT_EXISTS,
    script::SCRIPT_FLUSH,
    script::SCRIPT_HELP,
    script::SCRIPT_KILL,
    script::SCRIPT_LOAD,
];
