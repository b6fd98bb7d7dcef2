//! The network threads: starting and stopping them, and sharing connections out.

use crate::mailbox::{Mailbox, Message, NewConnection};
use crate::reactor::{MAILBOX, Reactor};
use crate::relief::Relief;
use crate::share::Held;
use crate::turn::Turn;
use basalt_dispatch::Dispatcher;
use basalt_dispatch::Worker;
use basalt_env::thread::{JoinHandle, run_at_once};
use basalt_service::draws;
use basalt_stdx::lock_rank::RankedMutex;
use mio::{Poll, Waker};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How long clients have to take what they are owed, and scripts that have changed something to
/// end, when the threads stop in order.
pub const STOP_GRACE: Duration = Duration::from_secs(6);

/// The network threads.
pub struct NetThreads {
    server: Arc<Dispatcher>,
    mailboxes: Vec<Arc<Mailbox>>,
    threads: Vec<JoinHandle<()>>,
    relief: Relief,
    /// Ends with the last thread.
    running: RankedMutex<Receiver<()>>,
}

/// What has become of the threads that were to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// They have ended.
    All,
    /// One is still in the midst of a script that has changed something, and holds its partitions.
    NotAll,
}

impl NetThreads {
    /// Starts one thread for each set of counters that the server has.
    ///
    /// # Errors
    /// If the system has no poll or no thread left.
    pub fn start(server: &Arc<Dispatcher>) -> io::Result<NetThreads> {
        let (runs, running) = channel();
        let (mut mailboxes, mut threads, mut loans) = (Vec::new(), Vec::new(), Vec::new());
        let held = Arc::<Held>::default();
        let counters = server.counters.iter().zip(&server.stand_in_counters);
        for (number, (counters, stand_in_counters)) in counters.enumerate() {
            let poll = Poll::new()?;
            let mailbox = Arc::new(Mailbox::new(Waker::new(poll.registry(), MAILBOX)?));
            let worker = Worker::new(server, Arc::clone(counters));
            let mut turn = Turn::new(Arc::clone(server), worker);
            let mut reactor = Reactor::new(poll, Arc::clone(&mailbox), server, stand_in_counters);
            reactor.count_in(&held);
            loans.push(Arc::clone(&reactor.loan));
            let runs = runs.clone();
            let seed = server.env.entropy.seed();
            let thread = basalt_env::thread::spawn(&format!("net-{number}"), move || {
                draws::begin(seed);
                run_at_once();
                reactor.run(&mut turn);
                drop::<Sender<()>>(runs);
            })?;
            let log_wake = Arc::clone(&mailbox);
            server.engine.log().subscribe(Arc::new(move || log_wake.log_moved()));
            mailboxes.push(mailbox);
            threads.push(thread);
        }
        Ok(NetThreads {
            server: Arc::clone(server),
            mailboxes,
            threads,
            relief: Relief::start(loans, server.env.entropy.seed())?,
            running: RankedMutex::new(running),
        })
    }

    /// Hands a connection to the thread that has the fewest.
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

    /// Sends what clients are owed, closes all connections and ends the threads. Scripts that have
    /// changed nothing end at once; others have until `grace` is over.
    pub fn stop(self, grace: Duration) -> Stopped {
        self.server.scripts.shut_down();
        self.mailboxes.iter().for_each(|mailbox| mailbox.send(Message::Stop));
        if self.running.lock().recv_timeout(grace) == Err(RecvTimeoutError::Timeout) {
            return Stopped::NotAll;
        }
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a network thread had panicked");
            }
        }
        self.relief.stop();
        Stopped::All
    }
}
