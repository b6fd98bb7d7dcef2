//! HOT PATH
//! The state of one connection that commands see and change.

use crate::access::{Access, Rights};
use crate::clients::{ClientHandle, Unblocking};
use crate::error::CommandError;
use crate::hand_over::Served;
use crate::peer::Errand;
use crate::prepared::Prepared;
use crate::read_tracking::ReadTracking;
use crate::scripts::EarlierRuns;
use crate::transaction::Queue;
use crate::unusual::Reason;
use crate::wait::{Afterwards, Wait};
use crate::walking::Walking;
use basalt_config::Settings;
use basalt_engine::{
    Attempt, Behind, Durability, Engine, Gate, Held, LockWait, Places, ReadHeads, Touch, Watching,
};
use basalt_env::{Clock, Instant};
use basalt_pubsub::{Address, Subscriptions};
use basalt_resp::{Arg, Output, Protocol, Reply};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// One connection, as commands see it.
pub struct Session {
    /// What CLIENT LIST shows of it and CLIENT KILL reaches it by.
    pub client: Arc<ClientHandle>,
    /// The selected database.
    pub db: u8,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// The user that its client is, and what it may do.
    pub rights: Rights,
    /// The common name in the certificate that it has shown, which has been verified.
    pub certificate_name: Option<Box<str>>,
    /// Whether its reads count as uses of keys.
    pub touch: Touch,
    /// What becomes of its replies.
    pub replies: Replies,
    /// The running command's reply is sent, whatever was said of replies.
    pub insists: bool,
    /// What its replies so far wait for.
    pub gate: Gate,
    /// What replies of earlier turns waited for when they were set aside.
    pub unacknowledged: Gate,
    /// Where messages for it are sent.
    pub address: Address,
    /// What it has subscribed to; `None` if that is nothing.
    pub subscriptions: Option<Box<Subscriptions>>,
    /// What it has queued since MULTI.
    pub transaction: Option<Box<Queue>>,
    /// The keys that it watches.
    pub watching: Option<Box<Watching>>,
    /// It keeps copies of keys.
    pub is_tracked: bool,
    /// How the keys that it reads are tracked, if they are.
    pub read_tracking: Option<ReadTracking>,
    /// Its command waits, and is where other threads find it
    /// ([`Session::take_command_back`]).
    pub is_parked: bool,
    /// Where its command, which is about to run, has waited.
    pub waiting: Option<Box<KeyWait>>,
    /// How long a command may wait for its keys, whatever it asks for.
    pub key_wait_max: Option<Duration>,
    /// Where its command, which waits for rows, is in a walk over the keys.
    pub walking: Option<Box<Walking>>,
    /// What the rows of its command's keys begin with, which the command has waited for.
    pub read_heads: Option<Arc<ReadHeads>>,
    /// What another server is asked for its command.
    pub errand: Option<Arc<Errand>>,
    /// Clients that monitor have been told of its running command.
    pub has_told_monitors: bool,
    /// It monitors, which has every command looked at more closely.
    pub monitoring: Option<Reason>,
    /// Its script waits and will begin again: what it has come to before.
    pub script_runs: Option<EarlierRuns>,
    /// Its command waits for keys that somebody holds for long: since when.
    pub held_since: Option<Instant>,
    /// Its command has let others go first that waited for its keys: once is enough.
    pub has_given_way: bool,
}

/// Where a command waits, and until when.
#[derive(Debug)]
pub struct KeyWait {
    /// The keys.
    pub places: Places,
    /// When its time is over; `None` for never.
    pub deadline: Option<Instant>,
    /// Where it reads streams from.
    pub behind: Behind,
    /// What is to be on disk before it runs again.
    pub on_disk: Gate,
}

/// A command that waits, and all that running it takes.
#[derive(Debug)]
pub struct ParkedCommand {
    bytes: Vec<u8>,
    words: Vec<Arg>,
    prepared: Prepared,
    db: u8,
    protocol: Protocol,
    rights: Rights,
    touch: Touch,
    durability: Durability,
    /// The keys that it reads are tracked.
    pub tracks_reads: bool,
    /// Clients that monitor have been told of it.
    has_told_monitors: bool,
    /// Where it waits, and how long.
    pub waiting: Box<KeyWait>,
}

/// What becomes of a connection's replies (`CLIENT REPLY`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replies {
    /// They are sent.
    On,
    /// They are dropped.
    Off,
    /// The next command's reply is dropped, the ones after it are sent.
    SkipNext,
    /// The running command's reply is dropped.
    Skip,
}

/// What the event loop does after a command.
#[derive(Debug)]
pub enum Flow {
    /// Goes on with the next.
    Done,
    /// Sends what is there, then closes the connection.
    Close,
    /// Parks the connection.
    Wait(Wait),
    /// Runs the command again at once, apart from its batch: it takes long, and has changed
    /// nothing.
    RunApart,
}

impl Flow {
    /// The command has not run: it waits for something that it needs, or runs apart, and will be
    /// back.
    #[inline]
    pub fn runs_again(&self) -> bool {
        match self {
            Flow::Wait(wait) => wait.afterwards() == Afterwards::RunAgain,
            Flow::RunApart => true,
            Flow::Done | Flow::Close => false,
        }
    }
}

/// What a session command gives.
pub type SessionResult = Result<Flow, CommandError>;

impl Session {
    /// A new connection.
    pub fn new(client: Arc<ClientHandle>, rights: Rights) -> Session {
        Session {
            client,
            db: 0,
            protocol: Protocol::Resp2,
            rights,
            certificate_name: None,
            touch: Touch::Yes,
            replies: Replies::On,
            insists: false,
            gate: Gate::default(),
            transaction: None,
            watching: None,
            is_tracked: false,
            read_tracking: None,
            is_parked: false,
            waiting: None,
            key_wait_max: None,
            walking: None,
            read_heads: None,
            errand: None,
            has_told_monitors: false,
            monitoring: None,
            script_runs: None,
            held_since: None,
            has_given_way: false,
            unacknowledged: Gate::default(),
            address: Address::NOWHERE,
            subscriptions: None,
        }
    }

    /// Messages for it are sent there.
    pub fn receive_at(&mut self, address: Address) {
        self.address = address;
        // It is said once, when the client connects.
        let _ = self.client.inbox.set(address);
    }

    /// Whether its command has waited.
    #[inline]
    pub fn attempt(&self, clock: &dyn Clock) -> Attempt {
        match &self.waiting {
            None => Attempt::First,
            Some(waiting) => self.next_attempt(waiting, clock),
        }
    }

    #[cold]
    fn next_attempt(&self, waiting: &KeyWait, clock: &dyn Clock) -> Attempt {
        let is_over = waiting.deadline.is_some_and(|deadline| deadline <= clock.now());
        let is_unblocked = self.client.unblocking() == Some(Unblocking::AsTimedOut);
        if is_over || is_unblocked { Attempt::Last } else { Attempt::Again }
    }

    /// Has its command, which is one on the server, run again when `on_disk` is open, and at the
    /// latest when this time is over, counted from its first run on; `None` is for ever. With a
    /// gate that is open it waits for the time alone.
    pub fn stand_by(&mut self, clock: &dyn Clock, time: Option<Duration>, on_disk: Gate) -> Wait {
        let now = clock.now();
        let client = &self.client;
        let time = time.into_iter().chain(self.key_wait_max).min();
        let waiting = self.waiting.get_or_insert_with(|| {
            client.begin_waiting();
            let deadline = time.and_then(|time| now.checked_add(time));
            Box::new(KeyWait { places: Vec::new(), deadline, behind: None, on_disk })
        });
        let left = waiting.deadline.map(|deadline| deadline.saturating_duration_since(now));
        match waiting.on_disk.is_open() {
            true => Wait::Ready(left),
            false => Wait::Disk(waiting.on_disk.clone(), left),
        }
    }

    /// Its command has stood by for long enough.
    pub fn end_standing_by(&mut self) {
        if self.waiting.take().is_some() {
            self.client.end_waiting();
        }
    }

    /// Before its command runs again: takes it from where other threads find it. False if another
    /// thread has taken it, which will serve the client or have it woken.
    #[must_use]
    pub fn take_command_back(&mut self) -> bool {
        if self.is_parked {
            let Some(command) = self.client.take_parked_back() else { return false };
            self.waiting = Some(command.waiting);
            self.is_parked = false;
        }
        true
    }

    /// Its command was run by another thread: writes the reply to `out`.
    pub fn take_served(&mut self, served: Served, out: &mut Output) {
        self.is_parked = false;
        self.has_told_monitors = false;
        self.gate.merge(&served.gate);
        match self.replies {
            Replies::On => Reply::new(out, self.protocol).append(served.reply),
            // It was the reply to be skipped.
            Replies::Skip => self.replies = Replies::On,
            Replies::Off | Replies::SkipNext => {}
        }
    }

    /// Takes its command out of the queues that it waits in.
    ///
    /// # Errors
    /// Somebody holds a partition for long: it may still be in some of them, and waits.
    pub fn stop_waiting(&mut self, engine: &Engine, wait: LockWait) -> Result<(), Held> {
        self.abandon_parked();
        if let Some(waiting) = &self.waiting {
            engine.stop_waiting(self.client.id, &waiting.places, wait)?;
            self.waiting = None;
            self.client.end_waiting();
        }
        Ok(())
    }

    /// Takes its command from where other threads find it, if none of them has it: its client goes.
    fn abandon_parked(&mut self) {
        if std::mem::take(&mut self.is_parked) {
            self.waiting = self.client.abandon_parked().map(|command| command.waiting);
        }
    }

    /// The command has ended, or the client has gone: it is in the queues no longer, or soon.
    pub fn leave_queues(&mut self, engine: &Engine, wait: LockWait) {
        self.abandon_parked();
        if let Some(waiting) = self.waiting.take() {
            engine.stop_waiting_soon(self.client.id, waiting.places, wait);
            self.client.end_waiting();
        }
    }

    /// Between MULTI and EXEC.
    #[inline]
    pub fn is_queueing(&self) -> bool {
        self.transaction.is_some()
    }

    /// From here on queues commands.
    pub fn begin_transaction(&mut self) {
        self.transaction = Some(Box::default());
        self.client.show_transaction(self.transaction.as_deref());
    }

    /// Has CLIENT LIST tell whether a watched key has changed.
    pub fn show_watching(&self) {
        let mark = self.watching.as_ref().map(|watching| Arc::clone(watching.mark()));
        self.client.show_watching(mark);
    }

    /// Forgets what was queued and watches nothing any more: DISCARD, and what amounts to it.
    pub fn discard_transaction(&mut self, engine: &Engine, wait: LockWait) {
        self.transaction = None;
        self.unwatch(engine, wait);
        self.client.show_transaction(None);
        self.show_watching();
    }

    /// Watches nothing any more.
    pub fn unwatch(&mut self, engine: &Engine, wait: LockWait) {
        if let Some(watching) = self.watching.take() {
            engine.unwatch_soon(*watching, wait);
            self.show_watching();
        }
    }

    /// The connection has gone: leaves nothing of it behind in the keyspace.
    pub fn close(&mut self, engine: &Engine, wait: LockWait) {
        self.unwatch(engine, wait);
        self.leave_queues(engine, wait);
    }

    /// Selects a database.
    pub fn select(&mut self, db: u8) {
        self.db = db;
        self.client.db.store(db, Ordering::Relaxed);
    }

    /// Switches to a version of the protocol.
    pub fn speak(&mut self, protocol: Protocol) {
        self.protocol = protocol;
        let version = match protocol {
            Protocol::Resp2 => 2,
            Protocol::Resp3 => 3,
        };
        self.client.protocol.store(version, Ordering::Relaxed);
    }

    /// Whether the keys that its command reads are tracked.
    #[inline]
    pub fn tracks_reads(&self) -> bool {
        self.read_tracking.is_some_and(|tracking| tracking.is_on())
    }

    /// From here on its client is another user, or is so again.
    pub fn log_in(&mut self, rights: Rights) {
        self.client.show_user(rights.user());
        self.rights = rights;
    }

    /// Keeps the common name in the certificate that the client has shown, and lets it in as the
    /// user of that name, if the options say so and there is one that may log in.
    pub fn take_certificate(
        &mut self,
        name: Option<Box<str>>,
        settings: &Settings,
        access: &Access,
    ) {
        if settings.tls.names_are_users
            && let Some(rights) = name.as_deref().and_then(|name| access.rights_by_name(name))
        {
            self.log_in(rights);
        }
        self.certificate_name = name;
    }

    /// Has its rights be those of now.
    #[inline]
    pub fn renew_rights(&mut self, access: &Access) {
        if !self.rights.is_of(access.version()) {
            self.rights.renew(access);
        }
    }

    /// Whether it has subscribed to something that its user may no longer use. Asked again and
    /// again, it costs a comparison.
    #[inline]
    pub fn has_lost_channels(&mut self, access: &Access) -> bool {
        let held = self.subscriptions.as_deref();
        held.is_some_and(|held| self.rights.have_lost(held, access))
    }
}

impl ParkedCommand {
    /// A copy of a request that waits.
    pub fn new(
        session: &Session,
        prepared: Prepared,
        (buffer, args): (&[u8], &[Arg]),
        waiting: Box<KeyWait>,
    ) -> ParkedCommand {
        let (mut bytes, mut words) = (Vec::new(), Vec::with_capacity(args.len()));
        for word in args.iter().map(|word| word.of(buffer)) {
            words.push(Arg { start: bytes.len(), len: word.len() });
            bytes.extend_from_slice(word);
        }
        let Session { db, protocol, touch, .. } = *session;
        ParkedCommand {
            bytes,
            words,
            prepared,
            db,
            protocol,
            rights: session.rights.clone(),
            touch,
            durability: session.gate.durability(),
            tracks_reads: session.tracks_reads(),
            has_told_monitors: session.has_told_monitors,
            waiting,
        }
    }

    /// What is known of the request.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// The client as the command sees it, for a thread that is not the client's; and the request.
    pub fn unpack(self, client: &Arc<ClientHandle>) -> (Session, OwnedRequest) {
        let mut session = Session::new(Arc::clone(client), self.rights);
        session.db = self.db;
        session.protocol = self.protocol;
        session.touch = self.touch;
        session.gate.demand(self.durability);
        session.has_told_monitors = self.has_told_monitors;
        session.waiting = Some(self.waiting);
        (session, OwnedRequest { bytes: self.bytes, words: self.words, prepared: self.prepared })
    }
}

/// A request that owns its bytes.
pub struct OwnedRequest {
    /// What its words are ranges of.
    pub bytes: Vec<u8>,
    /// Its words.
    pub words: Vec<Arg>,
    /// What is known of it.
    pub prepared: Prepared,
}
