//! The scripts that are known by their SHA-1, shared by all threads.
//!
//! A client that sends ever new texts with EVAL must not fill the memory: of those the latest
//! [`EVALUATED_MAX`] are kept. What SCRIPT LOAD has brought stays until SCRIPT FLUSH.

use crate::script::{Script, ScriptError};
use crate::sha1::{BySha1, Sha1};
use crate::shape::shape;
use crate::trust::Trust;
use parking_lot::RwLock;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Scripts that were only evaluated and are remembered.
const EVALUATED_MAX: usize = 500;

/// Shapes that are remembered; with one more all are forgotten.
const SHAPES_MAX: usize = 1000;

/// The scripts of a server.
#[derive(Debug, Default)]
pub struct Scripts {
    state: RwLock<State>,
    /// Written under the lock with Release, read with Acquire: a thread that has read it finds none
    /// of those that had gone.
    removals: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    by_sha: BySha1<Arc<Script>>,
    /// Those that were only evaluated, oldest first.
    evaluated: VecDeque<Sha1>,
    text_bytes: usize,
    /// What is known of scripts by their shapes, also of those that are forgotten.
    by_shape: BySha1<Arc<Trust>>,
}

/// How a script became known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evaluated {
    /// EVAL has brought it.
    Only,
    /// SCRIPT LOAD has.
    Loaded,
}

impl Scripts {
    /// The script of this name.
    pub fn find(&self, sha: &Sha1) -> Option<Arc<Script>> {
        self.state.read().by_sha.get(sha).cloned()
    }

    /// How often scripts have been forgotten: what has been found once is there until that changes.
    #[inline]
    pub fn removals(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    /// The script with this text, known or new. A new one is remembered with [`Scripts::keep`],
    /// once it is clear that it is Lua.
    ///
    /// # Errors
    /// It is no script.
    pub fn read(&self, text: &[u8]) -> Result<Arc<Script>, ScriptError> {
        match self.find(&Sha1::of(text)) {
            Some(script) => Ok(script),
            None => {
                let script = Script::read(text)?;
                Ok(Arc::new(script.known_as(self.trust(shape(text)))))
            }
        }
    }

    /// What is known of scripts of this shape.
    fn trust(&self, shape: Sha1) -> Arc<Trust> {
        if let Some(trust) = self.state.read().by_shape.get(&shape) {
            return Arc::clone(trust);
        }
        let state = &mut *self.state.write();
        if state.by_shape.len() >= SHAPES_MAX {
            state.by_shape.clear();
        }
        Arc::clone(state.by_shape.entry(shape).or_default())
    }

    /// Remembers a script.
    pub fn keep(&self, script: &Arc<Script>, evaluated: Evaluated) {
        let is_known = self.find(&script.sha).is_some();
        if is_known && evaluated == Evaluated::Only {
            return;
        }
        let state = &mut *self.state.write();
        if evaluated == Evaluated::Loaded {
            state.evaluated.retain(|sha| *sha != script.sha);
        } else {
            state.evaluated.push_back(script.sha);
            if state.evaluated.len() > EVALUATED_MAX
                && let Some(oldest) = state.evaluated.pop_front()
                && let Some(forgotten) = state.by_sha.remove(&oldest)
            {
                state.text_bytes -= forgotten.body().len();
                self.removals.fetch_add(1, Ordering::Release);
            }
        }
        if state.by_sha.insert(script.sha, Arc::clone(script)).is_none() {
            state.text_bytes += script.body().len();
        }
    }

    /// Forgets all.
    pub fn flush(&self) {
        let mut state = self.state.write();
        *state = State::default();
        self.removals.fetch_add(1, Ordering::Release);
    }

    /// Number of scripts.
    pub fn len(&self) -> usize {
        self.state.read().by_sha.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of their texts.
    pub fn text_bytes(&self) -> usize {
        self.state.read().text_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::KeyScope;

    fn keep(scripts: &Scripts, text: &str, evaluated: Evaluated) -> Sha1 {
        let script = scripts.read(text.as_bytes()).unwrap();
        scripts.keep(&script, evaluated);
        script.sha
    }

    #[test]
    fn scripts_of_one_shape_are_known_together() {
        let scripts = Scripts::default();
        let read = |text: &str| scripts.read(text.as_bytes()).unwrap();
        let one = read("return redis.call('GET', 'a1')");
        one.trust.went_beyond_its_keys();
        assert_eq!(read("return redis.call('GET', 'b2')").trust.scope(), KeyScope::Any);
        assert_eq!(read("return redis.call('GET', KEYS[1])").trust.scope(), KeyScope::Unknown);
        for number in 0..2 * SHAPES_MAX {
            read(&format!("return x{number}"));
        }
        assert!(scripts.state.read().by_shape.len() <= SHAPES_MAX);
    }

    #[test]
    fn the_oldest_that_was_only_evaluated_is_forgotten() {
        let scripts = Scripts::default();
        let loaded = keep(&scripts, "return 'loaded'", Evaluated::Loaded);
        let promoted = keep(&scripts, "return 'promoted'", Evaluated::Only);
        keep(&scripts, "return 'promoted'", Evaluated::Loaded);
        let first = keep(&scripts, "return 0", Evaluated::Only);
        for number in 1..EVALUATED_MAX {
            keep(&scripts, &format!("return {number}"), Evaluated::Only);
        }
        assert!(scripts.find(&first).is_some());
        keep(&scripts, "return 'one more'", Evaluated::Only);
        assert!(scripts.find(&first).is_none());
        assert!(scripts.find(&loaded).is_some() && scripts.find(&promoted).is_some());
        assert_eq!(scripts.len(), EVALUATED_MAX + 2);
        scripts.flush();
        assert!(scripts.is_empty() && scripts.text_bytes() == 0);
    }
}
