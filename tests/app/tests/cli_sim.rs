// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd sim` and `lnd replay` as their users meet them: failures for people, JSON, traces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;

use place::Place;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What a run that has to fail says to standard output and standard error.
fn failing(place: &Place, args: &[&str]) -> (String, String) {
    let output = place.run(args);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// No text that only Rust's programmers read.
fn is_for_people(told: &str) {
    for word in ["{", "Some(", "Tag ", "Nid(", "LinkId(", "Instant(", "Twice("] {
        assert!(!told.contains(word), "{word}: {told}");
    }
}

#[test]
fn a_failure_says_what_was_promised_what_happened_and_how_to_see_it_again() {
    let place = Place::new("sim-failure");
    let args = ["sim", "--seed", "3", "--seconds", "1", "--defect", "late-write"];
    let (shown, told) = failing(&place, &args);
    assert_eq!(shown, "");
    let mut lines = told.lines();
    assert!(lines.next().unwrap().starts_with("FAILED seed 3 step "), "{told}");
    let promised = "  promised  INV-2: No finalize or release while hardware may touch the buffer.";
    assert_eq!(lines.next(), Some(promised), "{told}");
    let happened = lines.next().unwrap();
    assert!(happened.starts_with("  happened  the memory oracle objects: read at 0x"), "{told}");
    assert!(told.contains("  the last events of node "), "{told}");
    let again = "again: lnd sim --seed 3 --seconds 1 --defect late-write\n";
    assert!(told.contains(again), "{told}");
    is_for_people(&told);
    // The same again, as a document.
    let (shown, told) = failing(&place, &[&args[..], &["--json"]].concat());
    assert_eq!(told, "");
    let shown = json(&shown);
    assert_eq!(shown["rule"], "INV-2", "{shown:#}");
    assert_eq!(shown["command"], again.trim_end().trim_start_matches("again: "));
    assert!(shown["last"].as_array().unwrap().len() > 5, "{shown:#}");
}

/// Counters are broken into lines that a terminal shows whole, and no line is empty.
#[test]
fn a_good_run_is_shown_in_lines_of_a_terminals_width() {
    let place = Place::new("sim-width");
    for args in [&["sim", "--seed", "42"][..], &["sim", "--rails", "--seed", "1"]] {
        let shown = place.ok(args);
        assert!(shown.starts_with("seed ") && !shown.contains("\n\n"), "{shown}");
    }
    let shown = place.ok(&["sim", "--seed", "42"]);
    let counters: Vec<&str> = shown.lines().filter(|line| line.contains('=')).collect();
    assert!(counters.len() >= 4, "two nodes, more than a line each: {shown}");
    assert!(counters.iter().all(|line| line.starts_with("    ") && line.len() <= 100), "{shown}");
    let document = json(&place.ok(&["sim", "--seed", "42", "--json"]));
    for node in document["nodes"].as_array().unwrap() {
        for (name, value) in node["counters"].as_object().unwrap() {
            assert!(shown.contains(&format!(" {name}={value}")), "{name}: {shown}");
        }
    }
}

#[test]
fn every_public_defect_is_found() {
    let place = Place::new("sim-defects");
    // What only some seeds show is looked for in several.
    let worlds = ["empty-ok", "lost-report", "double-report", "no-clock", "wrong-tag"];
    for defect in worlds {
        let seeds = ["sim", "--seeds", "40", "--jobs", "2", "--quiet", "--defect", defect];
        let (_, told) = failing(&place, &seeds);
        assert!(told.starts_with("FAILED seed ") && told.contains(defect), "{told}");
        is_for_people(&told);
    }
    for defect in ["no-history", "lost-end", "early-end"] {
        let seeds = ["sim", "--rails", "--seeds", "40", "--quiet", "--defect", defect];
        let (_, told) = failing(&place, &seeds);
        assert!(told.starts_with("FAILED seed ") && told.contains(defect), "{told}");
        is_for_people(&told);
    }
    for wrong in [
        &["sim", "--defect", "none"][..],
        &["sim", "--rails", "--defect", "late-write"],
        &["sim", "--defect", "no-history"],
        &["sim", "--jobs", "2"],
        &["sim", "--seeds", "2", "--jobs", "0"],
        &["sim", "--seeds", "2", "--trace", "file"],
        &["sim", "--rails", "--trace", "file"],
    ] {
        assert_eq!(place.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
    assert_eq!(place.names("."), [""; 0]);
}

#[test]
fn a_shrunk_plan_fails_as_its_head_says() {
    let place = Place::new("sim-shrink");
    let args = ["sim", "--seed", "3", "--seconds", "1", "--defect", "late-write"];
    let shrunk = ["--shrink", "small.toml", "--shrink-runs", "20", "--json"];
    let (shown, _) = failing(&place, &[&args[..], &shrunk].concat());
    let shown = json(&shown);
    let again = shown["shrunk"]["command"].as_str().unwrap();
    assert_eq!(again, "lnd sim --seed 3 --faults small.toml --defect late-write");
    let plan = fs::read_to_string(place.dir.join("small.toml")).unwrap();
    assert!(plan.contains(&format!("# {again}\n")), "{plan}");
    let words: Vec<&str> = again.split(' ').skip(1).collect();
    let (_, told) = failing(&place, &words);
    assert!(told.contains("promised  INV-2"), "{told}");
}

#[test]
fn a_run_that_passes_has_nothing_to_shrink() {
    let place = Place::new("sim-nothing-to-shrink");
    for more in [&[][..], &["--seeds", "2"]] {
        let args = ["sim", "--seed", "29", "--seconds", "1", "--shrink", "small.toml"];
        let shown = place.ok(&[&args[..], more].concat());
        assert!(shown.ends_with("nothing to shrink: no rule was broken\n"), "{shown}");
    }
    assert_eq!(place.names("."), [""; 0]);
}

/// Whatever the number of jobs: the same events, and the same first failure.
#[test]
fn jobs_change_nothing_but_the_time() {
    let place = Place::new("sim-jobs");
    let run = |jobs| {
        let args = ["sim", "--seeds", "6", "--seconds", "1", "--coverage", "--json", "--jobs"];
        json(&place.ok(&[&args[..], &[jobs]].concat()))
    };
    let (one, three) = (run("1"), run("3"));
    assert_eq!(one, three);
    let events = one["coverage"]["events"].as_array().unwrap();
    let of = |name: &str| events.iter().find(|it| it["event"] == name).unwrap();
    assert_eq!(of("accepted")["seeds"], 6, "{one:#}");
    assert!(events.iter().any(|it| it["seeds"] == 0), "what no seed has reached is named");
    let first = |jobs| {
        let args = ["sim", "--seeds", "30", "--defect", "lost-report", "--json", "--jobs"];
        let (shown, _) = failing(&place, &[&args[..], &[jobs]].concat());
        json(&shown)
    };
    assert_eq!(first("1"), first("4"));
    // For people: what was reached, and what was not.
    let told = place.ok(&["sim", "--seeds", "2", "--seconds", "1", "--coverage"]);
    assert!(told.contains("events were reached in 2 seeds"), "{told}");
    assert!(told.contains("in no seed"), "{told}");
}

#[test]
fn a_run_is_told_as_json() {
    let place = Place::new("sim-json");
    let one = json(&place.ok(&["sim", "--seed", "4", "--seconds", "1", "--json"]));
    let text = place.ok(&["sim", "--seed", "4", "--seconds", "1"]);
    let hash = one["hash"].as_str().unwrap();
    assert!(text.contains(&format!("hash {hash}")), "{text}");
    let sum: u64 = one["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["counters"]["posted"].as_u64().unwrap())
        .sum();
    assert_eq!(one["counters"]["posted"], sum, "{one:#}");
    let rails = json(&place.ok(&["sim", "--rails", "--seed", "7", "--json"]));
    assert!(rails["health"]["messages"].as_u64().unwrap() > 10, "{rails:#}");
    assert!(!rails["samples"].as_array().unwrap().is_empty(), "{rails:#}");
}

#[test]
fn a_trace_plays_again_and_one_that_was_changed_differs() {
    let place = Place::new("sim-trace");
    place.ok(&["sim", "--seed", "5", "--seconds", "1", "--trace", "good.jsonl"]);
    let same = place.ok(&["replay", "good.jsonl"]);
    assert!(same.starts_with("the same run: ") && same.contains("no rule was broken"), "{same}");
    assert_eq!(json(&place.ok(&["replay", "good.jsonl", "--json"]))["same"], true);
    let shown = place.ok(&["replay", "good.jsonl", "--show", "--node", "1"]);
    assert!(shown.lines().count() > 100, "{shown}");
    assert!(shown.lines().all(|line| line.contains(" s  node 1  ")), "{shown}");
    let one = place.ok(&["replay", "good.jsonl", "--show", "--json"]);
    let transfer = one.lines().map(json).find_map(|it| it["transfer"].as_str().map(str::to_owned));
    let transfer = transfer.unwrap();
    let of = place.ok(&["replay", "good.jsonl", "--show", "--transfer", &transfer]);
    assert!(of.lines().all(|line| line.contains(&format!("transfer {transfer}"))), "{of}");

    // A plan travels with the trace; a failure is played again as well.
    fs::write(place.dir.join("plan.toml"), "nodes = 2\n[messages]\ndrop = 9000\n").unwrap();
    let args = ["sim", "--plan", "plan.toml", "--seed", "2", "--seconds", "1"];
    let defect = ["--defect", "double-report", "--trace", "bad.jsonl"];
    failing(&place, &[&args[..], &defect].concat());
    fs::remove_file(place.dir.join("plan.toml")).unwrap();
    let same = place.ok(&["replay", "bad.jsonl"]);
    assert!(same.contains("failed at step ") && same.contains("INV-1"), "{same}");

    let good = fs::read_to_string(place.dir.join("good.jsonl")).unwrap();
    let (head, events) = good.split_once('\n').unwrap();
    let changed = events.replacen("accepted, ", "accepted: ", 1);
    let cut = &good[..good.len() - 30];
    let all = [
        (
            "another run",
            format!("{}\n{events}", head.replace("\"seed\":5", "\"seed\":6")),
            "first that differs",
        ),
        ("changed", format!("{head}\n{changed}"), "first that differs"),
        ("cut", cut.to_owned(), "cut, or no JSON"),
        ("longer", format!("{good}{{}}\n"), "first that differs"),
        ("no trace", "{\"a\": 1}\n".into(), "no trace of `lnd sim --trace`"),
        ("no text", "\u{1}\u{2}".into(), "cut, or no JSON"),
        ("empty", String::new(), "no trace"),
        (
            "later",
            head.replace("\"lnd_trace\":1", "\"lnd_trace\":9") + "\n",
            "version 9, and this is 1",
        ),
        ("seed", head.replace("\"seed\":5", "\"seed\":\"x\"") + "\n", "no seed"),
        (
            "nodes",
            head.replace("\"nodes\":null", "\"nodes\":99") + "\n",
            "nodes = 99 is not in 2..=64",
        ),
        ("plan", head.replace("\"plan\":null", "\"plan\":\"drip = 1\"") + "\n", "unknown field"),
        ("defect", head.replace("\"defect\":null", "\"defect\":\"x\"") + "\n", "unknown defect"),
    ];
    for (name, text, why) in all {
        fs::write(place.dir.join("other.jsonl"), text).unwrap();
        let (shown, told) = failing(&place, &["replay", "other.jsonl"]);
        assert!(shown.contains(why) || told.contains(why), "{name}: {shown}{told}");
        assert!(!told.contains("panicked"), "{name}: {told}");
    }
    let (_, told) = failing(&place, &["replay", "none.jsonl"]);
    assert!(told.starts_with("lnd: none.jsonl: No such file"), "{told}");
    let (_, told) = failing(&place, &["sim", "--trace", "none/trace"]);
    assert!(told.contains("none/trace: No such file"), "{told}");
}

/// A file that cannot be written takes nothing away from what there is to say of the run.
#[test]
fn a_failure_is_told_also_where_its_files_cannot_be_written() {
    let place = Place::new("sim-no-file");
    let args = ["sim", "--seed", "3", "--seconds", "1", "--defect", "late-write", "--json"];
    for file in ["--trace", "--report", "--capture", "--shrink"] {
        let shrink = if file == "--shrink" { &["--shrink-runs", "2"][..] } else { &[] };
        let (shown, told) = failing(&place, &[&args[..], &[file, "none/file"], shrink].concat());
        assert_eq!(json(&shown)["rule"], "INV-2", "{shown}");
        assert!(told.contains("none/file: No such file"), "{told}");
    }
    // A good run is told too, and was not all that was to be done.
    let good = ["sim", "--seed", "5", "--seconds", "1", "--json", "--report", "/dev/full"];
    let (shown, told) = failing(&place, &good);
    assert_eq!(json(&shown)["result"], "ok", "{shown}");
    assert!(told.contains("/dev/full: No space left"), "{told}");
}

#[test]
fn plans_may_have_any_name_and_have_an_end() {
    use std::os::unix::ffi::OsStringExt;
    let place = Place::new("sim-plans");
    let name = std::ffi::OsString::from_vec(b"plan-\xff.toml".to_vec());
    fs::write(place.dir.join(&name), "hello = 5").unwrap();
    let output = place.lnd(&["sim", "--faults"]).arg(&name).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("hello"), "it was read: {told}");
    for args in [&["sim", "--faults", "/dev/zero"][..], &["cluster", "check", "/dev/zero"]] {
        let output = place.run(args);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(told, "lnd: /dev/zero: it has more than 1 MiB\n");
    }
}

/// The events of a trace that has no end, for a reader that wants one.
#[test]
fn a_trace_is_shown_for_as_long_as_it_is_read() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let place = Place::new("sim-pipe");
    place.ok(&["sim", "--seed", "5", "--seconds", "1", "--trace", "good.jsonl"]);
    let text = fs::read_to_string(place.dir.join("good.jsonl")).unwrap();
    let mut lines = text.lines();
    let (head, event) = (lines.next().unwrap(), lines.next().unwrap());
    let mut command = place.lnd(&["replay", "--show", "/dev/stdin"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut trace = child.stdin.take().unwrap();
    writeln!(trace, "{head}\n{event}").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains(" node "), "{line}");
    // It stops to read: a pipe has 64 KiB.
    let written = (0..1_000_000).take_while(|_| writeln!(trace, "{event}").is_ok()).count();
    assert!(written < 1_000_000);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// A number that is none is refused in words, and not in those of a parser.
#[test]
fn what_is_no_number_is_said_to_be_none() {
    let place = Place::new("numbers");
    for (args, why) in [
        (["sim", "--seconds", "0.2"], "invalid value '0.2' for '--seconds <SECONDS>': it is no"),
        (["sim", "--seed", "x"], "'x' for '--seed <SEED>': it is no whole number"),
        (["sim", "--seeds", ""], "for '--seeds <SEEDS>': it is no whole number"),
        (["sim", "--seed", "99999999999999999999"], "--seed <SEED>': the number is too large"),
        (["sim", "--links", "9"], "9 is not in 1..=8"),
    ] {
        let told = place.refused(&args);
        assert!(told.starts_with("error: invalid value "), "{told}");
        assert!(told.contains(why), "{told}");
        assert!(told.ends_with("try '--help'.\n"), "{told}");
        assert_eq!(place.run(&args).status.code(), Some(2));
    }
}

/// What is JSON stays JSON, and no terminal obeys it.
#[test]
fn control_characters_of_a_plan_s_name_are_escaped_as_json_has_it() {
    let place = Place::new("sim-control");
    let name = "a\u{7f}b\u{9b}2Jc\u{1b}d.toml";
    fs::write(place.dir.join(name), "").unwrap();
    let args = ["sim", "--seed", "3", "--seconds", "1", "--defect", "late-write", "--json"];
    let (shown, _) = failing(&place, &[&args[..], &["--faults", name]].concat());
    let again = json(&shown)["command"].as_str().unwrap().to_owned();
    assert!(again.contains("\u{7f}b\u{9b}2Jc"), "{again:?}");
    assert!(!shown.contains(|it: char| it.is_control() && it != '\n'), "{shown:?}");
    // A trace's words are anything, line by line.
    place.ok(&["sim", "--seed", "3", "--seconds", "1", "--trace", "t.jsonl"]);
    let text = fs::read_to_string(place.dir.join("t.jsonl")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let event = lines[1].replacen("\"words\":\"", "\"words\":\"\u{7f}\u{9b}", 1);
    assert_ne!(event, lines[1]);
    lines[1] = &event;
    fs::write(place.dir.join("t.jsonl"), lines.join("\n") + "\n").unwrap();
    let shown = place.ok(&["replay", "--show", "--json", "t.jsonl"]);
    assert!(!shown.contains(|it: char| it.is_control() && it != '\n'), "{shown:?}");
    let first = json(shown.lines().next().unwrap());
    assert!(first["words"].as_str().unwrap().starts_with("\u{7f}\u{9b}"), "{first}");
}
