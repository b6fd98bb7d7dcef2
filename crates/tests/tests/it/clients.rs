//! Stock clients and task queues in Python, run as their users run them.
//!
//! `BASALT_PYTHON` names an interpreter that has the packages of `clients/requirements.txt`.

use std::path::Path;
use std::process::Command;

use basalt_tests::server::{Kind, Server};

fn run(script: &str) {
    let folder = Path::new("clients");
    let python = std::env::var("BASALT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let server = Server::start(Kind::Basalt);
    let output = Command::new(&python)
        // Leaves no compiled files in the source.
        .arg("-B")
        .arg(folder.join(script))
        .arg(server.address().port().to_string())
        .output()
        .unwrap_or_else(|error| panic!("cannot run {python}: {error}"));
    assert!(
        output.status.success(),
        "{script} failed (packages: {python} -m pip install -r {}):\n{}{}\nserver's log:\n{}",
        folder.join("requirements.txt").display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        server.log()
    );
}

#[test]
fn redis_py() {
    run("redis_py.py");
}

#[test]
fn coredis() {
    run("coredis_smoke.py");
}

#[test]
fn redis_py_locks_pipelines_and_queues() {
    run("redis_py_queues.py");
}

#[test]
fn celery() {
    run("celery_tasks.py");
}

#[test]
fn huey() {
    run("huey_tasks.py");
}

#[test]
fn arq() {
    run("arq_tasks.py");
}
