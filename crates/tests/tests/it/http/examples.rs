//! The examples of docs/http.md: each is sent as it stands, and gets the status that it names.

use super::{client, start};

/// What curl sends for a line.
#[derive(Default)]
struct Example {
    method: Option<String>,
    target: String,
    fields: String,
    body: Vec<u8>,
}

/// The words of a line of shell, and its comment.
fn words(line: &str) -> (Vec<String>, String) {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match character {
            '\'' => is_quoted = !is_quoted,
            '#' if !is_quoted && word.is_empty() => {
                return (words, rest.as_str().trim().to_owned());
            }
            ' ' if !is_quoted && !word.is_empty() => words.push(std::mem::take(&mut word)),
            ' ' if !is_quoted => {}
            _ => word.push(character),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    (words, String::new())
}

fn example(words: &[String]) -> Example {
    let mut example = Example::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("an option has a value").as_str();
        match word.as_str() {
            "-X" => example.method = Some(value().to_owned()),
            "-H" => example.fields.push_str(&format!("{}\r\n", value())),
            "-r" => example.fields.push_str(&format!("Range: bytes={}\r\n", value())),
            "-o" => drop(value()),
            "-si" => {}
            // What becomes of the response.
            "|" => break,
            "-d" => {
                example.method.get_or_insert_with(|| "POST".to_owned());
                example.body = value().as_bytes().to_vec();
            }
            "-T" => {
                value();
                example.method.get_or_insert_with(|| "PUT".to_owned());
                example.body = vec![b'x'; 5_000];
            }
            url => {
                let at = url.find("/v1/").expect("a path of ours");
                example.target = url[at..].to_owned();
            }
        }
    }
    example
}

#[test]
fn the_examples_of_the_page_run() {
    let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/http.md"));
    // Nothing waits, so that nothing takes long.
    let (_server, address) = start(&[("http-wait-max", "0")]);
    let mut http = client(address);
    let (mut ran, mut tag) = (0, String::new());
    http.ask("PUT /v1/strings/n", "", b"7");
    for line in page.lines().filter_map(|line| line.strip_prefix("curl ")) {
        let (words, comment) = words(line);
        let Example { method, target, mut fields, body } = example(&words);
        if fields.contains("If-Match") {
            // The page shows the tag of another value.
            fields = format!("If-Match: {tag}\r\n");
        }
        let method = method.unwrap_or_else(|| "GET".to_owned());
        let response = http.ask(&format!("{method} {target}"), &fields, &body);
        let named = comment.split(|it: char| !it.is_ascii_digit()).filter(|it| it.len() == 3);
        let named: Vec<u16> = named.filter_map(|it| it.parse().ok()).collect();
        let status = response.status;
        tag = response.field("etag").unwrap_or_default().to_owned();
        let is_shown = status == 200 && comment.contains('{');
        let is_right = if named.is_empty() { status < 300 } else { named.contains(&status) };
        assert!(is_right || is_shown, "{line}: {status} {}", response.text());
        ran += 1;
    }
    assert!(ran > 10, "{ran} examples");
}
