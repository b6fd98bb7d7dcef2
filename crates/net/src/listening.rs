//! The sockets that listen, shared by the thread that accepts and by those that change `port` or
//! `bind`.
//!
//! CONFIG SET opens the new sockets first and closes the old ones afterwards, so that an address
//! that cannot be had changes nothing. Where a new one excludes an old one, as `*` excludes
//! `127.0.0.1` on the same port, the old ones go first and come back if that fails; a client that
//! connects in between is refused. Connections stay, whatever becomes of the socket that they came
//! through.

use crate::front::Front;
use crate::listen::{ListenError, Listener, is_taken, listen, listen_tcp_on_all, tcp_addresses};
use crate::mailbox::NewConnection;
use crate::stream::Stream;
use crate::wire::Wire;
use basalt_config::NetworkSettings;
use basalt_stdx::lock_rank::RankedMutex;
use mio::Registry;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// See the head of this file.
#[derive(Debug)]
pub struct Listening {
    sockets: RankedMutex<Sockets>,
}

/// Makes the front of each connection that comes through a socket.
type MakeFront = Arc<dyn Fn() -> Box<dyn Front> + Send + Sync>;

#[derive(Debug, Default)]
struct Sockets {
    /// Those of Redis' protocol, which `port` and `bind` are about.
    by_token: BTreeMap<usize, Listener>,
    /// Those of other fronts, which stay as long as the server does.
    of_fronts: BTreeMap<usize, OfFront>,
    next_token: usize,
    /// Where the accepting thread hears of them, once there is one.
    registry: Option<Registry>,
}

/// A socket whose connections have a front of their own.
struct OfFront {
    listener: Listener,
    make: MakeFront,
}

impl fmt::Debug for OfFront {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.listener.fmt(formatter)
    }
}

/// Somebody who has connected.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) connection: NewConnection,
    /// `None` through a Unix socket.
    pub(crate) peer: Option<IpAddr>,
    /// It is not one of Redis' protocol.
    pub(crate) is_of_front: bool,
}

impl Caller {
    /// Whether it is on another machine.
    pub(crate) fn is_remote(&self) -> bool {
        self.peer.is_some_and(|peer| !peer.is_loopback())
    }
}

impl Listening {
    /// Opens all sockets that the settings name.
    ///
    /// # Errors
    /// If there is none, or an address that is not optional cannot be used.
    pub fn open(settings: &NetworkSettings) -> Result<Listening, ListenError> {
        let mut sockets = Sockets::default();
        for listener in listen(settings)? {
            sockets.by_token.insert(sockets.next_token, listener);
            sockets.next_token += 1;
        }
        Ok(Listening { sockets: RankedMutex::new(sockets) })
    }

    /// Also listens where these settings say, for clients with a front of their own: `make` makes
    /// one for each. To be called before clients are accepted.
    ///
    /// # Errors
    /// If there is no address, or one that is not optional cannot be used.
    pub fn add(
        &self,
        settings: &NetworkSettings,
        make: impl Fn() -> Box<dyn Front> + Send + Sync + 'static,
    ) -> Result<(), ListenError> {
        let make: MakeFront = Arc::new(make);
        let mut sockets = self.sockets.lock();
        for listener in listen(settings)? {
            let token = sockets.next_token;
            sockets.of_fronts.insert(token, OfFront { listener, make: Arc::clone(&make) });
            sockets.next_token += 1;
        }
        Ok(())
    }

    /// Listens on TCP where the settings say from now on, and no longer where it did. If that
    /// fails, it listens where it did.
    ///
    /// # Errors
    /// If an address that is not optional cannot be used.
    pub fn rebind(&self, settings: &NetworkSettings) -> Result<(), ListenError> {
        let wanted = tcp_addresses(settings);
        let mut sockets = self.sockets.lock();
        let old = sockets.tcp_addresses();
        let opened = match listen_tcp_on_all(settings, &old) {
            Err(ListenError::Address { error, .. }) if is_taken(&error) => {
                sockets.close(|address| !wanted.contains(&address));
                listen_tcp_on_all(settings, &sockets.tcp_addresses())
            }
            opened => opened,
        };
        let added = opened.and_then(|opened| {
            opened.into_iter().try_for_each(|listener| sockets.add(listener)).map_err(|error| {
                ListenError::Address { address: format!("port {}", settings.port), error }
            })
        });
        match added {
            Ok(()) => sockets.close(|address| !wanted.contains(&address)),
            Err(_) => sockets.restore(&old, settings.tcp_backlog),
        }
        added
    }

    /// Closes all of them, for good.
    pub(crate) fn close(&self) {
        let mut sockets = self.sockets.lock();
        sockets.by_token.clear();
        sockets.of_fronts.clear();
    }

    /// Where it listens, as a person would write it.
    pub fn addresses(&self) -> Vec<String> {
        self.sockets.lock().by_token.values().map(Listener::shown).collect()
    }

    /// Where it listens for clients with a front of their own, as a person would write it.
    pub fn addresses_of_fronts(&self) -> Vec<String> {
        let sockets = self.sockets.lock();
        sockets.of_fronts.values().map(|of_front| of_front.listener.shown()).collect()
    }

    /// The TCP port, 0 for none.
    pub fn tcp_port(&self) -> u16 {
        self.sockets.lock().tcp_addresses().first().map_or(0, SocketAddr::port)
    }

    /// Has a poll hear of callers, under the number that [`Listening::accept`] takes.
    pub(crate) fn register(&self, registry: Registry) -> io::Result<()> {
        let mut sockets = self.sockets.lock();
        for (&token, listener) in &mut sockets.by_token {
            listener.register(&registry, token)?;
        }
        for (&token, of_front) in &mut sockets.of_fronts {
            of_front.listener.register(&registry, token)?;
        }
        sockets.registry = Some(registry);
        Ok(())
    }

    /// Takes the next caller of a socket; `WouldBlock` if there is none, also because it was closed
    /// meanwhile.
    pub(crate) fn accept(&self, token: usize) -> io::Result<Caller> {
        let (mut caller, make) = {
            let sockets = self.sockets.lock();
            match (sockets.of_fronts.get(&token), sockets.by_token.get(&token)) {
                (Some(of_front), _) => {
                    (accept(&of_front.listener)?, Some(Arc::clone(&of_front.make)))
                }
                (None, Some(listener)) => (accept(listener)?, None),
                (None, None) => return Err(io::ErrorKind::WouldBlock.into()),
            }
        };
        // Under no lock: a front may take some to find out how things stand.
        if let Some(make) = make {
            caller.is_of_front = true;
            caller.connection.wire = Wire::Other(make());
        }
        Ok(caller)
    }
}

/// Takes the next caller of a socket, as a client of Redis' protocol.
fn accept(listener: &Listener) -> io::Result<Caller> {
    match listener {
        Listener::Tcp(listener, _) => {
            let (stream, peer) = listener.accept()?;
            let local_address = stream.local_addr()?.to_string();
            let (stream, address) = (Stream::Tcp(stream), peer.to_string());
            let connection =
                NewConnection { stream, wire: Wire::default(), address, local_address };
            Ok(Caller { connection, peer: Some(peer.ip().to_canonical()), is_of_front: false })
        }
        Listener::Unix(listener, file) => {
            let (stream, _) = listener.accept()?;
            let address = format!("{}:0", file.0.display());
            let (stream, local_address) = (Stream::Unix(stream), address.clone());
            let connection =
                NewConnection { stream, wire: Wire::default(), address, local_address };
            Ok(Caller { connection, peer: None, is_of_front: false })
        }
    }
}

impl Sockets {
    fn tcp_addresses(&self) -> Vec<SocketAddr> {
        self.by_token.values().filter_map(Listener::tcp_address).collect()
    }

    fn add(&mut self, mut listener: Listener) -> io::Result<()> {
        if let Some(registry) = &self.registry {
            listener.register(registry, self.next_token)?;
        }
        self.by_token.insert(self.next_token, listener);
        self.next_token += 1;
        Ok(())
    }

    /// Closes TCP sockets; a poll forgets what is closed.
    fn close(&mut self, goes: impl Fn(SocketAddr) -> bool) {
        self.by_token.retain(|_, listener| !listener.tcp_address().is_some_and(&goes));
    }

    /// Back to these addresses.
    fn restore(&mut self, old: &[SocketAddr], backlog: i32) {
        self.close(|address| !old.contains(&address));
        let there = self.tcp_addresses();
        for &address in old.iter().filter(|address| !there.contains(address)) {
            let listened = Listener::tcp(address, backlog);
            if let Err(error) = listened.and_then(|listener| self.add(listener)) {
                tracing::error!(%address, %error, "no longer listening on an address that was given up for another");
            }
        }
    }
}
