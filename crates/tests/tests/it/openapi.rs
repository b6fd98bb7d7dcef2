//! The served OpenAPI document against the server that serves it: schemathesis makes requests from
//! it, right ones and wrong ones, alone and in chains, and looks at every response.
//!
//! `BASALT_PYTHON` names an interpreter that has the packages of `clients/requirements.txt`.

use std::process::Command;

use basalt_tests::server::{Kind, Launch};

/// Seconds for a response; a request may wait for a key.
const PATIENCE: &str = "60";
/// Requests made of each path, beside those that cover its parameters.
const EXAMPLES: &str = "15";
/// Which data is taken and which is not: operations of one path differ in that by `?op=`, and a
/// document can say it of paths only.
const LEFT_OUT: &str = "positive_data_acceptance,negative_data_rejection";

#[test]
fn responses_are_as_the_document_says() {
    let server = Launch::new(Kind::Basalt).with_http().option("http-wait-max", "1").start();
    let address = server.http_address().expect("it was told a port");
    let python = std::env::var("BASALT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    // It leaves files where it runs.
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(&python)
        .args(["-B", "-m", "schemathesis.cli", "run", "--checks", "all", "--no-color"])
        .args(["--exclude-checks", LEFT_OUT, "--max-examples", EXAMPLES])
        .args(["--request-timeout", PATIENCE])
        .arg(format!("http://{address}/v1/openapi.json"))
        .current_dir(folder.path())
        .output()
        .unwrap_or_else(|error| panic!("cannot run {python}: {error}"));
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
