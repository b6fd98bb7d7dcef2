//! Texts that packages carry, made of the table of options: the manual page and the shells'
//! completions.

use crate::option::{Effect, Kind, OptionSpec};
use crate::options::OPTIONS;
use std::fmt::Write;

const MANUAL_HEAD: &str = r#".\" Made from the table of options in crates/config; do not edit it by hand.
.TH BASALT 1 "" "Basalt" "User Commands"
.SH NAME
basalt \- a durable database that speaks the Redis protocol
.SH SYNOPSIS
.B basalt
.RI [ FILE ]
.RB [ \- ]
.RB [ \-\-\fIoption\fR
.IR "value ..." "] ..."
.br
.B basalt bench
.RI [ options ]
.br
.B basalt compare
.IR suite " [" options ]
.SH DESCRIPTION
Serves keys and values to any Redis client. All data is in memory and on disk; each change is in a journal before or
shortly after it is answered, as
.B appendfsync
says.
.PP
.I FILE
is a configuration file, in TOML if its name ends in .toml, otherwise in the syntax of redis.conf. A dash reads more of
it from standard input. Options on the command line outrank both.
.PP
.B basalt bench
loads a server and reports;
.B basalt compare
runs Basalt and an installed redis-server in turn and prints the ratios. Both explain themselves with
.BR \-\-help .
.PP
SIGTERM and SIGINT end the server in order, a second one at once.
.SH OPTIONS
.TP
.BR \-v ", " \-\-version
Prints the version, the commit that it was built from, and what was built in.
.TP
.BR \-h ", " \-\-help
Prints the options that have an effect.
"#;

const MANUAL_END: &str = r#".SH FILES
.TP
.I ./data
The data, unless
.B dir
says otherwise: journal/ and cold/.
.TP
.I /etc/basalt/basalt.conf
The configuration of the packaged service, whose data is in /var/lib/basalt.
.SH EXIT STATUS
0 after an orderly end, 1 if the server could not start or ended in failure.
.SH SEE ALSO
.BR redis-cli (1)
"#;

/// The manual page, checked in as `packaging/basalt.1`.
pub fn manual_page() -> String {
    let mut page = MANUAL_HEAD.to_owned();
    let mut group = None;
    for spec in effective() {
        if group != Some(spec.group) {
            group = Some(spec.group);
            let _ = writeln!(page, ".SS {}", spec.group.title());
        }
        let default = if spec.default.is_empty() { "\"\"" } else { spec.default };
        let (name, default, doc) = (roff(spec.name), roff(default), roff(spec.doc));
        let _ = writeln!(page, ".TP\n.BI \\-\\-{name} \" {default}\"\n{doc}");
    }
    page.push_str(MANUAL_END);
    page
}

/// Completions for bash, checked in as `packaging/completions/basalt.bash`.
pub fn bash_completions() -> String {
    let mut text = String::from(
        "# Made from the table of options in crates/config; do not edit it by hand.\n\
         _basalt() {\n  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n  \
         case \"$before\" in\n",
    );
    for spec in effective() {
        if let Some(words) = values(spec.kind) {
            let _ = writeln!(
                text,
                "    --{}) mapfile -t COMPREPLY < <(compgen -W '{words}' -- \"$word\"); return ;;",
                spec.name
            );
        }
    }
    let names: Vec<String> = effective().map(|spec| format!("--{}", spec.name)).collect();
    let _ = write!(
        text,
        "  esac\n  case \"$word\" in\n    -*) mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- \
         \"$word\") ;;\n    *) mapfile -t COMPREPLY < <(compgen -f -W 'server bench compare' -- \"$word\") ;;\n  \
         esac\n}}\ncomplete -o filenames -F _basalt basalt\n",
        names.join(" ")
    );
    text
}

/// Completions for zsh, checked in as `packaging/completions/_basalt`.
pub fn zsh_completions() -> String {
    let mut text = String::from(
        "#compdef basalt\n# Made from the table of options in crates/config; do not edit it by hand.\n_arguments \\\n",
    );
    for spec in effective() {
        let doc = quoted(first_sentence(spec.doc)).replace('[', "(").replace(']', ")");
        let values = values(spec.kind).map_or(": ".to_owned(), |words| format!("({words})"));
        let _ = writeln!(text, "  '--{0}[{doc}]:{0}:{values}' \\", spec.name);
    }
    text.push_str(
        "  '(-)--help[Print the options]' \\\n  '(-)--version[Print the version]' \\\n  ",
    );
    text.push_str("'1:file or tool:_files'\n");
    text
}

/// Completions for fish, checked in as `packaging/completions/basalt.fish`.
pub fn fish_completions() -> String {
    let mut text = String::from(
        "# Made from the table of options in crates/config; do not edit it by hand.\n\
         complete -c basalt -n __fish_use_subcommand -a 'bench compare'\n",
    );
    for spec in effective() {
        let words = values(spec.kind).map_or(String::new(), |words| format!(" -a '{words}'"));
        let doc = quoted(first_sentence(spec.doc));
        let _ = writeln!(text, "complete -c basalt -l {} -x{words} -d '{doc}'", spec.name);
    }
    text
}

fn effective() -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(|spec| spec.effect == Effect::Effective)
}

/// The words that an option takes, if they are few.
fn values(kind: Kind) -> Option<String> {
    match kind {
        Kind::Bool => Some("yes no".to_owned()),
        Kind::Enum(words) => Some(words.join(" ")),
        Kind::MemoryOrAuto { .. } => Some("auto".to_owned()),
        _ => None,
    }
}

fn first_sentence(doc: &str) -> &str {
    let end = [". ", "; "].iter().filter_map(|end| doc.find(end)).min();
    doc[..end.unwrap_or(doc.len())].trim_end_matches('.')
}

/// For a shell's single quotes.
fn quoted(text: &str) -> String {
    text.replace('\'', "’").replace('`', "").replace(':', ",")
}

/// For troff: no control character at the beginning, minus signs that can be searched for.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('`', "").replace('"', "\\(dq");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}
