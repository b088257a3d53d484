// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table of shared words in the README is the sources'.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const CRATES: [&str; 5] = ["lnd-core", "lnd-dma", "lnd-shortmsg", "lnd-health", "ffi"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// The field that a line declares, if it is made of shared words.
fn word(line: &str) -> Option<&str> {
    let field = line.trim_start().strip_suffix(',')?;
    let field = field.rsplit_once("pub ").map_or(field, |(_, rest)| rest);
    let (name, kind) = field.rsplit_once(") ").map_or(field, |(_, rest)| rest).split_once(": ")?;
    let kind = kind.trim_start_matches("CachePadded<").trim_end_matches('>');
    let kind = kind.trim_start_matches("&'m ").trim_start_matches('[');
    let kind = kind.split([';', ']']).next()?;
    (kind == "AtomicU32").then_some(name)
}

type Words = BTreeMap<String, BTreeSet<String>>;

/// The words of a source file; the counted words behind the shim are the machine's own.
fn declared() -> Words {
    let (root, mut files, mut words) = (root(), Vec::new(), Words::new());
    CRATES.iter().for_each(|name| sources(&root.join(name).join("src"), &mut files));
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let found: BTreeSet<_> = text.lines().filter_map(word).map(String::from).collect();
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        if !found.is_empty() {
            words.insert(name, found);
        }
    }
    words
}

fn names(cell: &str) -> impl Iterator<Item = String> + '_ {
    cell.split('`').skip(1).step_by(2).map(String::from)
}

/// The words of the table, and its models.
fn listed() -> (Words, BTreeSet<String>) {
    let text = std::fs::read_to_string(root().join("tests/loom/README.md")).unwrap();
    let table = text.split("## Every shared word").nth(1).unwrap().split("\n## ").next().unwrap();
    let (mut words, mut models, mut file) = (Words::new(), BTreeSet::new(), String::new());
    for row in table.lines().filter(|line| line.starts_with('|')).skip(2) {
        let cells: Vec<_> = row.split('|').collect();
        file = names(cells[1]).next().unwrap_or(file);
        words.entry(file.clone()).or_default().extend(names(cells[2]));
        models.extend(names(cells[5]));
    }
    (words, models)
}

#[test]
fn every_shared_word_is_in_the_table() {
    let (listed, models) = listed();
    let declared = declared();
    assert!(declared.values().map(BTreeSet::len).sum::<usize>() > 50, "{declared:?}");
    assert_eq!(listed, declared);
    for model in models {
        let tests = root().join("tests/loom/tests");
        let there = tests.join(&model).is_dir() || tests.join(format!("{model}.rs")).is_file();
        assert!(there, "no model {model}");
    }
}

#[test]
fn a_word_is_found_however_it_is_declared() {
    let lines = [
        ("    own: AtomicU32,", Some("own")),
        ("    pub sequence: AtomicU32,", Some("sequence")),
        ("    pub(super) claim: AtomicU32,", Some("claim")),
        ("    cookie: [AtomicU32; 2],", Some("cookie")),
        ("    bits: &'m [AtomicU32],", Some("bits")),
        ("    attention: CachePadded<AtomicU32>,", Some("attention")),
        ("    own: AtomicU32::new(0),", None),
        ("    memory: PhantomData<&'m AtomicU32>,", None),
    ];
    for (line, name) in lines {
        assert_eq!(word(line), name, "{line}");
    }
}
