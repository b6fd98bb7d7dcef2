//! redis-cli and openssl as clients.

use super::start;
use basalt_tests::missing::leave_out;
use std::process::{Command, Stdio};

#[test]
fn redis_cli_speaks_tls() {
    let server = start();
    let port = server.tls_address().port().to_string();
    let ca = server.authority().path("ca.crt");
    let cli = |words: &[&str]| {
        let output = Command::new("redis-cli")
            .args(["-h", "127.0.0.1", "-p", &port, "--tls", "--cacert"])
            .arg(&ca)
            .args(words)
            .stdin(Stdio::null())
            .output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Ok(set) = cli(&["SET", "a", "1"]) else {
        return leave_out("redis-cli is not installed", "BASALT_WITHOUT_REDIS");
    };
    assert_eq!(set, "OK");
    assert_eq!(cli(&["GET", "a"]).unwrap(), "1");
    assert!(cli(&["CLIENT", "LIST"]).unwrap().contains(&format!("laddr=127.0.0.1:{port}")));
    let lines = cli(&["--csv", "LRANGE", "none", "0", "-1"]).unwrap();
    assert_eq!(lines, "");
}

#[test]
fn openssl_agrees_on_both_versions() {
    let server = start();
    let address = server.tls_address().to_string();
    for (version, shown) in [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")] {
        let output = Command::new("openssl")
            .args(["s_client", "-connect", &address, version, "-verify_return_error", "-CAfile"])
            .arg(server.authority().path("ca.crt"))
            .stdin(Stdio::null())
            .output();
        let output = output.expect("openssl is installed");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(shown) && text.contains("Verify return code: 0 (ok)"), "{text}");
    }
    let old = Command::new("openssl")
        .args(["s_client", "-connect", &address, "-tls1_1"])
        .stdin(Stdio::null())
        .output()
        .expect("it was there a moment ago");
    assert!(!old.status.success());
}
