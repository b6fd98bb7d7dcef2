//! What a Lua state knows of the script that runs in it: how it is ended if it does not end by itself, and
//! the protocol that it has chosen.

use crate::host::{Level, Look, Overseer};
use basalt_resp::Protocol;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Shared by the hook, the library's functions and the one who runs a script.
#[derive(Default)]
pub(crate) struct Current {
    overseer: RefCell<Option<Arc<dyn Overseer>>>,
    /// It is not to go on.
    stopped: Cell<bool>,
    /// Why, if it was ended from outside.
    reason: Cell<Option<&'static str>>,
    protocol: Cell<Protocol>,
}

impl Current {
    pub(crate) fn begin(&self, overseer: Arc<dyn Overseer>) {
        *self.overseer.borrow_mut() = Some(overseer);
        self.stopped.set(false);
        self.reason.set(None);
        self.protocol.set(Protocol::Resp2);
    }

    pub(crate) fn end(&self) {
        *self.overseer.borrow_mut() = None;
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

    /// Whether the script may go on.
    pub(crate) fn may_go_on(&self) -> bool {
        if !self.stopped.get()
            && let Some(overseer) = &*self.overseer.borrow()
            && let Look::End(reason) = overseer.look()
        {
            self.stopped.set(true);
            self.reason.set(Some(reason));
        }
        !self.stopped.get()
    }

    pub(crate) fn log(&self, level: Level, text: &[u8]) {
        if let Some(overseer) = &*self.overseer.borrow() {
            overseer.log(level, text);
        }
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol.get()
    }

    pub(crate) fn speak(&self, protocol: Protocol) {
        self.protocol.set(protocol);
    }
}
