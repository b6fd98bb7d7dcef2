//! Tokens that clients get for a password, and show instead of it (`POST /v1/login`).
//!
//! A token is 256 random bits. Only its SHA-1 is kept: in the memory of the server there is no
//! token to be found. That two texts can be made with one SHA-1 does not help to find a random one.

use basalt_config::{HttpSettings, Settings};
use basalt_env::Entropy;
use basalt_http1::base64::{self, Alphabet};
use basalt_stdx::lock_rank::LeafRwLock;
use sha1_smol::Sha1;
use std::collections::BTreeMap;

/// The tokens of a server.
#[derive(Debug)]
pub struct Logins {
    granted: LeafRwLock<Granted>,
}

impl Default for Logins {
    fn default() -> Logins {
        Logins { granted: LeafRwLock::new(Granted::default()) }
    }
}

#[derive(Debug, Default)]
struct Granted {
    /// For which password: the one after this many changes.
    password_changes: u64,
    /// When each ends, in unix milliseconds.
    ends: BTreeMap<[u8; 20], u64>,
}

impl Logins {
    /// Makes a token for a client that knows the password.
    pub(crate) fn grant(&self, entropy: &dyn Entropy, now_ms: u64, settings: &Settings) -> String {
        let bits: Vec<u8> = (0..4).flat_map(|_| entropy.seed().to_ne_bytes()).collect();
        let mut token = Vec::new();
        base64::encode(&bits, Alphabet::Url, &mut token);
        let mut granted = self.granted.write();
        if granted.is_for(settings.clients.password_changes) {
            granted.make_room(now_ms, &settings.http);
            let lasts_ms = settings.http.login_time.as_millis() as u64;
            granted.ends.insert(hash(&token), now_ms.saturating_add(lasts_ms));
        }
        String::from_utf8(token).expect("base64 is text")
    }

    /// When a token ends, in unix milliseconds; `None` if it is none.
    pub(crate) fn end_of(&self, token: &[u8], now_ms: u64, settings: &Settings) -> Option<u64> {
        let hash = hash(token);
        let granted = self.granted.read();
        let is_for_this = granted.password_changes == settings.clients.password_changes;
        let end_ms = granted.ends.get(&hash).copied().filter(|&end_ms| end_ms > now_ms)?;
        is_for_this.then_some(end_ms)
    }
}

impl Granted {
    /// Whether what is granted is for the password after this many changes; forgets what was for
    /// one before. It is not if a thread that grants has not seen the latest change yet: its token
    /// has ended with the password.
    fn is_for(&mut self, password_changes: u64) -> bool {
        if self.password_changes < password_changes {
            *self = Granted { password_changes, ends: BTreeMap::new() };
        }
        self.password_changes == password_changes
    }

    /// If there are as many as there may be, the one goes that would end first.
    fn make_room(&mut self, now_ms: u64, settings: &HttpSettings) {
        if self.ends.len() < settings.logins_max {
            return;
        }
        self.ends.retain(|_, end_ms| *end_ms > now_ms);
        while self.ends.len() >= settings.logins_max {
            let first = self.ends.iter().min_by_key(|(_, end_ms)| **end_ms).map(|(hash, _)| *hash);
            let Some(first) = first else { return };
            self.ends.remove(&first);
        }
    }
}

fn hash(token: &[u8]) -> [u8; 20] {
    Sha1::from(token).digest().bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_config::Config;
    use basalt_env::SeededEntropy;

    /// The settings after another password.
    fn with_password(config: &Config, password: &str) -> std::sync::Arc<Settings> {
        config.adjust("requirepass", password).unwrap();
        config.settings()
    }

    #[test]
    fn a_token_holds_for_its_time_and_its_password() {
        let (logins, entropy) = (Logins::default(), SeededEntropy::new(1));
        let config = Config::default();
        let (settings, other) = (with_password(&config, "one"), with_password(&config, "two"));
        let token = logins.grant(&entropy, 1000, &settings);
        let end_ms = 1000 + 12 * 3600 * 1000;
        let end_of =
            |token: &str, now_ms, settings| logins.end_of(token.as_bytes(), now_ms, settings);
        assert_eq!(token.len(), 43);
        assert_eq!(end_of(&token, end_ms - 1, &settings), Some(end_ms));
        assert_eq!(end_of(&token, end_ms, &settings), None);
        assert_eq!(end_of(&token, 1000, &other), None);
        assert_eq!(end_of("no token", 1000, &settings), None);
        // With another password, those for the one before are forgotten.
        let new = logins.grant(&entropy, 1000, &other);
        assert_eq!(end_of(&token, 1000, &settings), None);
        // A thread that has not seen the change grants nothing, and takes nothing away.
        let late = logins.grant(&entropy, 1000, &settings);
        assert_eq!((end_of(&late, 1000, &settings), end_of(&late, 1000, &other)), (None, None));
        assert_eq!(end_of(&new, 1000, &other), Some(end_ms));
    }

    #[test]
    fn a_token_ends_with_its_password_even_if_that_comes_back() {
        let (logins, entropy) = (Logins::default(), SeededEntropy::new(1));
        let config = Config::default();
        let settings = with_password(&config, "one");
        let token = logins.grant(&entropy, 1000, &settings);
        let holds = |settings: &Settings| logins.end_of(token.as_bytes(), 1000, settings).is_some();
        assert!(holds(&settings));
        config.adjust("maxclients", "77").unwrap();
        assert!(holds(&with_password(&config, "one")), "it has not changed");
        for password in ["two", "one", "", "one"] {
            assert!(!holds(&with_password(&config, password)), "{password}");
        }
    }

    #[test]
    fn of_too_many_the_oldest_goes() {
        let (logins, entropy) = (Logins::default(), SeededEntropy::new(1));
        let config = Config::default();
        config.adjust("http-logins-max", "3").unwrap();
        let settings = with_password(&config, "one");
        let tokens: Vec<String> =
            (0..5).map(|number| logins.grant(&entropy, 1000 + number, &settings)).collect();
        let hold = tokens.iter().map(|it| logins.end_of(it.as_bytes(), 2000, &settings).is_some());
        assert_eq!(hold.collect::<Vec<_>>(), [false, false, true, true, true]);
    }
}
