//! Commands that a configuration file gives other names, or none: as in Redis, which is asked where
//! it is installed.

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use basalt_tests::missing::is_redis_missing;
use basalt_tests::server::{Kind, Launch, Server};

fn start(kind: Kind, text: &str) -> Server {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("renamed.conf");
    std::fs::write(&file, text).expect("a file can be written");
    // It is read at the start alone.
    let launch = Launch::new(kind).file(&file);
    if kind == Kind::Basalt { launch.with_http().start() } else { launch.start() }
}

fn run(connection: &mut Connection, line: &str) -> Value {
    let words: Vec<&str> = line.split(';').collect();
    connection.call(&words).expect("a reply")
}

/// Words, parted by semicolons, and the reply: an error begins with `-`, a text is as it is, and
/// `*` is followed by the number of an array's elements.
const CALLS: &[(&str, &str)] = &[
    ("SET;k;v", "-ERR unknown command 'SET', with args beginning with: 'k' 'v' "),
    ("PUT;k;v", "OK"),
    ("put;k;v", "OK"),
    ("GET;k", "v"),
    ("PUT;k", "-ERR wrong number of arguments for 'set' command"),
    ("FLUSHALL", "-ERR unknown command 'FLUSHALL', with args beginning with: "),
    ("KEYS;*", "-ERR unknown command 'KEYS', with args beginning with: '*' "),
    // A name that has become free.
    ("DEL;k;none", "1"),
    ("CONFIG;GET;port", "-ERR unknown command 'CONFIG', with args beginning with: 'GET' 'port' "),
    ("b840fc02d524045429941cc15f59e41cb7be6c52;GET;timeout", "*2"),
    ("B840FC02D524045429941CC15F59E41CB7BE6C52;GET;timeout", "*2"),
    (
        "b840fc02d524045429941cc15f59e41cb7be6c52",
        "-ERR wrong number of arguments for 'config' command",
    ),
    (
        "b840fc02d524045429941cc15f59e41cb7be6c52;NOSUCH",
        "-ERR unknown subcommand 'NOSUCH'. Try B840FC02D524045429941CC15F59E41CB7BE6C52 HELP.",
    ),
    ("with space;k", "0"),
    // Scripts and transactions call by the new names.
    ("EVAL;return redis.call('put', KEYS[1], 'w');1;k", "OK"),
    ("EVAL;return redis.pcall('set', KEYS[1], 'w')['err'] ~= nil;1;k", "1"),
    ("BEGIN", "OK"),
    ("GET;k", "QUEUED"),
    ("EXEC", "*1"),
    // Descriptions have the commands' own names.
    ("COMMAND;INFO;put", "*1"),
    ("COMMAND;DOCS;put", "*2"),
    ("COMMAND;DOCS;set", "*0"),
    ("COMMAND;GETKEYS;put;k;v", "*1"),
    ("COMMAND;GETKEYS;set;k;v", "-ERR Invalid command specified"),
    ("COMMAND;LIST;FILTERBY;PATTERN;set", "*1"),
    ("COMMAND;LIST;FILTERBY;PATTERN;put", "*0"),
    ("COMMAND;LIST;FILTERBY;PATTERN;flushall", "*0"),
    ("COMMAND;LIST;FILTERBY;PATTERN;config|get", "*1"),
    // Rules are about commands, whatever they are called by, and if by nothing.
    ("ACL;SETUSER;u;on;nopass;+set;+flushall;+config|get;~*", "OK"),
    (
        "ACL;SETUSER;u;+put",
        "-ERR Error in ACL SETUSER modifier '+put': Unknown command or category name in ACL",
    ),
    ("ACL;DRYRUN;u;put;k;v", "OK"),
    ("ACL;DRYRUN;u;set;k;v", "-ERR Command 'set' not found"),
    ("AUTH;u;x", "OK"),
    ("PUT;k;v", "OK"),
    ("b840fc02d524045429941cc15f59e41cb7be6c52;GET;timeout", "*2"),
];

const NAMES: &str = "rename-command SET PUT\n\
    rename-command flushall \"\"\n\
    rename-command KEYS DEL-\n\
    rename-command DEL- del2\n\
    rename-command UNLINK \"\"\n\
    rename-command DEL UNLINK\n\
    rename-command UNLINK DEL\n\
    rename-command CONFIG b840fc02d524045429941cc15f59e41cb7be6c52\n\
    rename-command EXISTS \"with space\"\n\
    rename-command MULTI begin\n";

fn shown(value: &Value) -> String {
    match value {
        Value::Error(text) => format!("-{}", String::from_utf8_lossy(text)),
        Value::Simple(text) | Value::Bulk(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Array(elements) => format!("*{}", elements.len()),
        other => format!("{other:?}"),
    }
}

#[test]
fn commands_have_the_names_that_the_file_gives_them() {
    for kind in [Kind::Redis, Kind::Basalt] {
        if kind == Kind::Redis && is_redis_missing() {
            continue;
        }
        let server = start(kind, NAMES);
        let mut connection = server.connect();
        for (line, expected) in CALLS {
            assert_eq!(shown(&run(&mut connection, line)), *expected, "{line} ({kind:?})");
        }
        let count = run(&mut server.connect(), "COMMAND;COUNT");
        let unnamed = run(&mut Launch::new(kind).start().connect(), "COMMAND;COUNT");
        let (Value::Integer(count), Value::Integer(unnamed)) = (count, unnamed) else { panic!() };
        assert_eq!(count, unnamed - 2, "{kind:?}");
    }
}

/// Paths of HTTP run commands under their own names: what has another one is not reached by them,
/// and nothing that was to be done at once is done by halves.
#[test]
fn http_reaches_no_command_that_has_another_name() {
    const JSON: &str = "Content-Type: application/json\r\n";
    let server = start(Kind::Basalt, "rename-command SET put\nrename-command MULTI begin\n");
    let address = server.http_address().expect("it was told a port");
    let mut http = HttpClient::open(address).expect("it listens");
    let refused = http.ask("PUT /v1/strings/k", "", b"v");
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("unknown command 'SET'"), "{}", refused.text());
    let put = http.ask("POST /v1/command", JSON, br#"["put","k","v"]"#);
    assert_eq!((put.status, put.text()), (200, r#""OK""#.to_owned()));
    let begun = http.ask("POST /v1/command", JSON, br#"["begin"]"#);
    assert!(begun.status == 400 && begun.text().contains("NOTHTTP"), "{}", begun.text());
    for (line, fields, body) in [
        ("POST /v1/batch?atomic=1", JSON, &br#"[["put","k","w"],["put","l","w"]]"#[..]),
        ("POST /v1/keys/k?op=copy&to=l", "", b""),
        ("PATCH /v1/keys/k", JSON, br#"{"ttl_ms":null}"#),
    ] {
        let refused = http.ask(line, fields, body);
        assert!(refused.text().contains("rename-command"), "{line}: {}", refused.text());
        assert_eq!(refused.status, 400);
    }
    assert_eq!(http.ask("POST /v1/batch", JSON, br#"[["put","m","w"]]"#).text(), r#"["OK"]"#);
    let mut redis = server.connect();
    assert_eq!(shown(&run(&mut redis, "MGET;k;l;m")), "*3");
    assert_eq!(shown(&run(&mut redis, "GET;k")), "v", "nothing of the batch has run");
    assert_eq!(shown(&run(&mut redis, "EXISTS;l")), "0");
}

#[test]
fn names_that_cannot_be_given_keep_the_server_from_starting() {
    for (text, reason) in [
        ("rename-command nosuch x\n", "No such command in rename-command"),
        ("port 1\nrename-command config|get x\n", "No such command in rename-command"),
        ("rename-command GET a\nrename-command GET b\n", "No such command in rename-command"),
        ("rename-command GET set\n", "Target command name already exists"),
        ("rename-command GET\n", "rename-command takes the name of a command and a new one"),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("renamed.conf");
        std::fs::write(&file, text).expect("a file can be written");
        let launched = Launch::new(Kind::Basalt).file(&file).try_start();
        let Err(error) = launched else { panic!("{text:?} is taken") };
        let line = text.lines().count();
        let expected = format!("{}:{line}: {reason}", file.display());
        assert!(error.to_string().contains(&expected), "{text:?}: {error}");
    }
}
