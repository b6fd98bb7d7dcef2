//! The options of TLS.

use crate::{set, value};
use basalt_config::{ClientCertificates, Config, SetOrigin};

#[test]
fn the_options_of_tls_become_settings() {
    let config = Config::default();
    assert!(!config.settings().speaks_tls());
    let tls = config.settings().tls.clone();
    assert_eq!(tls.client_certificates, ClientCertificates::Required);
    assert_eq!((tls.sessions_max, tls.session_s_max, tls.handshake_s_max), (Some(20_480), 300, 10));
    for (name, text) in [
        ("tls-port", "6390"),
        ("tls-cert-file", "/etc/x.crt"),
        ("tls-auth-clients", "optional"),
        ("tls-auth-clients-user", "cn"),
        ("tls-session-caching", "no"),
    ] {
        set(&config, &[name, text]).unwrap();
    }
    assert_eq!(value(&config, "tls-auth-clients-user"), "CN");
    let settings = config.settings();
    assert!(settings.speaks_tls() && settings.network.tls_port == 6390);
    assert!(settings.tls.names_are_users && settings.tls.sessions_max.is_none());
    assert_eq!(settings.tls.client_certificates, ClientCertificates::Optional);
    assert!(set(&config, &["tls-auth-clients", "maybe"]).is_err());
    assert!(set(&config, &["http-tls-port", "6391"]).is_err(), "it is set at start");
}

/// What is set to what it is counts, so that files are read again.
#[test]
fn an_option_of_tls_that_is_named_counts_whether_it_changes_or_not() {
    let config = Config::default();
    let readings = |pairs: &[&[u8]]| {
        let prepared = config.prepare_set(pairs, SetOrigin::LocalClient).unwrap();
        let counts = (prepared.before().tls.readings, prepared.after().tls.readings);
        prepared.commit();
        counts
    };
    assert_eq!(readings(&[b"tls-cert-file", b""]), (0, 1));
    assert_eq!(readings(&[b"timeout", b"5"]), (0, 0));
    assert_eq!(readings(&[b"tls-cert-file", b"/x"]), (0, 1));
    assert_eq!(readings(&[b"tls-cert-file", b"/x", b"timeout", b"6"]), (1, 2));
}
