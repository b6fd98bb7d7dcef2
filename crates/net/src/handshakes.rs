//! The threads that shake hands.
//!
//! ```text
//! accept ─▶ handshake thread ─▶ network thread
//!           reads, signs, has a poll of its own; gives the connection away when both sides agree
//! ```
//! A handshake takes a signature: 0.1 ms of CPU by a key on an elliptic curve, 1 ms by RSA of 2,048
//! bits. A thousand of them a second on a network thread would be a thousand pauses for its
//! clients. Here they get a thread's share of a core at most, and less where others want it: these
//! threads step back ([`basalt_env::priority`]). So a flood of handshakes slows handshakes.
//!
//! One that has not ended within `tls-handshake-timeout` ends without a word. Those under way count
//! as clients, and may be half of `maxclients` at most, so that a client that begins them and never
//! ends them keeps out only others that come by TLS. Each holds a record, or 64 KiB of a long
//! message (rustls' limit), and what rustls needs for itself.

use crate::mailbox::{Mailbox, NewConnection};
use crate::threads::NetThreads;
use basalt_dispatch::Dispatcher;
use basalt_env::thread::JoinHandle;
use basalt_env::{Instant, priority};
use basalt_resp::Output;
use basalt_stdx::lock_rank::RankedMutex;
use basalt_tls::Handshake;
use mio::{Events, Poll, Token, Waker};
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const WAKE: Token = Token(usize::MAX);
const EVENTS_A_POLL: usize = 256;
/// How often those that take too long are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Network threads for which there is one of these.
const NETWORK_THREADS_EACH: usize = 4;

/// Somebody who has connected and has to shake hands.
#[derive(Debug)]
pub(crate) struct Guest {
    /// Its stream is one with TLS.
    pub(crate) connection: NewConnection,
    /// Within which it has to be over.
    pub(crate) time_max: Duration,
    /// What it is told afterwards, before it is sent away.
    pub(crate) refusal: Option<&'static str>,
}

/// See the head of this file.
pub(crate) struct Handshakes {
    threads: Vec<(Arc<Shared>, JoinHandle<()>)>,
}

/// What the accepting thread and one of these share.
#[derive(Debug)]
struct Shared {
    guests: RankedMutex<Vec<Guest>>,
    /// Of the thread, those in `guests` included.
    count: AtomicUsize,
    waker: Waker,
    stop: AtomicBool,
}

impl Handshakes {
    /// Starts the threads, which give connections to the network threads of these mailboxes.
    ///
    /// # Errors
    /// If the system has no poll or no thread left.
    pub(crate) fn start(
        server: &Arc<Dispatcher>,
        mailboxes: &[Arc<Mailbox>],
    ) -> io::Result<Handshakes> {
        let mut handshakes = Handshakes { threads: Vec::new() };
        for number in 0..mailboxes.len().div_ceil(NETWORK_THREADS_EACH) {
            let poll = Poll::new()?;
            let shared = Arc::new(Shared {
                guests: RankedMutex::default(),
                count: AtomicUsize::new(0),
                waker: Waker::new(poll.registry(), WAKE)?,
                stop: AtomicBool::new(false),
            });
            let mut reception = Reception {
                poll,
                shared: Arc::clone(&shared),
                server: Arc::clone(server),
                mailboxes: mailboxes.to_vec(),
                pending: Vec::new(),
                vacant: Vec::new(),
                last_look: server.env.clock.now(),
            };
            let thread = basalt_env::thread::spawn(&format!("handshake-{number}"), move || {
                priority::step_back();
                reception.run();
            })?;
            handshakes.threads.push((shared, thread));
        }
        Ok(handshakes)
    }

    /// Handshakes under way.
    pub(crate) fn count(&self) -> usize {
        self.threads.iter().map(|(shared, _)| shared.count.load(Ordering::Relaxed)).sum()
    }

    /// Begins a handshake, in the thread that has the fewest.
    pub(crate) fn begin(&self, guest: Guest) {
        let load = |(shared, _): &&(Arc<Shared>, _)| shared.count.load(Ordering::Relaxed);
        if let Some((shared, _)) = self.threads.iter().min_by_key(load) {
            shared.count.fetch_add(1, Ordering::Relaxed);
            shared.guests.lock().push(guest);
            shared.wake();
        }
    }

    /// Ends the threads, and with them what is under way.
    pub(crate) fn stop(self) {
        for (shared, thread) in self.threads {
            shared.stop.store(true, Ordering::Release);
            shared.wake();
            if thread.join().is_err() {
                tracing::error!("a handshake thread had panicked");
            }
        }
    }
}

impl Shared {
    fn wake(&self) {
        if let Err(error) = self.waker.wake() {
            tracing::error!(%error, "a handshake thread could not be woken");
        }
    }
}

/// What one of the threads has.
struct Reception {
    poll: Poll,
    shared: Arc<Shared>,
    server: Arc<Dispatcher>,
    mailboxes: Vec<Arc<Mailbox>>,
    pending: Vec<Option<Pending>>,
    vacant: Vec<usize>,
    last_look: Instant,
}

struct Pending {
    guest: Guest,
    since: Instant,
}

impl Reception {
    fn run(&mut self) {
        let mut events = Events::with_capacity(EVENTS_A_POLL);
        while !self.shared.stop.load(Ordering::Acquire) {
            let is_idle = self.pending.len() == self.vacant.len();
            let timeout = if is_idle { None } else { Some(LOOK_EVERY) };
            if let Err(error) = self.poll.poll(&mut events, timeout) {
                if error.kind() != io::ErrorKind::Interrupted {
                    // Clients would wait for ever, and the server look alive.
                    tracing::error!(%error, "polling handshakes failed: the server cannot go on");
                    std::process::abort();
                }
                continue;
            }
            for event in &events {
                if event.token() != WAKE {
                    self.go_on(event.token().0);
                }
            }
            let guests = std::mem::take(&mut *self.shared.guests.lock());
            guests.into_iter().for_each(|guest| self.adopt(guest));
            self.end_late_ones();
        }
    }

    fn adopt(&mut self, mut guest: Guest) {
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.pending.push(None);
            self.pending.len() - 1
        });
        let registered = guest.connection.stream.register(self.poll.registry(), Token(index));
        self.pending[index] = Some(Pending { guest, since: self.server.env.clock.now() });
        match registered {
            Ok(()) => self.go_on(index),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be registered");
                self.fail(index);
            }
        }
    }

    /// Takes a handshake as far as it goes.
    fn go_on(&mut self, index: usize) {
        let Some(Some(pending)) = self.pending.get_mut(index) else { return };
        let connection = &mut pending.guest.connection;
        match connection.stream.shake_hands() {
            Ok(Handshake::Waits) => {}
            Ok(Handshake::Done) => {
                connection.certificate_name = connection.stream.certificate_name();
                if let Some(guest) = self.take(index) {
                    self.let_in(guest);
                }
            }
            Err(error) => {
                let address = &connection.address;
                tracing::debug!(%address, %error, "a TLS handshake failed");
                self.fail(index);
            }
        }
    }

    /// Hands it over, or tells it why it may not come in.
    fn let_in(&self, guest: Guest) {
        let Guest { mut connection, refusal, .. } = guest;
        match refusal {
            None => NetThreads::assign(&self.mailboxes, connection),
            Some(refusal) => {
                // A client that has gone already does not need to know why.
                let _ = dismiss(&mut connection, refusal);
            }
        }
        self.shared.count.fetch_sub(1, Ordering::Relaxed);
    }

    fn fail(&mut self, index: usize) {
        if self.take(index).is_some() {
            self.server.failed_handshakes.fetch_add(1, Ordering::Relaxed);
            self.shared.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn take(&mut self, index: usize) -> Option<Guest> {
        let mut pending = self.pending.get_mut(index)?.take()?;
        pending.guest.connection.stream.deregister(self.poll.registry());
        self.vacant.push(index);
        Some(pending.guest)
    }

    fn end_late_ones(&mut self) {
        let now = self.server.env.clock.now();
        if now - self.last_look < LOOK_EVERY {
            return;
        }
        self.last_look = now;
        for index in 0..self.pending.len() {
            if let Some(pending) = &self.pending[index]
                && now - pending.since >= pending.guest.time_max
            {
                self.fail(index);
            }
        }
    }
}

/// Tells a client, as far as its socket takes it, why it may not come in.
pub(crate) fn dismiss(connection: &mut NewConnection, refusal: &str) -> io::Result<usize> {
    let mut out = Output::new();
    connection.wire.front().dismiss(refusal, &mut out);
    let mut slices = [IoSlice::new(&[]); 4];
    let count = out.io_slices(&mut slices);
    connection.stream.write_vectored(&slices[..count])
}
