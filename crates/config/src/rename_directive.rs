//! Commands that an operator gives other names. Which commands there are is not known here.

use crate::source::{LoadError, SourcePlace};

/// A `rename-command` directive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RenameDirective {
    /// Where it stands.
    pub place: SourcePlace,
    /// The name that the command has.
    pub name: Vec<u8>,
    /// The one that it gets; empty for none.
    pub new_name: Vec<u8>,
}

impl RenameDirective {
    pub(crate) fn of(place: &SourcePlace, words: &[Vec<u8>]) -> Result<RenameDirective, LoadError> {
        let [name, new_name] = words else {
            let reason = "rename-command takes the name of a command and a new one; write \
                          rename-command FLUSHALL \"\" for none";
            return Err(LoadError::Malformed { place: place.clone(), reason: reason.to_owned() });
        };
        Ok(RenameDirective { place: place.clone(), name: name.clone(), new_name: new_name.clone() })
    }
}
