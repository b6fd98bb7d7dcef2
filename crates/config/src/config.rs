//! The live configuration: read by every thread, changed by CONFIG SET.
//!
//! Readers hold an `Arc<Settings>` of their own and compare [`Config::version`], one relaxed load,
//! to notice that there is a newer one. A change builds new values and new settings beside the old
//! ones and swaps both in under one lock, so nobody ever sees half a change.

use crate::option::{OptionId, Visibility};
use crate::rename_directive::RenameDirective;
use crate::rewrite::{self, RewriteError};
use crate::set::{PreparedSet, SetError, SetOrigin};
use crate::settings::Settings;
use crate::source::ConfigFile;
use crate::user_directive::UserDirective;
use crate::values::Values;
use basalt_stdx::glob::{self, Case, Pattern};
use basalt_stdx::lock_rank::{LeafRwLock, RankedGuard, RankedMutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rank of the lock that admits one change at a time, see `docs/concurrency.md`.
const CHANGING_RANK: u8 = 0;

/// No name is nearly as long, and a longer pattern would only cost time.
const PATTERN_BYTES_MAX: usize = 1024;

/// The configuration of a running server.
#[derive(Debug)]
pub struct Config {
    current: LeafRwLock<Snapshot>,
    /// Counts the changes. It is stored while `current` is locked for writing, after the swap, so a
    /// thread that sees the new number and then takes the lock finds the new settings: no ordering
    /// stronger than relaxed is needed.
    version: AtomicU64,
    /// Lets one CONFIG SET or REWRITE through at a time. It is held while a prepared change is
    /// carried out, which is why it is not `current`: readers never wait for it.
    changing: RankedMutex<(), CHANGING_RANK>,
    file: Option<ConfigFile>,
    users: Vec<UserDirective>,
    renames: Vec<RenameDirective>,
}

#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) values: Arc<Values>,
    pub(crate) settings: Arc<Settings>,
}

impl Snapshot {
    pub(crate) fn of(values: Values) -> Snapshot {
        let settings = Arc::new(Settings::from_values(&values));
        Snapshot { values: Arc::new(values), settings }
    }

    /// What other values make of this one; `names_tls` says that options of TLS have been named.
    pub(crate) fn changed_to(&self, values: Values, names_tls: bool) -> Snapshot {
        let (mut settings, before) = (Settings::from_values(&values), &self.settings.clients);
        let is_changed = settings.clients.password != before.password;
        settings.clients.password_changes = before.password_changes + u64::from(is_changed);
        settings.tls.readings = self.settings.tls.readings + u64::from(names_tls);
        Snapshot { values: Arc::new(values), settings: Arc::new(settings) }
    }
}

/// One line of CONFIG GET's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// The name: as asked for where the pattern was a plain name, the option's own otherwise.
    pub name: Vec<u8>,
    /// The value. It may be a password: it is for the client that asked, not for a log.
    pub value: Vec<u8>,
}

impl Default for Config {
    /// The configuration of a server that was given no options and no file.
    fn default() -> Self {
        Config::new(Values::defaults(), None)
    }
}

impl Config {
    pub(crate) fn new(values: Values, file: Option<ConfigFile>) -> Config {
        Config {
            current: LeafRwLock::new(Snapshot::of(values)),
            version: AtomicU64::new(0),
            changing: RankedMutex::new(()),
            file,
            users: Vec::new(),
            renames: Vec::new(),
        }
    }

    pub(crate) fn with_users(self, users: Vec<UserDirective>) -> Config {
        Config { users, ..self }
    }

    /// The users that the configuration has defined when the server started.
    pub fn users(&self) -> &[UserDirective] {
        &self.users
    }

    pub(crate) fn with_renames(self, renames: Vec<RenameDirective>) -> Config {
        Config { renames, ..self }
    }

    /// The commands that have other names, in the order in which they get them.
    pub fn renames(&self) -> &[RenameDirective] {
        &self.renames
    }

    /// The settings of this moment. Keep them, and ask again when [`Config::version`] has changed.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.current.read().settings)
    }

    /// How often the configuration has changed: one relaxed load, for every turn of a loop.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// The configuration file, if the server was given one.
    pub fn file(&self) -> Option<&ConfigFile> {
        self.file.as_ref()
    }

    /// CONFIG GET: the options whose names match any of the patterns, each name once.
    ///
    /// As in Redis, a plain name is answered under the spelling that was asked for, and only a
    /// plain name finds a hidden option.
    pub fn get(&self, patterns: &[&[u8]]) -> Vec<Reported> {
        let values = Arc::clone(&self.current.read().values);
        let mut found: Vec<Reported> = Vec::new();
        let mut report = |name: &[u8], id: OptionId| {
            found.push(Reported { name: name.to_vec(), value: values.reported(id) });
        };
        // What has been reported is not matched again, so that many patterns stay cheap.
        let mut open: Vec<(&'static str, OptionId)> = open_names().collect();
        let mut hidden: Vec<OptionId> = hidden().collect();
        for pattern in patterns.iter().filter(|pattern| pattern.len() <= PATTERN_BYTES_MAX) {
            if glob::is_pattern(pattern) {
                let pattern = Pattern::new(pattern, Case::Ignored);
                for (name, id) in open.extract_if(.., |(name, _)| pattern.matches(name.as_bytes()))
                {
                    report(name.as_bytes(), id);
                }
                continue;
            }
            let same = |name: &str| name.as_bytes().eq_ignore_ascii_case(pattern);
            if let Some(place) = open.iter().position(|(name, _)| same(name)) {
                report(pattern, open.remove(place).1);
            } else if let Some(place) = hidden.iter().position(|id| same(id.spec().name)) {
                report(pattern, hidden.remove(place));
            }
        }
        found
    }

    /// CONFIG SET, first half: checks `name value name value …` and builds the settings that
    /// would result. Nothing changes until [`PreparedSet::commit`]; dropping it changes nothing.
    ///
    /// # Errors
    /// The error's text is Redis' (after `ERR `). No pair takes effect when any is refused.
    pub fn prepare_set(
        &self,
        arguments: &[&[u8]],
        origin: SetOrigin,
    ) -> Result<PreparedSet<'_>, SetError> {
        let changing = self.changing.lock();
        let before = self.current.read().clone();
        PreparedSet::new(self, changing, before, arguments, origin)
    }

    /// Replaces a value that the machine does not allow (`maxclients` beyond the limit of open
    /// files), whether or not CONFIG SET could.
    ///
    /// # Errors
    /// Those of [`Config::prepare_set`], but for the rules about by whom an option may be changed.
    pub fn adjust(&self, name: &str, value: &str) -> Result<(), SetError> {
        let arguments = [name.as_bytes(), value.as_bytes()];
        self.prepare_set(&arguments, SetOrigin::Server)?.commit();
        Ok(())
    }

    /// The server starts on a machine that lends it this much memory, 0 for as much as it likes:
    /// what `maxmemory auto` stands for. The budget that results is what sizes follow that say
    /// `auto` and are set at start.
    pub fn start_with_memory(&self, machine_bytes: u64) {
        self.change_values(|values| values.start_with_memory(machine_bytes));
    }

    /// The machine lends the process another amount of memory now. Returns whether that is news.
    pub fn set_machine_memory(&self, machine_bytes: u64) -> bool {
        self.change_values(|values| values.set_machine_memory(machine_bytes))
    }

    /// Publishes changed values, if they are; returns whether they are.
    fn change_values(&self, change: impl FnOnce(&mut Values)) -> bool {
        let changing = self.changing.lock();
        let before = self.current.read().clone();
        let mut values = Values::clone(&before.values);
        change(&mut values);
        let is_changed = values != *before.values;
        if is_changed {
            self.publish(before.changed_to(values, false), &changing);
        }
        is_changed
    }

    /// CONFIG REWRITE: brings the configuration file up to date, keeping its comments, its order
    /// and every line that still says what holds.
    ///
    /// # Errors
    /// [`RewriteError::NoFile`] without a file; otherwise what the file system said. The old file
    /// stays whole in every case.
    pub fn rewrite(&self) -> Result<(), RewriteError> {
        self.rewrite_with_users(None)
    }

    /// CONFIG REWRITE that also has the file define these users, each by the words after `user`;
    /// `None` leaves what it says of users.
    ///
    /// # Errors
    /// Those of [`Config::rewrite`].
    pub fn rewrite_with_users(&self, users: Option<&[Vec<Vec<u8>>]>) -> Result<(), RewriteError> {
        let _changing = self.changing.lock();
        let values = Arc::clone(&self.current.read().values);
        rewrite::rewrite(self.file.as_ref().ok_or(RewriteError::NoFile)?, &values, users)
    }

    pub(crate) fn publish(&self, snapshot: Snapshot, _changing: &RankedGuard<'_, ()>) {
        let mut current = self.current.write();
        *current = snapshot;
        self.version.fetch_add(1, Ordering::Relaxed);
    }
}

fn is_hidden(id: &OptionId) -> bool {
    id.spec().visibility == Visibility::Hidden
}

fn open_names() -> impl Iterator<Item = (&'static str, OptionId)> {
    OptionId::all()
        .filter(|id| !is_hidden(id))
        .flat_map(|id| id.spec().names().map(move |name| (name, id)))
}

fn hidden() -> impl Iterator<Item = OptionId> {
    OptionId::all().filter(is_hidden)
}
