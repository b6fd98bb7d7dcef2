//! The workers of docs/workers.md, run as their page says, each with what its language needs.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::missing::leave_out;
use basalt_tests::server::{Kind, Launch, Server};

const MESSAGES: i64 = 200;
/// A program in Go is compiled first.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(20);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/workers")
}

/// Ends with the test.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Puts messages, has a worker take them all, and looks at what it has left. One of them was held
/// by a worker that died, so that its lease has to end.
fn run(mut command: Command, by_http: bool) {
    let server = Launch::new(Kind::Basalt).with_http().start();
    let port = match by_http {
        true => server.http_address().expect("it was told a port").port(),
        false => server.address().port(),
    };
    let mut client = server.connect();
    for number in 0..MESSAGES {
        client.run(&format!("Q.PUT {{jobs}} message{number}")).expect("it is put");
    }
    client.run("Q.GET LEASE 1000 QUEUES {jobs}").expect("it is taken");
    let worker = command.arg(port.to_string()).stdin(Stdio::null()).spawn();
    let mut worker = Worker(worker.expect("the interpreter is there"));
    let begun = Instant::now();
    while left(&server) > 0 {
        assert!(begun.elapsed() < PATIENCE, "{} messages are left", left(&server));
        assert_eq!(worker.0.try_wait().expect("it is ours"), None, "the worker has ended");
        std::thread::sleep(LOOK_EVERY);
    }
    let results = client.run("HLEN {jobs}:results").expect("a reply");
    assert_eq!(results, Value::Integer(MESSAGES));
    let result = client.run("HGET {jobs}:results message7").expect("a reply");
    assert_eq!(result, Value::Bulk(b"MESSAGE7".to_vec()));
    // It waits for more.
    client.run("Q.PUT {jobs} spät").expect("it is put");
    while client.run("HEXISTS {jobs}:results spät").expect("a reply") != Value::Integer(1) {
        assert!(begun.elapsed() < PATIENCE, "the late one is left");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Messages of all states.
fn left(server: &Server) -> i64 {
    match server.connect().run("Q.LEN {jobs}") {
        Ok(Value::Integer(count)) => count,
        other => panic!("{other:?}"),
    }
}

/// Whether a program answers.
fn is_there(program: &str, version: &str) -> bool {
    let mut probe = Command::new(program);
    let found = probe.arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

fn python(script: &str) -> Command {
    let python = std::env::var("BASALT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut command = Command::new(python);
    // Leaves no compiled files in the source.
    command.arg("-B").arg(folder().join(script));
    command
}

#[test]
fn in_python_by_redis_py() {
    run(python("worker_redis.py"), false);
}

#[test]
fn in_python_by_http() {
    run(python("worker_http.py"), true);
}

#[test]
fn in_python_by_server_sent_events() {
    run(python("worker_sse.py"), true);
}

#[test]
fn in_python_by_a_websocket() {
    run(python("worker_websocket.py"), true);
}

/// `BASALT_NODE_MODULES` names the folder of the packages of docs/workers/package.json.
#[test]
fn in_javascript_by_node_redis() {
    if !is_there("node", "--version") {
        return leave_out("node is not installed", "BASALT_WITHOUT_NODE");
    }
    // Node looks for packages beside the script.
    let beside = tempfile::tempdir().expect("a folder");
    let script = beside.path().join("worker.mjs");
    std::fs::copy(folder().join("worker.mjs"), &script).expect("it is copied");
    let modules = std::env::var_os("BASALT_NODE_MODULES")
        .map_or_else(|| folder().join("node_modules"), PathBuf::from);
    std::os::unix::fs::symlink(&modules, beside.path().join("node_modules")).expect("a link");
    let mut command = Command::new("node");
    command.arg(&script);
    run(command, false);
}

#[test]
fn in_go_by_go_redis() {
    if !is_there("go", "version") {
        return leave_out("go is not installed", "BASALT_WITHOUT_GO");
    }
    // Not `go run`, whose program would outlive it.
    let built = tempfile::tempdir().expect("a folder");
    let program = built.path().join("worker");
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(&program).current_dir(folder().join("go"));
    assert!(build.status().expect("go is there").success(), "it does not build");
    run(Command::new(program), false);
}
