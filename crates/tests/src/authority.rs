//! An authority that lives as long as a test, and certificates of it, as files.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// See the head of this file.
#[derive(Debug)]
pub struct Authority {
    dir: TempDir,
    issuer: Issuer<'static, KeyPair>,
    client: Arc<ClientConfig>,
}

/// For how long a certificate is good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// Now.
    Good,
    /// It was, once.
    Over,
}

impl Authority {
    /// An authority with a key of its own; its certificate is the file `ca.crt`.
    ///
    /// # Errors
    /// If there is no temporary folder, or no randomness.
    pub fn new() -> io::Result<Authority> {
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority of a test");
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        let dir = tempfile::Builder::new().prefix("basalt-test-").tempdir()?;
        std::fs::write(dir.path().join("ca.crt"), certificate.pem())?;
        let client = Arc::new(client(&[dir.path()], None, &[&TLS13, &TLS12])?);
        Ok(Authority { dir, issuer: Issuer::new(params, key), client })
    }

    /// Where a file of it is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A certificate with this common name for this machine, `NAME.crt`, and its key, `NAME.key`.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn identity(&self, name: &str) -> io::Result<()> {
        self.identity_for(name, Term::Good)
    }

    /// A certificate as that of [`Authority::identity`], good for a time.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn identity_for(&self, name: &str, term: Term) -> io::Result<()> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
        params.distinguished_name.push(DnType::CommonName, name);
        if term == Term::Over {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(io::Error::other)?;
        std::fs::write(self.path(&format!("{name}.crt")), certificate.pem())?;
        std::fs::write(self.path(&format!("{name}.key")), key.serialize_pem())
    }

    /// A client that trusts it and shows nothing.
    pub fn client(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.client)
    }

    /// A client that trusts it and shows the identity of this name, out of the files of `from`.
    ///
    /// # Errors
    /// If the files cannot be read.
    pub fn client_as(&self, name: &str, from: &Authority) -> io::Result<Arc<ClientConfig>> {
        let files = (from.path(&format!("{name}.crt")), from.path(&format!("{name}.key")));
        client(&[self.dir.path()], Some(files), &[&TLS13, &TLS12]).map(Arc::new)
    }

    /// A client that trusts it and another one, and shows nothing.
    ///
    /// # Errors
    /// If the files cannot be read.
    pub fn client_of_both(&self, other: &Authority) -> io::Result<Arc<ClientConfig>> {
        client(&[self.dir.path(), other.dir.path()], None, &[&TLS13, &TLS12]).map(Arc::new)
    }

    /// A client that trusts it and speaks these versions.
    ///
    /// # Errors
    /// If the files cannot be read.
    pub fn client_with(
        &self,
        versions: &[&'static SupportedProtocolVersion],
    ) -> io::Result<Arc<ClientConfig>> {
        client(&[self.dir.path()], None, versions).map(Arc::new)
    }
}

fn client(
    trusted: &[&Path],
    own: Option<(PathBuf, PathBuf)>,
    versions: &[&'static SupportedProtocolVersion],
) -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for dir in trusted {
        let root = CertificateDer::from_pem_file(dir.join("ca.crt")).map_err(io::Error::other)?;
        roots.add(root).map_err(io::Error::other)?;
    }
    let builder =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(versions)
            .map_err(io::Error::other)?
            .with_root_certificates(roots);
    let Some((certificate, key)) = own else { return Ok(builder.with_no_client_auth()) };
    let chain = vec![CertificateDer::from_pem_file(certificate).map_err(io::Error::other)?];
    let key = PrivateKeyDer::from_pem_file(key).map_err(io::Error::other)?;
    builder.with_client_auth_cert(chain, key).map_err(io::Error::other)
}
