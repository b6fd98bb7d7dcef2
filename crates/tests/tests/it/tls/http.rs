//! HTTP over TLS, by curl.

use basalt_tests::authority::Authority;
use basalt_tests::server::{Kind, Launch, free_port};
use std::process::Command;

#[test]
fn curl_reads_and_writes_over_tls() {
    let own = Authority::new().unwrap();
    own.identity("server").unwrap();
    let port = free_port().unwrap();
    let file = |name: &str| own.path(name).display().to_string();
    let _server = Launch::new(Kind::Basalt)
        .option("http-tls-port", &port.to_string())
        .option("tls-cert-file", &file("server.crt"))
        .option("tls-key-file", &file("server.key"))
        .option("tls-auth-clients", "no")
        .start();
    let url = format!("https://localhost:{port}/v1/strings/k");
    let curl = |arguments: &[&str]| {
        let output = Command::new("curl")
            .args(["--silent", "--show-error", "--max-time", "60", "--cacert", &file("ca.crt")])
            .args(arguments)
            .output()
            .expect("curl is installed");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), output.stdout, error)
    };
    let big: Vec<u8> = (0..3_000_000).map(|at: usize| (at * 31 + at / 251) as u8).collect();
    let body = own.path("body");
    std::fs::write(&body, &big).unwrap();
    let from = format!("@{}", body.display());
    let put = curl(&["--fail", "--request", "PUT", "--data-binary", &from, &url]);
    assert!(put.0, "{}", put.2);
    let got = curl(&["--fail", &url]);
    assert!(got.0 && got.1 == big, "{}", got.2);
    let refused = curl(&["--cacert", "/dev/null", &url]);
    assert!(!refused.0, "nobody vouches for the server");
    let plain = curl(&[&url.replace("https", "http")]);
    assert!(!plain.0, "it is no port for HTTP without TLS");
}
