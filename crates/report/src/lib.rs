//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beside all of them: service ▸ \[report\]
//!
//! What the server tells about itself to monitoring systems: the [`table`] of metrics, the
//! [`figures`] that they are read from, and the thread that writes reports when somebody asks. It
//! owns the names, and nothing that is counted. It must never know a command by name, sockets or
//! files. Its one invariant: it locks no partition, so a report is there whatever commands do. Read
//! `metric.rs` next, then `table.rs`.
//!
//! ```text
//! counters, sampler, census ─▶ Figures ─▶ METRICS ─▶ Sink: a text for Prometheus, or another
//! ```

#![forbid(unsafe_code)]

pub mod figures;
pub mod metric;
mod reference;
pub mod table;
mod text;
mod thread;

pub use reference::reference_markdown;
pub use text::text;
pub use thread::Reporter;
