//! HOT PATH
//! The scripts or the functions that a thread has called latest, by the words that name them.
//!
//! To find one where all threads find them takes a shared lock and a share of the program: four
//! writes to memory that all threads write to. A thread that calls the same ones again and again
//! finds them here, as long as none has been removed from there.

use basalt_script::Program;
use std::sync::Arc;

/// Of two programs with the same place the later one has it.
const PLACES: usize = 32;
/// Bytes at the end of a name that tell its place.
const PLACE_BYTES: usize = 4;
/// A longer name is looked up each time.
const NAME_BYTES_MAX: usize = 64;

/// See the head of this file.
#[derive(Default)]
pub(super) struct RecentPrograms {
    /// How many removals those that are here have seen.
    removals: u64,
    places: [Option<Recent>; PLACES],
}

struct Recent {
    name: Box<[u8]>,
    program: Arc<Program>,
}

impl RecentPrograms {
    /// The program of this name, by `look_up` if it is not here or some have been removed since.
    /// `removals` was read before.
    ///
    /// # Errors
    /// Those of `look_up`.
    pub(super) fn find<E>(
        &mut self,
        name: &[u8],
        removals: u64,
        look_up: impl FnOnce() -> Result<Program, E>,
    ) -> Result<Arc<Program>, E> {
        if self.removals != removals {
            // What was removed is not held on to.
            *self = RecentPrograms { removals, ..RecentPrograms::default() };
        }
        let place = &mut self.places[place(name)];
        if let Some(recent) = place
            && *recent.name == *name
        {
            return Ok(Arc::clone(&recent.program));
        }
        let program = Arc::new(look_up()?);
        if name.len() <= NAME_BYTES_MAX {
            *place = Some(Recent { name: name.into(), program: Arc::clone(&program) });
        }
        Ok(program)
    }
}

fn place(name: &[u8]) -> usize {
    let end = name.iter().rev().take(PLACE_BYTES);
    end.fold(name.len(), |place, byte| place * 31 + usize::from(*byte)) % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_script::Script;

    fn script(text: &str) -> Result<Program, ()> {
        Ok(Program::Script(Arc::new(Script::read(text.as_bytes()).expect("a script"))))
    }

    fn is(program: &Program, text: &str) -> bool {
        matches!((program, script(text)), (Program::Script(one), Ok(Program::Script(other)))
            if one.sha == other.sha)
    }

    #[test]
    fn a_program_is_looked_up_once_until_one_is_removed() {
        let mut recent = RecentPrograms::default();
        let once = recent.find(b"one", 0, || script("return 1"));
        assert!(once.is_ok_and(|program| is(&program, "return 1")));
        let again = recent.find(b"one", 0, || Err(()));
        assert!(again.is_ok_and(|program| is(&program, "return 1")));
        assert!(recent.find(b"one", 1, || Err(())).is_err());
        let other = recent.find(b"one", 1, || script("return 2"));
        assert!(other.is_ok_and(|program| is(&program, "return 2")));
    }

    #[test]
    fn names_with_the_same_place_are_told_apart() {
        let mut recent = RecentPrograms::default();
        for round in 0..2 {
            for number in 0..10 * PLACES {
                let (name, text) = (format!("name-{number}"), format!("return {number}"));
                let found = recent.find(name.as_bytes(), round, || script(&text));
                assert!(found.is_ok_and(|program| is(&program, &text)), "{name}");
            }
        }
        assert!(recent.find(b"", 1, || Err(())).is_err());
        let long = [b'x'; NAME_BYTES_MAX + 1];
        assert!(recent.find(&long, 1, || script("return 1")).is_ok());
        assert!(recent.find(&long, 1, || Err(())).is_err());
    }
}
