//! The trees of COMMAND INFO and COMMAND DOCS, as Redis 7.0 replies.

use basalt_spec::Node;

use crate::samples::table;

/// One line: arrays in `[]`, sets in `{}`, maps in `()`, simple strings after `+`.
fn written(node: &Node<'_>) -> String {
    let joined = |nodes: &[Node<'_>]| nodes.iter().map(written).collect::<Vec<_>>().join(" ");
    match node {
        Node::Bulk(text) => format!("{text:?}"),
        Node::Simple(text) => format!("+{text}"),
        Node::Integer(value) => value.to_string(),
        Node::Array(nodes) => format!("[{}]", joined(nodes)),
        Node::Set(nodes) => format!("{{{}}}", joined(nodes)),
        Node::Map(fields) => {
            let field = |(key, value): &(&str, Node<'_>)| format!("{key}={}", written(value));
            format!("({})", fields.iter().map(field).collect::<Vec<_>>().join(" "))
        }
    }
}

fn info(name: &str) -> String {
    let table = table();
    written(&table.info(table.lookup_full_name(name.as_bytes()).expect(name)))
}

fn docs(name: &str) -> String {
    let table = table();
    written(&table.docs(table.lookup_full_name(name.as_bytes()).expect(name)))
}

const AT_FIRST: &str = "begin_search=(type=\"index\" spec=(index=1)) \
                        find_keys=(type=\"range\" spec=(lastkey=0 keystep=1 limit=0))";

#[test]
fn info_has_ten_fields() {
    assert_eq!(
        info("set"),
        format!(
            "[\"set\" -3 {{+write +denyoom}} 1 1 1 {{+@write +@string +@slow}} {{}} \
             {{(flags={{+RW +access +update +variable_flags}} {AT_FIRST})}} {{}}]"
        )
    );
    assert_eq!(
        info("keys"),
        "[\"keys\" 2 {+readonly} 0 0 0 {+@keyspace +@read +@slow +@dangerous} \
         {\"request_policy:all_shards\"} {} {}]"
    );
    assert!(
        info("object").starts_with("[\"object\" -2 {} 0 0 0 {+@slow} {} {} {[\"object|freq\" 3")
    );
}

#[test]
fn info_hides_what_redis_hides() {
    assert!(info("debug").starts_with("[\"debug\" -2 {+admin} 0 0 0"));
    assert!(info("eval").starts_with("[\"eval\" -3 {+no_mandatory_keys +movablekeys} 0 0 0"));
}

#[test]
fn info_describes_every_kind_of_key_specification() {
    let unknown = "begin_search=(type=\"unknown\" spec=()) find_keys=(type=\"unknown\" spec=())";
    assert!(info("sort").contains(&format!(
        "{{(flags={{+RO +access}} {AT_FIRST}) (flags={{+RO +access}} {unknown}) \
         (notes=\"anywhere in the call\" flags={{+OW +update}} {unknown})}}"
    )));
    assert!(info("xread").contains(
        "begin_search=(type=\"keyword\" spec=(keyword=\"STREAMS\" startfrom=1)) \
         find_keys=(type=\"range\" spec=(lastkey=-1 keystep=1 limit=2))"
    ));
    assert!(info("eval").contains(
        "begin_search=(type=\"index\" spec=(index=2)) \
         find_keys=(type=\"keynum\" spec=(keynumidx=0 firstkey=1 keystep=1))"
    ));
}

#[test]
fn docs_hold_arguments_and_history() {
    assert_eq!(
        docs("set"),
        "(summary=\"Stores a string.\" since=\"1.0.0\" group=\"string\" complexity=\"O(1)\" \
         history={[\"6.0.0\" \"option KEEPTTL\"]} arguments=[\
         (name=\"key\" type=\"key\" key_spec_index=0) \
         (name=\"value\" type=\"string\") \
         (name=\"condition\" type=\"oneof\" since=\"2.6.12\" flags={+optional} arguments=[\
         (name=\"nx\" type=\"pure-token\" token=\"NX\") \
         (name=\"xx\" type=\"pure-token\" token=\"XX\")]) \
         (name=\"get\" type=\"pure-token\" token=\"GET\" flags={+optional}) \
         (name=\"expiration\" type=\"oneof\" flags={+optional} arguments=[\
         (name=\"seconds\" type=\"integer\" token=\"EX\") \
         (name=\"milliseconds\" type=\"integer\" token=\"PX\") \
         (name=\"keepttl\" type=\"pure-token\" token=\"KEEPTTL\" since=\"6.0.0\")])])"
    );
    assert!(docs("getset").contains(
        "doc_flags={+deprecated} deprecated_since=\"6.2.0\" replaced_by=\"`SET` with `GET`\""
    ));
    assert!(docs("debug").contains("doc_flags={+syscmd}"));
}

#[test]
fn docs_hold_subcommands_and_special_arguments() {
    assert_eq!(
        docs("object"),
        "(summary=\"Looks inside a key.\" since=\"\" group=\"generic\" subcommands=(object|freq=(\
         summary=\"Tells how often a key is used.\" since=\"4.0.0\" group=\"generic\" \
         complexity=\"O(1)\" arguments=[(name=\"key\" type=\"key\" key_spec_index=0)])))"
    );
    assert!(docs("migrate").contains("(name=\"empty_string\" type=\"pure-token\" token=\"\")"));
    assert!(docs("sort").contains(
        "(name=\"pattern\" type=\"pattern\" key_spec_index=1 token=\"GET\" \
         flags={+optional +multiple +multiple_token})"
    ));
    assert!(docs("lcs").contains("(name=\"key2\" type=\"key\" key_spec_index=0)"));
}
