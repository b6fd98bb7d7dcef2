//! What `docs/grafana` asks for is there: a Prometheus scrapes a server that is in use, and every
//! expression of the dashboard and of the alert rules gives a series.

use super::start;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use basalt_tests::missing::leave_out;
use basalt_tests::server::free_port;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A program that ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grafana").join(name)
}

fn promtool(args: &[&str]) -> Output {
    Command::new("promtool").args(args).stdin(Stdio::null()).output().expect("promtool runs")
}

fn is_prometheus_missing() -> bool {
    let is_there = |name: &str| {
        let mut probe = Command::new(name);
        let found = probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    if is_there("prometheus") && is_there("promtool") {
        return false;
    }
    leave_out("prometheus is not installed", "BASALT_WITHOUT_PROMETHEUS");
    true
}

/// An expression of a file, and where it is.
struct Expression {
    place: String,
    text: String,
}

/// The expressions of the dashboard, with its variables replaced.
fn of_dashboard() -> Vec<Expression> {
    let text = std::fs::read_to_string(docs("basalt.json")).expect("the dashboard");
    let dashboard: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let list = dashboard["templating"]["list"].as_array().expect("variables");
    let variables: BTreeSet<&str> = list.iter().filter_map(|own| own["name"].as_str()).collect();
    assert!(variables.contains("datasource") && variables.contains("instance"));
    let panels = dashboard["panels"].as_array().expect("panels");
    let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has a number of its own");
    assert_no_overlap(panels);
    let mut expressions = Vec::new();
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        assert_eq!(panel["datasource"]["uid"], "${datasource}");
        let title = panel["title"].as_str().expect("a title");
        let targets = panel["targets"].as_array().expect("targets");
        let names: BTreeSet<_> = targets.iter().map(|own| own["refId"].as_str()).collect();
        assert_eq!(names.len(), targets.len(), "{title}");
        for target in targets {
            let text = target["expr"].as_str().expect("an expression");
            let text = text.replace("$__rate_interval", "1m").replace("$instance", ".*");
            assert!(!text.contains('$'), "{title}: an unknown variable in {text}");
            expressions.push(Expression { place: title.to_owned(), text });
        }
    }
    expressions
}

fn assert_no_overlap(panels: &[serde_json::Value]) {
    let mut taken = BTreeSet::new();
    for panel in panels {
        let of = |name: &str| panel["gridPos"][name].as_u64().expect("a place");
        assert!(of("x") + of("w") <= 24, "{}", panel["title"]);
        for cell in (0..of("w")).flat_map(|x| (0..of("h")).map(move |y| (x, y))) {
            let is_free = taken.insert((of("x") + cell.0, of("y") + cell.1));
            assert!(is_free, "{} lies over another panel", panel["title"]);
        }
    }
}

/// What the alert rules compare, without what they compare it with: a healthy server raises none.
fn of_rules() -> Vec<Expression> {
    let text = std::fs::read_to_string(docs("alerts.yml")).expect("the rules");
    let mut expressions = Vec::new();
    for line in text.lines() {
        let Some(condition) = line.trim().strip_prefix("expr: ") else { continue };
        for part in condition.split(" and ") {
            let cut = [" == ", " < ", " > "].iter().filter_map(|sign| part.rfind(sign)).max();
            let text = part[..cut.expect("a comparison")].to_owned();
            expressions.push(Expression { place: "alerts.yml".to_owned(), text });
        }
    }
    assert!(expressions.len() >= 10);
    expressions
}

/// Names of metrics in an expression.
fn names(expression: &str) -> impl Iterator<Item = &str> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = expression.split(move |letter| !is_word(letter));
    words.filter(|word| word.starts_with("basalt_") || word.starts_with("process_"))
}

/// Some of everything.
fn use_it(redis: &mut Connection, http: &mut HttpClient) {
    for line in [
        "SET a 1 EX 1000",
        "GET a",
        "GET none",
        "LPUSH a x",
        "SET a",
        "HSET h f v",
        "EVAL return(1) 0",
        "PUBLISH c m",
    ] {
        redis.run(line).unwrap();
    }
    http.ask("GET /v1/strings/a", "", b"");
}

/// Prometheus, which scrapes this server every second.
fn prometheus(dir: &Path, server: SocketAddr) -> (Running, String) {
    let config = format!(
        "global: {{scrape_interval: 1s}}\n\
         scrape_configs:\n- job_name: basalt\n  static_configs: [{{targets: [\"{server}\"]}}]\n"
    );
    let file = dir.join("prometheus.yml");
    std::fs::write(&file, config).unwrap();
    let address = format!("127.0.0.1:{}", free_port().unwrap());
    let child = Command::new("prometheus")
        .arg(format!("--config.file={}", file.display()))
        .arg(format!("--storage.tsdb.path={}", dir.join("data").display()))
        .arg(format!("--web.listen-address={address}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("prometheus starts");
    (Running(child), format!("http://{address}"))
}

#[test]
fn every_expression_gives_a_series() {
    if is_prometheus_missing() {
        return;
    }
    let (server, address) = start(&[("maxmemory", "1gb")]);
    let (mut redis, mut http) = (server.connect(), super::client(address));
    redis.run("CONFIG SET slowlog-log-slower-than 0").unwrap();
    use_it(&mut redis, &mut http);
    redis.run("SAVE").unwrap();
    let exported = http.ask("GET /metrics", "", b"").text();
    let expressions: Vec<Expression> = of_dashboard().into_iter().chain(of_rules()).collect();
    for Expression { place, text } in &expressions {
        let mut names = names(text).peekable();
        assert!(names.peek().is_some() || text.contains("up{"), "{place}: {text}");
        for name in names {
            let ends = ["_bucket", "_sum", "_count", ""];
            let mut stems = ends.iter().filter_map(|end| name.strip_suffix(end));
            let is_there = stems.any(|stem| exported.contains(&format!("# TYPE {stem} ")));
            assert!(is_there, "{place}: nothing exports {name}");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let (_prometheus, url) = prometheus(dir.path(), address);
    let mut missing: Vec<&Expression> = expressions.iter().collect();
    let start = Instant::now();
    while !missing.is_empty() {
        let seen: Vec<&str> = missing.iter().map(|own| own.text.as_str()).collect();
        assert!(start.elapsed() < PATIENCE, "no series: {seen:#?}");
        use_it(&mut redis, &mut http);
        std::thread::sleep(Duration::from_millis(500));
        missing.retain(|expression| !has_series(&url, expression));
    }
}

/// Asks Prometheus, which has no series before it has come up.
fn has_series(url: &str, Expression { place, text }: &Expression) -> bool {
    let answer = promtool(&["query", "instant", url, text]);
    let problem = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(
        !problem.contains("bad_data") && !problem.contains("parse error"),
        "{place}: {problem}"
    );
    answer.status.success() && answer.stdout.iter().any(|byte| !byte.is_ascii_whitespace())
}

#[test]
fn the_names_and_the_rules_are_as_prometheus_wants_them() {
    if is_prometheus_missing() {
        return;
    }
    let (server, address) = start(&[]);
    let mut http = super::client(address);
    use_it(&mut server.connect(), &mut http);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("metrics");
    std::fs::write(&file, http.ask("GET /metrics", "", b"").body).unwrap();
    let linted = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(std::fs::File::open(&file).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&linted.stderr).into_owned();
    assert!(linted.status.success() && said.is_empty(), "{said}");
    let rules = promtool(&["check", "rules", &docs("alerts.yml").display().to_string()]);
    assert!(rules.status.success(), "{}", String::from_utf8_lossy(&rules.stderr));
}
