//! The sockets that listen, shared by the thread that accepts and by those that change `port` or
//! `bind`.
//!
//! CONFIG SET opens the new sockets first and closes the old ones afterwards, so that an address
//! that cannot be had changes nothing. Where a new one excludes an old one, as `*` excludes
//! `127.0.0.1` on the same port, the old ones go first and come back if that fails; a client that
//! connects in between is refused. Connections stay, whatever becomes of the socket that they came
//! through.

use crate::front::Front;
use crate::listen::{
    Door, ListenError, Listener, Place, is_taken, listen, listen_tcp_on_all, tcp_places,
};
use crate::mailbox::NewConnection;
use crate::stream::Stream;
use crate::wire::Wire;
use basalt_config::NetworkSettings;
use basalt_stdx::lock_rank::RankedMutex;
use basalt_tls::ServerTls;
use mio::Registry;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::IpAddr;
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
    /// What handshakes are made by from now on; `None` as long as nobody listens for TLS.
    tls: Option<ServerTls>,
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
    /// What a handshake is to be made by before anything else.
    pub(crate) tls: Option<ServerTls>,
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
        let wanted = tcp_places(settings);
        let mut sockets = self.sockets.lock();
        let old = sockets.tcp_places();
        let opened = match listen_tcp_on_all(settings, &old) {
            Err(ListenError::Address { error, .. }) if is_taken(&error) => {
                sockets.close(|place| !wanted.contains(&place));
                listen_tcp_on_all(settings, &sockets.tcp_places())
            }
            opened => opened,
        };
        let added = opened.and_then(|opened| {
            opened.into_iter().try_for_each(|listener| sockets.add(listener)).map_err(|error| {
                let NetworkSettings { port, tls_port, .. } = settings;
                ListenError::Address { address: format!("ports {port}, {tls_port}"), error }
            })
        });
        match added {
            Ok(()) => sockets.close(|place| !wanted.contains(&place)),
            Err(_) => sockets.restore(&old, settings.tcp_backlog),
        }
        added
    }

    /// Handshakes are made by this from now on; returns by what they were made. Connections that
    /// are open stay as they are.
    pub fn exchange_tls(&self, tls: Option<ServerTls>) -> Option<ServerTls> {
        std::mem::replace(&mut self.sockets.lock().tls, tls)
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

    /// The TCP port, that of TLS if there is no other; 0 for none.
    pub fn tcp_port(&self) -> u16 {
        let places = self.sockets.lock().tcp_places();
        let plain = places.iter().find(|place| place.door == Door::Plain);
        plain.or(places.first()).map_or(0, |place| place.address.port())
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
            let (listener, make) =
                match (sockets.of_fronts.get(&token), sockets.by_token.get(&token)) {
                    (Some(of_front), _) => (&of_front.listener, Some(Arc::clone(&of_front.make))),
                    (None, Some(listener)) => (listener, None),
                    (None, None) => return Err(io::ErrorKind::WouldBlock.into()),
                };
            let mut caller = accept(listener)?;
            if listener.tcp_place().is_some_and(|place| place.door == Door::Tls) {
                // Nobody comes in without TLS where it is asked for.
                let tls = sockets.tls.clone();
                caller.tls = Some(tls.ok_or_else(|| io::Error::other("TLS has no certificate"))?);
            }
            (caller, make)
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
    let (stream, address, local_address, peer) = match listener {
        Listener::Tcp(listener, _) => {
            let (stream, peer) = listener.accept()?;
            let local_address = stream.local_addr()?.to_string();
            let ip = peer.ip().to_canonical();
            (Stream::Tcp(stream), peer.to_string(), local_address, Some(ip))
        }
        Listener::Unix(listener, file) => {
            let (stream, _) = listener.accept()?;
            let address = format!("{}:0", file.0.display());
            (Stream::Unix(stream), address.clone(), address, None)
        }
    };
    let wire = Wire::default();
    let connection = NewConnection { stream, wire, address, local_address, certificate_name: None };
    Ok(Caller { connection, peer, is_of_front: false, tls: None })
}

impl Sockets {
    fn tcp_places(&self) -> Vec<Place> {
        self.by_token.values().filter_map(Listener::tcp_place).collect()
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
    fn close(&mut self, goes: impl Fn(Place) -> bool) {
        self.by_token.retain(|_, listener| !listener.tcp_place().is_some_and(&goes));
    }

    /// Back to these places.
    fn restore(&mut self, old: &[Place], backlog: i32) {
        self.close(|place| !old.contains(&place));
        let there = self.tcp_places();
        for &place in old.iter().filter(|place| !there.contains(place)) {
            let listened = Listener::tcp(place, backlog);
            if let Err(error) = listened.and_then(|listener| self.add(listener)) {
                let address = place.address;
                tracing::error!(%address, %error, "no longer listening on an address that was given up for another");
            }
        }
    }
}
