//! What a command does to one of its keys, and what that ought to come to.

use crate::choice::{KINDS, bytes, expiry, length};
use crate::content::Content;
use crate::edit::{self, Edit};
use crate::state::{Change, State, Value};
use basalt_change::op::StringForm;
use basalt_engine::{Absent, Key, PutOptions, Txn, Version};
use basalt_env::random::Random;
use basalt_value::Kind;
use basalt_value::hash::Terms;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A change that a command wants to make to one of its keys.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Put {
        value: Vec<u8>,
        expire_ms: u64,
        form: StringForm,
        versions: Versions,
    },
    Delete,
    Expire(u64),
    /// Bytes of a string, unless something else is there.
    Splice {
        offset: usize,
        value: Vec<u8>,
    },
    /// Bytes of a string give way to others, unless something else is there.
    Replace {
        range: Range<usize>,
        value: Vec<u8>,
    },
    /// Elements of a collection, unless something else is there.
    Edit(Edit, Absent),
    /// A collection as a whole: what these make of an empty one.
    PutValue(Vec<Edit>, u64, Versions),
}

/// What a command that puts a value wants of the key's version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Versions {
    /// It asks for none; a key that has one gets another.
    Kept,
    /// The key has one from now on.
    Begun,
}

impl Versions {
    fn choose(random: &mut Random) -> Versions {
        if random.chance(1, 4) { Versions::Begun } else { Versions::Kept }
    }
}

impl Action {
    /// Mostly one for this kind, or for strings.
    pub(crate) fn choose(kind: Option<Kind>, now_ms: u64, random: &mut Random) -> Action {
        let kind = match random.below(20) {
            0 => None,
            1 => Some(KINDS[random.below(KINDS.len() as u64) as usize]),
            _ => kind,
        };
        match kind {
            None => Action::of_string(now_ms, random),
            Some(kind) => Action::of_collection(kind, now_ms, random),
        }
    }

    fn of_string(now_ms: u64, random: &mut Random) -> Action {
        match random.below(10) {
            0..=3 => {
                let len = length(random);
                let edited = random.chance(1, 4);
                Action::Put {
                    value: bytes(random, len),
                    expire_ms: expiry(random, now_ms),
                    form: if edited { StringForm::Edited } else { StringForm::Whole },
                    versions: Versions::choose(random),
                }
            }
            4..=6 => Action::Delete,
            7 => Action::Expire(expiry(random, now_ms)),
            8 => {
                let (start, removed, len) = (length(random), length(random), length(random));
                Action::Replace { range: start..start + removed, value: bytes(random, len) }
            }
            _ => {
                let (offset, len) = (length(random), length(random));
                Action::Splice { offset, value: bytes(random, len) }
            }
        }
    }

    fn of_collection(kind: Kind, now_ms: u64, random: &mut Random) -> Action {
        match random.below(20) {
            0 => Action::Delete,
            1 => Action::Expire(expiry(random, now_ms)),
            2 => {
                let edits =
                    (0..1 + random.below(3)).map(|_| Edit::choose_plain(kind, random)).collect();
                Action::PutValue(edits, expiry(random, now_ms), Versions::choose(random))
            }
            3 | 4 => Action::Edit(Edit::choose(kind, random), Absent::Skip),
            _ => Action::edit(kind, random),
        }
    }

    /// A string like most: set whole, without expiry.
    pub(crate) fn overwriting(value: Vec<u8>) -> Action {
        Action::Put { value, expire_ms: 0, form: StringForm::Whole, versions: Versions::Kept }
    }

    /// Elements of a collection, made if it is not there.
    pub(crate) fn edit(kind: Kind, random: &mut Random) -> Action {
        Action::Edit(Edit::choose(kind, random), Absent::Create)
    }
}

/// Makes a change to the engine.
pub(crate) fn act(txn: &mut Txn<'_>, key: &Key<'_>, action: &Action) {
    match action {
        Action::Put { value, expire_ms, form, versions } => {
            txn.put(key, value, PutOptions { expire_ms: *expire_ms, form: *form });
            begin_versions(txn, key, *versions);
        }
        Action::Delete => {
            txn.delete(key);
        }
        Action::Expire(expire_ms) => {
            txn.set_expiry(key, *expire_ms);
        }
        Action::Splice { offset, value } => {
            if txn.get(key).is_none_or(|object| object.collection().is_none()) {
                txn.splice(key, *offset, value);
            }
        }
        Action::Replace { range, value } => {
            if txn.get(key).is_none_or(|object| object.collection().is_none()) {
                txn.replace(key, range.clone(), value);
            }
        }
        Action::Edit(edit, absent) => edit.change(txn, key, *absent),
        Action::PutValue(edits, expire_ms, versions) => {
            let terms = Terms { now_ms: txn.now_ms(), limits: txn.limits() };
            txn.put_value(key, edit::built(edits, &terms), *expire_ms).expect("it is small");
            begin_versions(txn, key, *versions);
        }
    }
}

fn begin_versions(txn: &mut Txn<'_>, key: &Key<'_>, versions: Versions) {
    // What has been put may have expired, or be nothing.
    if versions == Versions::Begun && txn.get(key).is_some() {
        txn.make_versioned(key);
    }
}

/// A version of which is only known that there is one, until the engine has been asked.
pub(crate) const SOME_VERSION: Version = Version::new(u64::MAX);

impl Versions {
    /// The version of what is put where nothing was.
    fn of_new(self) -> Version {
        match self {
            Versions::Kept => Version::NONE,
            Versions::Begun => SOME_VERSION,
        }
    }
}

/// What a command is about to change in the model.
pub(crate) struct Draft<'a> {
    state: &'a State,
    now_ms: u64,
    pending: BTreeMap<(u8, Vec<u8>), Option<Value>>,
    pub(crate) changes: Vec<Change>,
}

impl Draft<'_> {
    pub(crate) fn new(state: &State, now_ms: u64) -> Draft<'_> {
        Draft { state, now_ms, pending: BTreeMap::new(), changes: Vec::new() }
    }

    /// What can be seen under a key.
    pub(crate) fn live(&self, db: u8, key: &[u8]) -> Option<Value> {
        let value = match self.pending.get(&(db, key.to_vec())) {
            Some(pending) => pending.clone(),
            None => self.state.value(db, key).cloned(),
        };
        value.filter(|value| value.is_live(self.now_ms))
    }

    /// Puts a value, whatever was there. What is put in the place of something that has a version
    /// has one, too.
    pub(crate) fn put(&mut self, db: u8, key: &[u8], value: Value) {
        let has = |value: &Value| !value.version.is_none();
        let has_version = has(&value)
            || value.content.has_versions(self.now_ms)
            || self.live(db, key).as_ref().is_some_and(has);
        let version = if has_version { SOME_VERSION } else { Version::NONE };
        let value = Value { version, ..value };
        self.pending.insert((db, key.to_vec()), Some(value.clone()));
        self.changes.push(Change::Put(db, key.to_vec(), value));
    }

    fn delete(&mut self, db: u8, key: &[u8]) {
        self.pending.insert((db, key.to_vec()), None);
        self.changes.push(Change::Delete(db, key.to_vec()));
    }

    /// Makes a change to the model.
    pub(crate) fn act(&mut self, db: u8, key: &[u8], action: &Action) {
        let old = self.live(db, key);
        match (action, old) {
            (Action::Put { value, expire_ms, form, versions }, _) => {
                let content = Arc::new(Content::String(value.clone(), *form));
                let version = versions.of_new();
                self.put(db, key, Value { content, expire_ms: *expire_ms, version });
            }
            (Action::Delete, Some(_)) => self.delete(db, key),
            (Action::Expire(expire_ms), Some(old)) => {
                self.put(db, key, Value { expire_ms: *expire_ms, ..old });
            }
            (Action::Delete | Action::Expire(_), None) => {}
            (Action::Splice { offset, value }, old) => self.splice(db, key, (*offset, value), old),
            (Action::Replace { range, value }, old) => self.replace(db, key, (range, value), old),
            (Action::Edit(edit, absent), old) => self.edit(db, key, (edit, *absent), old),
            (Action::PutValue(edits, expire_ms, versions), old) => {
                let content = edit::imitated(edits, self.now_ms);
                match old {
                    _ if !content.is_gone() => {
                        let content = Arc::new(content);
                        let version = versions.of_new();
                        self.put(db, key, Value { content, expire_ms: *expire_ms, version });
                    }
                    Some(_) => self.delete(db, key),
                    None => {}
                }
            }
        }
    }

    fn splice(&mut self, db: u8, key: &[u8], (at, new): (usize, &[u8]), old: Option<Value>) {
        self.edit_string(db, key, old, |bytes| {
            let end = at + new.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[at..end].copy_from_slice(new);
        });
    }

    fn replace(
        &mut self,
        db: u8,
        key: &[u8],
        (range, new): (&Range<usize>, &[u8]),
        old: Option<Value>,
    ) {
        self.edit_string(db, key, old, |bytes| {
            let (start, end) = (range.start.min(bytes.len()), range.end.min(bytes.len()));
            bytes.splice(start..end, new.iter().copied());
        });
    }

    fn edit_string(
        &mut self,
        db: u8,
        key: &[u8],
        old: Option<Value>,
        change: impl FnOnce(&mut Vec<u8>),
    ) {
        let expire_ms = old.as_ref().map_or(0, |old| old.expire_ms);
        let mut bytes = match old.as_ref().map(|old| &*old.content) {
            None => Vec::new(),
            Some(Content::String(bytes, _)) => bytes.clone(),
            Some(_) => return,
        };
        change(&mut bytes);
        let content = Arc::new(Content::String(bytes, StringForm::Edited));
        self.put(db, key, Value { content, expire_ms, version: Version::NONE });
    }

    fn edit(&mut self, db: u8, key: &[u8], (edit, absent): (&Edit, Absent), old: Option<Value>) {
        let is_new = old.is_none();
        if is_new && absent == Absent::Skip {
            return;
        }
        let before = old.unwrap_or_else(|| Value {
            content: Arc::new(Content::new(edit.kind())),
            expire_ms: 0,
            version: Version::NONE,
        });
        if before.content.kind() != Some(edit.kind()) {
            return;
        }
        let mut after = before.clone();
        edit.imitate(Arc::make_mut(&mut after.content), self.now_ms);
        if after.content.is_gone() {
            if !is_new {
                self.delete(db, key);
            }
        } else if !before.may_be(&after, self.now_ms) {
            self.put(db, key, after);
        }
    }
}
