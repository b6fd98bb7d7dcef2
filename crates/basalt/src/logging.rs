//! The server's own log: one line an event, as text or JSON, to standard output or a file.

use basalt_config::{LogFormat, LogLevel, ServerSettings};
use std::fs::OpenOptions;
use std::io;
use std::sync::Arc;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload;
use tracing_subscriber::util::SubscriberInitExt;

/// Changes the level later.
pub struct LevelHandle(reload::Handle<LevelFilter, Registry>);

impl LevelHandle {
    /// `CONFIG SET loglevel`.
    pub fn set(&self, level: LogLevel) {
        if let Err(error) = self.0.modify(|filter| *filter = filter_of(level)) {
            tracing::error!(%error, "the log level could not be changed");
        }
    }
}

/// Starts logging.
///
/// # Errors
/// If the log file cannot be opened.
pub fn start(settings: &ServerSettings) -> io::Result<LevelHandle> {
    let (filter, handle) = reload::Layer::new(filter_of(settings.log_level));
    let registry = tracing_subscriber::registry().with(filter);
    let layer = tracing_subscriber::fmt::layer().with_target(false).with_thread_names(true);
    match (&settings.log_file, settings.log_format) {
        (None, LogFormat::Text) => {
            let ansi = std::io::IsTerminal::is_terminal(&io::stdout());
            registry.with(layer.with_ansi(ansi)).init();
        }
        (None, LogFormat::Json) => registry.with(layer.json()).init(),
        (Some(path), format) => {
            let file = Arc::new(OpenOptions::new().create(true).append(true).open(path)?);
            match format {
                LogFormat::Text => registry.with(layer.with_ansi(false).with_writer(file)).init(),
                LogFormat::Json => registry.with(layer.json().with_writer(file)).init(),
            }
        }
    }
    Ok(LevelHandle(handle))
}

fn filter_of(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Debug => LevelFilter::TRACE,
        LogLevel::Verbose => LevelFilter::DEBUG,
        LogLevel::Notice => LevelFilter::INFO,
        LogLevel::Warning => LevelFilter::WARN,
    }
}
