//! What the grammar makes of a line.

use basalt_spec::synopsis::{NESTING_MAX, SynopsisError, parse};
use basalt_spec::{Kind, around, at};

fn outline(line: &'static str) -> String {
    let arguments = parse(line, &[]).unwrap_or_else(|error| panic!("{line}: {error}"));
    arguments.iter().map(|argument| argument.outline()).collect::<Vec<_>>().join(" ")
}

#[test]
fn words_become_arguments_and_types_follow_from_names() {
    assert_eq!(outline(""), "");
    assert_eq!(outline("key seconds value"), "key:key seconds:integer value:string");
    assert_eq!(outline("newkey timeout pattern"), "newkey:key timeout:double pattern:pattern");
    assert_eq!(outline("EXAT unix-time-seconds"), "EXAT unix-time-seconds:unix-time");
    assert_eq!(outline("[GET]"), "[GET]");
    assert_eq!(outline("ip:port <yes/no | *>"), "ip:port:string yes/no_*<yes/no:string | *>");
}

#[test]
fn alternatives_nest() {
    assert_eq!(
        outline("key value [NX | XX | IFEQ cmp] [GET] [EX seconds | KEEPTTL]"),
        "key:key value:string [nx_xx_cmp<NX | XX | IFEQ cmp:string>] [GET] \
         [seconds_keepttl<EX seconds:integer | KEEPTTL>]"
    );
    assert_eq!(
        outline("[<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id>"),
        "[maxlen_minid_=_~_threshold_count(maxlen_minid<MAXLEN | MINID> [=_~<= | ~>] \
         threshold:string [LIMIT count:integer])] *_id<* | id:string>"
    );
}

#[test]
fn a_token_takes_the_names_behind_it() {
    assert_eq!(outline("LIMIT offset count"), "LIMIT offset_count(offset:integer count:integer)");
    assert_eq!(outline("[COUNT count [ANY]]"), "[count_any(COUNT count:integer [ANY])]");
    assert_eq!(outline("AGGREGATE <SUM | MIN | MAX>"), "AGGREGATE sum_min_max<SUM | MIN | MAX>");
    assert_eq!(
        outline("STREAMS key [key ...] id [id ...]"),
        "STREAMS key_id(key:key... id:string...)"
    );
    assert_eq!(
        outline("<BYRADIUS radius <M | KM> | (BYBOX width) height <M | KM>>"),
        "radius_m_km_width_height_m_km<radius_m_km(BYRADIUS radius:double m_km<M | KM>) | \
         width_height_m_km(BYBOX width:double height:double m_km<M | KM>)>"
    );
    assert_eq!(
        outline("[TO (host port [FORCE])]"),
        "[TO host_port_force(host:string port:integer [FORCE])]"
    );
}

#[test]
fn repetitions_fold() {
    assert_eq!(outline("key [key ...]"), "key:key...");
    assert_eq!(outline("[key [key ...]]"), "[key:key...]");
    assert_eq!(
        outline("field value [field value ...]"),
        "field_value(field:string value:string)..."
    );
    assert_eq!(outline("[WEIGHTS weight [weight ...]]"), "[WEIGHTS weight:integer...]");
    assert_eq!(outline("[GET pattern [GET pattern ...]]"), "[GET pattern:pattern and again...]");
    assert_eq!(outline("(parameter) [...]"), "parameter(parameter:string)...");
    assert_eq!(
        outline("[<GET offset | [SAT | FAIL] SET offset> [...]]"),
        "[offset_sat_fail_offset<GET offset:integer | sat_fail_offset([sat_fail<SAT | FAIL>] \
         SET offset:integer)>...]"
    );
}

#[test]
fn overrides_correct_and_must_apply() {
    let overrides = [
        around("LEFT").named("to"),
        around("LEFT").first().named("from"),
        at("timeout").kind(Kind::Integer).since("6.0.0"),
    ];
    let arguments =
        parse("<LEFT | RIGHT> <LEFT | RIGHT> timeout", &overrides).expect("well formed");
    let outlines: Vec<String> = arguments.iter().map(|argument| argument.outline()).collect();
    assert_eq!(outlines, ["from<LEFT | RIGHT>", "to<LEFT | RIGHT>", "timeout:integer@6.0.0"]);
    let unused = around("key");
    assert_eq!(parse("key", &[unused]), Err(SynopsisError::UnusedOverride("key")));
    assert_eq!(parse("key", &[at("NX")]), Err(SynopsisError::UnusedOverride("NX")));
}

#[test]
fn mistakes_are_told_apart() {
    for line in ["[NX", "[NX>", "NX]", "<A | B", "(a", "key ...", "[key [key ...] | x"] {
        assert!(matches!(parse(line, &[]), Err(SynopsisError::Unbalanced { .. })), "{line}");
    }
    for line in ["[]", "<A |>", "< | B>", "()"] {
        assert_eq!(parse(line, &[]), Err(SynopsisError::Empty), "{line}");
    }
    for line in ["key [value ...]", "[key ...]", "[...]", "b [a b ...]", "a [a | b ...]"] {
        assert_eq!(parse(line, &[]), Err(SynopsisError::Repetition), "{line}");
    }
    let deep: &'static str = "[".repeat(NESTING_MAX + 1).leak();
    assert_eq!(parse(deep, &[]), Err(SynopsisError::TooDeep));
}
