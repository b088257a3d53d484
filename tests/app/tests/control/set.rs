// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What can be set while a node runs, one by one and as a file.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::json;
use crate::place::Place;

#[test]
fn knobs_are_set_within_their_ranges_and_peers_are_declared_down() {
    let place = Place::new("control-set");
    let mut node = place.small_node();
    let knob = "message_timeout_ms";
    // All of them: each is set to the upper end of its range, shown, and set back.
    let shown = json(&place.ok(&["net", "show", "--json"]));
    let knobs = shown["net"][0]["local NI(s)"][0]["knobs"].as_object().unwrap().clone();
    assert_eq!(knobs.len(), 6, "{shown:#}");
    for (name, it) in &knobs {
        let most = it["range"].as_str().unwrap().split_once(" to ").unwrap().1;
        place.ok(&["net", "set", name, most]);
        let shown = json(&place.ok(&["net", "show", "--json"]));
        let now = &shown["net"][0]["local NI(s)"][0]["knobs"][name]["value"];
        assert_eq!(now.to_string(), most, "{name}");
        place.ok(&["net", "set", name, &it["value"].to_string()]);
    }
    let set = json(&place.ok(&["net", "set", knob, "3000", "--json"]));
    assert_eq!((&set["before"], &set["value"]), (&10_000.into(), &3000.into()), "{set:#}");
    let net = json(&place.ok(&["net", "show", "--json"]));
    assert_eq!(net["net"][0]["local NI(s)"][0]["knobs"][knob]["value"], 3000, "{net:#}");
    for (args, why) in [
        (["net", "set", knob, "0"], "message_timeout_ms is not 1 to 3600000"),
        (["net", "set", "lustre", "1"], "no knob 'lustre' can be set while a node runs; message_"),
        (["net", "set", "peer_credits", "1"], "'peer_credits' is fixed when a node starts"),
        (["net", "set", "file_bytes_max", "-"], "invalid value '-'"),
        (["health", "set", "health_sensitivity", "9"], "decides between the interfaces of a node"),
        (["health", "set", "transaction_timeout", "9"], "message_timeout_ms, in milliseconds"),
        (["peer", "set", "1@soft", "down"], "1@soft0 is this node itself"),
        (["peer", "set", "9@soft", "down"], "9@soft0 is no peer on this fabric"),
        (["peer", "set", "3@soft", "down"], "3@soft0: the node knows no such peer"),
    ] {
        let told = place.refused(&args);
        assert!(told.contains(why), "{args:?}: {told}");
    }
    assert_eq!(place.run(&["net", "set", knob, "-1"]).status.code(), Some(2));
    assert_eq!(place.run(&["peer", "set", "2@soft", "gone"]).status.code(), Some(2));
    place.ok(&["ping", "1@soft", "--me", "3@soft"]);
    let state = || {
        let peers = json(&place.ok(&["peer", "show", "3@soft", "--json"]));
        peers["peer"][0]["state"].as_str().unwrap().to_owned()
    };
    place.ok(&["peer", "set", "3@soft", "down"]);
    assert_eq!(state(), "down");
    place.ok(&["peer", "set", "3@soft", "up"]);
    assert_eq!(state(), "unknown");
    place.ok(&["ping", "1@soft", "--me", "3@soft"]);
    node.stop();
}

/// The length of a file and the number of files are knobs, and are obeyed.
#[test]
fn the_files_that_a_node_takes_are_limited_while_it_runs() {
    let place = Place::new("control-limits");
    let mut node = place.small_node();
    place.write("file", 4096);
    place.ok(&["net", "set", "file_bytes_max", "4095"]);
    let told = place.refused(&["put", "file", "1@soft"]);
    assert!(told.contains("put file at 1@soft0: "), "{told}");
    place.ok(&["net", "set", "file_bytes_max", "4096"]);
    place.ok(&["put", "file", "1@soft"]);
    for (knob, args) in [
        ("files_written_max", ["put", "file", "1@soft", "--timeout", "1"]),
        ("files_read_max", ["get", "file", "1@soft", "--timeout", "1"]),
    ] {
        place.ok(&["net", "set", knob, "0"]);
        let told = place.refused(&args);
        assert!(told.contains("no progress for 1 s"), "{told}");
        place.ok(&["net", "set", knob, "1"]);
        place.ok(&args);
    }
    place.ok(&["net", "set", "log_times", "1"]);
    let log = node.stop();
    let last = log.lines().last().unwrap();
    assert!(last.starts_with("20") && last.ends_with("Z left in good order"), "{log}");
}

/// What is exported is imported again: the same settings, in YAML and in JSON.
#[test]
fn settings_are_exported_and_imported() {
    let place = Place::new("control-import");
    let mut node = place.small_node();
    let args = ["node", "--me", "2@soft", "--dir", "other"];
    let mut other = place.start("other.log", &args);
    other.wait_until("the node is up", |log| log.contains("is up"));
    for (node, value) in [("1@soft", "1111"), ("2@soft", "2222")] {
        place.ok(&["net", "set", "message_timeout_ms", value, "--node", node]);
    }
    let exported = place.ok(&["export"]);
    assert!(exported.contains("1111") && exported.contains("2222"), "{exported}");
    for (file, args) in [
        ("yaml", &["export"][..]),
        ("json", &["export", "--json"]),
        ("shown", &["net", "show", "--node", "2@soft"]),
        ("dump", &["dump", "--node", "2@soft"]),
    ] {
        fs::write(place.dir.join(file), place.ok(args)).unwrap();
        place.ok(&["net", "set", "message_timeout_ms", "9", "--node", "2@soft"]);
        let check = place.ok(&["import", file, "--check", "--json"]);
        let set = &json(&check)["checked"];
        let last = set.as_array().unwrap().last().unwrap();
        assert_eq!(last["set"][0]["before"], 9, "{check}");
        let left_out = json(&check)["left out"].clone();
        let peers = left_out.as_array().is_some_and(|it| it.contains(&"peer".into()));
        assert_eq!(peers, file == "dump", "what is no setting is not passed over: {check}");
        assert!(place.ok(&["export"]).contains(" 9\n"), "a check sets nothing");
        place.ok(&["import", file]);
        assert_eq!(place.ok(&["export"]), exported, "{file}");
    }
    // All or nothing, with what is wrong and where.
    let wrong = |from: &str, to: &str| exported.replace(from, to);
    let deep = "[".repeat(100_000);
    // The same node by another of its names.
    let first = exported.find("            -   nid: 1@soft0").unwrap();
    let second = exported.find("            -   nid: 2@soft0").unwrap();
    let again = exported[first..second].replace("1@soft0", "1@soft").replace("1111", "5555");
    let twice = format!("{exported}{again}");
    for (text, code, why) in [
        (wrong("2222", "0"), 1, "message_timeout_ms is not 1 to"),
        (wrong("2222", "many"), 1, "message_timeout_ms is not 1 to"),
        (wrong("file_idle_ms", "file_idle"), 1, "no knob 'file_idle' can be set"),
        (wrong("hello_tries: ", "hello_tries: 1"), 1, "and is fixed when a node starts"),
        (wrong("hello_tries", "hello"), 1, "no tunable 'hello'"),
        (wrong("2@soft0", "3@soft0"), 1, "no node has its control socket there"),
        (wrong("soft0", "tcp"), 2, "'net type' is 'tcp'"),
        (wrong("2@soft0", "2@tcp"), 2, "interface 2: unknown network 'tcp'"),
        (wrong("knobs", "buttons"), 2, "interface 1: unknown key 'buttons'"),
        (wrong("local NI(s)", "NIs"), 2, "there is no list 'local NI(s)'"),
        ("route: []".into(), 2, "unknown key 'route'"),
        ("net: []".into(), 2, "there is no interface"),
        ("net: 5".into(), 2, "there is no list 'net'"),
        ("- 1".into(), 2, "it is no table"),
        ("net: *a".into(), 2, "wrong: "),
        ("net: &a [*a]".into(), 2, "an anchor"),
        (deep, 2, "recursion limit"),
        (twice, 2, "interface 3: 1@soft0 is there twice"),
        (String::new(), 2, "it is empty"),
        ("\0".into(), 2, "wrong: "),
    ] {
        let text = text.replacen("1111", "3333", 1);
        fs::write(place.dir.join("wrong"), &text).unwrap();
        let output = place.run(&["import", "wrong"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.starts_with("lnd: ") && told.contains(why), "{why}: {told}");
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert_eq!(place.ok(&["export"]), exported, "nothing was set: {why}");
    }
    assert!(place.refused(&["import", "none"]).contains("none: No such file"));
    // From standard input.
    let mut child = place.lnd(&["import", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let input = exported.replace("1111", "4444");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(place.ok(&["export"]), input);
    node.stop();
    other.stop();
}
