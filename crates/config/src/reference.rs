//! Texts made of the table: `--help`, and the reference page of all options.

use crate::directives::{DIRECTIVES, Outcome};
use crate::option::{ChangeRule, Effect, Kind, NameOrigin, OptionSpec, Visibility};
use crate::options::OPTIONS;
use std::fmt::Write;

const USAGE: &str = "\
Usage: basalt [FILE] [-] [--option value ...] ...

  FILE              configuration file: TOML if it ends in .toml, otherwise
                    in the syntax of redis.conf
  -                 read configuration in redis.conf's syntax from standard input
  --option value    set an option; outranks the file
  -v, --version     print the version
  -h, --help        print this text

Examples:
  basalt --port 7000 --dir /var/lib/basalt
  basalt /etc/basalt.toml
  basalt /etc/redis/redis.conf --port 7000 --save \"\" --appendfsync always

Options that have an effect, with their defaults:
";

const PAGE_HEAD: &str = "\
<!-- Made from the table of options in crates/config; do not edit it by hand. -->
# Options

Options go into a TOML file (`port = 7000`), into a file in the syntax of `redis.conf` (`port 7000`), \
or on the command line (`--port 7000`). What comes later wins; the command line comes last. Sizes \
take units as in Redis: `1k` is 1000 bytes, `1kb` is 1024, and so on with `m`, `mb`, `g` and `gb`.

`CONFIG SET` changes an option at run time unless it is marked *at start*; *protected* ones change \
only where `enable-protected-configs` allows it. Options marked *Basalt* do not exist in Redis. \
Options under \"no effect\" are accepted, kept and reported, so that existing files and clients work; \
a warning says so when one is set to anything but its default. Those that are *hidden* are reported \
only when they are asked for by their names.
";

const DIRECTIVES_HEAD: &str = "
## Directives that are no options

`CONFIG GET` and `CONFIG SET` do not know them. A name that is neither here nor above is ignored in \
a file and on the command line, with a warning; `CONFIG SET` refuses it.

| directive | is | what it does |
|---|---|---|
";

/// The text of `--help`.
pub fn help_text() -> String {
    let mut text = USAGE.to_owned();
    let mut group = None;
    for spec in OPTIONS.iter().filter(|spec| spec.effect == Effect::Effective) {
        if group != Some(spec.group) {
            group = Some(spec.group);
            let _ = write!(text, "\n{}\n", spec.group.title());
        }
        let default = if spec.default.is_empty() { "\"\"" } else { spec.default };
        let _ = writeln!(text, "  --{} {default}", spec.name);
        let mut column = usize::MAX;
        for word in spec.doc.split_whitespace() {
            if column.saturating_add(word.len() + 1) > 78 {
                let lead = if column == usize::MAX { "      " } else { "\n      " };
                text.push_str(lead);
                column = 6;
            } else {
                text.push(' ');
                column += 1;
            }
            text.push_str(word);
            column += word.len();
        }
        text.push('\n');
    }
    text.push_str("\nEvery other option of redis.conf is accepted without effect.\n");
    text
}

/// The reference page, checked in as `docs/reference/options.md`.
pub fn reference_markdown() -> String {
    let mut page = PAGE_HEAD.to_owned();
    let effective = |spec: &&OptionSpec| spec.effect == Effect::Effective;
    section(&mut page, "Options with an effect", OPTIONS.iter().filter(effective));
    let accepted = |spec: &&OptionSpec| !effective(spec);
    section(&mut page, "Options of Redis with no effect", OPTIONS.iter().filter(accepted));
    page.push_str(DIRECTIVES_HEAD);
    for directive in &DIRECTIVES {
        let outcome = match directive.outcome {
            Outcome::Followed => "followed",
            Outcome::Ignored => "ignored, with a warning",
        };
        let _ = writeln!(page, "| `{}` | {outcome} | {} |", directive.name, directive.remark);
    }
    page
}

fn section(page: &mut String, title: &str, specs: impl Iterator<Item = &'static OptionSpec>) {
    let _ = write!(page, "\n## {title}\n");
    let mut group = None;
    for spec in specs {
        if group != Some(spec.group) {
            group = Some(spec.group);
            let _ = write!(page, "\n### {}\n\n", spec.group.title());
            page.push_str("| option | default | takes | what it does |\n|---|---|---|---|\n");
        }
        page.push_str(&row(spec));
    }
}

fn row(spec: &OptionSpec) -> String {
    let mut name = format!("`{}`", spec.name);
    if let Some(alias) = spec.alias {
        let _ = write!(name, " (also `{alias}`)");
    }
    let default =
        if spec.default.is_empty() { String::new() } else { format!("`{}`", spec.default) };
    let mut doc = spec.doc.to_owned();
    if let Effect::Accepted(reason) = spec.effect {
        let _ = write!(doc, " No effect: {reason}.");
    }
    match spec.change {
        ChangeRule::Mutable => {}
        ChangeRule::Protected => doc.push_str(" *Protected.*"),
        ChangeRule::Immutable => doc.push_str(" *At start.*"),
    }
    if spec.visibility == Visibility::Hidden {
        doc.push_str(" *Hidden.*");
    }
    if spec.origin == NameOrigin::Own {
        doc.push_str(" *Basalt.*");
    }
    format!("| {name} | {default} | {} | {doc} |\n", expected(spec.kind))
}

/// What a kind of option takes, for the page and for error messages.
pub(crate) fn expected(kind: Kind) -> String {
    match kind {
        Kind::Bool => "yes or no".to_owned(),
        Kind::Int { min, max } => range("a number", min, max),
        Kind::Clamped { low, high } => range("a number", low, high),
        Kind::Threads { max } => range("a number of threads", 0, max),
        Kind::Octal { max } => format!("octal digits up to {max:o}"),
        Kind::MemoryOrAuto { min, max, .. } => {
            format!("{}, or auto", expected(Kind::Memory { min, max }))
        }
        Kind::Memory { min: 0, .. } => "a size such as 64mb".to_owned(),
        Kind::Memory { min, max } if max >= i64::MAX as u64 => {
            format!("a size of {} or more", size(min))
        }
        Kind::Memory { min, max } => format!("a size from {} to {}", size(min), size(max)),
        Kind::MemoryOrPercent => "a size such as 64mb, or a share such as 5%".to_owned(),
        Kind::Enum(words) => format!("one of {}", words.join(", ")),
        Kind::EnumSet(words) => format!("words among {}", words.join(", ")),
        Kind::Text => "text".to_owned(),
        Kind::FileName => "a file name without a directory".to_owned(),
        Kind::Directory => "a directory".to_owned(),
        Kind::TitleTemplate => "text with variables such as {title}".to_owned(),
        Kind::HostName => "a host name".to_owned(),
        Kind::Addresses => "up to 16 addresses".to_owned(),
        Kind::Peers => "addresses, networks and ranges of addresses".to_owned(),
        Kind::HostPort => "a host and a port".to_owned(),
        Kind::OutputLimits => "class, hard limit, soft limit, seconds".to_owned(),
        Kind::SavePoints => "pairs of seconds and changes".to_owned(),
        Kind::Events => "letters among Ag$lshzxeKEtmdn".to_owned(),
        Kind::Percentiles => "numbers from 0 to 100".to_owned(),
        Kind::OomScores => "three numbers from -2000 to 2000".to_owned(),
    }
}

fn range(what: &str, min: i64, max: i64) -> String {
    match (min, max) {
        (i64::MIN..=-2, _) => what.to_owned(),
        (_, 2_147_483_647..) => format!("{what} of {min} or more"),
        _ => format!("{what} from {min} to {max}"),
    }
}

fn size(bytes: u64) -> String {
    for (unit, name) in [(1 << 30, "gb"), (1 << 20, "mb"), (1 << 10, "kb")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{}{name}", bytes / unit);
        }
    }
    bytes.to_string()
}
