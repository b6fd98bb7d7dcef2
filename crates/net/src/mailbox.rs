//! How other threads reach a network thread: messages, and one wake-up for any number of them.

use crate::stream::Stream;
use crate::wire::Wire;
use basalt_pubsub::Sink;
use basalt_service::clients::Wake;
use basalt_service::error::CommandError;
use basalt_service::hand_over::Served;
use basalt_service::push::{Delivery, Push};
use basalt_stdx::mail::Mail;
use basalt_stdx::watch_flag::{Watch, WatchFlag};
use mio::Waker;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Publishers wait while more than this waits for a thread: some 10 ms of its time.
const UNDELIVERED_BYTES_MAX: usize = 16 << 20;
/// What a subscriber costs besides the bytes that it gets: finding it takes as long as copying
/// these.
const SUBSCRIBER_BYTES: usize = 64;

/// What other threads tell a network thread.
#[derive(Debug)]
pub(crate) enum Message {
    /// A new connection is yours.
    Connection(NewConnection),
    /// What a parked connection waited for has ended.
    WaitOver { connection: ConnectionId, result: Result<(), CommandError> },
    /// The log has acknowledged something, or takes changes again.
    LogMoved,
    /// What a connection waits with may run again: a key has something, or a pause is over.
    RunAgain(ConnectionId),
    /// A connection's command, which waited for a key, has been run by another client's thread.
    Served { connection: ConnectionId, served: Served },
    /// Messages of pub/sub for some of your connections.
    Deliveries(Vec<Delivery>),
    /// Some connection was killed: look for it.
    Sweep,
    /// End: send what is owed, then close everything.
    Stop,
}

/// A connection of one thread; the generation tells a new one from an old one in the same place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ConnectionId {
    pub(crate) index: usize,
    pub(crate) generation: u64,
}

/// An accepted socket and what was found out about it.
#[derive(Debug)]
pub(crate) struct NewConnection {
    pub(crate) stream: Stream,
    pub(crate) wire: Wire,
    pub(crate) address: String,
    pub(crate) local_address: String,
    /// The common name in the certificate that the client has shown.
    pub(crate) certificate_name: Option<Box<str>>,
}

/// A network thread's mailbox.
#[derive(Debug)]
pub(crate) struct Mailbox {
    messages: Mail<Message>,
    waker: Waker,
    /// The thread waits for the log: somebody's reply is held back, or a change found no room.
    waits_for_log: WatchFlag,
    /// Bytes of messages of pub/sub that wait here, counted once for each subscriber.
    undelivered_bytes: AtomicUsize,
    /// Bytes of memory that these messages take, each counted once.
    message_bytes: AtomicUsize,
    /// Connections that the thread has, for balancing.
    pub(crate) connections: AtomicUsize,
}

impl Mailbox {
    pub(crate) fn new(waker: Waker) -> Mailbox {
        Mailbox {
            messages: Mail::default(),
            waker,
            waits_for_log: WatchFlag::default(),
            undelivered_bytes: AtomicUsize::new(0),
            message_bytes: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
        }
    }

    /// Sends a message.
    pub(crate) fn send(&self, message: Message) {
        self.messages.send(message, || self.wake());
    }

    /// Has the thread look at all its connections: once for all who ask for it together.
    fn send_sweep(&self) {
        let is_sweep = |last: &Message| matches!(last, Message::Sweep);
        self.messages.send_unless(is_sweep, Message::Sweep, || self.wake());
    }

    fn wake(&self) {
        if let Err(error) = self.waker.wake() {
            tracing::error!(%error, "a network thread could not be woken");
        }
    }

    /// Takes all messages.
    pub(crate) fn take(&self) -> Vec<Message> {
        self.messages.take()
    }

    /// From now on, wake me when the log moves. If that is news, look once more at what you wait
    /// for.
    pub(crate) fn wait_for_log(&self) -> Watch {
        self.waits_for_log.watch()
    }

    /// The log has moved: called from its thread.
    pub(crate) fn log_moved(&self) {
        if self.waits_for_log.has_to_tell() {
            self.send(Message::LogMoved);
        }
    }
}

impl Sink<Push> for Mailbox {
    fn take(&self, deliveries: &mut Vec<Delivery>) {
        let bytes = deliveries.iter().map(cost_bytes).sum();
        self.undelivered_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.message_bytes.fetch_add(message_bytes(deliveries), Ordering::Relaxed);
        // A whole new vector in place of the old one: it goes to the other thread as it is.
        self.send(Message::Deliveries(std::mem::take(deliveries)));
    }

    fn is_congested(&self) -> bool {
        // Relaxed: it is advice; a publisher more or less makes no difference.
        self.undelivered_bytes.load(Ordering::Relaxed) > UNDELIVERED_BYTES_MAX
    }

    fn waiting_bytes(&self) -> usize {
        self.message_bytes.load(Ordering::Relaxed)
    }
}

impl Mailbox {
    /// The thread has written these to its connections' outputs.
    pub(crate) fn delivered(&self, deliveries: &[Delivery]) {
        let bytes = deliveries.iter().map(cost_bytes).sum();
        self.undelivered_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.message_bytes.fetch_sub(message_bytes(deliveries), Ordering::Relaxed);
    }
}

/// What deliveries take of memory. A message to several threads counts at each of them.
fn message_bytes(deliveries: &[Delivery]) -> usize {
    deliveries.iter().map(|delivery| size_of::<Delivery>() + delivery.body.bytes()).sum()
}

/// What a delivery costs its thread, in bytes to be written.
fn cost_bytes(delivery: &Delivery) -> usize {
    delivery.subscribers.len() * (delivery.body.bytes() + SUBSCRIBER_BYTES)
}

/// How others reach a connection.
#[derive(Debug)]
pub(crate) struct ConnectionHandle {
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) connection: ConnectionId,
}

impl Wake for ConnectionHandle {
    fn sweep(&self) {
        self.mailbox.send_sweep();
    }

    fn run_again(&self) {
        self.mailbox.send(Message::RunAgain(self.connection));
    }

    fn serve(&self, served: Served) {
        self.mailbox.send(Message::Served { connection: self.connection, served });
    }
}

#[cfg(test)]
mod tests {
    use super::{Mailbox, Message};
    use basalt_pubsub::{Kind, Sink};
    use basalt_service::push::{Delivery, Push};
    use basalt_stdx::watch_flag::Watch;
    use mio::{Poll, Token, Waker};
    use std::sync::Arc;

    #[test]
    fn messages_that_wait_count_once_each_until_they_are_delivered() {
        let poll = Poll::new().expect("a poll");
        let mailbox = Mailbox::new(Waker::new(poll.registry(), Token(0)).expect("a waker"));
        let delivery = || Delivery {
            kind: Kind::Channel,
            name: Arc::from(&b"channel"[..]),
            subscribers: Arc::default(),
            body: Arc::new(Push::lines(vec![b'x'; 1000])),
        };
        Sink::take(&mailbox, &mut vec![delivery(), delivery()]);
        let waiting = mailbox.waiting_bytes();
        assert!((2000..3000).contains(&waiting), "{waiting}");
        for message in mailbox.take() {
            let Message::Deliveries(deliveries) = message else { panic!("{message:?}") };
            mailbox.delivered(&deliveries);
        }
        assert_eq!(mailbox.waiting_bytes(), 0);
    }

    #[test]
    fn a_thread_that_waits_looks_again_once_and_is_told_once() {
        let poll = Poll::new().expect("a poll");
        let waker = Waker::new(poll.registry(), Token(0)).expect("a waker");
        let mailbox = Mailbox::new(waker);
        mailbox.log_moved();
        assert!(mailbox.take().is_empty(), "nobody waited");
        for _ in 0..2 {
            assert_eq!(mailbox.wait_for_log(), Watch::Begins);
            assert_eq!(mailbox.wait_for_log(), Watch::GoesOn);
            mailbox.log_moved();
            mailbox.log_moved();
            assert!(matches!(mailbox.take()[..], [Message::LogMoved]));
        }
    }
}
