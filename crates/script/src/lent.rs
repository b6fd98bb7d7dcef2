//! The host of the script that runs on this thread, for the functions and the hook of its Lua
//! state, which live longer than any run.

use crate::host::Host;
use scoped_tls_hkt::scoped_thread_local;

scoped_thread_local!(static mut HOST: for<'a> &'a mut dyn Host);

/// Lends `host` for as long as `run` takes.
pub(crate) fn lend<R>(host: &mut dyn Host, run: impl FnOnce() -> R) -> R {
    HOST.set(host, run)
}

/// Calls `ask` with the host; `None` if no script runs, or the host is busy with a call already.
pub(crate) fn with<R>(ask: impl FnOnce(&mut dyn Host) -> R) -> Option<R> {
    HOST.is_set().then(|| HOST.with(ask))
}
