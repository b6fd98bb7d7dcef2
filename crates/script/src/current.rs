//! What a Lua state knows of the script that runs in it: how it is ended if it does not end by
//! itself, and the protocol that it has chosen. A script is watched over by its host, the text of
//! a library that a client loads by an overseer alone.

use crate::failure::raise;
use crate::host::{Level, Look, Overseer};
use crate::lent;
use crate::registering::Registered;
use basalt_resp::Protocol;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Shared by the hook, the library's functions and the one who runs a script.
#[derive(Default)]
pub(crate) struct Current {
    /// Watches over a library that is being loaded for a client.
    overseer: RefCell<Option<Arc<dyn Overseer>>>,
    /// The script has called a command.
    has_called: Cell<bool>,
    /// It is not to go on.
    stopped: Cell<bool>,
    /// Why, if it was ended from outside.
    reason: Cell<Option<&'static str>>,
    lists: Lists,
    /// What the library that is being loaded has registered, if one is.
    registering: RefCell<Option<Registered>>,
    /// The kind of text that runs: errors name its lines.
    source: Cell<Source>,
    memory_bytes_max: Cell<usize>,
    protocol: Cell<Protocol>,
}

/// What the lists of words are as fields of the globals: a script's from its run on, until the next
/// run sets or clears them. One without words is made when a script asks for it.
#[derive(Default)]
pub(crate) struct Lists {
    /// `KEYS`
    pub(crate) keys: Cell<ListField>,
    /// `ARGV`
    pub(crate) args: Cell<ListField>,
    /// One of them was made when a script asked for it.
    pub(crate) made: Cell<bool>,
}

/// What such a field has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ListField {
    /// Nothing.
    #[default]
    Absent,
    /// A table of that run.
    Own,
    /// The table that is filled again for each script that only reads it.
    Reused,
}

/// What kind of text runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Source {
    #[default]
    Script,
    Function,
}

impl Source {
    /// As Lua names the text.
    pub(crate) fn chunk_name(self) -> &'static str {
        match self {
            Source::Script => "@user_script",
            Source::Function => "@user_function",
        }
    }
}

impl Current {
    pub(crate) fn begin(&self, source: Source) {
        self.source.set(source);
        self.has_called.set(false);
        self.stopped.set(false);
        self.reason.set(None);
        self.protocol.set(Protocol::Resp2);
    }

    /// Has `overseer` watch until `load` is done with a library.
    pub(crate) fn watched_by<R>(&self, overseer: Arc<dyn Overseer>, load: impl FnOnce() -> R) -> R {
        *self.overseer.borrow_mut() = Some(overseer);
        let loaded = load();
        *self.overseer.borrow_mut() = None;
        loaded
    }

    pub(crate) fn source(&self) -> Source {
        self.source.get()
    }

    pub(crate) fn lists(&self) -> &Lists {
        &self.lists
    }

    pub(crate) fn registering(&self) -> &RefCell<Option<Registered>> {
        &self.registering
    }

    /// The script is not to go on.
    pub(crate) fn stop(&self) {
        self.stopped.set(true);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Why it was ended from outside.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        self.reason.get()
    }

    /// Whether the script may go on; the host does what else there is to do if it is time.
    pub(crate) fn may_go_on(&self) -> bool {
        if self.look() == Some(Look::Attend) {
            lent::with(|host| host.attend());
            // What was done may have been to end the script.
            self.look();
        }
        !self.stopped.get()
    }

    /// Whether the script may call a command, as [`Current::may_go_on`]; what it did before its
    /// first one is not looked at, since the hook has it if it took long.
    #[inline]
    pub(crate) fn may_call(&self) -> bool {
        if self.has_called.replace(true) { self.may_go_on() } else { !self.stopped.get() }
    }

    /// For functions that may take long: the script goes on, unless it is to end.
    ///
    /// # Errors
    /// It is to end.
    pub(crate) fn go_on(&self) -> mlua::Result<()> {
        match self.may_go_on() {
            true => Ok(()),
            false => Err(raise(self.reason().unwrap_or_default())),
        }
    }

    /// Bytes of memory that the state may have, which is also the bound of what it builds outside
    /// of itself.
    pub(crate) fn memory_bytes_max(&self) -> usize {
        self.memory_bytes_max.get()
    }

    pub(crate) fn limit_memory(&self, bytes_max: usize) {
        self.memory_bytes_max.set(bytes_max);
    }

    fn look(&self) -> Option<Look> {
        if self.stopped.get() {
            return None;
        }
        let look = self.ask(|overseer| overseer.look())?;
        match look {
            Look::GoOn | Look::Attend => {}
            Look::GiveUp => self.stopped.set(true),
            Look::End(reason) => {
                self.stopped.set(true);
                self.reason.set(Some(reason));
            }
        }
        Some(look)
    }

    pub(crate) fn log(&self, level: Level, text: &[u8]) {
        self.ask(|overseer| overseer.log(level, text));
    }

    /// Asks the overseer; `None` if nobody watches.
    fn ask<R>(&self, question: impl FnOnce(&dyn Overseer) -> R) -> Option<R> {
        match &*self.overseer.borrow() {
            Some(overseer) => Some(question(&**overseer)),
            None => lent::with(|host| question(host)),
        }
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol.get()
    }

    pub(crate) fn speak(&self, protocol: Protocol) {
        self.protocol.set(protocol);
    }
}
