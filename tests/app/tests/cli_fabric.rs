// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tool `lnd` and its fabric: who is there, who is not, who is dead; files that are cut.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;
use std::os::unix::fs::MetadataExt;

use place::{same, Place};

/// No node is there: each command says so, and why, long before its patience ends.
#[test]
fn a_server_that_is_not_there_is_told_of_by_the_fabrics_table() {
    let place = Place::new("empty");
    let file = place.write("file", 100);
    let each_command = |nid: &str, why: &str| {
        for args in [
            &["ping", nid][..],
            &["put", file.to_str().unwrap(), nid],
            &["get", "file", nid, "--out", "back"],
        ] {
            // A patience of hours: only the table can have ended it.
            let notified = place.refused(&[args, &["--timeout", "10000"]].concat());
            assert_eq!(notified, format!("lnd: {why}\n"), "{args:?}");
        }
    };
    each_command("1@soft", "lnd.fabric: there is no such fabric; `lnd node` makes it");
    let mut node = place.small_node();
    each_command("2@soft", "2@soft0: not present on this fabric; present: 1@soft0");
    // The last place is the one that a command takes.
    let itself = "3@soft0: not present on this fabric but for this command; present: 1@soft0";
    each_command("3@soft", itself);
    each_command("9@soft", "9@soft0: no route: this fabric has the nodes 1@soft0 to 3@soft0");
    for link in ["0", "1"] {
        place.ok(&["fabric", "link", "lnd.fabric", "1@soft", link, "down"]);
    }
    each_command("1@soft", "1@soft0: its links are down");
    node.wait_until("its log has both links", |log| {
        log.contains("\nlink 0 is down\n") && log.contains("\nlink 1 is down\n")
    });
    place.ok(&["fabric", "link", "lnd.fabric", "1@soft", "1", "up"]);
    node.wait_until("its log has the link", |log| log.contains("\nlink 1 is up\n"));
    assert!(!node.log().contains("link 0 is up"), "{}", node.log());
    place.ok(&["ping", "1@soft"]);
    node.kill();
    let none = "no other node is; `lnd node --me 1@soft0` starts it";
    each_command("1@soft", &format!("1@soft0: not present on this fabric (it is dead); {none}"));
    assert_eq!(
        place.names("."),
        ["file", "lnd.fabric", "lnd.fabric.1.control", "node.log", "store"]
    );
}

/// A server that was there for a moment and never served anything is not waited for either.
#[test]
fn a_server_that_dies_before_it_has_served_is_not_waited_for() {
    let place = Place::new("dies-first");
    let mut node = place.small_node();
    node.signal("-STOP");
    let mut ping = place.start("ping.log", &["ping", "1@soft", "--timeout", "10000"]);
    ping.wait_until("the client is there", |_| {
        place.ok(&["fabric", "show", "lnd.fabric"]).contains("3@soft0: alive")
    });
    node.kill();
    assert_eq!(ping.end().code(), Some(1));
    assert!(
        ping.log().contains("1@soft0: not present on this fabric (it is dead)"),
        "{}",
        ping.log()
    );
}

/// A server that is there and says nothing is waited for, and the table does not blame it.
#[test]
fn a_server_that_stands_still_is_waited_for() {
    let place = Place::new("still");
    let mut node = place.small_node();
    node.signal("-STOP");
    let notified = place.refused(&["ping", "1@soft", "--timeout", "3"]);
    assert!(notified.contains("no progress for 3 s; 1@soft0 does not answer"), "{notified}");
    node.signal("-CONT");
    node.stop();
}

#[test]
fn a_node_whose_process_runs_is_not_declared_dead() {
    let place = Place::new("lives");
    let mut node = place.small_node();
    let notified = place.refused(&["fabric", "dead", "lnd.fabric", "1@soft"]);
    assert_eq!(notified, "lnd: 1@soft0: its process is running; stop it instead\n");
    place.ok(&["ping", "1@soft"]);
    let notified = place.refused(&["fabric", "dead", "lnd.fabric", "9@soft"]);
    assert!(
        notified.contains("9@soft0: this fabric has the nodes 1@soft0 to 3@soft0"),
        "{notified}"
    );
    let notified = place.refused(&["fabric", "dead", "lnd.fabric", "2@soft"]);
    assert!(notified.contains("2@soft0: not present on this fabric"), "{notified}");
    node.kill();
    assert_eq!(place.ok(&["fabric", "dead", "lnd.fabric", "1@soft"]), "1@soft0 is dead\n");
}

/// Whatever declared it: a node that finds itself dead stops, and touches nothing any more.
#[test]
fn a_node_that_was_declared_dead_stops() {
    let place = Place::new("declared");
    let mut node = place.small_node();
    {
        // Not by the tool, which refuses: by another that maps the file.
        let mapping = lnd_sim::fabric::Mapping::open(&place.dir.join("lnd.fabric")).unwrap();
        lnd_sim::fabric::Fabric::attach(&mapping).unwrap().declare_dead(0);
    }
    assert_eq!(node.end().code(), Some(1), "{}", node.log());
    let notified = node.log();
    assert!(
        notified.contains("lnd: 1@soft0: was declared dead although it was running"),
        "{notified}"
    );
    let mut again = place.small_node();
    place.ok(&["ping", "1@soft"]);
    again.stop();
}

/// Two nodes over one directory: the second is refused and told who has it, before it has touched
/// anything; what the first is storing is stored whole.
#[test]
fn two_nodes_over_one_directory() {
    let place = Place::new("two-servers");
    let (a, b) = (place.write("a.src", 24 << 20), place.write("b.src", 12 << 20));
    let mut first = place.small_node();
    let mut put =
        place.start("put.log", &["put", "--me", "3@soft", "a.src", "1@soft", "--name", "a"]);
    put.wait_until("the file is begun", |_| place.stored() > 0);
    first.signal("-STOP");
    let notified = place.refused(&["node", "--me", "2@soft", "--dir", "store"]);
    assert!(notified.starts_with("lnd: store: in use by 1@soft0, process "), "{notified}");
    let notified = place.refused(&["node", "--me", "1@soft", "--dir", "store"]);
    assert!(
        notified.contains("1@soft0: ") && notified.contains("another process is this node"),
        "{notified}"
    );
    first.signal("-CONT");
    put.wait();
    assert!(same(&a, &place.dir.join("store/a")));
    // With a directory of its own the second serves.
    let mut second = place.start("second.log", &["node", "--me", "2@soft", "--dir", "other"]);
    second.wait_until("the second is up", |log| log.contains("is up"));
    place.ok(&["put", "b.src", "2@soft", "--name", "b"]);
    assert!(same(&b, &place.dir.join("other/b")));
    first.stop();
    second.stop();
}

/// A client's names never reach what a store has for itself, of this server or of another below it.
#[test]
fn a_clients_names_do_not_reach_another_server() {
    let place = Place::new("nested-servers");
    let file = place.write("file", 100);
    // The server below comes first: it is left alone. One that comes later is refused.
    place.ok(&["fabric", "format", "lnd.fabric", "--nodes", "3", "--window", "34"]);
    let mut below = place.start("below.log", &["node", "--me", "2@soft", "--dir", "store/n"]);
    below.wait_until("the node below is up", |log| log.contains("is up"));
    let mut node = place.small_node();
    for (name, why) in [
        ("n/.owner", "no file may have this name"),
        ("n/.drafts/0", "no file may have this name"),
        ("n/file", "the name leads into a directory that another server owns"),
    ] {
        let notified = place.refused(&["put", "file", "1@soft", "--name", name]);
        assert_eq!(notified, format!("lnd: put {name} at 1@soft0: {why}\n"));
        let notified = place.refused(&["get", name, "1@soft", "--out", "back"]);
        assert_eq!(notified, format!("lnd: get {name} from 1@soft0: {why}\n"));
    }
    place.ok(&["put", "file", "2@soft"]);
    assert!(same(&file, &place.dir.join("store/n/file")));
    below.stop();
    let notified = place.refused(&["node", "--me", "2@soft", "--dir", "store/n"]);
    assert!(
        notified.contains("store/n: lies within ") && notified.contains("1@soft0, process"),
        "{notified}"
    );
    node.stop();
}

/// Without its lock file a directory may be another's at any time: both ends say so.
#[test]
fn a_lock_file_that_was_removed_is_an_error_at_both_ends() {
    let place = Place::new("lock-removed");
    place.write("file", 100);
    let mut node = place.small_node();
    place.ok(&["put", "file", "1@soft", "--name", "first"]);
    fs::remove_file(place.dir.join("store/.owner")).unwrap();
    let notified = place.refused(&["put", "file", "1@soft"]);
    let why = "the server has lost its directory: .owner in it was removed or replaced";
    assert_eq!(notified, format!("lnd: put file at 1@soft0: {why}\n"));
    node.wait_until("the server has said so", |log| {
        log.contains("store/file: not stored: the directory's .owner was removed or replaced")
    });
    place.ok(&["get", "first", "1@soft", "--out", "back"]);
    node.stop();
    let mut again = place.small_node();
    place.ok(&["put", "file", "1@soft"]);
    again.stop();
}

/// What was asked of a fabric that is to be made is what a fabric that is there must have.
#[test]
fn a_fabric_that_is_there_is_not_another_one() {
    let place = Place::new("another");
    place.ok(&["fabric", "format", "lnd.fabric", "--nodes", "3", "--window", "34"]);
    let notified = place.refused(&["node", "--nodes", "5"]);
    assert_eq!(notified, "lnd: lnd.fabric: is there and has 3 nodes, not --nodes 5\n");
    let notified = place.refused(&["node", "--window", "64"]);
    assert_eq!(notified, "lnd: lnd.fabric: is there and has windows of 34 MiB, not --window 64\n");
    place.ok(&["fabric", "format", "one", "--links", "1", "--window", "34"]);
    let notified = place.refused(&["node", "--fabric", "one"]);
    assert_eq!(
        notified,
        "lnd: one: has 1 links of 256 descriptors; a process needs 2 links of 256\n"
    );
    assert_eq!(place.names("."), ["lnd.fabric", "one"], "no directory was made");
}

/// A file that is cut under a running node ends it with a message, not with a signal.
#[test]
fn a_fabric_that_is_cut_is_an_error() {
    let place = Place::new("cut-fabric");
    let mut node = place.small_node();
    let fabric = place.dir.join("lnd.fabric");
    assert!(fs::metadata(&fabric).unwrap().blocks() * 512 >= 3 * (34 << 20), "reserved");
    fs::File::options().write(true).open(&fabric).unwrap().set_len(4096).unwrap();
    assert_eq!(node.end().code(), Some(1), "{}", node.log());
    assert!(node.log().contains("lnd: lnd.fabric: the fabric file was cut"), "{}", node.log());
    let notified = place.refused(&["ping", "1@soft"]);
    assert!(notified.starts_with("lnd: lnd.fabric: fabric has 4096 bytes, needs "), "{notified}");
}

/// More than the file system has: refused before anything is taken from it.
#[test]
fn a_fabric_that_has_no_room_is_not_made() {
    let place = Place::new("no-room");
    for args in [
        &["fabric", "format", "f", "--nodes", "64", "--window", "1048576"][..],
        &["node", "--fabric", "f", "--nodes", "64", "--window", "1048576"],
    ] {
        let notified = place.refused(args);
        assert!(notified.starts_with("lnd: f: no space left: the fabric takes "), "{notified}");
    }
    assert_eq!(place.names("."), [""; 0]);
}

/// A node that is refused leaves no fabric that it has made, and one that was there stays.
#[test]
fn a_node_that_is_refused_leaves_no_fabric() {
    let place = Place::new("refused-node");
    place.write("file", 100);
    let small = ["--nodes", "3", "--window", "34"];
    for (args, why) in [
        (["--me", "1@soft", "--dir", "file"], "file: is not a directory"),
        (["--me", "1@soft", "--dir", "file/store"], "file/store: "),
        (["--me", "9@soft", "--dir", "store"], "9@soft0: this fabric has the nodes"),
    ] {
        let notified = place.refused(&[&["node"], &args[..], &small].concat());
        assert!(notified.contains(why), "{args:?}: {notified}");
        assert!(!place.dir.join("lnd.fabric").exists(), "{args:?}");
    }
    assert_eq!(place.names("."), ["file"]);
    let mut node = place.small_node();
    place.refused(&["node", "--me", "2@soft", "--dir", "store"]);
    place.refused(&[
        "node", "--me", "2@soft", "--dir", "store", "--fabric", "other", "--window", "34",
    ]);
    assert!(!place.dir.join("other").exists());
    place.ok(&["ping", "1@soft"]);
    node.stop();
    place.refused(&["node", "--me", "2@soft", "--dir", "file"]);
    assert!(place.dir.join("lnd.fabric").exists(), "it was there before");
    assert!(place.ok(&["fabric", "show", "lnd.fabric"]).contains("link 0: up, engine gone"));
}

/// Messages say what is wrong, and with what.
#[test]
fn what_is_no_fabric_is_told_of_by_what_it_is() {
    let place = Place::new("no-fabric");
    place.write("short", 100);
    let notified = place.refused(&["fabric", "show", "short"]);
    assert_eq!(notified, "lnd: short: not a fabric file (has 96 bytes, fewer than every fabric)\n");
    place.write("long", 8192);
    let notified = place.refused(&["fabric", "show", "long"]);
    assert_eq!(notified, "lnd: long: not a fabric file (wrong magic number)\n");
    let notified = place.refused(&["fabric", "format", "long"]);
    assert_eq!(notified, "lnd: long: is there already, and is left alone\n");
}

/// A file beyond the limit of the node's process fails alone, and the node serves on.
#[test]
fn a_file_that_is_too_large_for_a_node_does_not_end_it() {
    use std::os::unix::process::CommandExt;
    let place = Place::new("limited");
    let (large, small) = (place.write("large", 4 << 20), place.write("small", 4096));
    let args = ["node", "--me", "1@soft", "--dir", "store", "--nodes", "3", "--window", "34"];
    // A fabric's file is larger than the limit, too: it is there before.
    place.small_node().stop();
    let log = std::fs::File::create(place.dir.join("limited.log")).unwrap();
    let mut command = place.lnd(&args);
    command.stdout(log.try_clone().unwrap()).stderr(log);
    let limited = || {
        let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
        // SAFETY: reads the limit, and changes nothing else of the process.
        match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: the function makes one system call, which is allowed between fork and exec.
    unsafe { command.pre_exec(limited) };
    let mut node = place.adopt("limited.log", command.spawn().unwrap());
    node.wait_until("the node is up", |log| log.contains("is up"));
    place.refused(&["put", large.to_str().unwrap(), "1@soft"]);
    node.wait_until("its log has the reason", |log| log.contains("large: file too large"));
    place.ok(&["put", small.to_str().unwrap(), "1@soft"]);
    node.stop();
}

/// What clients write or fetch never takes the place of a fabric.
#[test]
fn no_file_replaces_a_fabric() {
    let place = Place::new("replaced");
    let mut node = place.small_node();
    let file = place.write("file", 100);
    place.ok(&["put", "file", "1@soft", "--name", "f"]);
    let notified = place.refused(&["get", "f", "1@soft", "--out", "lnd.fabric"]);
    assert!(notified.contains("lnd.fabric: is a fabric, and no place for a file"), "{notified}");
    for dir in [".", ".."] {
        let notified = place.refused(&["node", "--me", "2@soft", "--dir", dir]);
        assert!(notified.contains("has the fabric lnd.fabric in it"), "{dir}: {notified}");
    }
    place.ok(&["get", "f", "1@soft", "--out", "g"]);
    assert_eq!(fs::read(file).unwrap(), fs::read(place.dir.join("g")).unwrap());
    node.stop();
}
