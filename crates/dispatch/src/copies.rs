//! Commands that need a copy of a long string before they change it: see `basalt_engine`'s
//! `copying.rs`; and those that find that they would take long.
//!
//! The copy is made by the command's own thread, apart from its batch: then the event loop is lent,
//! and no partition is locked.

use super::keys::{Obstacle, Stop, write};
use super::request::Request;
use super::worker::Worker;
use basalt_call::entry::WriteFn;
use basalt_resp::Reply;
use basalt_service::session::Session;
use basalt_service::wait::Wait;

/// Runs the command on until it needs no copy any more, if it has asked for one. A worker that
/// stands in has it wait.
#[inline(always)]
pub(super) fn go_on(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    run: WriteFn,
    obstacle: Obstacle,
    reply: &mut Reply<'_>,
) -> Obstacle {
    if obstacle.is_none() { None } else { copy(request, worker, session, run, obstacle, reply) }
}

#[cold]
#[inline(never)]
fn copy(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    run: WriteFn,
    mut obstacle: Obstacle,
    reply: &mut Reply<'_>,
) -> Obstacle {
    loop {
        let copying = match *obstacle? {
            // It runs nothing that takes long.
            Stop::Copy(_) | Stop::RunApart if worker.stands_in() => {
                return Some(Box::new(Stop::Wait(Wait::Held)));
            }
            Stop::Copy(copying) if worker.runs_apart() => copying,
            Stop::Copy(_) => return Some(Box::new(Stop::RunApart)),
            stop => return Some(Box::new(stop)),
        };
        worker.changes.offer(copying.copy());
        obstacle = write(request, worker, session, run, reply);
        worker.changes.drop_copy();
    }
}
