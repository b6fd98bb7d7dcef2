//! Tokens that clients get for a password, and show instead of it (`POST /v1/login`).
//!
//! A token is 256 random bits. Only its SHA-1 is kept: in the memory of the server there is no
//! token to be found. That two texts can be made with one SHA-1 does not help to find a random one.

use basalt_acl::User;
use basalt_config::HttpSettings;
use basalt_env::Entropy;
use basalt_http1::base64::{self, Alphabet};
use basalt_service::access::{Access, Rights};
use basalt_stdx::lock_rank::LeafRwLock;
use sha1_smol::Sha1;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    by_hash: BTreeMap<[u8; 20], Grant>,
}

/// What a token stands for.
#[derive(Debug)]
struct Grant {
    /// When it ends, in unix milliseconds; sooner if the user's password changes.
    end_ms: u64,
    /// The user as it was then.
    user: Arc<User>,
}

impl Logins {
    /// Makes a token for a client that knows the password of this user.
    pub(crate) fn grant(
        &self,
        entropy: &dyn Entropy,
        now_ms: u64,
        settings: &HttpSettings,
        user: &Arc<User>,
    ) -> String {
        let bits: Vec<u8> = (0..4).flat_map(|_| entropy.seed().to_ne_bytes()).collect();
        let mut token = Vec::new();
        base64::encode(&bits, Alphabet::Url, &mut token);
        let mut granted = self.granted.write();
        granted.make_room(now_ms, settings);
        let lasts_ms = settings.login_time.as_millis() as u64;
        let grant = Grant { end_ms: now_ms.saturating_add(lasts_ms), user: Arc::clone(user) };
        granted.by_hash.insert(hash(&token), grant);
        String::from_utf8(token).expect("base64 is text")
    }

    /// The rights that a token stands for, and when it ends, in unix milliseconds; `None` if it is
    /// none.
    pub(crate) fn judge(
        &self,
        token: &[u8],
        now_ms: u64,
        access: &Access,
    ) -> Option<(Rights, u64)> {
        let hash = hash(token);
        let (user, end_ms) = {
            let granted = self.granted.read();
            let grant = granted.by_hash.get(&hash).filter(|grant| grant.end_ms > now_ms)?;
            (Arc::clone(&grant.user), grant.end_ms)
        };
        Some((access.rights_of(&user)?, end_ms))
    }
}

impl Granted {
    /// If there are as many as there may be, the one goes that would end first.
    fn make_room(&mut self, now_ms: u64, settings: &HttpSettings) {
        if self.by_hash.len() < settings.logins_max {
            return;
        }
        self.by_hash.retain(|_, grant| grant.end_ms > now_ms);
        while self.by_hash.len() >= settings.logins_max {
            let first = self.by_hash.iter().min_by_key(|(_, grant)| grant.end_ms);
            let Some(first) = first.map(|(hash, _)| *hash) else { return };
            self.by_hash.remove(&first);
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

    const NAME: &[u8] = b"alice";

    struct Place {
        logins: Logins,
        entropy: SeededEntropy,
        config: Config,
        access: Access,
    }

    impl Place {
        fn new() -> Place {
            let (config, access) = (Config::default(), Access::default());
            let place =
                Place { logins: Logins::default(), entropy: SeededEntropy::new(1), config, access };
            place.set(&[b"on", b">one"]);
            place
        }

        fn set(&self, rules: &[&[u8]]) {
            self.access.set_user(&self.config.settings(), NAME, rules).unwrap();
        }

        fn grant(&self, now_ms: u64) -> String {
            let (settings, user) = (self.config.settings(), self.access.user(NAME).unwrap());
            self.logins.grant(&self.entropy, now_ms, &settings.http, &user)
        }

        fn end_of(&self, token: &str, now_ms: u64) -> Option<u64> {
            let (rights, end_ms) = self.logins.judge(token.as_bytes(), now_ms, &self.access)?;
            assert_eq!(**rights.user().name(), *NAME);
            Some(end_ms)
        }
    }

    #[test]
    fn a_token_holds_for_its_time_and_its_user() {
        let place = Place::new();
        let token = place.grant(1000);
        let end_ms = 1000 + 12 * 3600 * 1000;
        assert_eq!(token.len(), 43);
        assert_eq!(place.end_of(&token, end_ms - 1), Some(end_ms));
        assert_eq!(place.end_of(&token, end_ms), None);
        assert_eq!(place.end_of("no token", 1000), None);
        assert!(place.access.remove_user(NAME));
        assert_eq!(place.end_of(&token, 1000), None);
        place.set(&[b"on", b">one"]);
        assert_eq!(place.end_of(&token, 1000), None, "another user of that name");
    }

    #[test]
    fn a_token_ends_with_its_password_even_if_that_comes_back() {
        let place = Place::new();
        let token = place.grant(1000);
        place.set(&[b"~a*", b">one", b"+@all"]);
        assert!(place.end_of(&token, 1000).is_some(), "no password has changed");
        for rules in [&[&b"resetpass"[..], b">two"][..], &[b"resetpass", b">one"], &[b"off"]] {
            place.set(rules);
            assert_eq!(place.end_of(&token, 1000), None);
        }
    }

    #[test]
    fn of_too_many_the_oldest_goes() {
        let place = Place::new();
        place.config.adjust("http-logins-max", "3").unwrap();
        let tokens: Vec<String> = (0..5).map(|number| place.grant(1000 + number)).collect();
        let hold: Vec<bool> = tokens.iter().map(|it| place.end_of(it, 2000).is_some()).collect();
        assert_eq!(hold, [false, false, true, true, true]);
    }
}
