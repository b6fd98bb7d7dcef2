//! The Lua state of a thread, and texts that are read with it.

use crate::error::CommandError;
use crate::scripts::ScriptService;
use crate::server::REDIS_VERSION;
use basalt_script::{Evaluated, Interpreter, Script};
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// This thread's Lua state, made for its first script. It is bound to the thread, unlike a
    /// worker.
    static INTERPRETER: RefCell<Option<Interpreter>> = const { RefCell::new(None) };
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
            let interpreter = match slot {
                Some(interpreter) => interpreter,
                None => {
                    let made = Interpreter::new(REDIS_VERSION, self.env.entropy.seed());
                    slot.insert(made.map_err(CommandError::new)?)
                }
            };
            Ok(work(interpreter))
        })
    }
}
