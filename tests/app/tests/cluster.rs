// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd cluster` as its users meet it: a description, its nodes, what is wrong with either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;
use std::process::Command;

use place::{wait_until, Place};
use serde_json::Value;

const TWO: &str = "nodes = 3\nwindow_mib = 34\n\
    [[node]]\nnid = \"1@soft\"\ndir = \"one\"\nlog = \"one.log\"\n\
    [[node]]\nnid = \"2@soft\"\ndir = \"two\"\nlog = \"two.log\"\n";

#[test]
fn the_nodes_of_a_description_run_together() {
    let place = Place::new("cluster");
    fs::create_dir(place.dir.join("there")).unwrap();
    fs::write(place.dir.join("there/two.toml"), TWO).unwrap();
    assert_eq!(place.ok(&["cluster", "check", "there/two.toml"]), "there/two.toml: 2 nodes\n");
    let show = || -> Value {
        let text = place.ok(&["cluster", "show", "there/two.toml", "--json"]);
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(show()["cluster"][1]["status"], "gone");
    let mut cluster = place.start("cluster.log", &["cluster", "run", "there/two.toml"]);
    cluster.wait_until("all are up", |log| log.contains("2 nodes are up"));
    let shown = show();
    assert_eq!(shown["cluster"][0]["nid"], "1@soft0", "{shown:#}");
    assert_eq!(shown["cluster"][1]["status"], "up", "{shown:#}");
    place.write("file", 70_000);
    for nid in ["1@soft", "2@soft"] {
        place.ok(&["put", "file", nid, "--fabric", "there/lnd.fabric"]);
    }
    assert!(place.dir.join("there/two/file").exists());
    cluster.stop();
    let log = fs::read_to_string(place.dir.join("there/one.log")).unwrap();
    assert!(log.contains("left in good order"), "{log}");
    // A node that is drained ends the cluster well, one that is killed does not.
    let mut cluster = place.start("cluster.log", &["cluster", "run", "there/two.toml"]);
    cluster.wait_until("all are up", |log| log.contains("2 nodes are up"));
    place.ok(&["drain", "--fabric", "there/lnd.fabric", "--node", "1@soft"]);
    let log = cluster.wait();
    assert!(log.contains("1@soft0 has ended: exit status: 0"), "{log}");
    assert_eq!(show()["cluster"][1]["status"], "gone");
    // A node that cannot start ends those that have.
    fs::write(place.dir.join("there/two"), "").unwrap_err();
    fs::remove_dir_all(place.dir.join("there/two")).unwrap();
    fs::write(place.dir.join("there/two"), "a file").unwrap();
    let told = place.refused(&["cluster", "run", "there/two.toml"]);
    assert!(told.contains("2@soft0 has not started: exit status: 1"), "{told}");
    assert_eq!(show()["cluster"][0]["status"], "gone");
}

/// A terminal sends ^C to every process of its foreground group.
#[test]
fn a_signal_to_the_whole_group_ends_all_nodes_in_good_order() {
    use std::os::unix::process::CommandExt;
    let place = Place::new("cluster-group");
    fs::write(place.dir.join("two.toml"), TWO).unwrap();
    let run = |log: &str| {
        let file = fs::File::create(place.dir.join(log)).unwrap();
        let mut command = place.lnd(&["cluster", "run", "two.toml"]);
        command.process_group(0).stdout(file.try_clone().unwrap()).stderr(file);
        let child = command.spawn().unwrap();
        let group = format!("-{}", child.id());
        let mut cluster = place.adopt(log, child);
        cluster.wait_until("all are up", |log| log.contains("2 nodes are up"));
        (cluster, group)
    };
    let have_left = |times: usize| {
        ["one.log", "two.log"].iter().all(|log| {
            let log = fs::read_to_string(place.dir.join(log)).unwrap();
            log.matches("left in good order").count() == times
        })
    };
    let (mut cluster, group) = run("cluster.log");
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
    cluster.wait();
    assert!(have_left(1));
    // Nor do nodes outlive a cluster that is killed.
    let (mut cluster, _) = run("cluster.log");
    cluster.kill();
    wait_until("both nodes leave", || have_left(2));
}

/// A node that is just being started takes no signal in good order.
#[test]
fn a_signal_while_nodes_are_started_ends_those_that_have() {
    let place = Place::new("cluster-early");
    fs::write(place.dir.join("two.toml"), TWO).unwrap();
    for _ in 0..3 {
        let mut cluster = place.start("cluster.log", &["cluster", "run", "two.toml"]);
        wait_until("the first node is started", || place.dir.join("lnd.fabric").exists());
        cluster.stop();
        let shown = place.ok(&["fabric", "show", "lnd.fabric"]);
        assert!(!shown.contains("joining") && !shown.contains("dead"), "{shown}");
        for log in ["one.log", "two.log"].map(|log| place.dir.join(log)) {
            let log = fs::read_to_string(log).unwrap_or_default();
            assert_eq!(log.matches(" is up,").count(), log.matches("left in good order").count());
        }
        fs::remove_file(place.dir.join("lnd.fabric")).unwrap();
    }
}

#[test]
fn a_wrong_description_is_refused_with_a_reason() {
    let place = Place::new("cluster-wrong");
    for (text, why) in [
        ("", "missing field `node`"),
        ("node = []", "no node"),
        ("node = 5", "invalid type"),
        ("nodes = 1\nnode = []", "nodes = 1 is not in 2..=64"),
        ("window_mib = 0\nnode = []", "window_mib = 0 is not in 1..=1048576"),
        ("window_mib = 8\nnode = []", "a window of 8 MiB is too small"),
        ("[[node]]\nnid = \"1@tcp\"\ndir = \"d\"", "node 1: unknown network 'tcp'"),
        ("[[node]]\nnid = \"9@soft\"\ndir = \"d\"", "node 1: 9@soft0 is beyond the 4 nodes"),
        ("[[node]]\nnid = \"1@soft\"\ndirr = \"d\"", "unknown field `dirr`"),
        ("[[node]]\nnid = \"1@soft\"", "missing field `dir`"),
        (
            "[[node]]\nnid = \"1@soft\"\ndir = \"d\"\n[[node]]\nnid = \"1@soft0\"\ndir = \"e\"",
            "node 2: 1@soft0 is there twice",
        ),
        (
            "[[node]]\nnid = \"1@soft\"\ndir = \"d\"\n[[node]]\nnid = \"2@soft\"\ndir = \"d\"",
            "node 2: d is served twice",
        ),
        ("\u{0}", "line 1"),
    ] {
        fs::write(place.dir.join("wrong.toml"), text).unwrap();
        for command in ["check", "run", "show"] {
            let output = place.run(&["cluster", command, "wrong.toml"]);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{text}: {told}");
            assert!(told.starts_with("lnd: wrong.toml: ") && told.contains(why), "{text}: {told}");
        }
    }
    // A line that is long is not shown whole.
    fs::write(place.dir.join("wrong.toml"), format!("node = {}", "[".repeat(50_000))).unwrap();
    for command in [["cluster", "check", "wrong.toml"], ["sim", "--plan", "wrong.toml"]] {
        let told = place.refused(&command);
        assert!(told.contains("recursion limit") && told.len() < 1000, "{told}");
    }
    let told = place.refused(&["cluster", "check", "none.toml"]);
    assert!(told.contains("none.toml: No such file"), "{told}");
    assert_eq!(place.names("."), ["wrong.toml"]);
}
