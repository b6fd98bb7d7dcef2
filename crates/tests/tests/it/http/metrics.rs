//! `/metrics`, from outside.

use super::{client, start};
use basalt_resp::Value;
use basalt_tests::http::HttpClient;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A report is given out for a second.
const A_REPORT: Duration = Duration::from_millis(1_050);
/// How long something may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

type Values = BTreeMap<String, f64>;

/// The values of a text, by series; whatever its lines are, each is there once.
fn values(text: &str) -> Values {
    let mut values = Values::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').expect("a series and its value");
        let value = value.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(values.insert(series.to_owned(), value).is_none(), "{series} twice");
    }
    values
}

fn scrape(http: &mut HttpClient) -> Values {
    let response = http.ask("GET /metrics", "", b"");
    assert_eq!(response.status, 200, "{}", response.text());
    values(&response.text())
}

/// Scrapes until the values are as they are to be.
fn scrape_until(http: &mut HttpClient, what: &str, is_it: impl Fn(&Values) -> bool) -> Values {
    let start = Instant::now();
    loop {
        let values = scrape(http);
        if is_it(&values) {
            return values;
        }
        assert!(start.elapsed() < PATIENCE, "{what}: {values:#?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn values_move_as_commands_run() {
    let (server, address) = start(&[("maxmemory", "1gb")]);
    let mut http = client(address);
    let mut redis = server.connect();
    for line in ["SET a 1", "GET a", "GET none", "GET a", "HSET h f v", "LPUSH a x", "SET a", "X"] {
        redis.run(line).unwrap();
    }
    http.ask("PUT /v1/strings/b?ttl=1000", "", b"v");
    let is_counted = |values: &Values| {
        values.get("basalt_commands_total{cmd=\"get\"}") == Some(&3.0)
            && values.get("basalt_keys{db=\"0\"}") == Some(&3.0)
            && values["basalt_request_duration_seconds_count{front=\"http\"}"] >= 1.0
    };
    let values = scrape_until(&mut http, "commands are counted", is_counted);
    for (series, value) in [
        ("basalt_commands_total{cmd=\"set\"}", 2.0),
        ("basalt_commands_failed_total{cmd=\"lpush\"}", 1.0),
        ("basalt_commands_rejected_total{cmd=\"set\"}", 1.0),
        ("basalt_errors_total{code=\"WRONGTYPE\"}", 1.0),
        ("basalt_errors_total{code=\"ERR\"}", 2.0),
        ("basalt_keyspace_hits_total", 2.0),
        ("basalt_keyspace_misses_total", 1.0),
        ("basalt_keys_expiring{db=\"0\"}", 1.0),
        ("basalt_command_duration_seconds_count{family=\"hash\"}", 1.0),
        ("basalt_command_duration_seconds_count{family=\"string\"}", 5.0),
        ("basalt_command_duration_seconds_bucket{family=\"string\",le=\"+Inf\"}", 5.0),
        ("basalt_connections{front=\"http\"}", 1.0),
        ("basalt_connections_accepted_total{front=\"http\"}", 1.0),
        ("basalt_memory_max_bytes", 1_073_741_824.0),
        ("basalt_ready", 1.0),
        ("basalt_journal_healthy", 1.0),
        ("basalt_changes_total", 3.0),
    ] {
        assert_eq!(values.get(series), Some(&value), "{series}");
    }
    for series in [
        "basalt_command_seconds_total{cmd=\"get\"}",
        "basalt_network_receive_bytes_total",
        "basalt_network_transmit_bytes_total{front=\"resp\"}",
        "basalt_network_transmit_bytes_total{front=\"http\"}",
        "basalt_request_duration_seconds_sum{front=\"resp\"}",
        "basalt_memory_bytes{part=\"index\"}",
        "basalt_journal_appended_bytes_total",
        "basalt_journal_replay_bytes",
        "basalt_disk_free_bytes",
        "basalt_uptime_seconds",
        "basalt_thread_cpu_seconds_total{thread=\"net-0\"}",
        "process_resident_memory_bytes",
        "process_open_fds",
        "process_start_time_seconds",
    ] {
        let is_there = values.get(series).is_some_and(|&value| value >= 0.0);
        assert!(is_there, "{series}: {:?}", values.get(series));
    }
    redis.run("SAVE").unwrap();
    let saved = |values: &Values| values["basalt_checkpoints_total{result=\"ok\"}"] >= 1.0;
    let values = scrape_until(&mut http, "a checkpoint is counted", saved);
    assert!(values["basalt_checkpoint_duration_seconds_count"] >= 1.0);
    assert_eq!(values["basalt_checkpoint_pending_changes"], 0.0);
}

#[test]
fn each_response_is_counted_once_in_its_class() {
    let (_server, address) = start(&[]);
    let (mut http, mut other) = (client(address), client(address));
    let of = |values: &Values, class| {
        values[&format!("basalt_http_responses_total{{class=\"{class}\"}}")]
    };
    let before = scrape(&mut http);
    assert_eq!([of(&before, "1xx"), of(&before, "4xx"), of(&before, "5xx")], [0.0; 3]);
    for (line, fields, status) in [
        ("PUT /v1/strings/a", "", 201),
        ("PUT /v1/strings/a", "", 204),
        ("GET /v1/strings/a", "", 200),
        ("HEAD /v1/strings/a", "", 200),
        ("GET /v1/strings/a", "If-None-Match: *\r\n", 304),
        ("GET /v1/strings/none", "", 404),
        ("GET /nothing/here", "", 404),
        ("GET /v1/strings/a", "Range: bytes=5-6\r\n", 416),
        // The connection closes.
        ("GET /v1/strings/a", "Transfer-Encoding: gzip\r\n", 400),
    ] {
        assert_eq!(other.ask(line, fields, b"").status, status, "{line} {fields}");
    }
    let is_counted = |values: &Values| of(values, "4xx") >= 4.0;
    let values = scrape_until(&mut http, "responses are counted", is_counted);
    let counted = ["1xx", "3xx", "4xx", "5xx"].map(|class| of(&values, class));
    assert_eq!(counted, [0.0, 1.0, 4.0, 0.0]);
    // And reports.
    assert!(of(&values, "2xx") >= of(&before, "2xx") + 4.0);
}

/// What only grows: counters and histograms. A thread that has ended takes its series along.
fn only_grows(series: &str) -> bool {
    let name = series.split('{').next().unwrap_or_default();
    if name == "basalt_thread_cpu_seconds_total" {
        return false;
    }
    ["_total", "_bucket", "_sum", "_count"].iter().any(|end| name.ends_with(end))
}

/// Others stop with the test that they are for, also when it fails.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn counters_never_go_back_and_buckets_add_up() {
    let (server, address) = start(&[]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..3 {
            let (server, stop) = (&server, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    // Connections come and go, by both protocols.
                    let (mut redis, mut http) = (server.connect(), client(address));
                    for key in 0..50 {
                        redis.run(&format!("SET {number}:{key} v")).unwrap();
                        http.ask(&format!("GET /v1/strings/{key}"), "", b"");
                    }
                }
            });
        }
        let _stopping = Stopping(&stop);
        let mut http = client(address);
        let mut before = Values::new();
        for _ in 0..4 {
            let now = scrape(&mut http);
            for (series, value) in before.iter().filter(|(series, _)| only_grows(series)) {
                assert!(now.get(series) >= Some(value), "{series}: {value}, {:?}", now.get(series));
            }
            for front in ["resp", "http"] {
                let name = |part: &str| format!("basalt_request_duration_seconds_{part}");
                let all = now[&format!("{}{{front=\"{front}\"}}", name("count"))];
                let of = format!("{}{{front=\"{front}\",le=\"+Inf\"}}", name("bucket"));
                assert_eq!(now[&of], all);
            }
            before = now;
            std::thread::sleep(A_REPORT);
        }
        // The first report may be older than the first request.
        assert!(before["basalt_request_duration_seconds_count{front=\"resp\"}"] > 0.0);
    });
}

#[test]
fn a_client_chooses_the_text_and_proves_who_it_is() {
    let (_server, address) = start(&[("requirepass", "secret")]);
    let mut http = client(address);
    assert_eq!(http.ask("GET /metrics", "", b"").status, 401);
    assert_eq!(http.ask("GET /health/live", "", b"").status, 200);
    // default:secret
    let who = "Authorization: Basic ZGVmYXVsdDpzZWNyZXQ=\r\n";
    let plain = http.ask("GET /metrics", who, b"");
    assert_eq!(plain.status, 200);
    assert_eq!(plain.field("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert!(!plain.text().contains("# EOF"));
    // As Prometheus asks.
    let accept = "Accept: application/openmetrics-text;version=1.0.0,\
                  application/openmetrics-text;version=0.0.1;q=0.75,text/plain;q=0.5\r\n";
    let open = http.ask("GET /metrics", &format!("{who}{accept}"), b"");
    let of_open = Some("application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert_eq!((open.status, open.field("content-type")), (200, of_open));
    assert!(open.text().ends_with("\n# EOF\n"));
    assert!(open.text().contains("# TYPE basalt_commands counter\n"));
    let head = http.ask("HEAD /metrics", who, b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(http.ask("POST /metrics", who, b"").status, 405);
    // The connection goes on.
    assert_eq!(http.ask("GET /health/ready", "", b"").status, 200);
}

#[test]
fn a_script_that_holds_every_partition_does_not_hold_a_report() {
    let (server, address) = start(&[("busy-reply-threshold", "50"), ("io-threads", "1")]);
    let mut http = client(address);
    let mut redis = server.connect();
    redis.run("SET a 1").unwrap();
    let counted = |values: &Values| values.get("basalt_keys{db=\"0\"}") == Some(&1.0);
    scrape_until(&mut http, "the key is counted", counted);
    let mut other = server.connect();
    other.send(&["EVAL", "while true do end", "0"]).unwrap();
    let busy = |values: &Values| values["basalt_script_busy"] == 1.0;
    let values = scrape_until(&mut http, "the script is known", busy);
    // Keys are those of the last census.
    assert_eq!(values["basalt_keys{db=\"0\"}"], 1.0);
    std::thread::sleep(A_REPORT);
    let start = Instant::now();
    assert!(busy(&scrape(&mut http)));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    redis.run("SCRIPT KILL").unwrap();
    let killed = other.receive().unwrap();
    let Value::Error(text) = killed else { panic!("{killed:?}") };
    assert!(String::from_utf8_lossy(&text).contains("killed by user"));
}

/// How long a GET takes, for the slowest hundredth, while some work goes on.
fn slowest_hundredth(
    address: SocketAddr,
    server: &basalt_tests::server::Server,
    scrapes: bool,
) -> Duration {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for form in ["", "Accept: application/openmetrics-text\r\n"].iter().filter(|_| scrapes) {
            let stop = &stop;
            scope.spawn(move || {
                let mut http = client(address);
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(http.ask("GET /metrics", form, b"").status, 200);
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
        }
        let _stopping = Stopping(&stop);
        let mut redis = server.connect();
        let mut times = Vec::new();
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(3) {
            let before = Instant::now();
            redis.run("GET a").unwrap();
            times.push(before.elapsed());
        }
        times.sort_unstable();
        times[times.len() * 99 / 100]
    })
}

#[test]
fn scrapes_do_not_slow_others_down() {
    let (server, address) = start(&[("io-threads", "1")]);
    server.connect().run("SET a 1").unwrap();
    let without = slowest_hundredth(address, &server, false);
    let with = slowest_hundredth(address, &server, true);
    eprintln!("P99 of a GET: {without:?}, with 200 scrapes a second {with:?}");
    assert!(with < without * 5 + Duration::from_millis(20), "{with:?} after {without:?}");
}
