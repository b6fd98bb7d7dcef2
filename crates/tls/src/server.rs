//! What the options say of TLS, made ready for handshakes.

use crate::error::TlsError;
use crate::pem::{self, Named};
use crate::sessions::Sessions;
use crate::suites;
use basalt_config::{ClientCertificates, Secret, TlsSettings};
use basalt_env::Clock;
use rustls::crypto::{CryptoProvider, ring};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, InconsistentKeys, RootCertStore, ServerConfig};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Tickets by which a client can resume its session. Each takes a place among those that are kept,
/// and most clients want none.
const TICKETS_A_HANDSHAKE: usize = 1;

/// What handshakes are made by: certificate, key, whom to trust, what to offer. It never changes;
/// other options make another one, and connections keep the one that they began with.
#[derive(Debug, Clone)]
pub struct ServerTls {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) takes_names: bool,
    /// Within which a handshake is to be over.
    pub handshake_time_max: Duration,
}

impl ServerTls {
    /// Reads the files that the options name, and checks that all of it fits together.
    ///
    /// # Errors
    /// See [`TlsError`]; a file that cannot be read or used, above all.
    pub fn new(settings: &TlsSettings, clock: &Arc<dyn Clock>) -> Result<ServerTls, TlsError> {
        let versions = suites::versions(&settings.protocols)
            .map_err(|reason| TlsError::Value { option: "tls-protocols", reason })?;
        let mut chosen = suites::tls13(&settings.ciphersuites)
            .map_err(|reason| TlsError::Value { option: "tls-ciphersuites", reason })?;
        chosen.extend(
            suites::tls12(&settings.ciphers)
                .map_err(|reason| TlsError::Value { option: "tls-ciphers", reason })?,
        );
        let provider =
            Arc::new(CryptoProvider { cipher_suites: chosen, ..ring::default_provider() });
        let certified = certified_key(settings, &provider)?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .map_err(|error| TlsError::Value {
                option: "tls-protocols",
                reason: error.to_string(),
            })?;
        let builder = match verifier(settings, provider)? {
            Some(verifier) => builder.with_client_cert_verifier(verifier),
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        config.ignore_client_order = settings.prefers_own_ciphers;
        config.send_tls13_tickets = TICKETS_A_HANDSHAKE;
        match settings.sessions_max {
            Some(count_max) => {
                let time_max = Duration::from_secs(settings.session_s_max);
                let sessions = Sessions::new(count_max, time_max, Arc::clone(clock));
                config.session_storage = Arc::new(sessions);
            }
            None => {
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
            }
        }
        Ok(ServerTls {
            config: Arc::new(config),
            takes_names: settings.client_certificates != ClientCertificates::No,
            handshake_time_max: Duration::from_secs(settings.handshake_s_max),
        })
    }
}

fn certified_key(
    settings: &TlsSettings,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsError> {
    let missing = |option| TlsError::Missing { option, why: "" };
    let path = settings.certificate.as_deref().ok_or_else(|| missing("tls-cert-file"))?;
    let chain = pem::certificates(Named { option: "tls-cert-file", path })?;
    let path = settings.key.as_deref().ok_or_else(|| missing("tls-key-file"))?;
    let key_file = Named { option: "tls-key-file", path };
    let key = pem::key(key_file, settings.key_password.as_ref().map(Secret::expose))?;
    let key = provider
        .key_provider
        .load_private_key(key)
        .map_err(|error| key_file.wrong(format!("holds a key of no use: {error}")))?;
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        Ok(()) => Ok(certified),
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Err(key_file.wrong("is not the key of the certificate in tls-cert-file"))
        }
        Err(Error::InconsistentKeys(_)) => Ok(certified),
        Err(error) => {
            let path = settings.certificate.as_deref().unwrap_or(Path::new(""));
            let file = Named { option: "tls-cert-file", path };
            Err(file.wrong(format!("holds a certificate of no use: {error}")))
        }
    }
}

/// What looks at the certificates of clients; `None` if they are not asked for one.
fn verifier(
    settings: &TlsSettings,
    provider: Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>, TlsError> {
    if settings.client_certificates == ClientCertificates::No {
        return Ok(None);
    }
    if settings.trusted_file.is_none() && settings.trusted_dir.is_none() {
        return Err(TlsError::Missing {
            option: "tls-ca-cert-file",
            why: ", nor is tls-ca-cert-dir: they say whose certificates clients may show; set one, \
                  or tls-auth-clients no",
        });
    }
    let mut roots = RootCertStore::empty();
    if let Some(path) = &settings.trusted_file {
        pem::trust(Named { option: "tls-ca-cert-file", path }, &mut roots)?;
    }
    if let Some(path) = &settings.trusted_dir {
        pem::trust_all(Named { option: "tls-ca-cert-dir", path }, &mut roots)?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = match settings.client_certificates {
        ClientCertificates::Optional => builder.allow_unauthenticated(),
        _ => builder,
    };
    let built = builder
        .build()
        .map_err(|error| TlsError::Value { option: "tls-ca-cert-file", reason: error.to_string() });
    built.map(Some)
}
