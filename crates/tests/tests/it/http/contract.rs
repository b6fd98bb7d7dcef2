//! What the document of the interface says is what the server does: random requests for each of its
//! paths, right and wrong ones, get a status that it names, and each request its own response.

use super::{client, start};
use basalt_tests::http::HttpClient;
use basalt_tests::random::Random;
use serde_json::Value;

const REQUESTS: u64 = 4_000;
/// Requests that are sent together.
const TOGETHER_MAX: u64 = 12;

struct Request {
    line: String,
    fields: String,
    body: Vec<u8>,
    /// The statuses that the document names.
    statuses: Vec<u16>,
}

#[test]
fn every_response_is_one_that_the_document_names() {
    // Nothing waits, so that nothing takes long.
    let (_server, address) = start(&[("http-wait-max", "0")]);
    let mut http = client(address);
    let text = http.ask("GET /v1/openapi.json", "", b"").body;
    let document: Value = serde_json::from_slice(&text).expect("a document");
    let paths: Vec<(&String, &Value)> = document["paths"].as_object().unwrap().iter().collect();
    let mut random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    let mut sent = 0;
    while sent < REQUESTS {
        let requests: Vec<Request> = (0..=random.below(TOGETHER_MAX))
            .map(|_| {
                let (path, methods) = paths[random.below(paths.len() as u64) as usize];
                let methods: Vec<_> = methods.as_object().unwrap().iter().collect();
                let (method, operation) = methods[random.below(methods.len() as u64) as usize];
                request(&mut random, path, method, operation)
            })
            .collect();
        sent += requests.len() as u64;
        exchange(&mut http, &requests);
    }
}

/// Sends requests together, behind each one whose response can be told from all others.
fn exchange(http: &mut HttpClient, requests: &[Request]) {
    for (number, Request { line, fields, body, .. }) in requests.iter().enumerate() {
        http.request(line, fields, body).unwrap();
        http.request(&format!("GET /v1/strings/none?db=15&mark={number}"), "", b"").unwrap();
    }
    for (number, Request { line, fields, body, statuses }) in requests.iter().enumerate() {
        let shown = || format!("{line}\n{fields}{}", String::from_utf8_lossy(body));
        let method = line.split(' ').next().unwrap();
        let response =
            http.response_to(method).unwrap_or_else(|error| panic!("{error}: {}", shown()));
        let status = response.status;
        assert!(statuses.contains(&status), "{status}: {}\n{}", shown(), response.text());
        assert!(status < 500, "{status}: {}\n{}", shown(), response.text());
        let is_json = response.field("content-type").is_some_and(|kind| kind.contains("json"));
        if is_json {
            let read: Result<Value, _> = serde_json::from_slice(&response.body);
            assert!(read.is_ok(), "{}\n{}", shown(), response.text());
        }
        // The parameter is not known, so the mark is refused, whatever came before.
        let mark = http.response().unwrap();
        assert_eq!(mark.status, 400, "mark {number} behind {}", shown());
        assert!(mark.text().contains("mark"), "{}", mark.text());
    }
}

fn request(random: &mut Random, path: &str, method: &str, operation: &Value) -> Request {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in operation["parameters"].as_array().unwrap() {
        let name = parameter["name"].as_str().unwrap();
        let is_needed = parameter["required"] == true;
        if parameter["in"] == "path" {
            path = path.replace(&format!("{{{name}}}"), &name_of(random));
        } else if is_needed && random.below(8) > 0 || random.below(4) == 0 {
            query.push(format!("{name}={}", value_of(random, &parameter["schema"])));
        }
    }
    let statuses = operation["responses"].as_object().unwrap().keys();
    let (kind, body) = body_of(random, path.as_str());
    let line = format!("{} {path}?{}", method.to_uppercase(), query.join("&"));
    let has_body = operation.get("requestBody").is_some() || random.below(10) == 0;
    Request {
        line: line.trim_end_matches('?').to_owned(),
        fields: if has_body { format!("Content-Type: {kind}\r\n") } else { String::new() },
        body: if has_body { body } else { Vec::new() },
        statuses: statuses.map(|status| status.parse().unwrap()).collect(),
    }
}

/// Few names, so that keys of all types meet all paths; and some that are hard to read.
fn name_of(random: &mut Random) -> String {
    let hard = ["%00", "%ff%fe", "a%2Fb", "%", "%zz", "-1", "0-0", "YQ", "%2B", "..", "*", ""];
    match random.below(4) {
        0 => hard[random.below(hard.len() as u64) as usize].to_owned(),
        _ => format!("k{}", random.below(6)),
    }
}

fn value_of(random: &mut Random, schema: &Value) -> String {
    let wrong = ["", "x", "-1", "0", "1e99", "99999999999999999999", "%ff", "nan", "%", "a%26b"];
    if random.below(3) == 0 {
        return wrong[random.below(wrong.len() as u64) as usize].to_owned();
    }
    if let Some(choices) = schema["enum"].as_array() {
        let choice = &choices[random.below(choices.len() as u64) as usize];
        return choice.as_str().map_or_else(|| choice.to_string(), str::to_owned);
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => random.below(20).to_string(),
        _ => format!("k{}", random.below(6)),
    }
}

fn body_of(random: &mut Random, path: &str) -> (&'static str, Vec<u8>) {
    let commands: &[&str] = &[
        r#"["GET","k1"]"#,
        r#"["LPUSH","k2",1,{"b64":"AP8="}]"#,
        r#"["BLPOP","none",0]"#,
        r#"["XREAD","BLOCK","0","STREAMS","k3","$"]"#,
        r#"["NOSUCH"]"#,
        r#"["MULTI"]"#,
        r#"["EVAL","return {1,{2,false}}",0]"#,
    ];
    let command = commands[random.below(commands.len() as u64) as usize];
    let json: &[&str] = &[
        "[]",
        "{}",
        "[",
        "null",
        r#"["a","b"]"#,
        r#"{"a":1,"b":"2"}"#,
        r#"{"a":{"b64":"AP8="}}"#,
        r#"{"ttl_ms":100000}"#,
        r#"{"ttl_ms":null}"#,
        r#"{"user":"default","password":"x"}"#,
        r#"[[["a"]]]"#,
    ];
    let is_command = path.ends_with("command") || path.ends_with("batch");
    match random.below(4) {
        0 => {
            let length = random.below(40) as usize;
            ("application/octet-stream", random.bytes(length))
        }
        1 => ("application/json", random.bytes(5)),
        _ if path.ends_with("batch") && random.below(4) > 0 => {
            ("application/json", format!("[{command},{command}]").into_bytes())
        }
        _ if is_command && random.below(4) > 0 => ("application/json", command.into()),
        _ => ("application/json", json[random.below(json.len() as u64) as usize].into()),
    }
}
