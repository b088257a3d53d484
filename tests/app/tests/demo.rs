// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The demonstration and the benchmark as commands: what they leave behind, however they end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A directory of its own for each test; removed at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = std::env::temp_dir().join(format!("lnd-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("files/sub")).unwrap();
        fs::create_dir_all(place.join("scratch")).unwrap();
        fs::write(place.join("files/small"), "small").unwrap();
        fs::write(place.join("files/sub/large"), vec![7; 300_000]).unwrap();
        Self(place)
    }

    fn lnd(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lnd"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// The names that are left where generated files lie.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.join("scratch")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const ARGUMENTS: [&str; 5] = ["--quiet", "--dir", "files", "--scratch", "scratch"];

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_demonstration_with_failures_ends_well_and_removes_what_it_generated() {
    let place = Place::new("demo");
    // A killed run has left files: they are neither sent nor kept.
    let leftover = place.0.join("scratch/lnd-demo-4294967295");
    fs::create_dir(&leftover).unwrap();
    fs::write(leftover.join("0000.bin"), "left").unwrap();
    let output = place.lnd(&ARGUMENTS).args(["--generated", "24"]).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(place.left(), Vec::<String>::new());
    assert!(text.contains("Verified: every file came back as it was. OK"), "{text}");
    for step in ["generating", "the cable is pulled", "node B is killed", "node B starts again"] {
        assert!(text.contains(step), "{step}: {text}");
    }
    let generated = text.lines().find(|line| line.contains("files of 24.0 MiB: generated"));
    let sent = text.lines().find(|line| line.contains("there by PUT and back by GET"));
    let number = |line: Option<&str>| -> u32 {
        let words: Vec<_> = line.unwrap().split_whitespace().collect();
        words.windows(2).find(|pair| pair[1].starts_with("files")).unwrap()[0].parse().unwrap()
    };
    assert_eq!(number(sent), number(generated) + 2, "two files of the directory: {text}");
}

#[test]
fn a_signal_while_files_are_generated_leaves_nothing() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let place = Place::new(&format!("signal-{signal}"));
        let mut command = place.lnd(&ARGUMENTS);
        command.args(["--generated", "256"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("generating")));
        // SAFETY: sends a signal to a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        lines.for_each(drop);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("stopped by a signal"), "{}", text(&output));
        assert_eq!(place.left(), Vec::<String>::new());
    }
}

#[test]
fn what_does_not_fit_or_takes_too_long_is_not_generated() {
    let place = Place::new("bound");
    // A TiB: no room for it here, or it is not ready in time.
    let tib = (1 << 20).to_string();
    let output =
        place.lnd(&ARGUMENTS).args(["--bound", "1", "--generated", &tib]).output().unwrap();
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("no room for") || text.contains("not ready within 1 s"), "{text}");
    assert_eq!(place.left(), Vec::<String>::new());
}

/// Files of a directory are read before they are sent. That is bounded as well, and heeds signals.
#[test]
fn reading_what_is_to_be_sent_ends_with_the_bound_or_a_signal() {
    let place = Place::new("sparse");
    // Long enough that no machine reads it in time; it takes no room.
    let file = fs::File::create(place.0.join("files/sparse")).unwrap();
    file.set_len(1 << 40).unwrap();
    let arguments = ["--quiet", "--dir", "files", "--generated", "0"];
    let output = place.lnd(&arguments).args(["--bound", "1"]).output().unwrap();
    let notified = text(&output);
    assert_eq!(output.status.code(), Some(1), "{notified}");
    assert!(notified.contains("not ready within 1 s: --bound gives it longer"), "{notified}");
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let mut command = place.lnd(&arguments);
        command.args(["--bound", "1000000"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("found")));
        // SAFETY: sends a signal to a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        lines.for_each(drop);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("stopped by a signal"), "{}", text(&output));
    }
}

#[test]
fn names_that_no_server_takes_are_no_failure() {
    let place = Place::new("odd-names");
    for name in ["line\nfeed", "back\\slash", ".owner"] {
        fs::write(place.0.join("files").join(name), name).unwrap();
    }
    let output = place.lnd(&ARGUMENTS).args(["--generated", "0", "--calm"]).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("5 files"), "{text}");
}

/// A fabric beside the files may be the memory of nodes that run: it is not among what is sent.
#[test]
fn a_fabric_is_no_file_to_send() {
    let place = Place::new("beside");
    let format =
        ["fabric", "format", "--nodes", "2", "--window", "33", "--fabric", "files/lnd.fabric"];
    assert!(place.lnd(&format).output().unwrap().status.success());
    let output = place.lnd(&ARGUMENTS).args(["--generated", "0", "--calm"]).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("files, 2 files of 0.3 MiB: found"), "{text}");
}

/// Nothing to send is no proof of anything; a directory that is not there is not made.
#[test]
fn a_demonstration_of_nothing_is_refused() {
    let place = Place::new("nothing");
    fs::create_dir(place.0.join("empty")).unwrap();
    let arguments = ["--quiet", "--dir", "empty", "--generated", "0"];
    let output = place.lnd(&arguments).output().unwrap();
    let notified = text(&output);
    assert_eq!(output.status.code(), Some(1), "{notified}");
    assert!(
        notified.contains("empty: no regular file below it") && !notified.contains("OK"),
        "{notified}"
    );
    let output = place.lnd(&["--dir", "files", "--scratch", "none"]).output().unwrap();
    let notified = text(&output);
    assert_eq!(output.status.code(), Some(1), "{notified}");
    assert!(notified.contains("none: No such file or directory"), "{notified}");
    assert!(!place.0.join("none").exists());
}

#[test]
fn the_benchmark_compares_with_cp_and_leaves_nothing() {
    let place = Place::new("bench");
    let arguments = ["bench", "--size", "8", "--runs", "2", "--dir", "scratch"];
    let output = place.lnd(&arguments).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    for name in ["lnd put: ", "lnd get: "] {
        let line = text.lines().find(|line| line.starts_with(name)).expect(&text);
        let ratio = line[name.len()..].split(' ').next().unwrap();
        assert!(ratio.parse::<f64>().unwrap() > 0.0 && line.contains("x cp"), "{line}");
    }
    assert_eq!(place.left(), Vec::<String>::new());
}
