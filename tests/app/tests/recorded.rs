// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Captures and reports of simulated runs, beside what the runs tell. `tests/run wire` and
//! `tests/run report` look at them with other programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lnd_app::recorded::Cast;
use lnd_app::report::{write, Outcome, Shown};
use lnd_sim::simulator::RunLog;
use lnd_sim::world::{run_logged, Defect, Options, Summary};
use serde_json::Value;

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn lnd(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lnd")).args(arguments).output().unwrap()
}

/// The page of a run, and the data in it.
fn page(options: &Options, outcome: Outcome<'_>, log: &RunLog) -> (String, Value) {
    let (entries, left_out) = log.take();
    let (command, cast) = (options.command(), Cast::nodes());
    let shown = Shown { command: &command, cast: &cast, outcome, entries: &entries, left_out };
    let mut page = Vec::new();
    write(&mut page, &shown).unwrap();
    let page = String::from_utf8(page).unwrap();
    let data = page.split_once("type=\"application/json\">").unwrap().1;
    let data = data.split_once("</script>").unwrap().0;
    (page.clone(), serde_json::from_str(data).unwrap())
}

fn of_seed(seed: u64) -> (Summary, String, Value) {
    let (options, log) = (Options { seed, ..Options::default() }, RunLog::default());
    let summary = run_logged(&options, None, Some(&log)).unwrap();
    let (page, data) = page(&options, Outcome::World(&summary), &log);
    (summary, page, data)
}

#[test]
fn a_report_has_every_end_of_its_run_by_role() {
    for seed in [1, 2, 3, 42] {
        let (summary, _, data) = of_seed(seed);
        let text = |number: &Value| data["strings"][number.as_u64().unwrap() as usize].clone();
        let transfers = data["transfers"].as_array().unwrap();
        for (role, known) in &summary.stats().roles {
            let of = |ok: bool| {
                let its = transfers.iter().filter(|it| text(&it["role"]) == *role);
                its.filter(|it| !it["ended"].is_null() && (it["errno"] == 0) == ok).count() as u64
            };
            // What was never sent has no role of its own in the log.
            let unsent = transfers.iter().filter(|it| text(&it["role"]) == "not sent").count();
            assert_eq!(of(true), known.ok, "seed {seed}, {role}");
            assert!(of(false) <= known.failed, "seed {seed}, {role}");
            assert!(of(false) + unsent as u64 >= known.failed, "seed {seed}, {role}");
        }
    }
}

#[test]
fn nearly_every_transfer_that_ended_ok_has_its_other_end() {
    let (_, _, data) = of_seed(1);
    let transfers = data["transfers"].as_array().unwrap();
    let (mut with, mut without) = (0, 0);
    for (number, it) in transfers.iter().enumerate().filter(|(_, it)| it["errno"] == 0) {
        let Some(other) = it["other"].as_u64() else {
            without += 1;
            continue;
        };
        let other = &transfers[other as usize];
        assert_eq!((&other["unit"], &it["unit"]), (&it["peer"], &other["peer"]), "{number}");
        assert_eq!(other["other"], number, "{number}");
        with += 1;
    }
    assert!(with > 1_700 && without * 100 < with, "{with} with, {without} without");
}

#[test]
fn a_page_loads_nothing() {
    let (_, page, _) = of_seed(3);
    for sign in ["http://", "https://", "src=", "@import", "url("] {
        let found = page.matches(sign).count();
        // The name of SVG is no address.
        let names =
            if sign == "http://" { page.matches("http://www.w3.org/2000/svg").count() } else { 0 };
        assert_eq!(found, names, "{sign}");
    }
}

#[test]
fn a_run_that_fails_has_a_report() {
    let failing = |seed| {
        let (options, log) = (Options { seed, ..Options::default() }, RunLog::default());
        let failure = run_logged(&options, Some(Defect::LateWrite), Some(&log)).err()?;
        Some((options, log, failure))
    };
    let (options, log, failure) = (1..50).find_map(failing).expect("a seed that fails");
    let (page, data) = page(&options, Outcome::Failed(&failure), &log);
    assert_eq!(data["ok"], false);
    assert_eq!(data["broken"], failure.what);
    assert!(!data["transfers"].as_array().unwrap().is_empty());
    // For the browser.
    std::fs::write(place("failed.html"), page).unwrap();
    std::fs::write(place("failed.rule"), failure.rule()).unwrap();
}

#[test]
fn the_tool_writes_both_files_and_says_the_same() {
    let (capture, report) = (place("both.pcapng"), place("both.html"));
    let files = [capture.to_str().unwrap(), report.to_str().unwrap()];
    let plain = lnd(&["sim", "--seed", "3"]);
    let with = lnd(&["sim", "--seed", "3", "--capture", files[0], "--report", files[1]]);
    assert!(with.status.success());
    assert_eq!(plain.stdout, with.stdout);
    assert_eq!(std::fs::read(&capture).unwrap()[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert!(std::fs::read_to_string(&report).unwrap().starts_with("<!DOCTYPE html>"));
}

#[test]
fn files_are_about_one_run_and_must_be_writable() {
    let out = lnd(&["sim", "--seeds", "2", "--capture", "x.pcapng"]);
    assert_eq!(out.status.code(), Some(2));
    let out = lnd(&["sim", "--seed", "3", "--report", "no/such/directory/x.html"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8(out.stderr).unwrap().contains("no/such/directory/x.html"));
}

/// One would replace the other, or the plan.
#[test]
fn files_of_a_run_are_apart() {
    let dir = place("recorded-same");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("plan.toml"), "").unwrap();
    std::os::unix::fs::symlink("plan.toml", dir.join("link")).unwrap();
    for (args, why) in [
        (["--capture", "x", "--report", "./x"], "--capture and --report are one file"),
        (["--trace", "x", "--capture", "x"], "--trace and --capture are one file"),
        (["--trace", "x", "--report", "x"], "--trace and --report are one file"),
        (["--faults", "plan.toml", "--report", "link"], "--faults and --report are one file"),
        (["--shrink", "x", "--report", "x"], "--shrink and --report are one file"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lnd"));
        let output = command.arg("sim").args(args).current_dir(&dir).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains(why), "{told}");
        assert!(!dir.join("x").exists());
        assert_eq!(std::fs::read(dir.join("plan.toml")).unwrap(), b"");
    }
    // A device takes both.
    let null = ["sim", "--seed", "1", "--seconds", "1", "--capture", "/dev/null", "--report"];
    assert!(lnd(&[&null[..], &["/dev/null"]].concat()).status.success());
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A file system that has no room for all of a file leaves none of it, and takes nothing away from
/// the others.
#[test]
fn a_file_that_cannot_be_written_whole_is_not_left_behind() {
    let dir = place("recorded-cut");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    // No file may be longer than so many blocks, and the signal that would say so is ignored.
    let limited = |blocks: &str, files: &[&str]| {
        let script = r#"trap "" XFSZ; ulimit -f "$1"; shift; exec "$0" sim --seed 1 "$@""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", script, env!("CARGO_BIN_EXE_lnd"), blocks]).args(files);
        shell.current_dir(&dir).output().unwrap()
    };
    for (option, file) in [("--report", "r"), ("--capture", "c"), ("--trace", "t")] {
        let output = limited("8", &[option, file]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(&format!("lnd: {file}: File too large")), "{told}");
        assert!(!dir.join(file).exists(), "{file} was left");
        assert!(String::from_utf8_lossy(&output.stdout).contains("seed 1 ok"));
    }
    // A device stays, and the report is written although the capture is not.
    let output = limited("unlimited", &["--capture", "/dev/full", "--report", "r"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("lnd: /dev/full: No space left"), "{told}");
    assert!(Path::new("/dev/full").exists() && dir.join("r").exists(), "{told}");
    std::fs::remove_dir_all(&dir).unwrap();
}
