//! The trees behind the replies of COMMAND INFO and COMMAND DOCS, field for field as in Redis 7.0.
//!
//! This crate does not write replies; it says what is in them. A [`Node`] has one variant per kind
//! of reply, so that rendering is one `match`.

use crate::argument::{Argument, Kind, Repeat};
use crate::command_spec::{Audience, CommandSpec};
use crate::keys::{BeginSearch, FindKeys, KeySpec};
use crate::table::{Command, CommandTable};

/// A part of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node<'a> {
    /// A bulk string.
    Bulk(&'a str),
    /// A simple string.
    Simple(&'a str),
    /// An integer.
    Integer(i64),
    /// An array.
    Array(Vec<Node<'a>>),
    /// A set, in RESP2 an array.
    Set(Vec<Node<'a>>),
    /// A map with bulk strings as keys, in RESP2 a flat array.
    Map(Vec<(&'a str, Node<'a>)>),
}

impl CommandTable {
    /// The entry of a command in COMMAND INFO, with its subcommands.
    pub fn info(&self, command: &Command) -> Node<'_> {
        // Through the table, so that the tree borrows from it and not from the argument.
        let command = self.command(command.id);
        let flags = command.flags.iter().filter(|flag| flag.is_shown());
        let subcommands = self.subcommands_of(command).map(|sub| self.info(sub));
        Node::Array(vec![
            Node::Bulk(command.spec.name),
            Node::Integer(command.arity.into()),
            Node::Set(flags.map(|flag| Node::Simple(flag.name())).collect()),
            Node::Integer(command.key_range.first.into()),
            Node::Integer(command.key_range.last.into()),
            Node::Integer(command.key_range.step.into()),
            Node::Set(command.categories.iter().map(|c| Node::Simple(c.name_with_at())).collect()),
            Node::Set(command.spec.tips.iter().map(|tip| Node::Bulk(tip)).collect()),
            Node::Set(command.key_specs.iter().map(key_spec).collect()),
            Node::Set(subcommands.collect()),
        ])
    }

    /// The entry of a command in COMMAND DOCS, with its subcommands; its key in the reply is
    /// `command.spec.name`.
    pub fn docs(&self, command: &Command) -> Node<'_> {
        let command = self.command(command.id);
        let mut fields = spec_docs(command.spec);
        if !command.arguments.is_empty() {
            fields.push(("arguments", arguments(&command.arguments)));
        }
        if !command.subcommands.is_empty() {
            let subcommands = self.subcommands_of(command);
            let entries = subcommands.map(|sub| (sub.spec.name, self.docs(sub))).collect();
            fields.push(("subcommands", Node::Map(entries)));
        }
        Node::Map(fields)
    }
}

fn spec_docs(spec: &'static CommandSpec) -> Vec<(&'static str, Node<'static>)> {
    let mut fields = vec![
        ("summary", Node::Bulk(spec.summary)),
        ("since", Node::Bulk(spec.since)),
        ("group", Node::Bulk(spec.group.name())),
    ];
    if !spec.complexity.is_empty() {
        fields.push(("complexity", Node::Bulk(spec.complexity)));
    }
    let deprecated = spec.deprecated.map(|_| Node::Simple("deprecated"));
    let system = (spec.audience == Audience::System).then_some(Node::Simple("syscmd"));
    let flags: Vec<_> = deprecated.into_iter().chain(system).collect();
    if !flags.is_empty() {
        fields.push(("doc_flags", Node::Set(flags)));
    }
    if let Some(deprecated) = spec.deprecated {
        fields.push(("deprecated_since", Node::Bulk(deprecated.since)));
        fields.push(("replaced_by", Node::Bulk(deprecated.replaced_by)));
    }
    if !spec.history.is_empty() {
        let change = |change: &(&'static str, &'static str)| {
            Node::Array(vec![Node::Bulk(change.0), Node::Bulk(change.1)])
        };
        fields.push(("history", Node::Set(spec.history.iter().map(change).collect())));
    }
    fields
}

fn arguments(arguments: &[Argument]) -> Node<'_> {
    Node::Array(arguments.iter().map(argument).collect())
}

fn argument(argument: &Argument) -> Node<'_> {
    let mut fields =
        vec![("name", Node::Bulk(&argument.name)), ("type", Node::Bulk(argument.kind.name()))];
    if let Some(index) = argument.key_spec_index {
        fields.push(("key_spec_index", integer(index)));
    }
    if let Some(token) = argument.token {
        // The synopsis writes the empty word as two quotes.
        fields.push(("token", Node::Bulk(if token == "\"\"" { "" } else { token })));
    }
    if let Some(since) = argument.since {
        fields.push(("since", Node::Bulk(since)));
    }
    if let Some(version) = argument.deprecated_since {
        fields.push(("deprecated_since", Node::Bulk(version)));
    }
    let flags = argument_flags(argument);
    if !flags.is_empty() {
        fields.push(("flags", Node::Set(flags)));
    }
    if matches!(argument.kind, Kind::OneOf | Kind::Block) {
        fields.push(("arguments", arguments(&argument.children)));
    }
    Node::Map(fields)
}

fn argument_flags(argument: &Argument) -> Vec<Node<'static>> {
    let flags = [
        (argument.is_optional(), "optional"),
        (argument.is_multiple(), "multiple"),
        (argument.repeat == Repeat::ManyWithToken, "multiple_token"),
    ];
    flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| Node::Simple(name)).collect()
}

fn key_spec(spec: &KeySpec) -> Node<'static> {
    let mut fields = Vec::new();
    if let Some(notes) = spec.notes {
        fields.push(("notes", Node::Bulk(notes)));
    }
    fields.push(("flags", Node::Set(spec.flags.names().map(Node::Simple).collect())));
    fields.push(("begin_search", begin_search(spec.begin)));
    fields.push(("find_keys", find_keys(spec.find)));
    Node::Map(fields)
}

fn begin_search(begin: BeginSearch) -> Node<'static> {
    match begin {
        BeginSearch::Index(index) => typed("index", vec![("index", integer(index))]),
        BeginSearch::Keyword { keyword, start_from } => typed(
            "keyword",
            vec![("keyword", Node::Bulk(keyword)), ("startfrom", signed(start_from))],
        ),
        BeginSearch::Unknown => typed("unknown", Vec::new()),
    }
}

fn find_keys(find: FindKeys) -> Node<'static> {
    match find {
        FindKeys::Range { last_key, step, limit } => typed(
            "range",
            vec![
                ("lastkey", signed(last_key)),
                ("keystep", integer(step)),
                ("limit", integer(limit)),
            ],
        ),
        FindKeys::KeyNum { number_index, first_key, step } => typed(
            "keynum",
            vec![
                ("keynumidx", integer(number_index)),
                ("firstkey", integer(first_key)),
                ("keystep", integer(step)),
            ],
        ),
        FindKeys::Unknown => typed("unknown", Vec::new()),
    }
}

fn typed(name: &'static str, spec: Vec<(&'static str, Node<'static>)>) -> Node<'static> {
    Node::Map(vec![("type", Node::Bulk(name)), ("spec", Node::Map(spec))])
}

fn integer(value: usize) -> Node<'static> {
    Node::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

fn signed(value: isize) -> Node<'static> {
    Node::Integer(value as i64)
}
