//! The table of `docs/huststore.md` that says which tests show what clients of huststore rely on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Its items.
const ITEMS: u32 = 16;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The tests of this folder that are named after an item.
fn tests() -> BTreeSet<String> {
    let folder = std::fs::read_dir(root().join("tests/it/http/hust")).expect("this folder");
    let files = folder.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let named = |text: String| -> Vec<String> {
        let functions = text.lines().filter_map(|line| line.strip_prefix("fn item_"));
        functions.filter_map(|rest| Some(format!("item_{}", rest.split_once('(')?.0))).collect()
    };
    files.flat_map(named).collect()
}

/// Those that the page names, by item.
fn documented() -> BTreeMap<u32, BTreeSet<String>> {
    let page = std::fs::read_to_string(root().join("../../docs/huststore.md")).expect("the page");
    let (_, table) = page.split_once("## What clients rely on").expect("the section");
    let lines = table.lines().skip(1).take_while(|line| !line.starts_with("## "));
    let mut items: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for line in lines.filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Some(item) = cells.get(1).and_then(|cell| cell.parse().ok()) else { continue };
        let names = cells[cells.len() - 2].split('`').filter(|name| name.starts_with("item_"));
        items.entry(item).or_default().extend(names.map(str::to_owned));
    }
    items
}

#[test]
fn each_item_has_tests_that_exist() {
    let (tests, documented) = (tests(), documented());
    assert_eq!(documented.keys().copied().collect::<Vec<_>>(), (1..=ITEMS).collect::<Vec<_>>());
    for (item, names) in &documented {
        assert!(!names.is_empty(), "item {item} has no test");
        for name in names {
            assert!(tests.contains(name), "the page names {name}, which is no test");
            assert!(name.starts_with(&format!("item_{item}_")), "{name} is not of item {item}");
        }
    }
    let named: BTreeSet<_> = documented.into_values().flatten().collect();
    let missing: Vec<_> = tests.difference(&named).collect();
    assert!(missing.is_empty(), "the page lacks {missing:?}");
}
