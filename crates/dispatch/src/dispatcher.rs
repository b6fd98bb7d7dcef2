//! A server with its commands: what requests run on.

use super::contested::Contested;
use basalt_call::calls::Commands;
use basalt_config::Config;
use basalt_engine::Engine;
use basalt_observe::counters::ThreadCounters;
use basalt_service::server::{Host, Server};
use std::ops::Deref;
use std::sync::Arc;

/// A server with its commands: what requests run on.
///
/// A command's function sees the [`Server`], which therefore cannot hold the function: the server
/// holds the table of names and specs, and this holds what each command does. It goes where a
/// server goes, and is one where no command is run.
pub struct Dispatcher {
    /// What all connections share.
    pub server: Server,
    /// What the commands do.
    pub commands: Commands,
    /// Partitions that commands have found held.
    pub(super) contested: Contested,
}

impl Dispatcher {
    /// A server over an open database that has these commands.
    pub fn new(
        engine: Arc<Engine>,
        config: Arc<Config>,
        commands: Commands,
        counters: Vec<Arc<ThreadCounters>>,
        host: Box<dyn Host>,
    ) -> Dispatcher {
        let table = Arc::clone(&commands.table);
        let server = Server::new(engine, config, table, counters, host);
        Dispatcher { server, commands, contested: Contested::default() }
    }
}

impl Deref for Dispatcher {
    type Target = Server;

    #[inline]
    fn deref(&self) -> &Server {
        &self.server
    }
}
