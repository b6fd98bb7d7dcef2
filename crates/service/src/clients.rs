//! The connected clients: what CLIENT LIST shows and CLIENT KILL reaches.
//!
//! Each connection shares a [`ClientHandle`] with this registry. The connection's thread writes it
//! with plain stores, once a turn rather than once a command; others read.

use crate::error::CommandError;
use crate::hand_over::{Asked, Served, Slot};
use crate::session::ParkedCommand;
use crate::transaction::Queue;
use basalt_acl::DEFAULT_USER;
use basalt_engine::{Engine, LockWait, Waiter, WatchMark};
use basalt_pubsub::{Address, Kind};
use basalt_stdx::lock_rank::{LeafRwLock, RankedMutex};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Clients that are visited under one lock: some microseconds.
const VISITED_AT_ONCE: usize = 256;

/// What is known about one connection from outside.
#[derive(Debug)]
pub struct ClientHandle {
    /// Its number, unique since the start.
    pub id: u64,
    /// Peer address, `ip:port`, or the path of the Unix socket and `:0`.
    pub address: String,
    /// Own address.
    pub local_address: String,
    /// What it speaks; `None` for Redis' protocol.
    pub front: Option<&'static str>,
    /// File descriptor.
    pub fd: i32,
    /// When it connected, in unix milliseconds.
    pub connected_ms: u64,
    /// Names that the client gave itself.
    pub names: RankedMutex<ClientNames>,
    /// The name of its client's user.
    pub(crate) user: RankedMutex<Arc<[u8]>>,
    /// When it last sent something, in unix milliseconds.
    pub active_ms: AtomicU64,
    /// Selected database.
    pub db: AtomicU8,
    /// Protocol version, 2 or 3.
    pub protocol: AtomicU8,
    /// Index of its latest command plus one; 0 for none.
    pub last_command: AtomicU16,
    /// Bytes in its query buffer.
    pub query_bytes: AtomicU64,
    /// Bytes of memory that its query buffer takes.
    pub query_memory_bytes: AtomicU64,
    /// Bytes that wait to be sent to it.
    pub output_bytes: AtomicU64,
    /// Bytes of memory that these take.
    pub output_memory_bytes: AtomicU64,
    /// Buffers of earlier turns that wait to be sent to it.
    pub outputs: AtomicU64,
    /// Its subscriptions: to channels, patterns, sharded channels, and whether it monitors.
    pub subscriptions: [AtomicU64; Kind::ALL.len()],
    /// It may not be evicted (`CLIENT NO-EVICT`).
    pub no_evict: AtomicBool,
    /// Its reads leave no trace (`CLIENT NO-TOUCH`).
    pub no_touch: AtomicBool,
    /// It waits: for a key, or for the end of a pause.
    pub parked: AtomicBool,
    /// Commands that it has queued since MULTI plus one; 0 outside of a transaction.
    queued_commands: AtomicU64,
    /// Bytes of these.
    queued_bytes: AtomicU64,
    /// What tells of changes of keys that it watches.
    watching: RankedMutex<Option<Arc<WatchMark>>>,
    /// How it waits for keys: [`NOT_WAITING`], [`WAITING`] or how it is to stop.
    waiting: AtomicU8,
    killed: AtomicBool,
    /// It has been forgotten; a list of clients may have it a little longer.
    has_gone: AtomicBool,
    /// Where messages for it are sent.
    pub inbox: OnceLock<Address>,
    /// Its command that waits for keys.
    slot: RankedMutex<Slot<ParkedCommand>>,
    /// Wakes the thread that it belongs to.
    wake: Box<dyn Wake>,
}

/// Reaches a connection through the thread that it belongs to.
pub trait Wake: Send + Sync + std::fmt::Debug {
    /// Has the thread look for connections that were killed.
    fn sweep(&self);

    /// Has the thread run again what the connection waits with: for a key, or for the end of a
    /// pause.
    fn run_again(&self);

    /// Hands over what the connection's command, which waited for a key, is answered.
    fn serve(&self, served: Served);
}

/// How a client that waits for keys is made to stop (`CLIENT UNBLOCK`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unblocking {
    /// As if its time had passed.
    AsTimedOut,
    /// With an error.
    WithError,
}

const NOT_WAITING: u8 = 0;
const WAITING: u8 = 1;
const UNBLOCKED_AS_TIMED_OUT: u8 = 2;
const UNBLOCKED_WITH_ERROR: u8 = 3;

/// Names that a client gave itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientNames {
    /// `CLIENT SETNAME`.
    pub name: Vec<u8>,
    /// `CLIENT SETINFO LIB-NAME`.
    pub lib_name: Vec<u8>,
    /// `CLIENT SETINFO LIB-VER`.
    pub lib_version: Vec<u8>,
}

/// What is known of a connection when it is made.
#[derive(Debug)]
pub struct NewClient {
    /// What it speaks; `None` for Redis' protocol.
    pub front: Option<&'static str>,
    /// Peer address.
    pub address: String,
    /// Own address.
    pub local_address: String,
    /// File descriptor.
    pub fd: i32,
    /// Now, in unix milliseconds.
    pub now_ms: u64,
    /// Wakes its thread.
    pub wake: Box<dyn Wake>,
}

/// What a connection is used for. None follows or is followed in this version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientType {
    /// Commands.
    Normal,
    /// Following a primary.
    Replica,
    /// Subscribed to channels.
    Pubsub,
    /// The primary that this server follows.
    Master,
}

impl ClientType {
    /// Reads the name of a type.
    pub fn parse(word: &[u8]) -> Result<ClientType, CommandError> {
        let types = [
            ("normal", ClientType::Normal),
            ("slave", ClientType::Replica),
            ("replica", ClientType::Replica),
            ("pubsub", ClientType::Pubsub),
            ("master", ClientType::Master),
        ];
        let is_it = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        types.into_iter().find(|(name, _)| is_it(name)).map(|(_, found)| found).ok_or_else(|| {
            let word = String::from_utf8_lossy(word);
            CommandError::new(format!("ERR Unknown client type '{word}'"))
        })
    }
}

/// All connections.
#[derive(Debug, Default)]
pub struct Clients {
    by_id: LeafRwLock<BTreeMap<u64, Arc<ClientHandle>>>,
    last_id: AtomicU64,
}

impl Clients {
    /// Registers a connection.
    pub fn add(&self, new: NewClient) -> Arc<ClientHandle> {
        // Relaxed: only uniqueness matters.
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let client = Arc::new(ClientHandle {
            id,
            address: new.address,
            local_address: new.local_address,
            front: new.front,
            fd: new.fd,
            connected_ms: new.now_ms,
            names: RankedMutex::default(),
            user: RankedMutex::new(Arc::from(DEFAULT_USER)),
            active_ms: AtomicU64::new(new.now_ms),
            db: AtomicU8::new(0),
            protocol: AtomicU8::new(2),
            last_command: AtomicU16::new(0),
            query_bytes: AtomicU64::new(0),
            query_memory_bytes: AtomicU64::new(0),
            output_bytes: AtomicU64::new(0),
            output_memory_bytes: AtomicU64::new(0),
            outputs: AtomicU64::new(0),
            subscriptions: Default::default(),
            no_evict: AtomicBool::new(false),
            no_touch: AtomicBool::new(false),
            parked: AtomicBool::new(false),
            queued_commands: AtomicU64::new(0),
            queued_bytes: AtomicU64::new(0),
            watching: RankedMutex::default(),
            waiting: AtomicU8::new(NOT_WAITING),
            killed: AtomicBool::new(false),
            has_gone: AtomicBool::new(false),
            inbox: OnceLock::new(),
            slot: RankedMutex::default(),
            wake: new.wake,
        });
        self.by_id.write().insert(id, Arc::clone(&client));
        client
    }

    /// Forgets a connection.
    pub fn remove(&self, id: u64) {
        if let Some(client) = self.by_id.write().remove(&id) {
            client.has_gone.store(true, Ordering::Release);
        }
    }

    /// How many there are, those included that were killed and are not closed yet.
    pub fn len(&self) -> usize {
        self.by_id.read().len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All but those that were killed, by ascending id. A killed client is closed by its own
    /// thread, a little later than the client that killed it has its answer; nobody is to see it
    /// meanwhile.
    pub fn all(&self) -> Vec<Arc<ClientHandle>> {
        let clients = self.by_id.read();
        clients.values().filter(|client| !client.is_killed()).cloned().collect()
    }

    /// Shows those of [`Clients::all`] to one that adds them up. It shares none of them with their
    /// threads, and lets clients come and go in between, however many there are. `visit` must take
    /// no lock.
    pub fn visit(&self, mut visit: impl FnMut(&ClientHandle)) {
        let mut from = 0;
        loop {
            let clients = self.by_id.read();
            let mut rest = clients.range(from..);
            for (_, client) in rest.by_ref().take(VISITED_AT_ONCE) {
                if !client.is_killed() {
                    visit(client);
                }
            }
            match rest.next() {
                Some((&next, _)) => from = next,
                None => return,
            }
        }
    }

    /// The one with this id, even if it was killed, until it is closed.
    pub fn registered(&self, id: u64) -> Option<Arc<ClientHandle>> {
        self.by_id.read().get(&id).cloned()
    }

    /// The one with this id, unless it was killed.
    pub fn by_id(&self, id: u64) -> Option<Arc<ClientHandle>> {
        self.by_id.read().get(&id).filter(|client| !client.is_killed()).cloned()
    }
}

impl Waiter for ClientHandle {
    fn id(&self) -> u64 {
        self.id
    }

    fn wake(&self) {
        self.wake.run_again();
    }
}

impl ClientHandle {
    /// Has its thread close the connection soon. If its command waits for keys, it does not any
    /// more when this returns, unless another thread is just running it or somebody holds its keys
    /// for long.
    pub fn kill(&self, engine: &Engine, wait: LockWait) {
        // Release pairs with the Acquire in `is_killed`, though the flag alone matters.
        self.killed.store(true, Ordering::Release);
        if let Some(command) = self.claim_parked() {
            engine.stop_waiting_soon(self.id, command.waiting.places, wait);
        }
        self.wake.sweep();
    }

    /// Its user has changed: has its thread look at what it has subscribed to.
    pub fn review_subscriptions(&self) {
        if self.is_subscribed() {
            self.wake.sweep();
        }
    }

    /// Its command waits for keys.
    pub fn begin_waiting(&self) {
        self.waiting.store(WAITING, Ordering::Relaxed);
    }

    /// It does so no longer.
    pub fn end_waiting(&self) {
        self.waiting.store(NOT_WAITING, Ordering::Relaxed);
    }

    /// Index of its latest command.
    pub fn last_command_index(&self) -> Option<usize> {
        usize::from(self.last_command.load(Ordering::Relaxed)).checked_sub(1)
    }

    /// Whether and how it is to stop waiting.
    pub fn unblocking(&self) -> Option<Unblocking> {
        match self.waiting.load(Ordering::Relaxed) {
            UNBLOCKED_AS_TIMED_OUT => Some(Unblocking::AsTimedOut),
            UNBLOCKED_WITH_ERROR => Some(Unblocking::WithError),
            _ => None,
        }
    }

    /// Its command waits, and may be run by a thread that has something for it.
    pub fn park(&self, command: Box<ParkedCommand>) {
        self.slot.lock().park(command);
    }

    /// Takes the command that waits, to run it on another thread; `None` if some thread has it.
    pub fn claim_parked(&self) -> Option<Box<ParkedCommand>> {
        self.slot.lock().claim()
    }

    /// Takes the command that waits, to run it on its own thread; `None` if another has it, which
    /// will serve the client or have this asked again.
    pub(crate) fn take_parked_back(&self) -> Option<Box<ParkedCommand>> {
        self.slot.lock().take_back()
    }

    /// Takes the command that waits, as its client goes; `None` if another thread has it, which
    /// sees to the rest.
    pub fn abandon_parked(&self) -> Option<Box<ParkedCommand>> {
        self.slot.lock().abandon()
    }

    /// The command that another thread has claimed is over.
    pub fn end_parked(&self) {
        self.parked.store(false, Ordering::Relaxed);
        self.slot.lock().end();
    }

    /// What was asked of the command while another thread had it.
    pub fn take_asked(&self) -> Asked {
        self.slot.lock().take_asked()
    }

    /// Has its thread run its command again.
    pub fn run_again(&self) {
        self.wake.run_again();
    }

    /// Hands over what its command is answered.
    pub fn serve(&self, served: Served) {
        self.wake.serve(served);
    }

    /// Has it stop waiting for keys; returns true if it waited. A client that another thread is
    /// just serving does not wait any more.
    pub fn unblock(&self, how: Unblocking) -> bool {
        let how = match how {
            Unblocking::AsTimedOut => UNBLOCKED_AS_TIMED_OUT,
            Unblocking::WithError => UNBLOCKED_WITH_ERROR,
        };
        let slot = self.slot.lock();
        if slot.is_claimed() {
            return false;
        }
        // Relaxed: the message that follows orders it for the thread that looks.
        let changed =
            self.waiting.compare_exchange(WAITING, how, Ordering::Relaxed, Ordering::Relaxed);
        drop(slot);
        if changed.is_ok() {
            self.wake.run_again();
        }
        changed.is_ok()
    }

    /// Shows what it has queued since MULTI.
    pub fn show_transaction(&self, queue: Option<&Queue>) {
        let commands = queue.map_or(0, |queue| queue.count() as u64 + 1);
        self.queued_commands.store(commands, Ordering::Relaxed);
        let bytes = queue.map_or(0, |queue| queue.memory_bytes() as u64);
        self.queued_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Shows whether it watches keys.
    pub fn show_watching(&self, mark: Option<Arc<WatchMark>>) {
        *self.watching.lock() = mark;
    }

    /// How many commands it has queued since MULTI, if it has said that.
    pub fn queued_commands(&self) -> Option<u64> {
        self.queued_commands.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Bytes that its queued commands take.
    pub fn queued_bytes(&self) -> u64 {
        self.queued_bytes.load(Ordering::Relaxed)
    }

    /// A key that it watches has changed: its next EXEC does nothing.
    pub fn saw_change(&self) -> bool {
        self.watching.lock().as_ref().is_some_and(|mark| mark.is_changed())
    }

    /// Bytes of memory that its buffers take, what it has queued since MULTI left out.
    pub fn buffer_bytes(&self) -> u64 {
        let bytes = [&self.query_memory_bytes, &self.output_memory_bytes];
        bytes.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum()
    }

    /// What it is used for.
    pub fn client_type(&self) -> ClientType {
        if self.is_subscribed() { ClientType::Pubsub } else { ClientType::Normal }
    }

    /// It has subscribed to something.
    pub fn is_subscribed(&self) -> bool {
        let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Monitor);
        kinds.into_iter().any(|kind| self.subscribed(kind) > 0)
    }

    /// It monitors what others do.
    pub fn is_monitor(&self) -> bool {
        self.subscribed(Kind::Monitor) > 0
    }

    fn subscribed(&self, kind: Kind) -> u64 {
        self.subscriptions[kind as usize].load(Ordering::Relaxed)
    }

    /// It came through the Unix socket.
    pub fn is_unix(&self) -> bool {
        // No TCP connection has port 0.
        self.address.ends_with(":0")
    }

    /// It came from this machine.
    pub fn is_local(&self) -> bool {
        let is_loopback = |address: &SocketAddr| address.ip().to_canonical().is_loopback();
        self.is_unix() || self.address.parse().as_ref().is_ok_and(is_loopback)
    }

    /// Whether it is to be closed.
    #[inline]
    pub fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }

    /// Whether messages for it arrive: it is connected, and stays so.
    pub fn can_be_told(&self) -> bool {
        // Acquire pairs with the Release in `remove`, which comes before its socket is closed.
        !self.is_killed() && !self.has_gone.load(Ordering::Acquire)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A client that nobody can reach.
    #[derive(Debug)]
    struct Nobody;

    impl Wake for Nobody {
        fn sweep(&self) {}

        fn run_again(&self) {}

        fn serve(&self, _: Served) {}
    }

    /// A client that nobody can reach.
    pub(crate) fn unreachable() -> NewClient {
        NewClient {
            front: None,
            address: String::new(),
            local_address: String::new(),
            fd: 0,
            now_ms: 0,
            wake: Box::new(Nobody),
        }
    }

    #[test]
    fn each_client_is_visited_once_however_many_there_are() {
        let clients = Clients::default();
        let visited = || {
            let mut ids = Vec::new();
            clients.visit(|client| ids.push(client.id));
            ids
        };
        assert_eq!(visited(), []);
        for count in [1, VISITED_AT_ONCE, VISITED_AT_ONCE + 1, 3 * VISITED_AT_ONCE] {
            while clients.len() < count {
                let client = clients.add(unreachable());
                if client.id % 7 == 0 {
                    client.killed.store(true, Ordering::Release);
                }
            }
            let all: Vec<u64> = clients.all().iter().map(|client| client.id).collect();
            assert_eq!(visited(), all);
        }
    }
}
