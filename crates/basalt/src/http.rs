//! The sockets of HTTP.

use basalt_config::Settings;
use basalt_dispatch::Dispatcher;
use basalt_http::HttpFront;
use basalt_net::{ListenError, Listening};
use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};

/// The option's default: nobody may have asked for it.
const DEFAULT_PORT: u16 = 8085;

/// What connections by HTTP are served by, once it is there. Sockets come earlier, so that a taken
/// port is found before a gigabyte is opened.
pub struct Http(Arc<OnceLock<Arc<Dispatcher>>>);

impl Http {
    /// Listens where the settings say.
    ///
    /// # Errors
    /// An address cannot be used, unless it is only that the default port is taken.
    pub fn listen(listening: &Listening, settings: &Settings) -> Result<Http, ListenError> {
        let http = Http(Arc::default());
        let Some(network) = settings.http.listening(&settings.network) else { return Ok(http) };
        let server = Arc::clone(&http.0);
        let front = move || {
            let server = server.get().expect("nobody is accepted before there is a server");
            Box::new(HttpFront::new(Arc::clone(server))) as Box<dyn basalt_net::Front>
        };
        match listening.add(&network, front) {
            Err(ListenError::Address { error, .. })
                if error.kind() == ErrorKind::AddrInUse && network.port == DEFAULT_PORT =>
            {
                let port = network.port;
                tracing::warn!(port, "the port is taken: no HTTP; choose another --http-port");
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
