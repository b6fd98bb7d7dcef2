//! Stock clients and task queues in Python, run as their users run them, and a browser that shows
//! the web console.
//!
//! `BASALT_PYTHON` names an interpreter that has the packages of `clients/requirements.txt`.

use std::path::Path;
use std::process::{Command, Stdio};

use basalt_tests::missing::leave_out;
use basalt_tests::server::{Kind, Launch, Server};

fn run(script: &str) {
    let server = Server::start(Kind::Basalt);
    run_on(&server, server.address().port(), script);
}

fn run_on(server: &Server, port: u16, script: &str) {
    run_with(server, &[port.to_string()], script);
}

fn run_with(server: &Server, arguments: &[String], script: &str) {
    let folder = Path::new("clients");
    let python = std::env::var("BASALT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python)
        // Leaves no compiled files in the source.
        .arg("-B")
        .arg(folder.join(script))
        .args(arguments)
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
fn redis_py_over_tls() {
    let server = Launch::new(Kind::Basalt).tls().start();
    let ca = server.authority().path("ca.crt").display().to_string();
    run_with(&server, &[server.tls_address().port().to_string(), ca], "redis_py.py");
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

/// What huststore's own test clients do, through the paths of its node and of its front.
#[test]
fn huststore() {
    let server = Launch::new(Kind::Basalt).with_http().start();
    let port = server.http_address().expect("it was told a port").port();
    run_on(&server, port, "huststore.py");
}

/// Debian's Chromium walks through the console: no page has an error, asks another host, has a
/// control without a name, too little contrast, or more width than the window; keys and values run
/// no scripts; an edit that somebody else's came before shows both.
#[test]
fn console() {
    in_a_browser(&[], "console.py");
}

/// A page of another site in that browser neither reads nor changes anything, whatever it sends.
#[test]
fn a_foreign_page() {
    in_a_browser(&[], "foreign_page.py");
}

/// A page of an origin that is listed works off a queue there, by `EventSource`, and comes again
/// when its connection is lost.
#[test]
fn a_worker_in_a_browser() {
    in_a_browser(&[], "event_source.py");
}

/// Nor does it where the server is known by a name, to which browsers do not tell where requests
/// come from.
#[test]
fn a_foreign_page_and_a_server_with_a_name() {
    in_a_browser(&[("http-hosts", "db.home")], "foreign_page.py");
}

fn in_a_browser(options: &[(&str, &str)], script: &str) {
    let browser = std::env::var("BASALT_CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
    let mut probe = Command::new(&browser);
    let found = probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return leave_out(&format!("{browser} is not installed"), "BASALT_WITHOUT_CHROMIUM");
    }
    let launch = Launch::new(Kind::Basalt).with_http();
    let launch = options.iter().fold(launch, |launch, (name, value)| launch.option(name, value));
    let server = launch.start();
    let port = server.http_address().expect("it was told a port").port();
    run_on(&server, port, script);
}
