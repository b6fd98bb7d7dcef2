//! The engine's own threads: checkpoint, misses, housekeeping, timers, eviction,
//! the cold tier's work, warm-up.

use crate::engine::Engine;
use crate::housekeeping::{HOUSEKEEPING_EVERY, Housekeeping};
use crate::warm_up::progress::WarmUp;
use basalt_env::priority;
use basalt_env::thread::JoinHandle;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Whether somebody waits for what a thread does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Urgency {
    ClientsWait,
    CanWait,
}

/// The engine's threads, until stopped.
pub struct Background {
    engine: Arc<Engine>,
    threads: Vec<JoinHandle<()>>,
}

impl Background {
    /// Starts them.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn start(engine: &Arc<Engine>, warm_up: WarmUp) -> std::io::Result<Background> {
        let mut background = Background { engine: Arc::clone(engine), threads: Vec::new() };
        background.spawn("checkpoint", Urgency::CanWait, Engine::run_checkpoint_thread)?;
        background.spawn("housekeeping", Urgency::CanWait, Engine::run_housekeeping_thread)?;
        background.spawn("timers", Urgency::ClientsWait, Engine::run_timer_thread)?;
        background.spawn("collect", Urgency::CanWait, Engine::run_collect_thread)?;
        background.spawn("reaper", Urgency::CanWait, Engine::run_reaper_thread)?;
        background.spawn("evict", Urgency::ClientsWait, Engine::run_evict_thread)?;
        for number in 0..engine.options.miss_threads.max(1) {
            let name = format!("miss-{number}");
            background.spawn(&name, Urgency::ClientsWait, Engine::run_miss_thread)?;
        }
        background.spawn("miss-ring", Urgency::ClientsWait, Engine::run_ring_thread)?;
        engine.begin_warm_up(warm_up);
        let run_warm_up = move |engine: &Engine| engine.run_warm_up_thread(warm_up);
        background.spawn("warm-up", Urgency::CanWait, run_warm_up)?;
        Ok(background)
    }

    fn spawn(
        &mut self,
        name: &str,
        urgency: Urgency,
        run: impl FnOnce(&Engine) + Send + 'static,
    ) -> std::io::Result<()> {
        let engine = Arc::clone(&self.engine);
        let thread = basalt_env::thread::spawn(name, move || {
            if urgency == Urgency::CanWait {
                priority::step_back();
            }
            run(&engine);
        })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Stops them and waits until they have ended.
    pub fn stop(self) {
        self.engine.stopping.store(true, Ordering::Release);
        self.engine.wake_miss_threads();
        self.engine.wake_checkpoint_thread();
        for thread in self.threads {
            thread.thread().unpark();
            if thread.join().is_err() {
                tracing::error!("a background thread had panicked");
            }
        }
    }
}

impl Engine {
    fn run_housekeeping_thread(&self) {
        let mut housekeeping = Housekeeping::default();
        while !self.is_stopping() {
            let start = self.env.clock.now();
            housekeeping.round(self);
            std::thread::park_timeout(
                HOUSEKEEPING_EVERY.saturating_sub(self.env.clock.since(start)),
            );
        }
    }
}
