//! An authority, and certificates of it.

use basalt_config::{Settings, TlsSettings};
use basalt_env::{Clock, SystemClock};
use basalt_tls::ServerTls;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) struct Authority {
    pub(crate) dir: TempDir,
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate and its key, in PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority");
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ca.crt"), &pem).unwrap();
        Authority { dir, issuer: Issuer::new(params, key), pem }
    }

    pub(crate) fn identity(&self, name: &str) -> Identity {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Identity { certificate, key: key.serialize_pem() }
    }

    /// Writes a file; returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The options of a server of this authority that asks for no certificates.
    pub(crate) fn settings(&self) -> TlsSettings {
        let own = self.identity("server");
        let mut settings = Settings::default().tls;
        settings.certificate = Some(self.file("server.crt", &own.certificate));
        settings.key = Some(self.file("server.key", &own.key));
        settings.client_certificates = basalt_config::ClientCertificates::No;
        settings
    }

    pub(crate) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        roots
    }

    /// A client that trusts this authority and shows `identity`.
    pub(crate) fn client(&self, identity: Option<&Identity>) -> ClientConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13, &TLS12])
            .unwrap()
            .with_root_certificates(self.roots());
        match identity {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let chain =
                    vec![CertificateDer::from_pem_slice(own.certificate.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        }
    }
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::new())
}

pub(crate) fn server(settings: &TlsSettings) -> ServerTls {
    ServerTls::new(settings, &clock()).unwrap()
}
