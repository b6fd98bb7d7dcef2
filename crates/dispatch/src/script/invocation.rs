//! One call of a script: which, with what, and what it may do.

use super::super::dispatcher::Dispatcher;
use crate::worker::Worker;
use basalt_call::calls::FIRST_COUNTED_KEY;
use basalt_call::entry::{Named, Permit, ScriptCall};
use basalt_engine::{Claims, Key};
use basalt_number::parse_i64;
use basalt_script::{Evaluated, Input, KeyScope, Program, RandomState, Sha1};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::prepared::Prepared;
use basalt_service::scripts::RunKind;
use std::sync::Arc;

const NO_SCRIPT: CommandError =
    CommandError::fixed("NOSCRIPT No matching script. Please use EVAL.");
const TOO_MANY_KEYS: CommandError =
    CommandError::fixed("ERR Number of keys can't be greater than number of args");
const NO_FUNCTION: CommandError = CommandError::fixed("ERR Function not found");
const BAD_KEY_COUNT: CommandError = CommandError::fixed("ERR Bad number of keys provided");
const NEGATIVE_KEYS: CommandError = CommandError::fixed("ERR Number of keys can't be negative");
const NOT_READ_ONLY: CommandError =
    CommandError::fixed("ERR Can not execute a script with write flag using *_ro command.");
const OUT_OF_MEMORY: CommandError = CommandError::fixed(
    "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
);

/// A call of a script.
pub(super) struct Invocation<'a> {
    pub(super) program: Arc<Program>,
    args: Args<'a>,
    keys: usize,
    /// The first of the keys, if it has been hashed already.
    first: Option<Key<'a>>,
    permit: Permit,
    named: Named,
}

impl<'a> Invocation<'a> {
    /// Reads the words.
    ///
    /// # Errors
    /// They do not say which script to call with which keys, or it may not run now.
    pub(super) fn read(
        server: &Dispatcher,
        worker: &mut Worker,
        args: Args<'a>,
        call: ScriptCall,
    ) -> Result<Invocation<'a>, CommandError> {
        let look_up = || find(server, args, call);
        // Which errors come first is as in Redis; what the text of a script is, is looked at last.
        let (found, bad_count) = match call.named {
            Named::BySha => {
                let removals = server.scripts.known.removals();
                let found = worker.recent_scripts.take(args.word(1), removals, look_up);
                if found.is_err() {
                    Sha1::parse(args.word(1)).ok_or(NO_SCRIPT)?;
                }
                (Some(found), CommandError::NOT_INTEGER)
            }
            Named::ByFunction => {
                let removals = server.scripts.functions.version();
                let found = worker.recent_functions.take(args.word(1), removals, look_up)?;
                (Some(Ok(found)), BAD_KEY_COUNT)
            }
            Named::ByText => (None, CommandError::NOT_INTEGER),
        };
        let keys = parse_i64(args.word(2)).ok_or(bad_count)?;
        if keys > (args.len() - FIRST_COUNTED_KEY) as i64 {
            return Err(TOO_MANY_KEYS);
        }
        let keys = usize::try_from(keys).map_err(|_| NEGATIVE_KEYS)?;
        let program = found.unwrap_or_else(|| look_up().map(Arc::new))?;
        let flags = program.flags();
        if flags.declared && !flags.no_writes && call.permit == Permit::Reads {
            return Err(NOT_READ_ONLY);
        }
        let may_need_memory = flags.declared && !flags.no_writes && !flags.allow_oom;
        if may_need_memory && server.is_out_of_memory(&worker.settings) {
            return Err(OUT_OF_MEMORY);
        }
        let permit = if flags.no_writes { Permit::Reads } else { call.permit };
        Ok(Invocation { program, args, keys, first: None, permit, named: call.named })
    }

    /// Takes over what is known of the first key.
    pub(super) fn prepared_as(mut self, prepared: &Prepared) -> Invocation<'a> {
        if self.keys > 0
            && let Some(partition) = prepared.partition
        {
            let bytes = self.args.word(FIRST_COUNTED_KEY);
            self.first = Some(Key { bytes, hash: prepared.hash, partition });
        }
        self
    }

    /// The call has ended: its program is where the next one finds it.
    pub(super) fn end(self, worker: &mut Worker) {
        let name = self.args.word(1);
        match self.named {
            Named::BySha => worker.recent_scripts.put_back(name, self.program),
            Named::ByFunction => worker.recent_functions.put_back(name, self.program),
            Named::ByText => {}
        }
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.permit == Permit::Reads
    }

    /// The declared keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.args.from(FIRST_COUNTED_KEY).take(self.keys)
    }

    /// What the script is called with, its random numbers as they stood when it began first.
    pub(super) fn input(&self, random: Option<RandomState>) -> Input<'a> {
        let (buffer, words) = self.args.ranges(FIRST_COUNTED_KEY);
        let (keys, args) = words.split_at(self.keys);
        Input { buffer, keys, args, random }
    }

    /// The name of a function that it calls, and the words of the call.
    pub(super) fn call_of_function(&self) -> Option<(String, Vec<Vec<u8>>)> {
        let Program::Function(library, index) = &*self.program else { return None };
        let words = self.args.from(0).map(<[u8]>::to_vec).collect();
        Some((library.functions[*index].name.clone(), words))
    }

    pub(super) fn kind(&self) -> RunKind {
        match *self.program {
            Program::Script(_) => RunKind::Script,
            Program::Function(..) => RunKind::Function,
        }
    }

    /// What has to be held, and to be in memory, before it runs; `everything` if it has turned out
    /// that every partition has to be held. The room for its keys is due back
    /// (`Worker::claimed_keys`).
    pub(super) fn claims<'k>(
        &self,
        server: &Dispatcher,
        worker: &mut Worker,
        db: u8,
        everything: bool,
    ) -> Claims<'k>
    where
        'a: 'k,
    {
        let scope = self.program.trust().scope();
        let mut keys = worker.claimed_keys.take();
        keys.extend(self.first);
        let others = self.keys().skip(keys.len());
        keys.extend(others.map(|key| server.engine.key(key)));
        Claims {
            keys,
            databases: db..db + 1,
            everything: everything || matches!(scope, KeyScope::Any | KeyScope::AnyInMemory),
            reads_everything: scope == KeyScope::AnyInMemory,
        }
    }
}

/// What a call names, as far as it can be told without compiling it.
pub(super) fn named(server: &Dispatcher, args: Args<'_>, call: ScriptCall) -> Option<Program> {
    let name = args.word(1);
    match call.named {
        Named::BySha => server.scripts.known.find(&Sha1::parse(name)?).map(Program::Script),
        Named::ByText => server.scripts.known.read(name).ok().map(Program::Script),
        Named::ByFunction => server.scripts.functions.find(name),
    }
}

/// What a call names.
pub(super) fn find(
    server: &Dispatcher,
    args: Args<'_>,
    call: ScriptCall,
) -> Result<Program, CommandError> {
    match call.named {
        Named::BySha => {
            let sha = Sha1::parse(args.word(1)).ok_or(NO_SCRIPT)?;
            find_by_sha(server, &sha)
        }
        Named::ByText => server.scripts.load(args.word(1), Evaluated::Only).map(Program::Script),
        Named::ByFunction => server.scripts.functions.find(args.word(1)).ok_or(NO_FUNCTION),
    }
}

fn find_by_sha(server: &Dispatcher, sha: &Sha1) -> Result<Program, CommandError> {
    server.scripts.known.find(sha).map(Program::Script).ok_or(NO_SCRIPT)
}
