//! CONFIG SET: several pairs, all or nothing, in two steps.
//!
//! The first step checks everything and builds the new settings; between the steps the server
//! carries out what a change demands (open a port, say) and may still refuse; the second step
//! makes the settings visible.

use crate::config::{Config, Snapshot};
use crate::notice;
use crate::option::{ChangeRule, Group, OptionId, OptionSpec};
use crate::options::clients::Permission;
use crate::options::huststore::contradiction;
use crate::parse::{Previous, parse_argument};
use crate::settings::Settings;
use crate::values::Values;
use basalt_stdx::lock_rank::RankedGuard;

/// Where a change comes from, which decides what it may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOrigin {
    /// A client on the loopback interface or the Unix socket.
    LocalClient,
    /// Any other client.
    RemoteClient,
    /// The server itself, which may change everything.
    Server,
}

/// Why CONFIG SET changes nothing. The text is Redis', to be sent after `ERR `.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// A name without a value.
    #[error("syntax error")]
    Unpaired,
    /// A name that is no option.
    #[error("Unknown option or number of arguments for CONFIG SET - '{0}'")]
    Unknown(String),
    /// An option that was refused.
    #[error("CONFIG SET failed (possibly related to argument '{name}') - {reason}")]
    Refused {
        /// The option.
        name: String,
        /// Why.
        reason: String,
    },
}

/// A change that has been checked and not yet been made.
#[derive(Debug)]
pub struct PreparedSet<'a> {
    config: &'a Config,
    changing: RankedGuard<'a, ()>,
    before: Snapshot,
    after: Snapshot,
    changed: Vec<&'static OptionSpec>,
    notices: Vec<String>,
}

impl<'a> PreparedSet<'a> {
    pub(crate) fn new(
        config: &'a Config,
        changing: RankedGuard<'a, ()>,
        before: Snapshot,
        arguments: &[&[u8]],
        origin: SetOrigin,
    ) -> Result<Self, SetError> {
        let (pairs, rest) = arguments.as_chunks::<2>();
        if pairs.is_empty() || !rest.is_empty() {
            return Err(SetError::Unpaired);
        }
        let permission = before.settings.clients.protected_configs;
        let ids = admitted(pairs, origin, permission)?;
        let mut values = Values::clone(&before.values);
        for (&id, [name, value]) in ids.iter().zip(pairs) {
            let previous = Previous::Replace(before.values.get(id));
            let parsed = parse_argument(id.spec(), value, previous)
                .map_err(|error| refused(&name.to_ascii_lowercase(), error.to_string()))?;
            values.set(id, parsed);
        }
        let changed: Vec<OptionId> =
            OptionId::all().filter(|&id| values.get(id) != before.values.get(id)).collect();
        for spec in changed.iter().map(|id| id.spec()) {
            if let Some(reason) = contradiction(spec.name, &values) {
                return Err(refused(spec.name.as_bytes(), reason));
            }
        }
        let notices = changed.iter().filter_map(|&id| notice::on_change(id, &values)).collect();
        let names_tls = ids.iter().any(|id| id.spec().group == Group::Tls);
        let after = before.changed_to(values, names_tls);
        let changed = changed.into_iter().map(OptionId::spec).collect();
        Ok(PreparedSet { config, changing, before, after, changed, notices })
    }

    /// The settings that hold now.
    pub fn before(&self) -> &Settings {
        &self.before.settings
    }

    /// The settings that will hold.
    pub fn after(&self) -> &Settings {
        &self.after.settings
    }

    /// The options whose values will differ.
    pub fn changed(&self) -> &[&'static OptionSpec] {
        &self.changed
    }

    /// What the operator should be told (options without effect). Never holds a secret.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Drops the change, because the server could not carry it out.
    pub fn refuse(self, name: &str, reason: impl Into<String>) -> SetError {
        refused(name.as_bytes(), reason.into())
    }

    /// Makes the change visible to everybody.
    pub fn commit(self) {
        if !self.changed.is_empty() {
            self.config.publish(self.after, &self.changing);
        }
    }
}

/// Finds the options and checks, in Redis' order, that each may be changed and comes once.
fn admitted(
    pairs: &[[&[u8]; 2]],
    origin: SetOrigin,
    permission: Permission,
) -> Result<Vec<OptionId>, SetError> {
    let mut ids = Vec::with_capacity(pairs.len());
    for (place, [name, _]) in pairs.iter().enumerate() {
        let Some(id) = std::str::from_utf8(name).ok().and_then(OptionId::find) else {
            return Err(SetError::Unknown(shown(name)));
        };
        if let Some(reason) = forbidden(id.spec().change, origin, permission) {
            return Err(refused(name, reason.to_owned()));
        }
        // As in Redis, an option and its older name are not duplicates of each other.
        if pairs[..place].iter().any(|[earlier, _]| earlier.eq_ignore_ascii_case(name)) {
            return Err(refused(name, "duplicate parameter".to_owned()));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn forbidden(rule: ChangeRule, origin: SetOrigin, permission: Permission) -> Option<&'static str> {
    let trusted = match (origin, permission) {
        (SetOrigin::Server, _) => return None,
        (_, Permission::Everybody) | (SetOrigin::LocalClient, Permission::Local) => true,
        _ => false,
    };
    match rule {
        ChangeRule::Immutable => Some("can't set immutable config"),
        ChangeRule::Protected if !trusted => Some("can't set protected config"),
        _ => None,
    }
}

fn refused(name: &[u8], reason: String) -> SetError {
    SetError::Refused { name: shown(name), reason }
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
