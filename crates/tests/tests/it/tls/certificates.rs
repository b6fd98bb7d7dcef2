//! Certificates of clients, and the server's own, which is exchanged under load.

use super::{config_set, greet, start};
use basalt_resp::Value;
use basalt_tests::authority::{Authority, Term};
use basalt_tests::client::Connection;
use basalt_tests::server::{Kind, Launch, free_port};
use rustls::version::{TLS12, TLS13};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn certificates_of_clients_are_required_optional_or_passed_over() {
    let server = start();
    let (own, stranger) = (server.authority(), Authority::new().unwrap());
    own.identity("alice").unwrap();
    own.identity_for("late", Term::Over).unwrap();
    stranger.identity("alice").unwrap();
    let alice = own.client_as("alice", own).unwrap();
    let late = own.client_as("late", own).unwrap();
    let mallory = own.client_as("alice", &stranger).unwrap();
    for (mode, nobody, foreign) in
        [("no", true, true), ("optional", true, false), ("yes", false, false)]
    {
        assert_eq!(config_set(&server, &[("tls-auth-clients", mode)]), None);
        assert!(greet(&server, &alice).is_ok(), "{mode}");
        assert_eq!(greet(&server, &own.client()).is_ok(), nobody, "{mode}");
        assert_eq!(greet(&server, &mallory).is_ok(), foreign, "{mode}: a wrong authority");
        assert_eq!(greet(&server, &late).is_ok(), foreign, "{mode}: too old a certificate");
    }
}

#[test]
fn a_certificate_of_the_default_user_stands_for_its_password() {
    let server = Launch::new(Kind::Basalt).tls().unwatched().start();
    let own = server.authority();
    own.identity("default").unwrap();
    own.identity("alice").unwrap();
    let set = [("tls-auth-clients", "optional"), ("requirepass", "secret")];
    assert_eq!(config_set(&server, &set), None);
    let is_in = |name: &str| {
        let client = own.client_as(name, own).unwrap();
        let mut connection = Connection::open_tls(server.tls_address(), &client).unwrap();
        !matches!(connection.call(&["PING"]).unwrap(), Value::Error(_))
    };
    assert!(!is_in("default") && !is_in("alice"), "nobody has said so");
    let mut connection = Connection::open(server.address()).unwrap();
    connection.run("AUTH secret").unwrap();
    connection.run("CONFIG SET tls-auth-clients-user CN").unwrap();
    assert!(is_in("default") && !is_in("alice"));
}

#[test]
fn only_the_versions_that_are_named_are_spoken() {
    let server = Launch::new(Kind::Basalt).tls().allow_log("TLS stays as it is").start();
    let own = server.authority();
    let (old, new) = (own.client_with(&[&TLS12]).unwrap(), own.client_with(&[&TLS13]).unwrap());
    for (text, has_old, has_new) in
        [("TLSv1.2", true, false), ("TLSv1.3", false, true), ("TLSv1.2 TLSv1.3", true, true)]
    {
        assert_eq!(config_set(&server, &[("tls-protocols", text)]), None);
        assert_eq!(greet(&server, &old).is_ok(), has_old, "{text}");
        assert_eq!(greet(&server, &new).is_ok(), has_new, "{text}");
    }
    let error = config_set(&server, &[("tls-protocols", "TLSv1")]).unwrap();
    assert!(error.contains("tls-protocols") && error.contains("TLSv1.3"), "{error}");
    let error = config_set(&server, &[("tls-ciphers", "RC4-SHA")]).unwrap();
    assert!(error.contains("tls-ciphers"), "{error}");
    let chacha = [("tls-protocols", "TLSv1.2"), ("tls-ciphers", "CHACHA20")];
    assert_eq!(config_set(&server, &chacha), None);
    greet(&server, &old).unwrap();
}

/// The authority changes under the feet of clients that stay, while others come and go.
#[test]
fn certificates_are_exchanged_under_load_and_nobody_is_dropped() {
    let server = Launch::new(Kind::Basalt).tls().allow_log("TLS stays as it is").start();
    let (old, new) = (server.authority(), Authority::new().unwrap());
    new.identity("server").unwrap();
    let mut veterans: Vec<Connection> =
        (0..8).map(|_| greet(&server, &old.client()).unwrap()).collect();
    let file = |name: &str| new.path(name).display().to_string();
    let both = old.client_of_both(&new).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for connection in &mut veterans {
                    assert_eq!(connection.run("INCR count").map(|_| ()).ok(), Some(()));
                }
            }
        });
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    greet(&server, &both).expect("one of the two vouches for the server");
                }
            });
        }
        for round in 0..20 {
            let (crt, key) = match round % 2 {
                0 => (file("server.crt"), file("server.key")),
                _ => (
                    old.path("server.crt").display().to_string(),
                    old.path("server.key").display().to_string(),
                ),
            };
            let pairs = [("tls-cert-file", crt.as_str()), ("tls-key-file", key.as_str())];
            assert_eq!(config_set(&server, &pairs), None);
            let wrong = config_set(&server, &[("tls-cert-file", "/nowhere/x.crt")]).unwrap();
            assert!(wrong.contains("cannot read /nowhere/x.crt"), "{wrong}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_file_that_has_changed_is_read_again_when_it_is_named_again() {
    let server = Launch::new(Kind::Basalt).tls().allow_log("TLS stays as it is").start();
    let (own, new) = (server.authority(), Authority::new().unwrap());
    new.identity("server").unwrap();
    let (crt, key) = (own.path("server.crt"), own.path("server.key"));
    let name = crt.display().to_string();
    std::fs::copy(new.path("server.crt"), &crt).unwrap();
    let error = config_set(&server, &[("tls-cert-file", &name)]).unwrap();
    assert!(error.contains("is not the key of the certificate"), "{error}");
    greet(&server, &own.client()).unwrap();
    std::fs::copy(new.path("server.key"), &key).unwrap();
    assert_eq!(config_set(&server, &[("tls-cert-file", &name)]), None);
    greet(&server, &new.client()).unwrap();
    assert!(greet(&server, &own.client()).is_err());
    std::fs::write(&crt, "no certificate").unwrap();
    let error = config_set(&server, &[("tls-cert-file", &name)]).unwrap();
    assert!(error.contains("holds no certificate"), "{error}");
    greet(&server, &new.client()).unwrap();
}

#[test]
fn tls_begins_and_ends_while_the_server_runs() {
    let server = Launch::new(Kind::Basalt).allow_log("TLS stays as it is").start();
    let own = Authority::new().unwrap();
    own.identity("server").unwrap();
    let port = free_port().unwrap();
    let port = port.to_string();
    let error = config_set(&server, &[("tls-port", &port)]).unwrap();
    assert!(error.contains("tls-cert-file is not set"), "{error}");
    let file = |name: &str| own.path(name).display().to_string();
    let (crt, key) = (file("server.crt"), file("server.key"));
    let files = [("tls-cert-file", &*crt), ("tls-key-file", &*key), ("tls-auth-clients", "no")];
    assert_eq!(config_set(&server, &files), None, "nothing is read before it is needed");
    assert_eq!(config_set(&server, &[("tls-port", &port)]), None);
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    let mut connection = Connection::open_tls(address, &own.client()).unwrap();
    connection.run("SET a 1").unwrap();
    assert_eq!(config_set(&server, &[("tls-port", "0")]), None);
    assert_eq!(connection.run("GET a").unwrap(), Value::Bulk(b"1".to_vec()), "who is in stays");
    assert!(Connection::open(address).is_err(), "nobody listens there any more");
}
