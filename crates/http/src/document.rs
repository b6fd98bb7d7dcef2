//! The interface as an OpenAPI 3.1 document, and as a page of the reference: both are written from
//! the table of paths.

use crate::operation::{
    Asks, Body, FeedKind, Items, Kind, Operation, Parameter, Route, Run, Segment,
};
use crate::table::{BASE64, DB, KEY, ROUTES};
use basalt_http1::Method;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The statuses of errors that every request may get.
const ERRORS: [(&str, &str); 17] = [
    ("400", "The request is wrong, or the command says so"),
    ("401", "The password is missing or wrong"),
    ("403", "A page of another site, or a user, may not do this"),
    ("405", "The path does not take the method"),
    ("408", "The request has not come in time"),
    ("409", "The key holds another type"),
    ("412", "The condition of the request is not met"),
    ("413", "The body is too large"),
    ("414", "The target is too long"),
    ("415", "The body must be called JSON"),
    ("417", "The expectation is not known"),
    ("421", "The server is not known by this name"),
    ("431", "The head is too large"),
    ("501", "The method is not known"),
    ("503", "Not now: loading, busy, or changes cannot be kept"),
    ("504", "The log has failed: what was changed may be there after a restart or not"),
    ("507", "There is no memory left for it"),
];

/// The document, which does not change while the process runs.
pub(crate) fn openapi() -> &'static [u8] {
    static DOCUMENT: OnceLock<Vec<u8>> = OnceLock::new();
    DOCUMENT.get_or_init(|| serde_json::to_vec(&written()).expect("text can be written"))
}

fn written() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        paths.insert(path(route.path), methods(route, false));
        if let Some((Segment::Key, before)) = route.path.split_last() {
            // The key may be a parameter, unless the path has a meaning without one.
            let shorter = path(before);
            if !ROUTES.iter().any(|other| path(other.path) == shorter) {
                paths.insert(shorter, methods(route, true));
            }
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Basalt",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The data API of Basalt. See docs/http.md.",
            "license": { "name": "Apache 2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": { "Problem": problem() },
            "securitySchemes": {
                "basic": { "type": "http", "scheme": "basic" },
                "bearer": { "type": "http", "scheme": "bearer" },
            },
        },
        "security": [{}, { "basic": [] }, { "bearer": [] }],
    })
}

fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "code": { "type": "string" },
        },
    })
}

/// A path as OpenAPI writes it.
fn path(segments: &[Segment]) -> String {
    segments.iter().fold(String::new(), |path, segment| match segment {
        Segment::Text(text) => format!("{path}/{text}"),
        Segment::Key => format!("{path}/{{key}}"),
        Segment::Name(name) | Segment::Within(name) => format!("{path}/{{{name}}}"),
    })
}

/// What a path takes, by method; with the key as a parameter of the query, or of the path.
fn methods(route: &Route, has_key_beside: bool) -> Value {
    let mut methods = Map::new();
    for method in [Method::Get, Method::Put, Method::Post, Method::Patch, Method::Delete] {
        let operations: Vec<&Operation> =
            route.operations.iter().filter(|operation| operation.method == method).collect();
        if operations.is_empty() {
            continue;
        }
        methods
            .insert(name_of(method).to_lowercase(), described(route, &operations, has_key_beside));
    }
    Value::Object(methods)
}

/// Operations with one method of one path, which OpenAPI cannot tell apart, as one.
fn described(route: &Route, operations: &[&Operation], has_key_beside: bool) -> Value {
    let summaries: Vec<String> = operations.iter().map(|one| summary(one)).collect();
    let mut described = Map::new();
    described.insert("summary".to_owned(), json!(summaries.join("; ")));
    described.insert("parameters".to_owned(), parameters(route, operations, has_key_beside));
    if let Some(body) = body(operations) {
        described.insert("requestBody".to_owned(), body);
    }
    described.insert("responses".to_owned(), responses(operations));
    Value::Object(described)
}

fn summary(operation: &Operation) -> String {
    match operation.when {
        Some((name, value)) => format!("{name}={value}: {}", operation.summary),
        None => operation.summary.to_owned(),
    }
}

fn parameters(route: &Route, operations: &[&Operation], has_key_beside: bool) -> Value {
    let mut all: Vec<Value> = Vec::new();
    for segment in route.path {
        let name = match segment {
            Segment::Text(_) => continue,
            Segment::Key if has_key_beside => {
                all.push(parameter(&KEY, true));
                continue;
            }
            Segment::Key => "key",
            Segment::Name(name) | Segment::Within(name) => name,
        };
        let schema = json!({ "type": "string", "minLength": 1 });
        all.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    }
    all.extend(verbs(operations));
    let mut known: Vec<&str> =
        operations.iter().filter_map(|operation| operation.when).map(|(name, _)| name).collect();
    let own = operations.iter().flat_map(|operation| operation.parameters.iter().copied());
    let on_data = operations.iter().any(|operation| operation.is_on_data());
    if operations.iter().any(|operation| matches!(operation.run, Run::Events(FeedKind::Stream))) {
        let about = "The last event that the client has got.";
        let schema = json!({ "type": "string" });
        all.push(json!({
            "name": "Last-Event-ID", "in": "header", "description": about, "schema": schema,
        }));
    }
    if operations.iter().any(|operation| operation.may_change()) {
        let about = "The response waits until what the request changes is on disk.";
        let schema = json!({ "type": "string", "enum": ["yes"] });
        all.push(json!({
            "name": "Durable", "in": "header", "description": about, "schema": schema,
        }));
    }
    let has_db = on_data || operations.iter().any(|one| matches!(one.run, Run::Any | Run::Batch));
    let general = [(&DB, has_db), (&BASE64, on_data)];
    let general = general.into_iter().filter_map(|(parameter, has)| has.then_some(parameter));
    for found in own.chain(general) {
        if !known.contains(&found.name) {
            known.push(found.name);
            all.push(parameter(found, false));
        }
    }
    Value::Array(all)
}

/// The parameters that tell operations apart.
fn verbs(operations: &[&Operation]) -> Vec<Value> {
    let mut verbs: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, value) in operations.iter().filter_map(|operation| operation.when) {
        match verbs.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => verbs.push((name, vec![value])),
        }
    }
    let is_required = operations.iter().all(|operation| operation.when.is_some());
    verbs
        .into_iter()
        .map(|(name, mut values)| {
            for operation in operations {
                let own = operation.parameters.iter().find(|parameter| parameter.name == name);
                if let Some(Kind::Choice(choices)) = own.map(|parameter| parameter.kind) {
                    values.extend(choices.iter().map(|(value, _)| *value));
                }
            }
            let schema = json!({ "type": "string", "enum": values });
            json!({ "name": name, "in": "query", "required": is_required, "schema": schema })
        })
        .collect()
}

fn parameter(parameter: &Parameter, is_required: bool) -> Value {
    let schema = match parameter.kind {
        Kind::Bytes | Kind::Name => json!({ "type": "string" }),
        Kind::Number { min, max } => {
            let mut schema = json!({ "type": "integer", "format": "int64" });
            let bounds = [("minimum", min, i64::MIN), ("maximum", max, i64::MAX)];
            for (name, bound, none) in bounds {
                if bound != none {
                    schema[name] = json!(bound);
                }
            }
            schema
        }
        Kind::Seconds => json!({ "type": "number", "minimum": 0 }),
        Kind::Flag => json!({ "type": "integer", "enum": [0, 1] }),
        Kind::Choice(choices) => {
            let values: Vec<&str> = choices.iter().map(|(value, _)| *value).collect();
            json!({ "type": "string", "enum": values })
        }
    };
    json!({
        "name": parameter.name,
        "in": "query",
        "required": is_required,
        "description": parameter.about,
        "schema": schema,
    })
}

/// What they take as their body, if one of them does.
fn body(operations: &[&Operation]) -> Option<Value> {
    let mut content = Map::new();
    for operation in operations {
        let (is_bytes, items) = match operation.body {
            Body::None => continue,
            Body::Bytes => (true, None),
            Body::Json(items) => (false, Some(items)),
            Body::BytesOrJson(items) => (true, Some(items)),
        };
        if is_bytes {
            content.insert("application/octet-stream".to_owned(), json!({}));
        }
        if let Some(items) = items {
            content.insert("application/json".to_owned(), json!({ "schema": schema(items) }));
        }
    }
    let is_required = operations.iter().all(|one| matches!(one.body, Body::Json(_)));
    (!content.is_empty()).then(|| json!({ "required": is_required, "content": content }))
}

fn schema(items: Items) -> Value {
    let bytes = json!({
        "type": "object",
        "required": ["b64"],
        "additionalProperties": false,
        "properties": { "b64": { "type": "string", "contentEncoding": "base64" } },
    });
    let word = json!({ "anyOf": [{ "type": "string" }, { "type": "number" }, bytes] });
    match items {
        Items::Words => json!({ "type": "array", "minItems": 1, "items": word }),
        Items::Fields => {
            json!({ "type": "object", "minProperties": 1, "additionalProperties": word })
        }
        Items::Commands => json!({
            "type": "array",
            "minItems": 1,
            "maxItems": 1000,
            "items": { "type": "array", "minItems": 1, "items": word },
        }),
        Items::Password => json!({
            "type": "object",
            "required": ["password"],
            "additionalProperties": false,
            "properties": { "user": { "type": "string" }, "password": { "type": "string" } },
        }),
        Items::Expiry => json!({
            "type": "object",
            "required": ["ttl_ms"],
            "additionalProperties": false,
            "properties": { "ttl_ms": { "type": ["integer", "null"], "minimum": 1 } },
        }),
        Items::Scores => json!({
            "type": "object",
            "minProperties": 1,
            "additionalProperties": { "anyOf": [{ "type": "number" }, { "type": "string" }] },
        }),
    }
}

fn responses(operations: &[&Operation]) -> Value {
    let mut all = Map::new();
    for (status, about) in ERRORS {
        let schema = json!({ "$ref": "#/components/schemas/Problem" });
        let content = json!({ "application/problem+json": { "schema": schema } });
        all.insert(status.to_owned(), json!({ "description": about, "content": content }));
    }
    for operation in operations {
        for status in operation.statuses {
            let (about, has_body) = match status {
                101 => ("A WebSocket", false),
                200 => ("Done, and here it is", true),
                201 => ("Something is there that was not", false),
                204 => ("Done, or there is nothing to say", false),
                206 => ("The part that was asked for", true),
                304 => ("The client has what there is", false),
                404 => ("There is nothing of the kind", false),
                426 => ("Another version of WebSockets is meant", false),
                416 => ("The part is behind the end", false),
                _ => continue,
            };
            let mut response = json!({ "description": about });
            let before = all.get(&status.to_string()).and_then(|before| before.get("content"));
            let mut content = before.and_then(Value::as_object).cloned().unwrap_or_default();
            if has_body && operation.asks() == Asks::Events {
                content.insert("text/event-stream".to_owned(), json!({}));
            } else if has_body {
                content.insert("*/*".to_owned(), json!({}));
            }
            if has_body {
                response["content"] = Value::Object(content);
            }
            all.insert(status.to_string(), response);
        }
    }
    Value::Object(all)
}

/// What a request says beside its method, to be meant.
#[cfg(test)]
fn demand(operation: &Operation) -> &'static str {
    match operation.asks() {
        Asks::Response => "",
        Asks::Events => " with `Accept: text/event-stream`",
        Asks::Socket => " with `Upgrade: websocket`",
    }
}

fn name_of(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Patch => "PATCH",
        Method::Options => "OPTIONS",
    }
}

/// The page of the reference.
#[cfg(test)]
fn page() -> String {
    let mut page = String::from(
        "# Paths of HTTP\n\nWritten from the table of paths (`crates/http/src/table`): do not edit. \
         The same as OpenAPI 3.1 is at\n`/v1/openapi.json`; [HTTP](../http.md) explains it. All paths \
         on data also take `db` and `b64`, and `key` instead of\nthe last part of the path where that \
         is the key; all requests on data but `GET` also take the\nfield `Durable: yes`.\n",
    );
    for route in ROUTES {
        page.push_str(&format!("\n## `{}`\n\n", path(route.path)));
        page.push_str("| request | | body | statuses |\n|---|---|---|---|\n");
        let mut explained: Vec<(&str, &str)> = Vec::new();
        for operation in route.operations {
            page.push_str(&row(operation));
            for parameter in operation.parameters {
                let about = (parameter.name, parameter.about);
                if !explained.contains(&about) {
                    explained.push(about);
                }
            }
        }
        for (number, (name, about)) in explained.iter().enumerate() {
            let before = if number == 0 { "\n" } else { "" };
            page.push_str(&format!("{before}- `{name}`: {about}\n"));
        }
    }
    page.push_str("\n## Errors\n\n| status | |\n|---|---|\n");
    for (status, about) in ERRORS {
        page.push_str(&format!("| {status} | {about} |\n"));
    }
    page
}

/// An operation as a row of a table.
#[cfg(test)]
fn row(operation: &Operation) -> String {
    let names = operation.parameters.iter().map(|parameter| parameter.name.to_owned());
    let verb = operation.when.map(|(name, value)| format!("{name}={value}"));
    let query: Vec<String> = verb.into_iter().chain(names).collect();
    let query = if query.is_empty() { String::new() } else { format!(" ?{}", query.join(" &")) };
    let body = match operation.body {
        Body::None => "",
        Body::Bytes => "any bytes",
        Body::Json(_) => "JSON",
        Body::BytesOrJson(_) => "any bytes, or JSON",
    };
    let statuses: Vec<String> = operation.statuses.iter().map(u16::to_string).collect();
    let (method, statuses) = (name_of(operation.method), statuses.join(", "));
    let demand = demand(operation);
    format!("| `{method}{query}`{demand} | {} | {body} | {statuses} |\n", operation.summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_REFERENCE=1 cargo test -p basalt-http the_reference_page_is_current` writes it.
    #[test]
    fn the_reference_page_is_current() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/http.md");
        let page = page();
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            std::fs::write(file, &page).unwrap();
        }
        let checked_in = std::fs::read_to_string(file).unwrap_or_default();
        assert!(checked_in == page, "docs/reference/http.md is stale: run with UPDATE_REFERENCE=1");
    }

    #[test]
    fn each_path_has_its_parameters_and_responses() {
        let document: Value = serde_json::from_slice(openapi()).unwrap();
        let list = &document["paths"]["/v1/lists/{key}"];
        assert_eq!(list["post"]["parameters"][1]["name"], "op");
        assert_eq!(list["post"]["parameters"][1]["required"], false);
        assert!(list["post"]["responses"]["204"].is_object());
        assert_eq!(document["paths"]["/v1/lists"]["get"]["parameters"][0]["in"], "query");
        let by = &document["paths"]["/v1/sorted-sets/{key}"]["get"]["parameters"][1];
        assert_eq!(by["schema"]["enum"], json!(["score", "lex", "rank"]));
        assert!(document["paths"]["/v1/keys"]["get"]["parameters"][0]["name"] == "cursor");
        let names = |path: &str, method: &str| {
            let all = document["paths"][path][method]["parameters"].as_array().cloned();
            all.unwrap_or_default().iter().any(|one| one["name"] == "Durable")
        };
        for (path, method, takes) in [
            ("/v1/strings/{key}", "put", true),
            ("/v1/strings/{key}", "get", false),
            ("/v1/keys/{key}", "patch", true),
            ("/v1/command", "post", true),
            ("/v1/batch", "post", true),
            ("/v1/login", "post", false),
        ] {
            assert_eq!(names(path, method), takes, "{method} {path}");
        }
    }

    /// In the description of one operation, a name has one meaning.
    #[test]
    fn no_parameter_is_known_twice() {
        for operation in ROUTES.iter().flat_map(|route| route.operations) {
            for (index, parameter) in operation.parameters.iter().enumerate() {
                let before = &operation.parameters[..index];
                assert!(before.iter().all(|other| other.name != parameter.name));
                assert!(![DB.name, BASE64.name, KEY.name].contains(&parameter.name));
            }
            assert!(!operation.summary.is_empty() && !operation.summary.ends_with('.'));
        }
    }
}
