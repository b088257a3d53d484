// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a picture shows, and what happened, lane by lane.

use std::fs;

/// One thing on a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// From a lane to another: what a label has in code, or a message's kind.
    Arrow { kind: String, from: String, to: String, words: Vec<String> },
    /// What is owed from here on, without `CPU`.
    Debts { lane: String, debts: String },
    /// A bar begins or ends.
    Bar { lane: String, begins: bool, kind: String },
}

impl Item {
    pub fn arrow(kind: &str, from: &str, to: &str, words: &[&str]) -> Self {
        let words = words.iter().map(|word| word.to_string()).collect();
        Self::Arrow { kind: kind.into(), from: from.into(), to: to.into(), words }
    }

    pub fn debts(lane: &str, debts: &str) -> Self {
        Self::Debts { lane: lane.into(), debts: debts.into() }
    }

    pub fn bar(begins: bool, lane: &str, kind: &str) -> Self {
        Self::Bar { lane: lane.into(), begins, kind: kind.into() }
    }

    fn is_on(&self, at: &str) -> bool {
        match self {
            Self::Arrow { from, to, .. } => from == at || to == at,
            Self::Debts { lane, .. } | Self::Bar { lane, .. } => lane == at,
        }
    }

    fn is_among(&self, lanes: &[String]) -> bool {
        let there = |lane: &String| lanes.contains(lane);
        match self {
            Self::Arrow { from, to, .. } => there(from) && there(to),
            Self::Debts { lane, .. } | Self::Bar { lane, .. } => there(lane),
        }
    }

    /// Whether this is what a picture shows: the words of its label are among what happened.
    fn shows(&self, shown: &Self) -> bool {
        match (self, shown) {
            (
                Self::Arrow { kind, from, to, words },
                Self::Arrow { kind: its, from: a, to: b, words: label },
            ) => (kind, from, to) == (its, a, b) && label.iter().all(|word| words.contains(word)),
            _ => self == shown,
        }
    }
}

/// A picture's lanes, and what it shows on them.
fn read(name: &str) -> (Vec<String>, Vec<Item>) {
    let path = format!("{}/../docs/pictures/{name}.seq", env!("CARGO_MANIFEST_DIR"));
    let (mut lanes, mut items) = (Vec::new(), Vec::new());
    for line in fs::read_to_string(path).unwrap().lines() {
        let line = line.strip_prefix("& ").unwrap_or(line);
        if let Some(lane) = line.strip_prefix("lane: ") {
            lanes.push(lane.split(" | ").next().unwrap().to_string());
        } else {
            items.extend(statement(line));
        }
    }
    (lanes, items)
}

fn statement(line: &str) -> Vec<Item> {
    let (head, label) = line.split_once(": ").unwrap_or((line, ""));
    match head.split(' ').collect::<Vec<_>>()[..] {
        ["state", lane] => {
            debts_of(label).map(|debts| Item::debts(lane, &debts)).into_iter().collect()
        }
        [verb @ ("begin" | "end"), lane, kind] => vec![Item::bar(verb == "begin", lane, kind)],
        [from, kind @ ("->" | "-->" | "=>" | "~>"), to] => arrows(kind, from, to, label),
        _ => Vec::new(),
    }
}

/// `owes HW, MSG` within a label.
fn debts_of(label: &str) -> Option<String> {
    if label.contains("nothing owed") {
        return Some(String::new());
    }
    let (_, owed) = label.split_once("owes ")?;
    let end = owed.find(|c: char| !c.is_ascii_uppercase() && c != ',' && c != ' ');
    Some(owed[..end.unwrap_or(owed.len())].trim().to_string())
}

/// A label with several calls is as many arrows; one without code is not compared.
fn arrows(kind: &str, from: &str, to: &str, label: &str) -> Vec<Item> {
    let code: Vec<&str> = label.split('`').skip(1).step_by(2).collect();
    if kind == "=>" {
        let words = label.split(|c: char| !c.is_ascii_uppercase() && c != '_');
        return vec![Item::arrow(kind, from, to, &[words.max_by_key(|word| word.len()).unwrap()])];
    }
    if kind == "~>" {
        return vec![Item::arrow(kind, from, to, &[])];
    }
    let calls = code.iter().filter(|word| word.ends_with(')')).count();
    if calls > 1 {
        return code.iter().map(|word| Item::arrow(kind, from, to, &[word])).collect();
    }
    if code.is_empty() {
        Vec::new()
    } else {
        vec![Item::arrow(kind, from, to, &code)]
    }
}

/// Fails unless each lane of a picture shows what happened on it, in its order.
pub fn assert_true(name: &str, happened: &[Item]) {
    let (lanes, shown) = read(name);
    assert!(shown.len() > 5, "{name}: nothing is shown");
    for lane in &lanes {
        let of = |items: &[Item]| -> Vec<Item> {
            items.iter().filter(|it| it.is_on(lane) && it.is_among(&lanes)).cloned().collect()
        };
        if let Err(why) = compare(&of(&shown), &of(happened)) {
            let all: Vec<_> = of(happened).iter().map(|it| format!("\n  {it:?}")).collect();
            panic!("{name}.seq, lane {lane}: {why}; it happened:{}", all.concat());
        }
    }
}

fn compare(shown: &[Item], happened: &[Item]) -> Result<(), String> {
    let (mut left, mut owed) = (happened, "?");
    for item in shown {
        loop {
            if matches!(item, Item::Debts { debts, .. } if debts == owed) {
                break;
            }
            let Some((first, rest)) = left.split_first() else {
                return Err(format!("shows what did not happen: {item:?}"));
            };
            left = rest;
            match first {
                Item::Debts { debts, .. } => owed = debts,
                other if other.shows(item) => break,
                other => return Err(format!("shows {item:?}, but {other:?} happened")),
            }
        }
    }
    let more = left.iter().find(|it| !matches!(it, Item::Debts { .. }));
    more.map_or(Ok(()), |it| Err(format!("does not show {it:?}")))
}

#[test]
fn a_picture_that_is_not_true_is_found() {
    let call = |word: &str| Item::arrow("->", "a", "b", &[word]);
    let (hw, none) = (Item::debts("a", "HW"), Item::debts("a", ""));
    let happened = [hw, call("f()"), none.clone(), call("g()")];
    assert_eq!(compare(&happened, &happened), Ok(()));
    // Debts need not be shown.
    assert_eq!(compare(&[call("f()"), call("g()")], &happened), Ok(()));
    for wrong in [
        vec![call("f()")],
        vec![call("g()"), call("f()")],
        vec![call("f()"), Item::debts("a", "MSG"), call("g()")],
        vec![none, call("f()"), call("g()")],
        vec![call("f()"), call("g()"), call("g()")],
    ] {
        assert!(compare(&wrong, &happened).is_err(), "{wrong:?}");
    }
}
