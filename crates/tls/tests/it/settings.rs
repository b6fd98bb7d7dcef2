//! What the options say, right and wrong.

use crate::authority::{Authority, Identity, clock, server};
use crate::channel::Both;
use basalt_config::{ClientCertificates, Settings, TlsSettings};
use basalt_tls::{ServerTls, TlsError};
use std::process::Command;

fn refused(settings: &TlsSettings) -> (&'static str, String) {
    let error: TlsError = ServerTls::new(settings, &clock()).unwrap_err();
    (error.option(), error.to_string())
}

#[test]
fn what_cannot_be_used_is_named() {
    let authority = Authority::new();
    let good = authority.settings();
    let mut settings = Settings::default().tls;
    assert_eq!(refused(&settings).0, "tls-cert-file");
    settings.certificate = good.certificate.clone();
    assert_eq!(refused(&settings).0, "tls-key-file");
    let with = |change: &dyn Fn(&mut TlsSettings)| {
        let mut settings = good.clone();
        change(&mut settings);
        refused(&settings)
    };
    let (option, text) = with(&|own| own.certificate = Some("/nowhere/x.crt".into()));
    assert!(option == "tls-cert-file" && text.contains("cannot read /nowhere/x.crt"), "{text}");
    let garbage = authority.file("garbage", "garbage");
    let (option, text) = with(&|own| own.certificate = Some(garbage.clone()));
    assert!(option == "tls-cert-file" && text.contains("no certificate in PEM"), "{text}");
    let (option, text) = with(&|own| own.key = Some(garbage.clone()));
    assert!(option == "tls-key-file" && text.contains("no private key in PEM"), "{text}");
    let other = authority.file("other.key", &authority.identity("other").key);
    let (option, text) = with(&|own| own.key = Some(other.clone()));
    assert!(option == "tls-key-file" && text.contains("is not the key of"), "{text}");
    let (option, text) = with(&|own| own.client_certificates = ClientCertificates::Required);
    assert!(option == "tls-ca-cert-file" && text.contains("tls-auth-clients no"), "{text}");
    assert_eq!(with(&|own| own.protocols = "TLSv1".into()).0, "tls-protocols");
    assert_eq!(with(&|own| own.ciphers = "RC4".into()).0, "tls-ciphers");
    assert_eq!(with(&|own| own.ciphersuites = "RC4".into()).0, "tls-ciphersuites");
    let (option, _) = with(&|own| {
        own.client_certificates = ClientCertificates::Optional;
        own.trusted_dir = Some("/nowhere".into());
    });
    assert_eq!(option, "tls-ca-cert-dir");
}

/// Whether a client that shows this comes in; as whom the server sees it.
fn comes_in(
    settings: &TlsSettings,
    authority: &Authority,
    own: Option<&Identity>,
) -> Option<Option<String>> {
    let mut both = Both::new(&server(settings), authority.client(own));
    both.shake_hands().ok()?;
    Some(both.channel.certificate_name())
}

#[test]
fn certificates_of_clients_are_asked_for_and_looked_at() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let (alice, mallory) = (authority.identity("alice"), stranger.identity("alice"));
    let named = Some(Some("alice".to_owned()));
    for from_dir in [false, true] {
        let mut settings = authority.settings();
        let only = authority.dir.path().join("trusted");
        std::fs::create_dir_all(&only).unwrap();
        std::fs::copy(authority.dir.path().join("ca.crt"), only.join("hash.0")).unwrap();
        std::fs::write(only.join("README"), "no certificate").unwrap();
        match from_dir {
            false => settings.trusted_file = Some(authority.dir.path().join("ca.crt")),
            true => settings.trusted_dir = Some(only),
        }
        settings.client_certificates = ClientCertificates::Required;
        assert_eq!(comes_in(&settings, &authority, Some(&alice)), named);
        assert_eq!(comes_in(&settings, &authority, None), None);
        assert_eq!(comes_in(&settings, &authority, Some(&mallory)), None);
        settings.client_certificates = ClientCertificates::Optional;
        assert_eq!(comes_in(&settings, &authority, Some(&alice)), named);
        assert_eq!(comes_in(&settings, &authority, None), Some(None));
        assert_eq!(comes_in(&settings, &authority, Some(&mallory)), None);
        settings.client_certificates = ClientCertificates::No;
        assert_eq!(comes_in(&settings, &authority, Some(&mallory)), Some(None));
    }
}

#[test]
fn encrypted_keys_are_opened_by_their_password() {
    let authority = Authority::new();
    let mut settings = authority.settings();
    let plain = settings.key.clone().unwrap();
    for cipher in [&["-v2", "aes-256-cbc"][..], &["-scrypt"], &["-v2", "des3"]] {
        let locked = authority.dir.path().join("locked.key");
        let openssl = Command::new("openssl")
            .args(["pkcs8", "-topk8", "-passout", "pass:open sesame", "-in"])
            .arg(&plain)
            .arg("-out")
            .arg(&locked)
            .args(cipher)
            .status()
            .expect("openssl is installed");
        assert!(openssl.success());
        settings.key = Some(locked);
        let with = |password: &str| {
            let config = basalt_config::Config::default();
            config.adjust("tls-key-file-pass", password).unwrap();
            TlsSettings {
                key_password: config.settings().tls.key_password.clone(),
                ..settings.clone()
            }
        };
        server(&with("open sesame"));
        let (option, text) = refused(&with("wrong"));
        assert!(option == "tls-key-file" && text.contains("tls-key-file-pass is wrong"), "{text}");
        assert!(refused(&with("")).1.contains("set tls-key-file-pass"));
    }
    let old = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n";
    settings.key = Some(authority.file("old.key", old));
    assert!(refused(&settings).1.contains("openssl pkcs8 -topk8"));
}
