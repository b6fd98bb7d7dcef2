//! How the comments and the pages read: patterns of words, each with the number of places that are
//! left.
//!
//! Text of many hands cannot be changed in one go, so each [`Pattern`] keeps a figure, which only
//! goes down: `tidy` fails if there are more places than that, and asks for a lower figure if there
//! are fewer. `cargo xtask tidy --prose` prints the places.
//!
//! A pattern is a heuristic over words. Words between backticks and in fenced blocks are code, not
//! prose. A place that is found wrongly is counted with the others; rewording it is never a loss.

use super::Source;

const COMMENT_COLUMNS_MAX: usize = 100;
const MARKDOWN_COLUMNS_MAX: usize = 120;

/// Words after which no antecedent of a relative clause stands: `to who asks`, `when whose turn it
/// is`.
#[rustfmt::skip]
const NO_ANTECEDENTS: &[&str] = &[
    "about", "after", "against", "as", "before", "behind", "between", "by", "else", "for", "from", "if", "in",
    "into", "let", "lets", "like", "of", "on", "only", "or", "than", "that", "then", "to", "under", "until",
    "when", "where", "while", "with", "without",
];

/// One thing that is not to be written.
struct Pattern {
    /// By which it is reported.
    name: &'static str,
    /// What to write in its place.
    advice: &'static str,
    /// How many places there are, at most.
    kept: usize,
    /// The lines where a file has it, counted from 1, one for each place.
    find: fn(&Source) -> Vec<usize>,
}

/// All patterns. To add one, add it here with today's count and give a bad sample in the tests.
const PATTERNS: &[Pattern] = &[
    Pattern {
        name: "noun-who",
        advice: "a noun for the doer: \"a thread that finds\", not \"who finds\"",
        kept: 0,
        find: doers_without_noun,
    },
    Pattern {
        name: "be-it",
        advice: "\"even if it is\"",
        kept: 0,
        find: |source| phrases(source, &["be", "it"]),
    },
    Pattern {
        name: "anew",
        advice: "\"again\"",
        kept: 0,
        find: |source| phrases(source, &["anew"]),
    },
    Pattern {
        name: "in-vain",
        advice: "say what fails",
        kept: 0,
        find: |source| phrases(source, &["in", "vain"]),
    },
    Pattern {
        name: "so-many",
        advice: "\"how many\", or the number",
        kept: 0,
        find: |source| phrases(source, &["so", "many"]),
    },
    Pattern {
        name: "gives",
        advice: "a function \"returns\", or \"returns true if\"",
        kept: 0,
        find: functions_that_give,
    },
    Pattern {
        name: "opening",
        advice: "a doc comment stands alone: say what it is, not what it resembles",
        kept: 0,
        find: leaning_openings,
    },
    Pattern {
        name: "long-comment",
        advice: "comments are wrapped at 100 columns",
        kept: 0,
        find: long_comments,
    },
    Pattern {
        name: "long-markdown",
        advice: "Markdown is wrapped at 120 columns, but for tables",
        kept: 0,
        find: long_markdown,
    },
];

/// Compares all counts with the kept figures, prints what differs, and each place if asked to;
/// returns the number of figures that are exceeded.
pub fn check(sources: &[Source], prints_places: bool) -> usize {
    let mut exceeded = 0;
    for pattern in PATTERNS {
        let Pattern { name, advice, kept, find } = pattern;
        let mut count = 0;
        for source in sources {
            for line in find(source) {
                count += 1;
                if prints_places {
                    println!("warning: {}:{line}: {name}: {advice}", source.path);
                }
            }
        }
        if prints_places {
            println!("prose: {name}: {count} places, {kept} kept");
        }
        match compare(count, *kept) {
            Verdict::Exceeded => {
                exceeded += 1;
                println!(
                    "error: prose: {name}: {count} places, at most {kept}: {advice} \
                     (cargo xtask tidy --prose prints them)"
                );
            }
            Verdict::Lower => {
                println!("prose: {name}: {count} places, lower the {kept} in tidy/prose.rs");
            }
            Verdict::Kept => {}
        }
    }
    exceeded
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Kept,
    Exceeded,
    /// There are fewer places than the figure says.
    Lower,
}

fn compare(count: usize, kept: usize) -> Verdict {
    match count {
        _ if count > kept => Verdict::Exceeded,
        _ if count < kept => Verdict::Lower,
        _ => Verdict::Kept,
    }
}

/// A word of prose.
struct Word {
    line: usize,
    /// In lower case.
    text: String,
    /// What stands between it and the word before.
    pause: Pause,
}

/// From the weakest to the strongest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pause {
    None,
    Comma,
    /// A sentence, a clause or a block begins.
    Stop,
}

impl Pause {
    /// The strongest pause in the punctuation between two words.
    fn in_text(text: &str) -> Pause {
        if text.contains(['.', ':', ';', '(', '|', '?', '!', '▸', '—']) {
            Pause::Stop
        } else if text.contains(',') {
            Pause::Comma
        } else {
            Pause::None
        }
    }
}

/// All words of a file's comments or of a page, without code.
fn words(source: &Source) -> Vec<Word> {
    let mut words = Vec::new();
    let mut pause = Pause::Stop;
    let mut is_fenced = false;
    for (index, line) in prose(source).lines().enumerate() {
        let line = if source.is_rust() { strip_marker(line) } else { line.trim() };
        let is_fence = line.starts_with("```");
        if line.is_empty() || is_fence || line.starts_with(['-', '*', '#', '>', '|']) {
            pause = Pause::Stop;
        }
        is_fenced ^= is_fence;
        if is_fenced || is_fence {
            continue;
        }
        let mut is_code = false;
        for part in line.split_inclusive('`') {
            if is_code {
                // A piece of code stands for a noun.
                words.push(Word { line: index + 1, text: "`".to_owned(), pause });
                pause = Pause::None;
            } else {
                pause = split_words(part, index + 1, pause, &mut words);
            }
            is_code = part.ends_with('`') != is_code;
        }
    }
    words
}

/// Splits text without code; takes the pause before it and returns the one after it.
fn split_words(text: &str, line: usize, pause: Pause, words: &mut Vec<Word>) -> Pause {
    let mut pause = pause;
    let mut rest = text;
    while let Some(start) = rest.find(is_letter) {
        pause = pause.max(Pause::in_text(&rest[..start]));
        let end = rest[start..].find(|char| !is_letter(char)).map_or(rest.len(), |len| start + len);
        words.push(Word { line, text: rest[start..end].to_lowercase(), pause });
        pause = Pause::None;
        rest = &rest[end..];
    }
    pause.max(Pause::in_text(rest))
}

fn is_letter(char: char) -> bool {
    char.is_alphanumeric() || char == '\'' || char == '_' || char == '-'
}

fn prose(source: &Source) -> &str {
    match source.path.rsplit('.').next() {
        Some("rs") => &source.comments,
        Some("md") if !is_generated(source) => &source.text,
        _ => "",
    }
}

/// The reference is written by a test, out of texts that stand in the code.
fn is_generated(source: &Source) -> bool {
    source.path.starts_with("docs/reference/")
}

/// The text of a comment's line.
fn strip_marker(line: &str) -> &str {
    line.trim().trim_start_matches("//").trim_start_matches(['/', '!']).trim()
}

fn phrases(source: &Source, phrase: &[&str]) -> Vec<usize> {
    let words = words(source);
    let matches = words.windows(phrase.len()).filter(|window| {
        let same = window.iter().zip(phrase).all(|(word, wanted)| word.text == *wanted);
        same && window[1..].iter().all(|word| word.pause == Pause::None)
    });
    matches.map(|window| window[0].line).collect()
}

/// `Who finds the lock taken spins`: a relative clause that stands for a noun. It is one where it
/// begins a clause, or follows a word that cannot be what it relates to; `whoever` always is. After
/// a comma `whose` mostly relates to what stands before, and `who` does not.
fn doers_without_noun(source: &Source) -> Vec<usize> {
    let words = words(source);
    let mut lines = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let goes_on = words.get(at + 1).is_some_and(|next| next.pause == Pause::None);
        let before = at.checked_sub(1).map(|before| words[before].text.as_str());
        let has_no_antecedent = before.is_some_and(|before| NO_ANTECEDENTS.contains(&before));
        let found = match word.text.as_str() {
            "whoever" => true,
            "who" => goes_on && (word.pause >= Pause::Comma || has_no_antecedent),
            "whose" => goes_on && (word.pause == Pause::Stop || has_no_antecedent),
            _ => false,
        };
        if found {
            lines.push(word.line);
        }
    }
    lines
}

/// A doc comment and what it belongs to.
struct Doc<'a> {
    /// Of the first line, counted from 1.
    line: usize,
    /// Without markers.
    text: Vec<&'a str>,
    is_of_function: bool,
}

fn docs(source: &Source) -> Vec<Doc<'_>> {
    let mut docs: Vec<Doc<'_>> = Vec::new();
    // A doc comment whose item has not come yet.
    let mut open: Option<Doc<'_>> = None;
    for (index, (comment, code)) in source.comments.lines().zip(source.code.lines()).enumerate() {
        let comment = comment.trim();
        let is_doc = comment.starts_with("///") || comment.starts_with("//!");
        if is_doc && code.trim().is_empty() {
            let doc =
                open.get_or_insert(Doc { line: index + 1, text: vec![], is_of_function: false });
            doc.text.push(strip_marker(comment));
        } else if !code.trim().is_empty() || comment.is_empty() {
            if code.trim().starts_with("#[") {
                continue;
            }
            if let Some(mut doc) = open.take() {
                doc.is_of_function = code.split("fn ").nth(1).is_some() && !code.contains(": fn ");
                docs.push(doc);
            }
        }
    }
    docs.extend(open);
    docs
}

fn functions_that_give(source: &Source) -> Vec<usize> {
    let mut lines = Vec::new();
    for doc in docs(source).iter().filter(|doc| doc.is_of_function) {
        for (index, text) in doc.text.iter().enumerate() {
            let text = text.to_lowercase();
            let gives = text.match_indices("gives").filter(|(at, word)| {
                let after = &text[at + word.len()..];
                let is_word = !text[..*at].ends_with(is_letter) && !after.starts_with(is_letter);
                is_word && !after.starts_with(" up")
            });
            let says = text.matches("says whether").count() + text.matches("says how").count();
            lines.extend(std::iter::repeat_n(doc.line + index, gives.count() + says));
        }
    }
    lines
}

/// Doc comments that make their reader look for another one first.
fn leaning_openings(source: &Source) -> Vec<usize> {
    let leans = |text: &str| {
        ["The same", "As above", "As there"].iter().any(|opening| {
            text.strip_prefix(opening).is_some_and(|rest| !rest.starts_with(is_letter))
        })
    };
    let docs = docs(source);
    let found = docs.iter().filter(|doc| doc.text.first().is_some_and(|text| leans(text)));
    found.map(|doc| doc.line).collect()
}

fn long_comments(source: &Source) -> Vec<usize> {
    let mut lines = Vec::new();
    for (index, (comment, text)) in source.comments.lines().zip(source.text.lines()).enumerate() {
        let is_comment = !comment.trim().is_empty();
        if is_comment && text.chars().count() > COMMENT_COLUMNS_MAX && !is_one_address(comment) {
            lines.push(index + 1);
        }
    }
    lines
}

fn long_markdown(source: &Source) -> Vec<usize> {
    let mut lines = Vec::new();
    if !source.path.ends_with(".md") || is_generated(source) {
        return lines;
    }
    for (index, line) in source.text.lines().enumerate() {
        let is_table = line.trim_start().starts_with('|');
        if !is_table && line.chars().count() > MARKDOWN_COLUMNS_MAX && !is_one_address(line) {
            lines.push(index + 1);
        }
    }
    lines
}

/// A line that cannot be wrapped.
fn is_one_address(line: &str) -> bool {
    let text = strip_marker(line);
    text.contains("://") && !text.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust(text: &str) -> Source {
        Source::new("crates/x/src/a.rs", text)
    }

    fn count(find: fn(&Source) -> Vec<usize>, text: &str) -> usize {
        find(&rust(text)).len()
    }

    fn pattern(name: &str) -> fn(&Source) -> Vec<usize> {
        PATTERNS.iter().find(|pattern| pattern.name == name).expect("a pattern").find
    }

    #[test]
    fn finds_who_where_a_noun_should_be() {
        let who = pattern("noun-who");
        for bad in [
            "// Who finds the lock taken spins.",
            "// It is handed to who asks.",
            "// Given\n// by\n// whose turn it is.",
            "/// It ends; who waits goes on.",
            "// The thread tells whoever waits.",
            "// As `x` does: who writes, waits.",
        ] {
            assert_eq!(count(who, bad), 1, "{bad}");
        }
        for good in [
            "// A client who asks, those who wait, a thread whose turn it is, words, whose end is near.",
            "// See `who` and `to whoever asks`.",
            "// ```\n// who asks\n// ```",
            "let x = \"who asks\";",
        ] {
            assert_eq!(count(who, good), 0, "{good}");
        }
        assert_eq!(who(&Source::new("docs/a.md", "a\n\nWho asks\n")), [3]);
        assert_eq!(who(&Source::new("docs/reference/a.md", "Who asks\n")), []);
        assert_eq!(who(&Source::new("docs/a.md", "| who | what |\n")), []);
    }

    #[test]
    fn finds_words_across_lines_but_not_across_clauses() {
        assert_eq!(count(pattern("be-it"), "// kept, be\n// it a tombstone"), 1);
        assert_eq!(count(pattern("be-it"), "// what it may be. It is"), 0);
        assert_eq!(count(pattern("anew"), "// begins Anew."), 1);
        assert_eq!(count(pattern("in-vain"), "// tries in vain"), 1);
        assert_eq!(count(pattern("so-many"), "// so many rows"), 1);
    }

    #[test]
    fn finds_functions_that_give() {
        let gives = pattern("gives");
        assert_eq!(count(gives, "/// Gives the row.\n#[inline]\npub fn row() {}"), 1);
        assert_eq!(count(gives, "/// The row.\n///\n/// Says whether x.\nfn row() {}"), 1);
        assert_eq!(gives(&rust("/// The row.\n///\n/// Says how x.\nfn row() {}")), [3]);
        assert_eq!(count(gives, "/// Gives up. Forgives.\nfn row() {}"), 0);
        assert_eq!(count(gives, "/// What gives light.\nstruct Sun;"), 0);
        assert_eq!(count(gives, "// It gives light.\nfn sun() {}"), 0);
    }

    #[test]
    fn finds_doc_comments_that_lean_on_another() {
        let leaning = pattern("opening");
        assert_eq!(count(leaning, "/// The same for sets.\nfn f() {}"), 1);
        assert_eq!(count(leaning, "/// A set.\nfn f() {}\n\n/// As above.\nstruct S;"), 1);
        assert_eq!(count(leaning, "//! As there, but"), 1);
        assert_eq!(count(leaning, "/// A set.\n/// The same.\nfn f() {} // The same."), 0);
    }

    #[test]
    fn finds_long_lines() {
        let comment = format!("    // {}\n", "word ".repeat(20));
        assert_eq!(count(pattern("long-comment"), &comment), 1);
        assert_eq!(count(pattern("long-comment"), &"let x = 1; ".repeat(20)), 0);
        assert_eq!(count(pattern("long-comment"), &format!("// https://{}", "x".repeat(100))), 0);
        let page = |text: &str| long_markdown(&Source::new("a.md", text)).len();
        assert_eq!(page(&"word ".repeat(25)), 1);
        assert_eq!(page(&format!("| {}", "word ".repeat(25))), 0);
        assert_eq!(page(&"word ".repeat(24)), 0);
    }

    #[test]
    fn a_figure_only_goes_down() {
        assert_eq!(compare(7, 7), Verdict::Kept);
        assert_eq!(compare(8, 7), Verdict::Exceeded);
        assert_eq!(compare(6, 7), Verdict::Lower);
    }
}
