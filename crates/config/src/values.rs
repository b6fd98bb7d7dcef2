//! One value for each option, and typed access to them.

use crate::option::{Kind, OptionId};
use crate::options::network::BindAddress;
use crate::parse::{Previous, parse_argument};
use crate::peers::PeerRange;
use crate::value::{OutputLimits, Secret, Value};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A value for every option of the table, in its order.
#[derive(Debug, Clone, PartialEq)]
pub struct Values(Vec<Value>);

impl Values {
    /// The defaults of the table.
    pub fn defaults() -> Values {
        Values(OptionId::all().map(default_of).collect())
    }

    /// The value of an option.
    pub fn get(&self, id: OptionId) -> &Value {
        &self.0[id.index()]
    }

    pub(crate) fn set(&mut self, id: OptionId, value: Value) {
        self.0[id.index()] = value;
    }

    /// The text that CONFIG GET reports: as stored, but for what depends on the machine.
    pub(crate) fn reported(&self, id: OptionId) -> Vec<u8> {
        let spec = id.spec();
        match spec.kind {
            Kind::Threads { .. } => self.threads(spec.name).to_string().into_bytes(),
            Kind::Directory => self.directory(spec.name).as_os_str().as_bytes().to_vec(),
            _ => self.get(id).text(),
        }
    }

    fn named(&self, name: &str) -> &Value {
        let id = OptionId::find(name).expect("settings name only options of the table");
        self.get(id)
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
            other => unreachable!("{name} holds {other:?}, which is no number"),
        };
        T::try_from(number).ok().expect("the range in the table fits the setting's type")
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

fn default_of(id: OptionId) -> Value {
    let spec = id.spec();
    let nothing = Value::Text(Vec::new());
    parse_argument(spec, spec.default.as_bytes(), Previous::Replace(&nothing))
        .unwrap_or_else(|error| panic!("the default of {} is no value of it: {error}", spec.name))
}
