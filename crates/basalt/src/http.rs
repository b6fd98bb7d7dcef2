//! The sockets of HTTP.

use basalt_config::Settings;
use basalt_dispatch::Dispatcher;
use basalt_http::{HttpFront, Logins};
use basalt_net::{Front, ListenError, Listening};
use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};

/// What connections by HTTP are served by, once it is there. Sockets come earlier, so that a taken
/// port is found before a gigabyte is opened.
pub struct Http(Arc<OnceLock<Arc<Dispatcher>>>);

impl Http {
    /// Listens where the settings say.
    ///
    /// # Errors
    /// An address cannot be used, unless it is only that a port is taken that nobody has asked for.
    pub fn listen(
        listening: &Listening,
        settings: &Settings,
        is_port_given: bool,
    ) -> Result<Http, ListenError> {
        let http = Http(Arc::default());
        let (server, logins) = (Arc::clone(&http.0), Arc::<Logins>::default());
        let front = move || {
            let server = server.get().expect("nobody is accepted before there is a server");
            HttpFront::new(Arc::clone(server), Arc::clone(&logins))
        };
        if let Some(network) = settings.http.listening_of_queues(&settings.network) {
            let front = front.clone();
            listening.add(&network, move || Box::new(front().for_queues()))?;
        }
        let Some(mut network) = settings.http.listening(&settings.network) else { return Ok(http) };
        let port = network.port;
        let make = move || Box::new(front()) as Box<dyn Front>;
        match listening.add(&network, make.clone()) {
            Err(ListenError::Address { error, .. })
                if error.kind() == ErrorKind::AddrInUse && !is_port_given =>
            {
                tracing::warn!(port, "the port is taken: no HTTP; choose another --http-port");
                network.port = 0;
                if network.tls_port != 0 || network.unixsocket.is_some() {
                    listening.add(&network, make)?;
                }
            }
            result => result?,
        }
        Ok(http)
    }

    /// This is the server, from now on.
    pub fn serve(&self, server: &Arc<Dispatcher>) {
        if self.0.set(Arc::clone(server)).is_err() {
            unreachable!("a process has one server");
        }
    }
}
