//! The live side: CONFIG GET's patterns, changes in two steps, and what readers see.

use crate::{load, set, value};
use basalt_config::{ClientClass, Config, Fsync, Permission, SetOrigin};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn names(config: &Config, patterns: &[&str]) -> Vec<String> {
    let patterns: Vec<&[u8]> = patterns.iter().map(|pattern| pattern.as_bytes()).collect();
    let reported = config.get(&patterns).into_iter();
    reported.map(|one| String::from_utf8_lossy(&one.name).into_owned()).collect()
}

#[test]
fn get_takes_patterns() {
    let config = Config::default();
    let table: &[(&[&str], &[&str])] = &[
        (&["Hz"], &["Hz"]),
        (&["H[zZ]", "hz", "HZ"], &["hz"]),
        (&["port", "bind", "port"], &["port", "bind"]),
        (&["nonexistent"], &[]),
        (&["\u{e9}"], &[]),
        (&["unix*"], &["unixsocket", "unixsocketperm"]),
        (&["tcp-?eepaliv?", "timeout"], &["tcp-keepalive", "timeout"]),
        (&["slave-prio*"], &["slave-priority"]),
        (&["*-priority"], &["replica-priority", "slave-priority"]),
        (&["max[c-c]lients"], &["maxclients"]),
        (&["max[^a-b]lients"], &["maxclients"]),
        (&["max\\clients*"], &["maxclients"]),
        (&["*load-delay"], &[]),
        (&["key-load-delay"], &["key-load-delay"]),
        (&["[", "[a", "[^", "a[", "\\", "*\\"], &[]),
        (&[""], &[]),
    ];
    for (patterns, expected) in table {
        assert_eq!(names(&config, patterns), *expected, "{patterns:?}");
    }
    // Would take ages if every star were tried again.
    for pattern in ["*a".repeat(500), "*a".repeat(500_000), "*[!".repeat(300)] {
        assert!(names(&config, &[&pattern]).is_empty());
    }
    let many: Vec<&str> = ["*", "hz", "*a*"].repeat(30_000);
    assert_eq!(names(&config, &many), names(&config, &["*"]));
}

#[test]
fn a_change_takes_two_steps() {
    let config = Config::default();
    let pairs: [&[u8]; 4] = [b"port", b"7000", b"appendfsync", b"always"];
    let prepared = config.prepare_set(&pairs, SetOrigin::RemoteClient).unwrap();
    assert_eq!((prepared.before().network.port, prepared.after().network.port), (6379, 7000));
    let changed: Vec<&str> = prepared.changed().iter().map(|spec| spec.name).collect();
    assert_eq!(changed, ["port", "appendfsync"]);
    assert_eq!(value(&config, "port"), "6379");
    let error = prepared.refuse("port", "Unable to listen on this port. Check server logs.");
    assert_eq!(
        error.to_string(),
        "CONFIG SET failed (possibly related to argument 'port') - \
         Unable to listen on this port. Check server logs."
    );
    assert_eq!((config.version(), config.settings().network.port), (0, 6379));

    let held = config.settings();
    config.prepare_set(&pairs, SetOrigin::RemoteClient).unwrap().commit();
    assert_eq!(config.version(), 1);
    assert_eq!((held.network.port, config.settings().network.port), (6379, 7000));
    assert_eq!(config.settings().persistence.fsync, Fsync::Always);
    // A change to what already holds is none.
    config.prepare_set(&pairs, SetOrigin::RemoteClient).unwrap().commit();
    assert_eq!(config.version(), 1);
}

#[test]
fn readers_never_see_half_a_change() {
    let config = Config::default();
    set(&config, &["timeout", "0", "hz", "100"]).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (mut version, mut settings) = (config.version(), config.settings());
                while !done.load(Ordering::Relaxed) {
                    if config.version() != version {
                        let fresh = config.settings();
                        assert!(fresh.clients.idle_timeout_s >= settings.clients.idle_timeout_s);
                        (version, settings) = (config.version(), fresh);
                    }
                    let offset = settings.clients.idle_timeout_s % 100;
                    assert_eq!(u64::from(settings.memory.hz), 100 + offset);
                }
            });
        }
        for count in 1..2000u64 {
            let (timeout, hz) = (count.to_string(), (100 + count % 100).to_string());
            set(&config, &["timeout", &timeout, "hz", &hz]).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(config.version(), 2000);
}

#[test]
fn settings_are_typed() {
    let args = "--bind * -::* 10.0.0.1 --unixsocket /run/b.sock --unixsocketperm 770 \
                --requirepass secret --enable-debug-command yes --pidfile /run/b.pid \
                --io-threads 3 --client-output-buffer-limit pubsub 1kb 512 7";
    let args: Vec<&str> = args.split(' ').collect();
    let settings = load(&args, b"").unwrap().config.settings();
    let bind: Vec<(&str, bool)> =
        settings.network.bind.iter().map(|address| (&*address.host, address.optional)).collect();
    assert_eq!(bind, [("0.0.0.0", false), ("::", true), ("10.0.0.1", false)]);
    assert_eq!(settings.network.unixsocket.as_deref(), Some(Path::new("/run/b.sock")));
    assert_eq!(settings.network.unixsocket_mode, 0o770);
    assert_eq!(settings.network.io_threads, 3);
    assert_eq!(settings.clients.password.as_ref().map(|p| p.expose()), Some(&b"secret"[..]));
    assert_eq!(settings.clients.debug_command, Permission::Everybody);
    assert_eq!(settings.server.pid_file.as_deref(), Some(Path::new("/run/b.pid")));
    let limit = settings.clients.output_limits.of(ClientClass::PubSub);
    assert_eq!((limit.hard_bytes, limit.soft_bytes, limit.soft_s), (1024, 512, 7));
    assert_eq!(settings.clients.output_limits.of(ClientClass::Replica).hard_bytes, 256 << 20);
}

#[test]
fn the_server_may_adjust_what_it_cannot_have() {
    let config = Config::default();
    config.adjust("maxclients", "4064").unwrap();
    config.adjust("databases", "4").unwrap();
    assert_eq!(config.settings().clients.clients_max, 4064);
    assert_eq!(value(&config, "databases"), "4");
    assert!(config.adjust("maxclients", "none").is_err());
}

#[test]
fn a_set_without_effect_says_so() {
    let config = Config::default();
    let notices = |arguments: &[&[u8]]| {
        config.prepare_set(arguments, SetOrigin::Server).unwrap().notices().to_vec()
    };
    assert_eq!(
        notices(&[b"activedefrag", b"yes", b"timeout", b"5", b"set-max-intset-entries", b"512"]),
        ["option 'activedefrag' is accepted but has no effect: \
          memory is not moved to defragment it"]
    );
    assert_eq!(notices(&[b"masterauth", b"hush"]).len(), 1);
}

#[test]
fn secrets_stay_out_of_everything_but_get() {
    let hush = "hush-hush";
    let args = ["--requirepass", hush, "--masterauth", hush, "--tls-key-file-pass", hush];
    let loaded = load(&args, b"").unwrap();
    assert_eq!(value(&loaded.config, "requirepass"), hush);
    let mut said: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    said.push(format!("{loaded:?}"));
    said.push(format!("{:?}", loaded.config.settings()));
    let other: [&[u8]; 2] = [b"requirepass", b"hush-hush-2"];
    said.push(format!("{:?}", loaded.config.prepare_set(&other, SetOrigin::Server)));
    let refusals: [(&str, &[&str]); 5] = [
        ("x.conf", &["requirepass", "a", hush]),
        ("x.conf", &["requirepass", "\"hush-hush"]),
        ("x.toml", &["requirepass", "=", "\"hush-hush"]),
        ("x.toml", &["requirepass", "=", "hush-hush"]),
        ("x.toml", &["requirepass", "=", "[\"hush-hush\"]"]),
    ];
    for (name, words) in refusals {
        let (_directory, path) = crate::file(name, words.join(" ").as_bytes());
        said.push(load(&[&path], b"").unwrap_err().to_string());
    }
    for text in said {
        assert!(!text.contains("hush-"), "{text}");
    }
}

#[test]
fn automatic_sizes_follow_the_memory() {
    const GIB: u64 = 1 << 30;
    let config = Config::default();
    // Nobody has said how much memory there is.
    let sizes = |config: &Config| {
        ["maxmemory", "checkpoint-log-size", "cold-cache-size"].map(|name| value(config, name))
    };
    let quarter_gib = (GIB / 4).to_string();
    assert_eq!(sizes(&config), ["0", &quarter_gib, &quarter_gib]);
    config.start_with_memory(GIB);
    let started = [GIB, GIB / 8, GIB * 60 / 1000].map(|bytes| bytes.to_string());
    assert_eq!(sizes(&config), started);
    let settings = config.settings();
    assert_eq!((settings.memory.memory_bytes_max, settings.memory.is_automatic), (GIB, true));
    assert_eq!(settings.persistence.checkpoint_log_bytes, GIB / 8);

    // The budget moves with the machine, and what was set at start stays.
    assert!(config.set_machine_memory(GIB / 2));
    let version = config.version();
    assert!(!config.set_machine_memory(GIB / 2), "it is no news");
    assert_eq!(config.version(), version);
    let later = [(GIB / 2).to_string(), started[1].clone(), started[2].clone()];
    assert_eq!(sizes(&config), later);

    // What a user says holds, until it is `auto` again.
    set(&config, &["maxmemory", "1000"]).unwrap();
    assert!(config.set_machine_memory(GIB));
    assert_eq!(value(&config, "maxmemory"), "1000");
    assert!(!config.settings().memory.is_automatic);
    set(&config, &["maxmemory", "AUTO"]).unwrap();
    assert_eq!(sizes(&config), started);
}

#[test]
fn a_given_budget_is_what_sizes_follow() {
    const MIB: u64 = 1 << 20;
    let args = ["--maxmemory", "64mb", "--cold-cache-size", "1mb"];
    let config = load(&args, b"").unwrap().config;
    config.start_with_memory(1024 * MIB);
    let settings = config.settings();
    assert_eq!(settings.memory.memory_bytes_max, 64 * MIB);
    assert_eq!(settings.persistence.checkpoint_log_bytes, 8 * MIB);
    assert_eq!(settings.persistence.cold_cache_bytes, MIB);
}
