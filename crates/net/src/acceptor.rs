//! The accepting thread: takes connections, refuses those that may not come in, and gives the rest
//! to the network thread that has the fewest.

use crate::handshakes::{Guest, Handshakes, dismiss};
use crate::listening::{Caller, Listening};
use crate::mailbox::{Mailbox, NewConnection};
use crate::stream::Stream;
use crate::threads::NetThreads;
use basalt_dispatch::Dispatcher;
use basalt_env::thread::JoinHandle;
use basalt_observe::log_limit::LogLimit;
use basalt_tls::ServerTls;
use mio::{Events, Poll, Token, Waker};
use socket2::SockRef;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const WAKE: Token = Token(usize::MAX);
/// After running out of file descriptors, accepting pauses for this long.
const PAUSE: Duration = Duration::from_millis(100);

/// Of `maxclients`, a share may be shaking hands: one half.
const HANDSHAKES_SHARE: usize = 2;

const TOO_MANY: &str = "ERR max number of clients reached";
const PROTECTED: &str = "DENIED Redis is running in protected mode because protected mode is \
enabled and no password is set for the default user. In this mode connections are only accepted \
from the loopback interface. If you want to connect from external computers to Redis you may adopt \
one of the following solutions: 1) Just disable protected mode sending the command 'CONFIG SET \
protected-mode no' from the loopback interface by connecting to Redis from the same host the server \
is running, however MAKE SURE Redis is not publicly accessible from internet if you do so. Use \
CONFIG REWRITE to make this change permanent. 2) Alternatively you can just disable the protected \
mode by editing the Redis configuration file, and setting the protected mode option to 'no', and \
then restarting the server. 3) If you started the server manually just for testing, restart it with \
the '--protected-mode no' option. 4) Set up an authentication password for the default user. NOTE: \
You only need to do one of the above things in order for the server to start accepting connections \
from the outside.";

/// The accepting thread, until stopped.
pub struct Acceptor {
    stop: Arc<AtomicBool>,
    listening: Arc<Listening>,
    waker: Waker,
    thread: JoinHandle<()>,
}

struct Accepting {
    poll: Poll,
    listening: Arc<Listening>,
    server: Arc<Dispatcher>,
    mailboxes: Vec<Arc<Mailbox>>,
    stop: Arc<AtomicBool>,
    failures: LogLimit,
    /// The threads that shake hands, once somebody has come by TLS.
    handshakes: Option<Handshakes>,
}

impl Acceptor {
    /// Starts accepting.
    ///
    /// # Errors
    /// If the system has no poll or no thread left.
    pub fn start(
        listening: &Arc<Listening>,
        server: &Arc<Dispatcher>,
        net: &NetThreads,
    ) -> io::Result<Acceptor> {
        let poll = Poll::new()?;
        listening.register(poll.registry().try_clone()?)?;
        let waker = Waker::new(poll.registry(), WAKE)?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut accepting = Accepting {
            poll,
            listening: Arc::clone(listening),
            server: Arc::clone(server),
            mailboxes: net.mailboxes(),
            stop: Arc::clone(&stop),
            failures: LogLimit::default(),
            handshakes: None,
        };
        let thread = basalt_env::thread::spawn("accept", move || {
            accepting.run();
            if let Some(handshakes) = accepting.handshakes {
                handshakes.stop();
            }
        })?;
        Ok(Acceptor { stop, listening: Arc::clone(listening), waker, thread })
    }

    /// Stops accepting and closes the listeners.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Release);
        if let Err(error) = self.waker.wake() {
            tracing::error!(%error, "the accepting thread could not be woken");
        }
        if self.thread.join().is_err() {
            tracing::error!("the accepting thread had panicked");
        }
        self.listening.close();
    }
}

impl Accepting {
    fn run(&mut self) {
        let mut events = Events::with_capacity(64);
        while !self.stop.load(Ordering::Acquire) {
            if let Err(error) = self.poll.poll(&mut events, None) {
                if error.kind() != io::ErrorKind::Interrupted {
                    // A server that accepts nobody must not look alive.
                    tracing::error!(%error, "polling listeners failed: the server cannot go on");
                    std::process::abort();
                }
                continue;
            }
            for event in &events {
                if event.token() != WAKE {
                    self.accept_all(event.token().0);
                }
            }
        }
    }

    fn accept_all(&mut self, token: usize) {
        while !self.stop.load(Ordering::Acquire) {
            match self.accept(token) {
                Ok(Some(connection)) => NetThreads::assign(&self.mailboxes, connection),
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    // Out of descriptors, or the client has gone. The listener is edge-triggered:
                    // a client that still waits must be accepted now or later, here.
                    if let Some(times) = self.failures.admit(self.server.env.clock.now()) {
                        tracing::warn!(%error, times, "a connection could not be accepted");
                    }
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Takes a caller; `None` if it may not come in, or has to shake hands first.
    fn accept(&mut self, token: usize) -> io::Result<Option<NewConnection>> {
        let caller = self.listening.accept(token)?;
        if self.bars(&caller) {
            return Ok(None);
        }
        let is_crowded = self.is_crowded(caller.tls.is_some());
        let refusal = if is_crowded { Some(TOO_MANY) } else { self.refusal(caller.is_remote()) };
        let Caller { mut connection, tls, .. } = caller;
        if let Stream::Tcp(stream) = &connection.stream {
            configure(stream, self.server.config.settings().network.tcp_keepalive_s)?;
        }
        match (tls, refusal) {
            // It would have to shake hands to hear why.
            (Some(_), _) if is_crowded => Ok(None),
            (Some(tls), refusal) => {
                self.shake_hands(connection, &tls, refusal)?;
                Ok(None)
            }
            (None, Some(refusal)) => {
                // A client that has gone already does not need to know why.
                let _ = dismiss(&mut connection, refusal);
                Ok(None)
            }
            (None, None) => Ok(Some(connection)),
        }
    }

    /// Has a thread for handshakes go on with a client, which is refused afterwards, or comes in.
    fn shake_hands(
        &mut self,
        mut connection: NewConnection,
        tls: &ServerTls,
        refusal: Option<&'static str>,
    ) -> io::Result<()> {
        if self.handshakes.is_none() {
            self.handshakes = Some(Handshakes::start(&self.server, &self.mailboxes)?);
        }
        connection.stream = connection.stream.with_tls(tls)?;
        if let Some(handshakes) = &self.handshakes {
            let time_max = tls.handshake_time_max;
            handshakes.begin(Guest { connection, time_max, refusal });
        }
        Ok(())
    }

    /// Whether a client may not come in and is not told why.
    fn bars(&self, caller: &Caller) -> bool {
        let settings = self.server.config.settings();
        let is_barred = caller.is_of_front && !settings.http.admits(caller.peer);
        if is_barred {
            self.server.barred_connections.fetch_add(1, Ordering::Relaxed);
        }
        is_barred
    }

    /// Whether there are as many clients as there may be, or half as many that shake hands and this
    /// is another one.
    fn is_crowded(&self, by_tls: bool) -> bool {
        let count_max = self.server.config.settings().clients.clients_max;
        let shaking = self.handshakes.as_ref().map_or(0, Handshakes::count);
        let is_crowded = self.connections() + shaking >= count_max
            || by_tls && shaking >= count_max.div_ceil(HANDSHAKES_SHARE);
        if is_crowded {
            self.server.rejected_connections.fetch_add(1, Ordering::Relaxed);
        }
        is_crowded
    }

    /// What to tell a client that may not come in, if there is room for it.
    fn refusal(&self, from_outside: bool) -> Option<&'static str> {
        let settings = self.server.config.settings();
        let open_door = settings.network.protected_mode && settings.clients.password.is_none();
        let is_refused = open_door && from_outside;
        if is_refused {
            self.server.refused_connections.fetch_add(1, Ordering::Relaxed);
        }
        is_refused.then_some(PROTECTED)
    }

    fn connections(&self) -> usize {
        self.mailboxes.iter().map(|mailbox| mailbox.connections.load(Ordering::Relaxed)).sum()
    }
}

fn configure(stream: &mio::net::TcpStream, keepalive_s: u32) -> io::Result<()> {
    stream.set_nodelay(true)?;
    if keepalive_s > 0 {
        let time = Duration::from_secs(u64::from(keepalive_s));
        let interval = Duration::from_secs(u64::from(keepalive_s / 3).max(1));
        let keepalive = socket2::TcpKeepalive::new().with_time(time).with_interval(interval);
        SockRef::from(stream).set_tcp_keepalive(&keepalive)?;
    }
    Ok(())
}
