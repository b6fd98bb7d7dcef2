//! Cipher suites and versions by the names that `redis.conf` uses, which are OpenSSL's.
//!
//! rustls has six suites of TLS 1.2 and three of TLS 1.3, all of them with forward secrecy and
//! authenticated encryption. So the words of OpenSSL that name classes of strength, such as `HIGH`,
//! mean all of them, and what is excluded of old ciphers is not there. As in OpenSSL, a word that
//! names nothing that is there adds nothing.

use rustls::crypto::ring::cipher_suite as suite;
use rustls::version::{TLS12, TLS13};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};

/// The words for a suite of TLS 1.2: its name and the classes that it is in.
struct Named {
    suite: SupportedCipherSuite,
    words: &'static [&'static str],
}

/// The order of preference.
const TLS12_SUITES: &[Named] = &[
    Named {
        suite: suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        words: &["ECDHE-ECDSA-AES256-GCM-SHA384", "AES256", "AESGCM", "AES", "SHA384", "ECDSA"],
    },
    Named {
        suite: suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        words: &["ECDHE-ECDSA-AES128-GCM-SHA256", "AES128", "AESGCM", "AES", "SHA256", "ECDSA"],
    },
    Named {
        suite: suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        words: &["ECDHE-ECDSA-CHACHA20-POLY1305", "CHACHA20", "ECDSA"],
    },
    Named {
        suite: suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        words: &["ECDHE-RSA-AES256-GCM-SHA384", "AES256", "AESGCM", "AES", "SHA384", "RSA"],
    },
    Named {
        suite: suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        words: &["ECDHE-RSA-AES128-GCM-SHA256", "AES128", "AESGCM", "AES", "SHA256", "RSA"],
    },
    Named {
        suite: suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        words: &["ECDHE-RSA-CHACHA20-POLY1305", "CHACHA20", "RSA"],
    },
];

/// Classes that all of them are in.
const EVERY: &[&str] =
    &["ALL", "DEFAULT", "COMPLEMENTOFDEFAULT", "HIGH", "ECDHE", "EECDH", "KECDHE", "TLSV1.2"];

const TLS13_SUITES: &[(&str, SupportedCipherSuite)] = &[
    ("TLS_AES_256_GCM_SHA384", suite::TLS13_AES_256_GCM_SHA384),
    ("TLS_AES_128_GCM_SHA256", suite::TLS13_AES_128_GCM_SHA256),
    ("TLS_CHACHA20_POLY1305_SHA256", suite::TLS13_CHACHA20_POLY1305_SHA256),
];

impl Named {
    /// Whether it is in all classes of a word such as `ECDHE+AESGCM`.
    fn is(&self, word: &str) -> bool {
        word.split('+').all(|class| {
            let is_it = |own: &&str| {
                own.eq_ignore_ascii_case(class)
                    || class.len() == own.len() + 1
                        && class.starts_with('a')
                        && own.eq_ignore_ascii_case(&class[1..])
            };
            let is_of_all = EVERY.iter().any(|all| all.eq_ignore_ascii_case(class));
            is_of_all || self.words.iter().any(is_it)
        })
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([':', ',', ' ']).filter(|word| !word.is_empty())
}

/// The suites of TLS 1.2 that `tls-ciphers` names, in its order.
///
/// # Errors
/// It names none that there is.
pub(crate) fn tls12(text: &str) -> Result<Vec<SupportedCipherSuite>, String> {
    let text = if text.trim().is_empty() { "ALL" } else { text };
    let mut chosen: Vec<&Named> = Vec::new();
    for word in words(text) {
        match word.as_bytes()[0] {
            b'!' | b'-' => chosen.retain(|named| !named.is(&word[1..])),
            // A move to the end, and a level of security: neither adds or removes one.
            b'+' | b'@' => {}
            _ => {
                let is_new = |named: &&Named| {
                    named.is(word) && !chosen.iter().any(|other| other.suite == named.suite)
                };
                let added: Vec<&Named> = TLS12_SUITES.iter().filter(is_new).collect();
                chosen.extend(added);
            }
        }
    }
    // What is excluded for good does not come back by a later word.
    for word in words(text).filter_map(|word| word.strip_prefix('!')) {
        chosen.retain(|named| !named.is(word));
    }
    match chosen.is_empty() {
        true => Err(format!("tls-ciphers names none of {}", names_of_tls12())),
        false => Ok(chosen.iter().map(|named| named.suite).collect()),
    }
}

fn names_of_tls12() -> String {
    TLS12_SUITES.iter().map(|named| named.words[0]).collect::<Vec<_>>().join(", ")
}

/// The suites of TLS 1.3 that `tls-ciphersuites` names, in its order.
///
/// # Errors
/// It names none that there is.
pub(crate) fn tls13(text: &str) -> Result<Vec<SupportedCipherSuite>, String> {
    if text.trim().is_empty() {
        return Ok(TLS13_SUITES.iter().map(|(_, suite)| *suite).collect());
    }
    let find = |word: &str| TLS13_SUITES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    let mut chosen: Vec<SupportedCipherSuite> = Vec::new();
    for (_, suite) in words(text).filter_map(find) {
        if !chosen.contains(suite) {
            chosen.push(*suite);
        }
    }
    if chosen.is_empty() {
        let names: Vec<&str> = TLS13_SUITES.iter().map(|(name, _)| *name).collect();
        return Err(format!("tls-ciphersuites names none of {}", names.join(", ")));
    }
    Ok(chosen)
}

/// The versions that `tls-protocols` names.
///
/// # Errors
/// A word is no version, or none is one that is spoken.
pub(crate) fn versions(text: &str) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    if text.trim().is_empty() {
        return Ok(vec![&TLS13, &TLS12]);
    }
    let mut chosen = Vec::new();
    for word in words(text) {
        match word.to_ascii_lowercase().as_str() {
            "tlsv1.3" => chosen.push(&TLS13),
            "tlsv1.2" => chosen.push(&TLS12),
            // They may be allowed; nobody is served by them.
            "tlsv1" | "tlsv1.1" => {}
            _ => return Err(format!("tls-protocols: '{word}' is no version of TLS")),
        }
    }
    if chosen.is_empty() {
        return Err("tls-protocols names neither TLSv1.2 nor TLSv1.3".to_owned());
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::{TLS12_SUITES, tls12, tls13, versions};

    /// The names of the suites that a text chooses.
    fn chosen(text: &str) -> Vec<&'static str> {
        let suites = tls12(text).unwrap();
        let name = |suite| TLS12_SUITES.iter().find(|named| named.suite == suite).unwrap().words[0];
        suites.into_iter().map(name).collect()
    }

    #[test]
    fn ciphers_are_chosen_as_openssl_does() {
        assert_eq!(chosen("").len(), 6);
        assert_eq!(chosen("DEFAULT:!MEDIUM").len(), 6);
        assert_eq!(chosen("HIGH:!aNULL:!MD5:@STRENGTH").len(), 6);
        let rsa = "ECDHE-RSA-AES128-GCM-SHA256";
        assert_eq!(chosen(&format!("{rsa}:AES256-SHA:nonsense:{rsa}")), [rsa]);
        let two = ["ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384"];
        assert_eq!(chosen(&two.join(":")), two);
        assert_eq!(chosen("EECDH+AESGCM:!AES128:!aECDSA"), ["ECDHE-RSA-AES256-GCM-SHA384"]);
        assert_eq!(chosen("!AES128:!AES256:ALL:-RSA"), ["ECDHE-ECDSA-CHACHA20-POLY1305"]);
        assert!(tls12("AES256-SHA").unwrap_err().contains("ECDHE-RSA-AES128-GCM-SHA256"));
        assert!(tls12("ALL:!ALL").is_err());
    }

    #[test]
    fn suites_and_versions_are_named() {
        assert_eq!(tls13("").unwrap().len(), 3);
        assert_eq!(tls13("TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_CCM_SHA256").unwrap().len(), 1);
        assert!(tls13("TLS_AES_128_CCM_SHA256").is_err());
        assert_eq!(versions("").unwrap().len(), 2);
        assert_eq!(versions("TLSv1.1 TLSv1.2").unwrap().len(), 1);
        assert_eq!(versions("tlsv1.3").unwrap().len(), 1);
        assert!(versions("TLSv1 TLSv1.1").is_err() && versions("SSLv3").is_err());
    }
}
