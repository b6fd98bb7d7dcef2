//! TLS: where it is spoken, by which certificate, and whom the server lets in.

use super::{INT, PORT};
use crate::option::{Group, Kind, OptionSpec, effective};
use crate::value::Secret;
use crate::values::Values;
use std::path::PathBuf;

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Tls, name, kind, default, doc)
}

const NO_CALLS: &str = "Basalt opens no connections of its own";

/// The longest time that a handshake may be given.
const HANDSHAKE_S_MAX: i64 = 3600;

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("tls-port", PORT, "0", "TLS port to listen on; 0 opens none."),
    option(
        "tls-cert-file",
        Kind::Text,
        "",
        "Certificate of the server in PEM, with those between it and a trusted one behind it. Set it \
         again to have a file read again; connections that are open stay.",
    ),
    option("tls-key-file", Kind::Text, "", "Key of the server's certificate, in PEM."),
    option(
        "tls-key-file-pass",
        Kind::Text,
        "",
        "Password of that key, if it is encrypted (PKCS#8).",
    )
    .secret(),
    option(
        "tls-ca-cert-file",
        Kind::Text,
        "",
        "Certificates, in one file in PEM, of those who may issue certificates to clients.",
    ),
    option(
        "tls-ca-cert-dir",
        Kind::Text,
        "",
        "A directory of such files, read beside `tls-ca-cert-file`.",
    ),
    option(
        "tls-auth-clients",
        Kind::Enum(&["no", "yes", "optional"]),
        "yes",
        "Whether clients need a certificate; with `optional`, one that is shown must be good.",
    ),
    option(
        "tls-auth-clients-user",
        Kind::Enum(&["off", "CN"]),
        "off",
        "`CN` lets a client in without a password whose certificate names a user as its subject's \
         common name.",
    ),
    option(
        "tls-protocols",
        Kind::Text,
        "",
        "Versions of TLS to offer, out of `TLSv1.2 TLSv1.3`; empty is both. Older ones are not \
         spoken.",
    ),
    option(
        "tls-ciphers",
        Kind::Text,
        "",
        "Cipher suites of TLS 1.2 in OpenSSL's notation, out of those with ECDHE and AES-GCM or \
         ChaCha20; empty is all of them.",
    ),
    option(
        "tls-ciphersuites",
        Kind::Text,
        "",
        "Cipher suites of TLS 1.3, by their names, separated by colons; empty is all of them.",
    ),
    option(
        "tls-prefer-server-ciphers",
        Kind::Bool,
        "no",
        "Let the server's order of ciphers count.",
    ),
    option(
        "tls-session-caching",
        Kind::Bool,
        "yes",
        "Let clients resume sessions, which spares both sides most of a handshake.",
    ),
    option(
        "tls-session-cache-size",
        INT,
        "20480",
        "Sessions that are kept; 0 is as many as there may be, 1,000,000.",
    ),
    option("tls-session-cache-timeout", INT, "300", "Seconds for which a session can be resumed."),
    option(
        "tls-handshake-timeout",
        Kind::Int { min: 1, max: HANDSHAKE_S_MAX },
        "10",
        "Seconds within which a client's handshake must be over.",
    )
    .own(),
    option("tls-client-cert-file", Kind::Text, "", "Certificate for outgoing connections.")
        .accepted(NO_CALLS),
    option("tls-client-key-file", Kind::Text, "", "Key of that certificate.").accepted(NO_CALLS),
    option("tls-client-key-file-pass", Kind::Text, "", "Password of that key.")
        .secret()
        .accepted(NO_CALLS),
    option("tls-dh-params-file", Kind::Text, "", "Diffie-Hellman parameters.")
        .accepted("keys are agreed upon over elliptic curves"),
    option("tls-replication", Kind::Bool, "no", "Use TLS towards the primary.").accepted(NO_CALLS),
    option("tls-cluster", Kind::Bool, "no", "Use TLS between nodes.").accepted(NO_CALLS),
    option(
        "max-new-tls-connections-per-cycle",
        Kind::Int { min: 1, max: 1000 },
        "1",
        "TLS connections that Redis accepts in one turn of its loop.",
    )
    .accepted("handshakes have a thread of their own"),
];

/// Whether clients show certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientCertificates {
    /// They are not asked for one.
    No,
    /// They may.
    Optional,
    /// Only those with a good one come in.
    Required,
}

/// The options of this file, ready to use; the port is with the others in `NetworkSettings`.
#[derive(Debug, Clone, PartialEq)]
pub struct TlsSettings {
    /// `tls-cert-file`.
    pub certificate: Option<PathBuf>,
    /// `tls-key-file`.
    pub key: Option<PathBuf>,
    /// `tls-key-file-pass`.
    pub key_password: Option<Secret>,
    /// `tls-ca-cert-file`.
    pub trusted_file: Option<PathBuf>,
    /// `tls-ca-cert-dir`.
    pub trusted_dir: Option<PathBuf>,
    /// `tls-auth-clients`.
    pub client_certificates: ClientCertificates,
    /// `tls-auth-clients-user`: the common name of a client's certificate is that of its user.
    pub names_are_users: bool,
    /// `tls-protocols`.
    pub protocols: String,
    /// `tls-ciphers`.
    pub ciphers: String,
    /// `tls-ciphersuites`.
    pub ciphersuites: String,
    /// `tls-prefer-server-ciphers`.
    pub prefers_own_ciphers: bool,
    /// `tls-session-cache-size`, or `None` without `tls-session-caching`; 0 is as many as there may
    /// be.
    pub sessions_max: Option<usize>,
    /// `tls-session-cache-timeout`, in seconds.
    pub session_s_max: u64,
    /// `tls-handshake-timeout`, in seconds.
    pub handshake_s_max: u64,
    /// How often CONFIG SET has named one of these options: files are read again even where their
    /// names stay.
    pub readings: u64,
}

impl TlsSettings {
    pub(crate) fn from_values(values: &Values) -> Self {
        let text = |name| String::from_utf8_lossy(values.text(name)).into_owned();
        let caches = values.bool("tls-session-caching");
        TlsSettings {
            certificate: values.path("tls-cert-file"),
            key: values.path("tls-key-file"),
            key_password: values.secret("tls-key-file-pass"),
            trusted_file: values.path("tls-ca-cert-file"),
            trusted_dir: values.path("tls-ca-cert-dir"),
            client_certificates: match values.word("tls-auth-clients") {
                "no" => ClientCertificates::No,
                "optional" => ClientCertificates::Optional,
                _ => ClientCertificates::Required,
            },
            names_are_users: values.word("tls-auth-clients-user") == "CN",
            protocols: text("tls-protocols"),
            ciphers: text("tls-ciphers"),
            ciphersuites: text("tls-ciphersuites"),
            prefers_own_ciphers: values.bool("tls-prefer-server-ciphers"),
            sessions_max: caches.then(|| values.number("tls-session-cache-size")),
            session_s_max: values.number("tls-session-cache-timeout"),
            handshake_s_max: values.number("tls-handshake-timeout"),
            readings: 0,
        }
    }
}
