//! The users of a server and what each may do, for all sessions.
//!
//! The users are behind one lock, which is taken when somebody logs in and when users change. A
//! session has its own [`Rights`], a whole user as of a *version*; it compares versions once a
//! batch, with one relaxed load, and looks its user up again when they differ. So a change holds
//! for every command of a batch that begins after it.

use crate::clients::ClientHandle;
use crate::error::CommandError;
use basalt_acl::{
    AclLog, ChannelDefault, Context, DEFAULT_USER, Denied, FileError, LogEntry, Occurrence, Reason,
    SetUserError, User, Users,
};
use basalt_config::{Config, Settings, UserDirective};
use basalt_pubsub::{Kind, Subscriptions};
use basalt_spec::{Command, CommandTable, Words};
use basalt_stdx::lock_rank::{LeafRwLock, RankedMutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The users of a server.
#[derive(Debug)]
pub struct Access {
    table: Arc<CommandTable>,
    state: LeafRwLock<State>,
    /// Counts the changes of users. It is stored while `state` is locked for writing; a thread that
    /// sees the new number and then takes the lock finds the new users, so relaxed is enough.
    version: AtomicU64,
    log: RankedMutex<AclLog>,
    denials: Denials,
}

#[derive(Debug)]
struct State {
    users: Users,
    /// The change of `requirepass` that the default user has followed.
    password_changes: u64,
}

/// How often something was denied, by reason.
#[derive(Debug, Default)]
pub struct Denials {
    /// Logging in.
    pub auth: AtomicU64,
    /// A command.
    pub command: AtomicU64,
    /// A key.
    pub key: AtomicU64,
    /// A channel.
    pub channel: AtomicU64,
}

/// The user that a session's client is, and what it may do.
#[derive(Clone, Debug)]
pub struct Rights {
    user: Arc<User>,
    /// It has logged in, or did not have to when it connected.
    is_authenticated: bool,
    /// Of which version the rest is.
    version: u64,
    /// It may run commands that need authentication.
    is_admitted: bool,
    is_restricted: bool,
    /// The version for which its subscriptions were looked at last.
    channels_version: u64,
}

/// Something that a client may not do.
#[derive(Clone, Copy, Debug)]
pub struct Denial<'a> {
    /// What it lacks.
    pub denied: Denied,
    /// Where it was denied.
    pub context: Context,
    /// What it called.
    pub command: &'a Command,
    /// The client, as CLIENT LIST shows it.
    pub client: &'a str,
    /// Now, in unix milliseconds.
    pub now_ms: u64,
}

impl Default for Access {
    /// The default user alone, in a server without commands.
    fn default() -> Access {
        let table = CommandTable::new([]).expect("nothing is wrong with no command");
        Access::new(Arc::new(table), &Config::default().settings())
    }
}

impl Access {
    /// The default user alone, with the password that the settings give it.
    pub fn new(table: Arc<CommandTable>, settings: &Settings) -> Access {
        let mut users = Users::new(&table);
        set_default_password(&mut users, &table, settings);
        Access {
            state: LeafRwLock::new(State {
                users,
                password_changes: settings.clients.password_changes,
            }),
            table,
            version: AtomicU64::new(0),
            log: RankedMutex::default(),
            denials: Denials::default(),
        }
    }

    /// How often users have changed: one relaxed load.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// Changes the users, for every batch that begins after it.
    fn change<T, E>(
        &self,
        change: impl FnOnce(&mut Users, &CommandTable) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut state = self.state.write();
        let changed = change(&mut state.users, &self.table);
        if changed.is_ok() {
            self.version.fetch_add(1, Ordering::Relaxed);
        }
        changed
    }

    /// The settings have changed: the default user gets the new `requirepass`, if that has changed.
    #[cold]
    pub fn follow(&self, settings: &Settings) {
        let changes = settings.clients.password_changes;
        if self.state.read().password_changes >= changes {
            return;
        }
        let mut state = self.state.write();
        if state.password_changes < changes {
            state.password_changes = changes;
            set_default_password(&mut state.users, &self.table, settings);
            self.version.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Defines the users of the configuration, each by its name and its rules.
    ///
    /// # Errors
    /// The index of the one that is wrong, and why.
    pub fn define_all(
        &self,
        settings: &Settings,
        directives: &[Vec<Vec<u8>>],
    ) -> Result<(), (usize, String)> {
        let channels = channels_of_new(settings);
        self.change(|users, table| users.define_all(table, channels, directives))
    }

    /// Replaces all users by those of a file.
    ///
    /// # Errors
    /// A line is wrong; nothing has changed.
    pub fn load(&self, settings: &Settings, (file, text): (&str, &[u8])) -> Result<(), FileError> {
        let channels = channels_of_new(settings);
        self.change(|users, table| users.load(table, channels, (file, text)))
    }

    /// Changes a user, or makes one (`ACL SETUSER`).
    ///
    /// # Errors
    /// A rule is refused; nothing has changed.
    pub fn set_user(
        &self,
        settings: &Settings,
        name: &[u8],
        rules: &[&[u8]],
    ) -> Result<(), SetUserError> {
        let channels = channels_of_new(settings);
        self.change(|users, table| users.set(table, channels, name, rules)).map(|_| ())
    }

    /// Removes a user; false if there is none of that name.
    pub fn remove_user(&self, name: &[u8]) -> bool {
        self.change(|users, _| if users.remove(name) { Ok(()) } else { Err(()) }).is_ok()
    }

    /// The user of that name.
    pub fn user(&self, name: &[u8]) -> Option<Arc<User>> {
        self.state.read().users.get(name).cloned()
    }

    /// All users, by name.
    pub fn users(&self) -> Vec<Arc<User>> {
        self.state.read().users.iter().cloned().collect()
    }

    /// Whether there are others than the default user.
    pub fn has_several_users(&self) -> bool {
        self.state.read().users.iter().len() > 1
    }

    /// The lines that define all users (`ACL LIST`).
    pub fn lines(&self) -> Vec<Vec<u8>> {
        self.state.read().users.lines()
    }

    /// The text of a file with all users.
    pub fn text(&self) -> Vec<u8> {
        self.state.read().users.text()
    }

    /// The words after `user` of directives that define all users as they are; `None` if a start
    /// makes them so without one: there is the default user alone, as `requirepass` leaves it.
    pub fn directives(
        &self,
        settings: &Settings,
        defined_at_start: &[UserDirective],
    ) -> Option<Vec<Vec<Vec<u8>>>> {
        let lines = self.lines();
        if defined_at_start.is_empty() && lines == Access::new(self.table.clone(), settings).lines()
        {
            return None;
        }
        let words = |line: &Vec<u8>| {
            let words = line.split(|&byte| byte == b' ').skip(1);
            words.map(<[u8]>::to_vec).collect()
        };
        Some(lines.iter().map(words).collect())
    }

    /// Whether a client that has not said who it is may run commands.
    pub fn lets_anybody_in(&self) -> bool {
        lets_anybody_in(&self.state.read().users)
    }

    /// The rights of a client that has just connected. `is_authenticated` is true if its front asks
    /// who it is.
    pub fn rights_of_new_client(&self, is_authenticated: bool) -> Rights {
        let state = self.state.read();
        let user = Arc::clone(state.users.default_user());
        let lets_in = is_authenticated || lets_anybody_in(&state.users);
        Rights::new(user, lets_in, self.version())
    }

    /// The rights of the user of this name; `None` if the password is wrong.
    pub fn authenticate(&self, name: &[u8], password: &[u8]) -> Option<Rights> {
        let state = self.state.read();
        let user = Arc::clone(state.users.authenticate(name, password)?);
        Some(Rights::new(user, true, self.version()))
    }

    /// The rights of the user of that name, whose client has been identified by other means; `None`
    /// if there is none that may log in.
    pub fn rights_by_name(&self, name: &str) -> Option<Rights> {
        let state = self.state.read();
        let user = state.users.get(name.as_bytes()).filter(|user| user.is_enabled())?;
        Some(Rights::new(Arc::clone(user), true, self.version()))
    }

    /// The rights of a user whose client has been identified by other means; `None` if the user has
    /// gone or been switched off, or its passwords are others than they were then.
    pub fn rights_of(&self, known: &User) -> Option<Rights> {
        let state = self.state.read();
        let user = state.users.get(known.name())?;
        let is_same = user.id() == known.id() && user.login_epoch() == known.login_epoch();
        is_same.then(|| Rights::new(Arc::clone(user), true, self.version()))
    }

    /// Counts a denial and notes it for ACL LOG.
    #[cold]
    pub fn deny<W: Words + ?Sized>(
        &self,
        settings: &Settings,
        rights: &Rights,
        denial: Denial<'_>,
        words: &W,
    ) {
        let Denial { denied, context, command, client, now_ms } = denial;
        let name = rights.user.name();
        let (reason, object) = match denied {
            Denied::Command => (Reason::Command, command.spec.name.as_bytes()),
            Denied::Key(position) => (Reason::Key, words.word(position)),
            Denied::Channel(position) => (Reason::Channel, words.word(position)),
        };
        let occurrence = Occurrence {
            reason,
            context,
            object: object.to_vec(),
            username: name.to_vec(),
            client: client.to_owned(),
            now_ms,
        };
        self.note(settings, occurrence);
    }

    /// Counts a denial and notes it for ACL LOG.
    #[cold]
    pub fn note(&self, settings: &Settings, occurrence: Occurrence) {
        let counter = match occurrence.reason {
            Reason::Auth => &self.denials.auth,
            Reason::Command => &self.denials.command,
            Reason::Key => &self.denials.key,
            Reason::Channel => &self.denials.channel,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.log.lock().add(occurrence, settings.clients.acl_log_entries_max);
    }

    /// How often something was denied.
    pub fn denials(&self) -> &Denials {
        &self.denials
    }

    /// Sets the counters of denials to zero.
    pub fn reset_denials(&self) {
        let Denials { auth, command, key, channel } = &self.denials;
        [auth, command, key, channel].iter().for_each(|it| it.store(0, Ordering::Relaxed));
    }

    /// The latest entries of ACL LOG.
    pub fn log_entries(&self, count: usize) -> Vec<LogEntry> {
        self.log.lock().latest(count)
    }

    /// Empties ACL LOG.
    pub fn clear_log(&self) {
        self.log.lock().clear();
    }
}

impl Rights {
    fn new(user: Arc<User>, is_authenticated: bool, version: u64) -> Rights {
        Rights {
            is_restricted: !user.is_unrestricted(),
            user,
            is_authenticated,
            version,
            is_admitted: is_authenticated,
            channels_version: version,
        }
    }

    /// The user.
    pub fn user(&self) -> &Arc<User> {
        &self.user
    }

    /// It may run commands that need authentication.
    #[inline]
    pub fn is_admitted(&self) -> bool {
        self.is_admitted
    }

    /// Its commands have to be checked.
    #[inline]
    pub fn is_restricted(&self) -> bool {
        self.is_restricted
    }

    /// Whether these are the rights of the users of this version.
    #[inline]
    pub fn is_of(&self, version: u64) -> bool {
        self.version == version
    }

    /// Users have changed: looks its user up again. If it has gone, nothing is permitted any more.
    #[cold]
    pub fn renew(&mut self, access: &Access) {
        let state = access.state.read();
        let (name, id) = (Arc::clone(self.user.name()), self.user.id());
        self.user = match state.users.get(&name).filter(|user| user.id() == id) {
            Some(user) => Arc::clone(user),
            None => Arc::new(User::new(&access.table, name, id, ChannelDefault::None)),
        };
        self.version = access.version();
        self.is_admitted = self.is_authenticated || lets_anybody_in(&state.users);
        self.is_restricted = !self.user.is_unrestricted();
    }

    /// Whether a call is permitted: what `redis.acl_check_cmd` asks.
    ///
    /// # Errors
    /// What is not.
    #[inline]
    pub fn check<W: Words + ?Sized>(&self, command: &Command, words: &W) -> Result<(), Denied> {
        if self.is_restricted { self.user.check(command, words) } else { Ok(()) }
    }

    /// Whether some of a client's subscriptions are no longer permitted, as far as that may have
    /// changed since it was asked last.
    #[inline]
    pub(crate) fn have_lost(&mut self, held: &Subscriptions, access: &Access) -> bool {
        self.channels_version != access.version() && self.have_lost_one_of(held, access)
    }

    #[cold]
    fn have_lost_one_of(&mut self, held: &Subscriptions, access: &Access) -> bool {
        if !self.is_of(access.version()) {
            self.renew(access);
        }
        self.channels_version = self.version;
        let is_lost = |kind: Kind, name: &[u8]| match kind {
            Kind::Pattern => !self.user.permits_channel_pattern(name),
            Kind::Channel | Kind::ShardChannel => !self.user.permits_channel(name),
            Kind::Monitor | Kind::Direct => false,
        };
        Kind::ALL.into_iter().any(|kind| held.names(kind).iter().any(|name| is_lost(kind, name)))
    }
}

/// What a client is answered that may not do something.
pub fn denied_to_client(denied: Denied, call: (&User, &Command)) -> CommandError {
    CommandError::new(format!("NOPERM {}", denial_text(denied, call)))
}

/// What a script is answered that may not call something.
pub fn denied_to_script(denied: Denied, call: (&User, &Command)) -> CommandError {
    CommandError::new(format!("ERR ACL failure in script: {}", denial_text(denied, call)))
}

/// What stands in the place of the reply to a queued command that is not permitted any more.
pub fn denied_since_queued(denied: Denied) -> CommandError {
    let reason = match denied {
        Denied::Command => "no permission to execute the command or subcommand",
        Denied::Key(_) => "no permission to touch the specified keys",
        Denied::Channel(_) => {
            "no permission to access one of the channels used as arguments to the command"
        }
    };
    CommandError::new(format!(
        "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC \
         call. This command is no longer allowed for the following reason: {reason}"
    ))
}

/// A denial in words. Neither the key nor the channel is named.
fn denial_text(denied: Denied, (user, command): (&User, &Command)) -> String {
    match denied {
        Denied::Command => {
            let (name, command) = (String::from_utf8_lossy(user.name()), command.spec.name);
            format!("User {name} has no permissions to run the '{command}' command")
        }
        Denied::Key(_) => "No permissions to access a key".to_owned(),
        Denied::Channel(_) => "No permissions to access a channel".to_owned(),
    }
}

/// What ACL DRYRUN answers of a denial.
pub fn denial_in_full<W: Words + ?Sized>(
    denied: Denied,
    (user, command): (&User, &Command),
    words: &W,
) -> Vec<u8> {
    let name = String::from_utf8_lossy(user.name());
    let (position, what) = match denied {
        Denied::Command => return denial_text(denied, (user, command)).into_bytes(),
        Denied::Key(position) => (position, "key"),
        Denied::Channel(position) => (position, "channel"),
    };
    let object = String::from_utf8_lossy(words.word(position));
    format!("User {name} has no permissions to access the '{object}' {what}").into_bytes()
}

fn lets_anybody_in(users: &Users) -> bool {
    let user = users.default_user();
    user.needs_no_password() && user.is_enabled()
}

fn channels_of_new(settings: &Settings) -> ChannelDefault {
    match settings.clients.new_users_have_all_channels {
        true => ChannelDefault::All,
        false => ChannelDefault::None,
    }
}

/// The default user's only password becomes `requirepass`; without one it needs none.
fn set_default_password(users: &mut Users, table: &CommandTable, settings: &Settings) {
    let password = settings.clients.password.as_ref();
    let rule = match password {
        Some(password) => [b">", password.expose()].concat(),
        None => b"nopass".to_vec(),
    };
    let rules: [&[u8]; 2] = [b"resetpass", &rule];
    users
        .set(table, channels_of_new(settings), DEFAULT_USER, &rules)
        .expect("a password is a rule");
}

impl ClientHandle {
    /// The name of its client's user, for CLIENT LIST and CLIENT KILL.
    pub fn user(&self) -> Arc<[u8]> {
        Arc::clone(&self.user.lock())
    }

    pub(crate) fn show_user(&self, user: &User) {
        let mut shown = self.user.lock();
        if *shown != *user.name() {
            *shown = Arc::clone(user.name());
        }
    }
}
