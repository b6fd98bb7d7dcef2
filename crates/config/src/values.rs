//! One value for each option, and typed access to them.

use crate::automatic::KnownMemory;
use crate::option::{Kind, OptionId};
use crate::options::network::BindAddress;
use crate::parse::{Previous, parse_argument};
use crate::peers::PeerRange;
use crate::value::{OutputLimits, Secret, Value};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A value for every option of the table, in its order, and what those are worked out from that say
/// `auto`.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    of_options: Vec<Value>,
    memory: KnownMemory,
}

impl Values {
    /// The defaults of the table.
    pub fn defaults() -> Values {
        let of_options = OptionId::all().map(default_of).collect();
        Values { of_options, memory: KnownMemory::default() }
    }

    /// The value of an option.
    pub fn get(&self, id: OptionId) -> &Value {
        &self.of_options[id.index()]
    }

    pub(crate) fn set(&mut self, id: OptionId, value: Value) {
        self.of_options[id.index()] = value;
    }

    /// The server starts with this memory: sizes that follow the budget are worked out of it.
    pub(crate) fn start_with_memory(&mut self, machine_bytes: u64) {
        self.memory.machine_bytes = machine_bytes;
        self.memory.budget_at_start_bytes = self.number("maxmemory");
    }

    /// The machine lends the process this much from now on.
    pub(crate) fn set_machine_memory(&mut self, machine_bytes: u64) {
        self.memory.machine_bytes = machine_bytes;
    }

    /// Whether the option says `auto`.
    pub(crate) fn is_automatic(&self, name: &str) -> bool {
        *self.named(name) == Value::Auto
    }

    /// The text that CONFIG GET reports: as stored, but for what depends on the machine.
    pub(crate) fn reported(&self, id: OptionId) -> Vec<u8> {
        let spec = id.spec();
        match spec.kind {
            Kind::Threads { .. } => self.threads(spec.name).to_string().into_bytes(),
            Kind::MemoryOrAuto { .. } => self.number::<u64>(spec.name).to_string().into_bytes(),
            Kind::Directory => self.directory(spec.name).as_os_str().as_bytes().to_vec(),
            _ => self.get(id).text(),
        }
    }

    fn named(&self, name: &str) -> &Value {
        self.get(id_of(name))
    }

    pub(crate) fn bool(&self, name: &str) -> bool {
        matches!(self.named(name), Value::Bool(true))
    }

    /// A number of the type that a setting asks for, which the range in the table must fit.
    pub(crate) fn number<T: TryFrom<i128>>(&self, name: &str) -> T {
        let number = match self.named(name) {
            Value::Int(number) => i128::from(*number),
            Value::Octal(mode) => i128::from(*mode),
            Value::Bytes(bytes) => i128::from(*bytes),
            Value::Auto => i128::from(self.automatic(name)),
            other => unreachable!("{name} holds {other:?}, which is no number"),
        };
        T::try_from(number).ok().expect("the range in the table fits the setting's type")
    }

    fn automatic(&self, name: &str) -> u64 {
        match id_of(name).spec().kind {
            Kind::MemoryOrAuto { automatic, .. } => self.memory.bytes(automatic),
            other => unreachable!("{name} is {other:?}, which is never automatic"),
        }
    }

    pub(crate) fn threads(&self, name: &str) -> usize {
        match self.number::<usize>(name) {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            count => count,
        }
    }

    pub(crate) fn word(&self, name: &str) -> &'static str {
        match self.named(name) {
            Value::Word(word) => word,
            other => unreachable!("{name} holds {other:?}, which is no word"),
        }
    }

    pub(crate) fn percentiles(&self, name: &str) -> Vec<f64> {
        match self.named(name) {
            Value::Percentiles(list) => list.clone(),
            other => unreachable!("{name} holds {other:?}, which is no list of percentiles"),
        }
    }

    pub(crate) fn text(&self, name: &str) -> &[u8] {
        match self.named(name) {
            Value::Text(bytes) => bytes,
            other => unreachable!("{name} holds {other:?}, which is no text"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        let bytes = self.text(name);
        (!bytes.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(bytes)))
    }

    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        let path = Path::new(OsStr::from_bytes(self.text(name)));
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    }

    pub(crate) fn secret(&self, name: &str) -> Option<Secret> {
        match self.named(name) {
            Value::Secret(secret) if !secret.expose().is_empty() => Some(secret.clone()),
            _ => None,
        }
    }

    pub(crate) fn addresses(&self, name: &str) -> Vec<BindAddress> {
        match self.named(name) {
            Value::List(words) => words.iter().map(|word| BindAddress::parse(word)).collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn peers(&self, name: &str) -> Vec<PeerRange> {
        match self.named(name) {
            Value::List(words) => {
                words.iter().filter_map(|word| PeerRange::parse(word).ok()).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(crate) fn output_limits(&self, name: &str) -> OutputLimits {
        match self.named(name) {
            Value::OutputLimits(limits) => *limits,
            _ => OutputLimits::default(),
        }
    }
}

fn id_of(name: &str) -> OptionId {
    OptionId::find(name).expect("settings name only options of the table")
}

fn default_of(id: OptionId) -> Value {
    let spec = id.spec();
    let nothing = Value::Text(Vec::new());
    parse_argument(spec, spec.default.as_bytes(), Previous::Replace(&nothing))
        .unwrap_or_else(|error| panic!("the default of {} is no value of it: {error}", spec.name))
}
