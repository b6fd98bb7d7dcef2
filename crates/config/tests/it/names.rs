//! Every name of Redis 7 is known, with Redis' default unless Basalt differs on purpose.

use crate::value;
use basalt_config::{
    Config, Effect, NameOrigin, OPTIONS, OptionId, SetOrigin, Visibility, help_text,
    reference_markdown,
};
use basalt_config::{bash_completions, fish_completions, manual_page, zsh_completions};
use std::collections::HashSet;
use std::path::Path;

const REDIS_OPTIONS: &str = include_str!("../data/redis-options.tsv");

/// Options whose defaults differ from redis-server's, with ours.
const DIFFERENT: &[(&str, &str)] = &[
    // What the redis.conf that comes with Redis says.
    ("bind", "127.0.0.1 -::1"),
    // Changes are journaled unless that is turned off.
    ("appendonly", "yes"),
    ("enable-debug-command", "local"),
];
/// Options whose reported value depends on the machine.
const LOCAL: &[&str] = &["dir", "io-threads"];

#[test]
fn redis_names_and_defaults() {
    let config = Config::default();
    let mut count = 0;
    for line in REDIS_OPTIONS.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (name, default) = (fields.next().unwrap(), fields.nth(1).unwrap());
        assert!(OptionId::find(name).is_some(), "{name} is missing");
        count += 1;
        if LOCAL.contains(&name) {
            continue;
        }
        let ours = DIFFERENT.iter().find(|(different, _)| *different == name);
        assert_eq!(value(&config, name), ours.map_or(default, |(_, ours)| ours), "{name}");
    }
    assert_eq!(count, 196);
}

/// Options that Redis 7 reports only when they are asked for by name: what its own tests set.
const HIDDEN: &[&str] = &[
    "close-on-replica-write",
    "key-load-delay",
    "loading-process-events-interval-bytes",
    "lua-enable-deprecated-api",
    "rdb-key-save-delay",
    "use-exit-on-panic",
    "watchdog-period",
];

/// Directives of redis.conf 7.2 that are no options.
const DIRECTIVES: &[&str] = &["include", "user", "rename-command", "loadmodule", "module"];

#[test]
fn every_name_of_redis_7_2_is_documented() {
    let page = reference_markdown();
    let reported = REDIS_OPTIONS.lines().filter(|line| !line.starts_with('#'));
    let reported = reported.filter_map(|line| line.split('\t').next());
    for name in reported.chain(HIDDEN.iter().copied()).chain(DIRECTIVES.iter().copied()) {
        let own_row = page.contains(&format!("\n| `{name}`"));
        let is_alias = page.contains(&format!(" (also `{name}`)"));
        assert!(own_row || is_alias, "{name} is not documented");
    }
    for name in HIDDEN {
        assert!(OptionId::find(name).is_some(), "{name} is missing");
    }
}

#[test]
fn what_depends_on_the_machine() {
    let config = Config::default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(value(&config, "io-threads"), cores.to_string());
    assert_eq!(config.settings().network.io_threads, cores);
    let dir = value(&config, "dir");
    assert!(dir.starts_with('/') && dir.ends_with("/data"), "{dir}");
    assert_eq!(config.settings().persistence.dir, Path::new(&dir));
}

#[test]
fn the_table_is_sound() {
    let mut names = HashSet::new();
    for spec in &OPTIONS {
        for name in spec.names() {
            assert!(names.insert(name), "{name} comes twice");
            assert_eq!(name, name.to_ascii_lowercase());
        }
        assert!(spec.doc.ends_with('.') && !spec.doc.contains('|'), "{}", spec.name);
        if let Effect::Accepted(reason) = spec.effect {
            assert!(!reason.ends_with('.') && !reason.contains('|'), "{}", spec.name);
        }
        let redis = REDIS_OPTIONS.lines().any(|line| line.split('\t').next() == Some(spec.name));
        if spec.origin == NameOrigin::Own {
            assert!(!redis, "{} is Redis' name", spec.name);
        }
    }
    let all = Config::default().get(&[b"*"]);
    let hidden = OPTIONS.iter().filter(|spec| spec.visibility == Visibility::Hidden).count();
    assert_eq!(all.len() + hidden, names.len());
}

/// Settings are built from values at the ends of every range without running out of their types.
#[test]
fn the_ends_of_every_range_fit_the_settings() {
    let config = Config::default();
    for name in OPTIONS.iter().map(|spec| spec.name) {
        for end in ["-1", "0", "1", "100", "777", "1024", "1048576", "2147483647", "4294967295"]
            .iter()
            .chain(&["1099511627776", "9223372036854775807", "18446744073709551615"])
        {
            let pair = [name.as_bytes(), end.as_bytes()];
            if let Ok(prepared) = config.prepare_set(&pair, SetOrigin::Server) {
                prepared.commit();
                let _settings = config.settings();
            }
        }
    }
    assert_eq!(config.settings().memory.memory_bytes_max, u64::MAX);
}

#[test]
fn help_names_what_has_an_effect() {
    let help = help_text();
    for spec in &OPTIONS {
        let listed = help.contains(&format!("\n  --{} ", spec.name));
        assert_eq!(listed, spec.effect == Effect::Effective, "{}", spec.name);
    }
    assert!(help.lines().all(|line| line.len() <= 100), "{help}");
}

/// `UPDATE_REFERENCE=1 cargo test -p basalt-config` writes the file.
fn assert_current(path: &str, text: &str) {
    let path = Path::new("../..").join(path);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(checked_in == text, "{} is stale: run with UPDATE_REFERENCE=1", path.display());
}

#[test]
fn the_reference_page_is_current() {
    assert_current("docs/reference/options.md", &reference_markdown());
}

#[test]
fn the_packaged_texts_are_current() {
    assert_current("packaging/basalt.1", &manual_page());
    assert_current("packaging/completions/basalt.bash", &bash_completions());
    assert_current("packaging/completions/_basalt", &zsh_completions());
    assert_current("packaging/completions/basalt.fish", &fish_completions());
}
