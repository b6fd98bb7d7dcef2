//! Commands under other names.

use crate::samples;
use basalt_spec::{CommandTable, Found, NAME_BYTES_MAX, RenameError};

/// The name in the spec of what is called by these words.
fn called(table: &CommandTable, name: &str, second: Option<&str>) -> Option<&'static str> {
    match table.resolve(name.as_bytes(), second.map(str::as_bytes)) {
        Found::Command(command) => Some(command.spec.name),
        Found::NoSubcommand(_) => Some("no subcommand"),
        Found::Nothing => None,
    }
}

fn renamed(names: &[(&str, &str)]) -> (CommandTable, Vec<Result<(), RenameError>>) {
    let mut table = samples::table();
    let rename = |(name, new): &(&str, &str)| table.rename(name.as_bytes(), new.as_bytes());
    let results = names.iter().map(rename).collect();
    (table, results)
}

#[test]
fn a_command_is_called_by_its_new_name_alone() {
    let (table, results) = renamed(&[("SET", "Put")]);
    assert_eq!(results, [Ok(())]);
    assert_eq!(called(&table, "PUT", None), Some("set"));
    assert_eq!(called(&table, "set", None), None);
    assert!(table.lookup_full_name(b"set").is_none());
    assert!(!table.keeps_name("set") && table.keeps_name("object"));
    // Everything else is where it was.
    for other in table.commands().filter(|command| command.spec.name != "set") {
        assert_eq!(called(&table, other.spec.name, None), Some(other.spec.name));
    }
    // Rules are about commands.
    assert_eq!(table.lookup_own_name(b"SET").map(|it| it.spec.name), Some("set"));
    assert!(table.lookup_own_name(b"put").is_none());
}

#[test]
fn subcommands_go_with_their_container() {
    let (table, results) = renamed(&[("object", "thing")]);
    assert_eq!(results, [Ok(())]);
    assert_eq!(called(&table, "THING", Some("FREQ")), Some("object|freq"));
    assert_eq!(called(&table, "thing", Some("nosuch")), Some("no subcommand"));
    assert_eq!(called(&table, "object", Some("freq")), None);
    assert!(table.lookup_full_name(b"thing|freq").is_some());
    assert!(table.lookup_own_name(b"object|freq").is_some());
    // They have no names of their own to change.
    let (_, results) = renamed(&[("object|freq", "x"), ("freq", "x")]);
    assert_eq!(results, [Err(RenameError::NoSuchCommand); 2]);
}

#[test]
fn a_command_without_a_name_cannot_be_called() {
    let (table, results) = renamed(&[("set", ""), ("object", "")]);
    assert_eq!(results, [Ok(()), Ok(())]);
    assert_eq!((called(&table, "set", None), called(&table, "", None)), (None, None));
    let is_callable =
        |name: &str| table.is_callable(table.lookup_own_name(name.as_bytes()).expect("a sample"));
    for (name, expected) in
        [("set", false), ("object", false), ("object|freq", false), ("command|count", true)]
    {
        assert_eq!(is_callable(name), expected, "{name}");
    }
}

#[test]
fn names_that_are_taken_or_unknown_are_refused() {
    for (names, expected) in [
        (&[("nosuch", "x")][..], &[Err(RenameError::NoSuchCommand)][..]),
        (&[("", "x")], &[Err(RenameError::NoSuchCommand)]),
        (&[("set", "OBJECT")], &[Err(RenameError::NameTaken)]),
        (&[("set", "SET")], &[Ok(())]),
        // The names by now count, as in Redis.
        (&[("set", "a"), ("set", "b")], &[Ok(()), Err(RenameError::NoSuchCommand)]),
        (&[("set", "a"), ("a", "b")], &[Ok(()), Ok(())]),
        (&[("set", ""), ("object", "set")], &[Ok(()), Ok(())]),
        (&[("set", "a"), ("object", "set"), ("a", "object")], &[Ok(()), Ok(()), Ok(())]),
    ] {
        assert_eq!(renamed(names).1, expected, "{names:?}");
    }
    let (table, _) = renamed(&[("set", "a"), ("object", "set"), ("a", "object")]);
    assert_eq!(called(&table, "object", None), Some("set"));
    assert_eq!(called(&table, "set", Some("freq")), Some("object|freq"));
    let (table, _) = renamed(&[("set", "OBJECT")]);
    assert_eq!(called(&table, "set", None), Some("set"), "what is refused changes nothing");
}

#[test]
fn a_name_may_be_any_bytes_of_any_length() {
    for length in [1, NAME_BYTES_MAX - 1, NAME_BYTES_MAX, NAME_BYTES_MAX + 1, 40, 1_000] {
        let long = "Ab 9|\u{fc}".chars().cycle().take(length).collect::<String>();
        let (table, results) = renamed(&[("set", &long)]);
        assert_eq!(results, [Ok(())], "{length}");
        let upper = long.to_ascii_uppercase();
        assert_eq!(called(&table, &upper, None), Some("set"), "{length}");
        assert_eq!(called(&table, &format!("{long}x"), None), None);
        let (table, results) = renamed(&[("set", &long), ("object", &long), (&upper, "set")]);
        assert_eq!(results, [Ok(()), Err(RenameError::NameTaken), Ok(())], "{length}");
        assert_eq!((called(&table, "set", None), called(&table, &long, None)), (Some("set"), None));
    }
}
