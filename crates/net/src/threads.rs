//! The network threads: starting and stopping them, and sharing connections out.

use crate::mailbox::{Mailbox, Message, NewConnection};
use crate::reactor::{MAILBOX, Reactor};
use crate::turn::Turn;
use basalt_command::dispatch::Worker;
use basalt_command::server::Server;
use mio::{Poll, Waker};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

/// The network threads.
pub struct NetThreads {
    mailboxes: Vec<Arc<Mailbox>>,
    threads: Vec<JoinHandle<()>>,
}

impl NetThreads {
    /// Starts one thread for each set of counters that the server has.
    ///
    /// # Errors
    /// If the system gives no poll or no thread.
    pub fn start(server: &Arc<Server>) -> io::Result<NetThreads> {
        let mut net = NetThreads { mailboxes: Vec::new(), threads: Vec::new() };
        for (number, counters) in server.counters.iter().enumerate() {
            let poll = Poll::new()?;
            let mailbox = Arc::new(Mailbox::new(Waker::new(poll.registry(), MAILBOX)?));
            let worker = Worker::new(server, Arc::clone(counters));
            let turn = Turn::new(Arc::clone(server), worker, Arc::clone(&mailbox));
            let mut reactor = Reactor::new(poll, Arc::clone(&mailbox), turn);
            let thread = std::thread::Builder::new()
                .name(format!("net-{number}"))
                .spawn(move || reactor.run())?;
            let log_wake = Arc::clone(&mailbox);
            server.engine.log().subscribe(Arc::new(move || log_wake.log_moved()));
            net.mailboxes.push(mailbox);
            net.threads.push(thread);
        }
        Ok(net)
    }

    /// Gives a connection to the thread that has the fewest.
    pub(crate) fn assign(mailboxes: &[Arc<Mailbox>], connection: NewConnection) {
        let load = |mailbox: &&Arc<Mailbox>| mailbox.connections.load(Ordering::Relaxed);
        if let Some(mailbox) = mailboxes.iter().min_by_key(load) {
            mailbox.connections.fetch_add(1, Ordering::Relaxed);
            mailbox.send(Message::Connection(connection));
        }
    }

    pub(crate) fn mailboxes(&self) -> Vec<Arc<Mailbox>> {
        self.mailboxes.clone()
    }

    /// Sends what clients are owed, closes all connections and ends the threads.
    pub fn stop(self) {
        self.mailboxes.iter().for_each(|mailbox| mailbox.send(Message::Stop));
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a network thread had panicked");
            }
        }
    }
}
