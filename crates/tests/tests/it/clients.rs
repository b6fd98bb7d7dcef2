//! Stock clients in Python, run as their users run them.
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
