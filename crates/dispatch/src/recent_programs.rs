//! HOT PATH
//! The scripts or the functions that a thread has called latest, by the words that name them.
//!
//! To find one where all threads find them takes a shared lock and a share of the program: four
//! writes to memory that all threads write to. A thread that calls the same ones again and again
//! finds them here, as long as none has been removed from there. A call takes its program out and
//! puts it back, since even a share that no other thread asks for takes two atomic writes.

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
    /// `None` while it runs, and after a call that has not put it back.
    program: Option<Arc<Program>>,
}

impl RecentPrograms {
    /// Takes the program of this name, by `look_up` if it is not here or some have been removed
    /// since. `removals` was read before.
    ///
    /// # Errors
    /// Those of `look_up`.
    pub(super) fn take<E>(
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
            && let Some(program) = recent.program.take()
        {
            return Ok(program);
        }
        let program = Arc::new(look_up()?);
        if name.len() <= NAME_BYTES_MAX {
            *place = Some(Recent { name: name.into(), program: None });
        }
        Ok(program)
    }

    /// Puts back what was taken by this name last.
    pub(super) fn put_back(&mut self, name: &[u8], program: Arc<Program>) {
        if let Some(recent) = &mut self.places[place(name)]
            && *recent.name == *name
        {
            recent.program = Some(program);
        }
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

    type Found = Result<Program, ()>;

    fn script(text: &str) -> Found {
        Ok(Program::Script(Arc::new(Script::read(text.as_bytes()).expect("a script"))))
    }

    fn is(program: &Program, text: &str) -> bool {
        matches!((program, script(text)), (Program::Script(one), Ok(Program::Script(other)))
            if one.sha == other.sha)
    }

    /// Whether a call finds the program with this text; it puts it back.
    fn finds(
        recent: &mut RecentPrograms,
        (name, removals): (&[u8], u64),
        text: &str,
        look_up: impl FnOnce() -> Found,
    ) -> bool {
        recent.take(name, removals, look_up).is_ok_and(|program| {
            let is_it = is(&program, text);
            recent.put_back(name, program);
            is_it
        })
    }

    #[test]
    fn a_program_is_looked_up_once_until_one_is_removed() {
        let mut recent = RecentPrograms::default();
        let one = || script("return 1");
        assert!(finds(&mut recent, (b"one", 0), "return 1", one));
        assert!(finds(&mut recent, (b"one", 0), "return 1", || Err(())));
        assert!(recent.take(b"one", 1, || Err(())).is_err());
        assert!(finds(&mut recent, (b"one", 1), "return 2", || script("return 2")));
    }

    #[test]
    fn a_program_that_was_not_put_back_is_looked_up_again() {
        let mut recent = RecentPrograms::default();
        assert!(finds(&mut recent, (b"one", 0), "return 1", || script("return 1")));
        assert!(recent.take(b"one", 0, || Err(())).is_ok());
        assert!(recent.take(b"one", 0, || Err(())).is_err());
        assert!(finds(&mut recent, (b"one", 0), "return 1", || script("return 1")));
        assert!(finds(&mut recent, (b"one", 0), "return 1", || Err(())));
    }

    #[test]
    fn names_with_the_same_place_are_told_apart() {
        let mut recent = RecentPrograms::default();
        for round in 0..2 {
            for number in 0..10 * PLACES {
                let (name, text) = (format!("name-{number}"), format!("return {number}"));
                let called = (name.as_bytes(), round);
                assert!(finds(&mut recent, called, &text, || script(&text)), "{name}");
            }
        }
        assert!(recent.take(b"", 1, || Err(())).is_err());
        let long = [b'x'; NAME_BYTES_MAX + 1];
        assert!(finds(&mut recent, (&long, 1), "return 1", || script("return 1")));
        assert!(recent.take(&long, 1, || Err(())).is_err());
    }
}
