//! The Lua state of a thread, and texts that are read with it.

use crate::error::CommandError;
use crate::scripts::ScriptService;
use crate::server::REDIS_VERSION;
use basalt_script::{Evaluated, Interpreter, Script};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// This thread's Lua state, made for its first script. It is bound to the thread, unlike a
    /// worker.
    static INTERPRETER: RefCell<Option<ThreadState>> = const { RefCell::new(None) };
}

/// A thread's Lua state, and what others may know of it.
struct ThreadState {
    interpreter: Interpreter,
    /// Bytes that it takes, as of the end of its last run. Its thread alone writes it.
    memory_bytes: Arc<AtomicU64>,
}

impl ScriptService {
    /// Reads a text as a script, and remembers it if it is one.
    ///
    /// # Errors
    /// It is none.
    pub fn load(&self, text: &[u8], evaluated: Evaluated) -> Result<Arc<Script>, CommandError> {
        let script = self.known.read(text).map_err(|error| CommandError::because(error.0))?;
        self.with_interpreter(|interpreter| interpreter.compile(&script))?
            .map_err(CommandError::new)?;
        self.known.keep(&script, evaluated);
        Ok(script)
    }

    /// Works with this thread's Lua state.
    ///
    /// # Errors
    /// It could not be made.
    pub fn with_interpreter<R>(
        &self,
        work: impl FnOnce(&mut Interpreter) -> R,
    ) -> Result<R, CommandError> {
        INTERPRETER.with_borrow_mut(|slot| {
            let state = match slot {
                Some(state) => state,
                None => {
                    let made = Interpreter::new(REDIS_VERSION, self.env.entropy.seed());
                    let interpreter = made.map_err(CommandError::new)?;
                    let memory_bytes = self.lua_memory.add_thread();
                    slot.insert(ThreadState { interpreter, memory_bytes })
                }
            };
            let result = work(&mut state.interpreter);
            let used = state.interpreter.memory_bytes() as u64;
            // Relaxed: a figure by itself.
            state.memory_bytes.store(used, Ordering::Relaxed);
            Ok(result)
        })
    }

    /// Bytes that the Lua states of all threads take, each as of the end of its last run.
    pub fn lua_bytes(&self) -> u64 {
        self.lua_memory.bytes()
    }
}
