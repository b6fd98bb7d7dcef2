//! Redis' TLS.

use super::{INT, PORT};
use crate::option::{Group, Kind, OptionSpec, effective};

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Tls, name, kind, default, doc)
}

const NO_TLS: &str = "this build serves no TLS; put a proxy in front";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("tls-port", PORT, "0", "TLS port to listen on; 0 opens none.").accepted(NO_TLS),
    option("tls-cert-file", Kind::Text, "", "Certificate of the server.").accepted(NO_TLS),
    option("tls-key-file", Kind::Text, "", "Key of the server's certificate.").accepted(NO_TLS),
    option("tls-key-file-pass", Kind::Text, "", "Password of that key.").secret().accepted(NO_TLS),
    option("tls-client-cert-file", Kind::Text, "", "Certificate for outgoing connections.")
        .accepted(NO_TLS),
    option("tls-client-key-file", Kind::Text, "", "Key of that certificate.").accepted(NO_TLS),
    option("tls-client-key-file-pass", Kind::Text, "", "Password of that key.")
        .secret()
        .accepted(NO_TLS),
    option("tls-dh-params-file", Kind::Text, "", "Diffie-Hellman parameters.").accepted(NO_TLS),
    option("tls-ca-cert-file", Kind::Text, "", "Certificates to trust, in one file.")
        .accepted(NO_TLS),
    option("tls-ca-cert-dir", Kind::Text, "", "Certificates to trust, in a directory.")
        .accepted(NO_TLS),
    option(
        "tls-auth-clients",
        Kind::Enum(&["no", "yes", "optional"]),
        "yes",
        "Whether clients need a certificate.",
    )
    .accepted(NO_TLS),
    option("tls-replication", Kind::Bool, "no", "Use TLS towards the primary.").accepted(NO_TLS),
    option("tls-cluster", Kind::Bool, "no", "Use TLS between nodes.").accepted(NO_TLS),
    option("tls-protocols", Kind::Text, "", "Versions of TLS to offer.").accepted(NO_TLS),
    option("tls-ciphers", Kind::Text, "", "Ciphers up to TLS 1.2.").accepted(NO_TLS),
    option("tls-ciphersuites", Kind::Text, "", "Cipher suites of TLS 1.3.").accepted(NO_TLS),
    option(
        "tls-prefer-server-ciphers",
        Kind::Bool,
        "no",
        "Let the server's order of ciphers count.",
    )
    .accepted(NO_TLS),
    option("tls-session-caching", Kind::Bool, "yes", "Let clients resume sessions.")
        .accepted(NO_TLS),
    option("tls-session-cache-size", INT, "20480", "Sessions kept.").accepted(NO_TLS),
    option("tls-session-cache-timeout", INT, "300", "Seconds that a session is kept.")
        .accepted(NO_TLS),
    option(
        "max-new-tls-connections-per-cycle",
        Kind::Int { min: 1, max: 1000 },
        "1",
        "TLS connections that Redis accepts in one turn of its loop.",
    )
    .accepted(NO_TLS),
];
