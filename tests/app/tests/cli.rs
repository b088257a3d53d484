// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tool `lnd` as its users meet it: options, files, output, signals.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{symlink, FileTypeExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use place::{same, wait_until, Place};

#[test]
fn the_version_names_the_tool() {
    let place = Place::new("version");
    assert!(place.ok(&["--version"]).starts_with("lnd "));
}

/// Exit code 2, before anything was done.
#[test]
fn options_out_of_range_or_in_contradiction_are_usage_errors() {
    let place = Place::new("usage");
    let rails = "network = [{ name = \"a\", kind = \"verbs\" }]\n\
        host = [{ nis = [\"a\"] }, { nis = [\"a\"] }]\n";
    fs::write(place.dir.join("rails.toml"), rails).unwrap();
    let late = format!("{rails}event = [{{ at_ms = 2000, do = \"death\", host = 0 }}]\n");
    fs::write(place.dir.join("rails-late.toml"), late).unwrap();
    fs::write(place.dir.join("node.toml"), "[[event]]\nat_ms = 5\ndo = \"death\"\nnode = 7")
        .unwrap();
    fs::write(place.dir.join("late.toml"), "[[event]]\nat_ms = 2000\ndo = \"death\"\nnode = 0")
        .unwrap();
    fs::write(place.dir.join("window.toml"), "[[window]]\nfrom_ms = 2000\nto_ms = 3000").unwrap();
    let wrong: [&[&str]; 43] = [
        &["sim", "--seeds", "0"],
        &["sim", "--nodes", "1"],
        &["sim", "--nodes", "65"],
        &["sim", "--links", "0"],
        &["sim", "--links", "9"],
        &["sim", "--seconds", "0"],
        &["sim", "--seconds", "3601"],
        &["sim", "--shrink", "f", "--shrink-runs", "0"],
        &["sim", "--shrink-runs", "5"],
        &["sim", "--seed", "18446744073709551615", "--seeds", "2"],
        &["sim", "--rails", "--nodes", "3"],
        &["sim", "--rails", "--byzantine"],
        &["sim", "--plan", "rails.toml", "--links", "2"],
        &["sim", "--rails", "--pauses"],
        &["sim", "--plan", "rails.toml", "--pauses"],
        // What there is not, and what would have no effect.
        &["sim", "--plan", "node.toml", "--nodes", "2", "--shrink", "shrunk"],
        &["sim", "--plan", "node.toml", "--seeds", "3"],
        &["sim", "--plan", "late.toml"],
        &["sim", "--plan", "late.toml", "--seconds", "1"],
        &["sim", "--plan", "window.toml"],
        &["sim", "--plan", "rails-late.toml"],
        &["sim", "--routed", "true", "--nodes", "2"],
        &["--generated", "99999999999", "--dir", "."],
        &["--bound", "0"],
        &["--calm", "ping", "1@soft"],
        &["fabric", "format", "f", "--nodes", "1"],
        &["fabric", "format", "f", "--nodes", "65"],
        &["fabric", "format", "f", "--links", "0"],
        &["fabric", "format", "f", "--links", "9"],
        &["fabric", "format", "f", "--descriptors", "0"],
        &["fabric", "format", "f", "--window", "0"],
        &["fabric", "format", "f", "--window", "99999999"],
        // Too small to serve.
        &["fabric", "format", "f", "--window", "8"],
        &["fabric", "dead", "f", "0"],
        &["fabric", "dead", "f", "1@soft", "--incarnation", "0"],
        &["fabric", "dead", "f", "1@soft", "--incarnation", "+5"],
        &["fabric", "link", "f", "1@soft", "8", "up"],
        &["node", "--window", "8"],
        &["node", "--nodes", "1"],
        &["node", "--timeout", "5"],
        &["ping", "1@soft", "--timeout", "0"],
        &["ping", "1@soft", "--nodes", "4"],
        &["put", "-", "1@soft"],
    ];
    for args in wrong {
        let output = place.run(args);
        let notified = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {notified}");
        assert!(notified.starts_with("error: "), "{args:?}: {notified}");
        // The usage that is shown is that of the command.
        let usage = notified.lines().find(|line| line.starts_with("Usage: "));
        let its_own = usage.is_none_or(|line| line.starts_with(&format!("Usage: lnd {}", args[0])));
        assert!(args[0].starts_with('-') || its_own, "{args:?}: {notified}");
    }
    let plans = ["late.toml", "node.toml", "rails-late.toml", "rails.toml", "window.toml"];
    assert_eq!(place.names("."), plans, "nothing was made");
    place.ok(&["sim", "--plan", "late.toml", "--seconds", "3"]);
    // Of the seeds some draw two nodes: a router that is asked for has a third.
    place.ok(&["sim", "--routed", "true", "--seeds", "8", "--seconds", "1"]);
}

/// A line that cannot be printed is no success.
#[test]
fn a_full_output_is_an_error() {
    let place = Place::new("full-output");
    let fabric = ["fabric", "format", "f", "--nodes", "2", "--window", "34"];
    place.ok(&fabric);
    for args in
        [&["fabric", "show", "f"][..], &["--version"], &["--help"], &["sim", "--seconds", "1"]]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = place.lnd(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(told.contains("standard output: No space left"), "{args:?}: {told}");
    }
    // Nor does it arrive at a standard output that is closed.
    let told_nowhere = r#""$0" "$@" >&-"#;
    let mut closed = std::process::Command::new("sh");
    closed.args(["-c", told_nowhere, env!("CARGO_BIN_EXE_lnd"), "info", "wire"]);
    let output = closed.stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("standard output: Bad file descriptor"), "{told}");
    // And what cannot be complained of either is no panic.
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    let status = place.lnd(&["fabric", "show", "g"]).stdout(full()).stderr(full()).status();
    assert_eq!(status.unwrap().code(), Some(1));
}

/// Issues a PUT of a file under a name of its own.
fn put(place: &Place, file: &str, name: &str) {
    place.ok(&["put", file, "1@soft", "--name", name]);
}

#[test]
fn a_file_is_fetched_to_regular_files_and_nothing_else() {
    let place = Place::new("out");
    let mut node = place.small_node();
    let at = |name: &str| place.dir.join(name);
    let file = place.write("file", 70_000);
    put(&place, "file", "f");

    // What is no regular file is left as it is.
    fs::create_dir(at("dir")).unwrap();
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    symlink("/dev/null", at("to-null")).unwrap();
    for (out, why) in [
        ("/dev/null", "is a device"),
        ("to-null", "is a device"),
        ("dir", "is a directory"),
        ("fifo", "is a FIFO"),
        ("none/f", "No such file or directory"),
        ("new/", "is a directory"),
    ] {
        let notified = place.refused(&["get", "f", "1@soft", "--out", out]);
        assert!(notified.contains(out) && notified.contains(why), "{out}: {notified}");
    }
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(fs::metadata(at("fifo")).unwrap().file_type().is_fifo());
    assert!(!at("none").exists() && !at("new").exists());

    // A link stays; what it leads to is replaced.
    fs::write(at("target"), "old").unwrap();
    symlink("target", at("link")).unwrap();
    place.ok(&["get", "f", "1@soft", "--out", "link"]);
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    assert!(same(&file, &at("target")));

    // Standard output has the file and nothing else.
    let output = place.run(&["get", "f", "1@soft", "--out", "-"]);
    assert!(output.status.success());
    assert!(output.stdout == fs::read(&file).unwrap());
    assert!(String::from_utf8_lossy(&output.stderr).contains("got f: "));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = place.lnd(&["get", "f", "1@soft", "--out", "-"]).stdout(full).output().unwrap();
    let notified = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{notified}");
    assert!(notified.contains("standard output: "), "{notified}");
    // A file that is not there leaves the old one.
    place.refused(&["get", "nothing", "1@soft", "--out", "target"]);
    assert!(same(&file, &at("target")));
    node.stop();
}

#[test]
fn what_does_not_say_how_long_it_is_is_read_to_its_end_or_refused() {
    let place = Place::new("in");
    let mut node = place.small_node();
    let stored = |name: &str| fs::read(place.dir.join("store").join(name)).unwrap();

    let mut child = place
        .lnd(&["put", "-", "1@soft", "--name", "stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let text = b"from standard input".repeat(10_000);
    child.stdin.take().unwrap().write_all(&text).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(stored("stdin") == text);

    put(&place, "/proc/version", "proc");
    assert_eq!(stored("proc"), fs::read("/proc/version").unwrap());
    assert!(!stored("proc").is_empty());
    fs::write(place.dir.join("empty"), "").unwrap();
    put(&place, "empty", "empty");
    assert_eq!(stored("empty"), b"");

    assert!(Command::new("mkfifo").arg(place.dir.join("fifo")).status().unwrap().success());
    let fifo = place.dir.join("fifo");
    let writer = std::thread::spawn(move || fs::write(fifo, b"through a FIFO").unwrap());
    put(&place, "fifo", "fifo");
    writer.join().unwrap();
    assert_eq!(stored("fifo"), b"through a FIFO");

    for (file, why) in [
        ("/dev/zero", "is a device"),
        ("/dev/null", "is a device"),
        ("store", "is a directory"),
        ("missing", "No such file"),
        (".", "is a directory"),
        ("..", "is a directory"),
    ] {
        let notified = place.refused(&["put", file, "1@soft", "--name", "refused"]);
        assert!(notified.contains(file) && notified.contains(why), "{notified}");
    }
    assert!(!place.dir.join("store/refused").exists());
    node.stop();
}

/// What is in the way at the server is told of as what it is.
#[test]
fn names_that_lead_to_no_file_at_the_server_are_refused_as_such() {
    let place = Place::new("no-file");
    let mut node = place.small_node();
    place.write("file", 100);
    let store = |name: &str| place.dir.join("store").join(name);
    fs::create_dir(store("dir")).unwrap();
    symlink("/etc/passwd", store("link")).unwrap();
    assert!(Command::new("mkfifo").arg(store("fifo")).status().unwrap().success());
    for name in ["dir", "link", "fifo"] {
        let why = "the name does not lead to a regular file at the server";
        let notified = place.refused(&["put", "file", "1@soft", "--name", name]);
        assert_eq!(notified, format!("lnd: put {name} at 1@soft0: {why}\n"));
        let notified = place.refused(&["get", name, "1@soft", "--out", "back"]);
        assert_eq!(notified, format!("lnd: get {name} from 1@soft0: {why}\n"));
    }
    assert!(fs::metadata(store("fifo")).unwrap().file_type().is_fifo());
    // The directory that standard input is read into is named, not standard input.
    let mut put = place.lnd(&["put", "-", "1@soft", "--name", "piped"]);
    let output = put.env("TMPDIR", place.dir.join("none")).output().unwrap();
    let notified = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{notified}");
    assert!(
        notified.contains("no-file/none, into which standard input is read: No such"),
        "{notified}"
    );
    node.stop();
}

/// A client that was killed leaves a part of a file; the next one removes it.
#[test]
fn the_next_get_removes_what_a_killed_one_has_left() {
    let place = Place::new("killed-get");
    let mut node = place.small_node();
    let big = place.write("big", 64 << 20);
    put(&place, "big", "big");
    fs::create_dir(place.dir.join("back")).unwrap();
    let mut get = place.start("get.log", &["get", "big", "1@soft", "--out", "back/first"]);
    get.wait_until("the file is begun", |_| !place.names("back").is_empty());
    node.signal("-STOP");
    get.kill();
    node.signal("-CONT");
    assert_eq!(place.names("back").len(), 1, "a part");
    place.ok(&["get", "big", "1@soft", "--out", "back/second"]);
    assert_eq!(place.names("back"), ["second"]);
    assert!(same(&big, &place.dir.join("back/second")));
    node.stop();
}

/// What was begun when the signal came is not left behind, at either end.
#[test]
fn a_signal_leaves_no_part_of_a_file() {
    let place = Place::new("signal");
    let mut node = place.small_node();
    place.write("big", 64 << 20);
    put(&place, "big", "big");
    fs::create_dir(place.dir.join("back")).unwrap();
    for signal in ["-TERM", "-INT", "-HUP"] {
        let mut get = place.start("get.log", &["get", "big", "1@soft", "--out", "back/big"]);
        get.wait_until("the file is begun", |_| !place.names("back").is_empty());
        node.signal("-STOP");
        get.signal(signal);
        let status = get.end();
        node.signal("-CONT");
        assert_eq!(status.code(), Some(1), "{signal}: {}", get.log());
        assert!(get.log().contains("stopped by a signal"), "{}", get.log());
        assert_eq!(place.names("back"), [""; 0], "{signal}");
    }
    // A node in the middle of a PUT.
    let mut put = place.start("put.log", &["put", "big", "1@soft", "--name", "second"]);
    put.wait_until("a draft is begun", |_| !place.names("store/.drafts").is_empty());
    put.signal("-STOP");
    node.stop();
    assert_eq!(place.names("store/.drafts"), [""; 0]);
    put.kill();
}

/// No file of this process and those that it starts grows beyond a MiB: writing fails.
fn limit_files() -> std::io::Result<()> {
    let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
    // SAFETY: ignoring a signal is always allowed.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    // SAFETY: the structure outlives the call.
    match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// A store whose file system refuses more ends the job at once, and both ends say why. The limit on
/// the size of files stands for a full disk: the way from there is the same.
#[test]
fn a_full_store_is_an_error_at_both_ends() {
    let place = Place::new("full-store");
    place.ok(&["fabric", "format", "lnd.fabric", "--nodes", "3", "--window", "34"]);
    let file = fs::File::create(place.dir.join("node.log")).unwrap();
    let mut command = place.lnd(&["node", "--me", "1@soft", "--dir", "store"]);
    command.stderr(file.try_clone().unwrap()).stdout(file);
    // SAFETY: the function calls nothing but system calls.
    unsafe { command.pre_exec(limit_files) };
    let mut node = place.adopt("node.log", command.spawn().unwrap());
    node.wait_until("the node is up", |log| log.contains("is up"));
    place.write("big", 16 << 20);
    let notified = place.refused(&["put", "big", "1@soft"]);
    assert!(notified.contains("put big at 1@soft0: no space left at the server"), "{notified}");
    node.wait_until("the server has said so", |log| log.contains("store/big: file too large"));
    // It serves on, and nothing is left of the file.
    place.write("small", 4096);
    place.ok(&["put", "small", "1@soft"]);
    wait_until("the draft is gone", || place.names("store/.drafts").is_empty());
    assert!(!place.dir.join("store/big").exists());
    node.stop();
}

/// What a name holds does not reach the terminal: it could clear it, or forge a line's beginning.
#[test]
fn control_characters_of_a_name_are_shown_not_obeyed() {
    let place = Place::new("control");
    let mut node = place.small_node();
    let name = "a\x1b[2J\rb\u{9b}c";
    place.write(name, 10);
    // The server refuses such a name, and its refusal is shown too.
    let sent = place.lnd(&["put", name, "1@soft"]).output().unwrap();
    let missing = place.lnd(&["get", "x\x1b[2J", "1@soft", "--out", "f"]).output().unwrap();
    node.stop();
    assert_eq!((sent.status.code(), missing.status.code()), (Some(1), Some(1)));
    for stderr in [sent.stderr, missing.stderr] {
        let text = String::from_utf8(stderr).unwrap();
        assert!(text.contains("\\u{1b}[2J"), "{text:?}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}

/// What the caller has closed is an error: nothing is stored under an OK, and nothing is thrown
/// away.
#[test]
fn a_standard_stream_that_is_closed_is_an_error() {
    let place = Place::new("closed");
    let mut node = place.small_node();
    place.write("f", 5000);
    put(&place, "f", "f");
    let closed = |which: &str, args: &[&str]| {
        let lnd = place.lnd(args);
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec \"$0\" \"$@\" {which}")).arg(lnd.get_program());
        shell.args(lnd.get_args()).current_dir(&place.dir).output().unwrap()
    };
    for (which, args, name) in [
        ("<&-", &["put", "-", "1@soft", "--name", "f"][..], "standard input is closed"),
        (">&-", &["get", "f", "1@soft", "--out", "-"][..], "standard output is closed"),
    ] {
        let output = closed(which, args);
        let notified = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{notified}");
        assert!(notified.contains(name), "{notified}");
    }
    assert!(same(&place.dir.join("f"), &place.dir.join("store/f")), "the old file stays");
    // The device itself may be meant.
    let output = closed("</dev/null", &["put", "-", "1@soft", "--name", "empty"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = closed(">/dev/null", &["get", "f", "1@soft", "--out", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    node.stop();
}
