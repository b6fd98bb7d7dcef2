//! Where rows are put that have been read for a walk.

use basalt_engine::WalkedRows;
use parking_lot::Mutex;

/// See the head of this file.
#[derive(Debug, Default)]
pub struct ReadRows(Mutex<WalkedRows>);

impl ReadRows {
    /// They have been read.
    pub fn put(&self, rows: WalkedRows) {
        *self.0.lock() = rows;
    }

    /// Takes them out.
    pub fn take(&self) -> WalkedRows {
        std::mem::take(&mut *self.0.lock())
    }
}
