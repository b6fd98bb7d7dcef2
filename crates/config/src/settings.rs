//! The options that Basalt acts on, as plain typed fields for those who read them often.

use crate::options::clients::ClientSettings;
use crate::options::http::HttpSettings;
use crate::options::memory::MemorySettings;
use crate::options::network::NetworkSettings;
use crate::options::persistence::PersistenceSettings;
use crate::options::server::ServerSettings;
use crate::options::tls::TlsSettings;
use crate::options::types::TypeSettings;
use crate::values::Values;

/// One consistent set of settings. It never changes; a change of options makes a new one.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Listening, threads and the protocol.
    pub network: NetworkSettings,
    /// HTTP.
    pub http: HttpSettings,
    /// TLS.
    pub tls: TlsSettings,
    /// Limits and rights of clients.
    pub clients: ClientSettings,
    /// The memory budget and what is done in the background.
    pub memory: MemorySettings,
    /// The journal, checkpoints and the cold tier.
    pub persistence: PersistenceSettings,
    /// The process, its log and its measurements.
    pub server: ServerSettings,
    /// When collections change their form.
    pub types: TypeSettings,
}

impl Settings {
    pub(crate) fn from_values(values: &Values) -> Settings {
        Settings {
            network: NetworkSettings::from_values(values),
            http: HttpSettings::from_values(values),
            tls: TlsSettings::from_values(values),
            clients: ClientSettings::from_values(values),
            memory: MemorySettings::from_values(values),
            persistence: PersistenceSettings::from_values(values),
            server: ServerSettings::from_values(values),
            types: TypeSettings::from_values(values),
        }
    }

    /// Whether the server speaks TLS anywhere.
    pub fn speaks_tls(&self) -> bool {
        let hust = &self.http.hust;
        let ports = [self.network.tls_port, self.http.tls_port, hust.queue_tls_port];
        ports.iter().any(|&port| port != 0)
    }
}

impl Default for Settings {
    /// The settings of a server that was given no options.
    fn default() -> Self {
        Settings::from_values(&Values::defaults())
    }
}
