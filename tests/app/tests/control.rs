// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A running node as its operator meets it: the control socket, `lnd ping`, `lnd perf`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;
use std::time::Instant;

use place::{wait_until, Place};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_node_shows_its_interface_its_peers_and_its_counters() {
    let place = Place::new("control-show");
    let mut node = place.small_node();
    let mode = fs::metadata(place.dir.join("lnd.fabric.1.control")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "who may use it may stop the node");
    place.write("file", 70_000);
    place.ok(&["put", "file", "1@soft", "--me", "3@soft"]);

    let net = json(&place.ok(&["net", "show", "--json"]));
    let interface = &net["net"][0]["local NI(s)"][0];
    assert_eq!(interface["nid"], "1@soft0", "{net:#}");
    assert_eq!(interface["status"], "up", "{net:#}");
    assert_eq!(interface["links"].as_array().unwrap().len(), 2, "{net:#}");
    let peers = json(&place.ok(&["peer", "show", "--json"]));
    assert_eq!(peers["peer"][0]["primary nid"], "3@soft0", "{peers:#}");
    let one = json(&place.ok(&["peer", "show", "3@soft", "--json", "--node", "1@soft"]));
    assert_eq!(one["peer"].as_array().unwrap().len(), 1, "{one:#}");
    let none = place.refused(&["peer", "show", "2@soft"]);
    assert!(none.contains("2@soft0: the node knows no such peer"), "{none}");
    let stats = json(&place.ok(&["stats", "show", "--json"]));
    assert_eq!(stats["statistics"]["server"]["bytes_in"], 70_000, "{stats:#}");
    assert_eq!(stats["statistics"]["ends"]["PUT, sink"]["bytes"], 70_000, "{stats:#}");
    let none = json(&place.ok(&["stats", "show", "--diff", "1", "--json"]));
    assert_eq!(none["statistics"]["server"]["bytes_in"], 0, "nothing was added: {none:#}");
    assert!(none["statistics"]["at_ms"].as_f64().unwrap() >= 1000.0, "{none:#}");
    let health = json(&place.ok(&["health", "show", "--json"]));
    assert_eq!(health["health"]["audit"], "all tables agree", "{health:#}");
    let dump = json(&place.ok(&["dump", "--json"]));
    for part in ["net", "peer", "statistics", "health", "transfers", "blockers", "last_events"] {
        assert!(!dump[part].is_null(), "{part}: {dump:#}");
    }
    assert!(dump["last_events"].as_array().unwrap().len() > 10, "{dump:#}");
    // As people read it.
    let text = place.ok(&["net", "show"]);
    let begin =
        "net:\n    -   net type: soft0\n        local NI(s):\n            -   nid: 1@soft0\n";
    assert!(text.starts_with(begin), "{text}");
    node.stop();
    assert!(!place.dir.join("lnd.fabric.1.control").exists());
}

/// Without a terminal: each page as text.
#[test]
fn top_shows_links_peers_transfers_and_counters() {
    let place = Place::new("top");
    let told = place.refused(&["top"]);
    assert!(told.contains("no node here has a control socket"), "{told}");
    let mut node = place.small_node();
    place.ok(&["ping", "1@soft", "--me", "3@soft"]);
    let shown = place.ok(&["top", "--once"]);
    for part in [
        "1@soft0  running  up  incarnation ",
        "slots 0 of 256  failures 0",
        "link  state  carrier  engine",
        "0     up     up       running",
        "payload bytes a second",
        "2@soft0  absent",
        "3@soft0  down ",
        "transfer  role  peer",
        "finalized_ok ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let told = place.refused(&["top"]);
    assert!(told.contains("no terminal; --once prints a view"), "{told}");
    assert_eq!(place.run(&["top", "--interval", "0"]).status.code(), Some(2));
    node.stop();
}

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
        let most = it["range"].as_str().unwrap().split_once("..=").unwrap().1;
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
        (["peer", "set", "1@soft", "down"], "1@soft0 is no peer on this fabric"),
        (["peer", "set", "9@soft", "down"], "9@soft0 is no peer on this fabric"),
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

#[test]
fn a_drained_node_takes_nothing_new_and_leaves() {
    let place = Place::new("control-drain");
    let mut node = place.small_node();
    place.write("big", 64 << 20);
    // A PUT that stands still is open.
    let mut put = place.start("put.log", &["put", "big", "1@soft"]);
    put.wait_until("a draft is begun", |_| !place.names("store/.drafts").is_empty());
    put.signal("-STOP");
    place.ok(&["drain", "--grace", "60"]);
    let stats = json(&place.ok(&["stats", "show", "--json"]));
    assert_eq!(stats["statistics"]["server"]["draining"], true, "{stats:#}");
    place.write("small", 4096);
    let new = place.refused(&["put", "small", "1@soft", "--timeout", "1"]);
    assert!(new.contains("no progress for 1 s"), "{new}");
    put.signal("-CONT");
    put.wait();
    let log = node.wait();
    assert!(log.contains("left in good order") && log.contains("1 files stored"), "{log}");
    assert_eq!(place.names("store"), [".drafts", ".owner", "big"].map(String::from), "{log}");
    // With nothing open it leaves at once; with no grace in any case. Lines have times if wanted.
    let args = ["node", "--me", "1@soft", "--dir", "store", "--times"];
    let mut node = place.start("node.log", &args);
    node.wait_until("the node is up", |log| log.contains("is up"));
    place.ok(&["drain", "--grace", "0"]);
    let log = node.wait();
    for line in log.lines() {
        let (time, _) = line.split_once(' ').unwrap();
        assert!(time.starts_with("20") && time.ends_with('Z') && time.len() == 24, "{log}");
    }
}

#[test]
fn a_socket_that_no_node_answers_is_told_of_as_what_it_is() {
    let place = Place::new("control-wrong");
    let told = place.refused(&["net", "show"]);
    assert!(told.contains("no node here has a control socket"), "{told}");
    let told = place.refused(&["net", "show", "--node", "2@soft"]);
    assert!(told.contains("lnd.fabric.2.control: no node has its control socket there"), "{told}");
    let told = place.refused(&["net", "show", "--control", "none/there"]);
    assert!(told.contains("none/there: no node has its control socket there"), "{told}");
    fs::write(place.dir.join("file"), "text").unwrap();
    let told = place.refused(&["net", "show", "--control", "file"]);
    assert!(told.contains("the node is gone, or it is no control socket"), "{told}");

    // What answers nonsense, and what hangs up.
    let answers = ["nonsense\n", "{}\n", "{\"version\":9,\"ok\":true}\n", ""];
    let whys = ["no answer of a node", "of another version", "of another version", "has ended"];
    for (answer, why) in answers.into_iter().zip(whys) {
        let path = place.dir.join("fake");
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let fake = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let told = place.refused(&["net", "show", "--control", "fake"]);
        assert!(told.contains(why), "{answer}: {told}");
        fake.join().unwrap();
    }

    // A node that was killed leaves its socket; the next one replaces it.
    let mut node = place.small_node();
    node.kill();
    let told = place.refused(&["stats", "show"]);
    assert!(told.contains("the node is gone, or it is no control socket"), "{told}");
    let mut node = place.small_node();
    place.ok(&["stats", "show"]);
    // The socket of a node that runs, or a file, is not replaced.
    let args = ["node", "--me", "2@soft", "--dir", "other", "--control"];
    for (path, why) in [
        ("lnd.fabric.1.control", "another process has its control socket there"),
        ("file", "is there and is no socket"),
        ("none/there", "none/there: No such file"),
    ] {
        let told = place.refused(&[&args[..], &[path]].concat());
        assert!(told.contains(why), "{told}");
    }
    assert_eq!(fs::read_to_string(place.dir.join("file")).unwrap(), "text");
    // Two nodes: one has to be named.
    let args = ["node", "--me", "2@soft", "--dir", "other"];
    let mut other = place.start("other.log", &args);
    other.wait_until("the node is up", |log| log.contains("is up"));
    let told = place.refused(&["net", "show"]);
    assert!(told.contains("several nodes") && told.contains("--node says which"), "{told}");
    let net = place.ok(&["net", "show", "--node", "2@soft"]);
    assert!(net.contains("nid: 2@soft0"), "{net}");
    // What a killed node has left does not count.
    other.kill();
    let net = place.ok(&["net", "show"]);
    assert!(net.contains("nid: 1@soft0"), "{net}");
    fs::remove_file(place.dir.join("lnd.fabric.2.control")).unwrap();
    // And one without.
    let quiet = [&args[..], &["--no-control"]].concat();
    let mut other = place.start("other.log", &quiet);
    other.wait_until("the node is up", |log| log.contains("is up"));
    assert!(!place.dir.join("lnd.fabric.2.control").exists());
    other.stop();
    node.stop();
}

#[test]
fn what_makes_no_sense_is_refused_and_the_node_serves_on() {
    let place = Place::new("control-hostile");
    let mut node = place.small_node();
    let path = place.dir.join("lnd.fabric.1.control");
    // The address of a socket is short; a path relative to an open directory is, too.
    let dir = fs::File::open(&place.dir).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&dir);
    let connect = || UnixStream::connect(format!("/proc/self/fd/{fd}/lnd.fabric.1.control"));
    let ask = |line: &[u8]| {
        let mut stream = connect().unwrap();
        // A line that is refused in its middle is not read to its end.
        let _ = stream.write_all(line);
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer).unwrap();
        json(&answer)
    };
    let long = [b"{\"version\":1,\"do\":\"".as_slice(), &vec![b'x'; 2 << 20], b"\"}\n"].concat();
    for (line, why) in [
        (&b"\n"[..], "no JSON"),
        (b"{\n", "no JSON"),
        (b"\xff\xfe\n", "no JSON"),
        (b"{}\n", "no version"),
        (b"[1]\n", "no version"),
        (b"{\"version\":2}\n", "version 2, and this is 1"),
        (b"{\"version\":1}\n", "'do' is missing or no text"),
        (b"{\"version\":1,\"do\":7}\n", "'do' is missing or no text"),
        (b"{\"version\":1,\"do\":\"dance\"}\n", "there are show, set, peer and drain"),
        (b"{\"version\":1,\"do\":\"show\"}\n", "'what' is missing"),
        (b"{\"version\":1,\"do\":\"show\",\"what\":\"all\"}\n", "there are net, peer"),
        (b"{\"version\":1,\"do\":\"set\",\"knob\":\"message_timeout_ms\"}\n", "is not 1 to"),
        (b"{\"version\":1,\"do\":\"drain\",\"grace_ms\":-1}\n", "'grace_ms' is not 0 to"),
        (b"{\"version\":1,\"do\":\"peer\",\"nid\":\"x\",\"up\":true}\n", "a NID looks like"),
        (&long, "one line of at most 1 MiB"),
    ] {
        let answer = ask(line);
        assert_eq!(answer["ok"], false, "{answer}");
        let told = answer["error"].as_str().unwrap();
        assert!(told.contains(why), "{why}: {told}");
    }
    // Deep nesting, and clients that say nothing or hang up.
    let deep = ["[".repeat(100_000), "\n".into()].concat();
    assert_eq!(ask(deep.as_bytes())["ok"], false);
    let mut silent = Vec::new();
    wait_until("there are too many", || {
        let stream = connect().unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_millis(200))).unwrap();
        let mut answer = String::new();
        let _ = BufReader::new(&stream).read_line(&mut answer);
        silent.push(stream);
        answer.contains("16 connections are open already")
    });
    drop(silent);
    wait_until("they are gone", || place.run(&["net", "show"]).status.success());
    place.ok(&["ping", "1@soft"]);
    assert!(path.exists());
    node.stop();
}

#[test]
fn pings_are_counted_and_timed() {
    let place = Place::new("ping");
    let mut node = place.small_node();
    let one = place.ok(&["ping", "1@soft"]);
    assert!(one.starts_with("1@soft0 is alive: ") && one.ends_with(" µs\n"), "{one}");
    let five = place.ok(&["ping", "1@soft", "-c", "5", "-i", "10", "-s", "1000"]);
    assert_eq!(five.matches("1000 bytes from 1@soft0: number ").count(), 5, "{five}");
    assert!(five.contains("5 sent, 5 answered, 0 lost (0 %)\nmin/avg/max "), "{five}");
    let most = place.ok(&["ping", "1@soft", "-c", "50", "-i", "0", "-s", "4032", "--json"]);
    let most = json(&most);
    assert_eq!((&most["sent"], &most["answered"]), (&50.into(), &50.into()), "{most:#}");
    let time = |name: &str| most["us"][name].as_f64().unwrap();
    assert!(0.0 < time("min") && time("min") <= time("p50"), "{most:#}");
    assert!(time("p50") <= time("p99") && time("p99") <= time("max"), "{most:#}");
    for wrong in [&["-c", "0"], &["-s", "9999"], &["-W", "0"]] {
        let args = [&["ping", "1@soft"][..], wrong].concat();
        assert_eq!(place.run(&args).status.code(), Some(2), "{args:?}");
    }
    // A node that stands still for a while loses some, and no more: an exit code of its own.
    let args = ["ping", "1@soft", "-c", "4", "-i", "0", "-W", "300"];
    node.signal("-STOP");
    let mut ping = place.start("ping.log", &args);
    ping.wait_until("one is lost", |log| log.contains("no answer from 1@soft0: number 1"));
    node.signal("-CONT");
    let code = ping.end().code();
    let log = ping.log();
    assert!(log.contains("4 sent, ") && !log.contains(" 4 lost"), "{log}");
    assert_eq!(code, Some(3), "{log}");
    // A node that is gone answers none.
    node.kill();
    let output = place.run(&["ping", "1@soft", "-c", "3", "-i", "0", "-W", "300", "--json"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("1@soft0: not present on this fabric"), "{told}");
    let shown = json(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(shown["answered"], 0, "{shown:#}");
}

#[test]
fn latency_and_bandwidth_are_measured_by_size() {
    let place = Place::new("perf");
    let mut node = place.node("node.log");
    let args = ["perf", "1@soft", "--from", "100", "--to", "5000", "--iterations", "40", "--json"];
    let shown = json(&place.ok(&args));
    let results = shown["results"].as_array().unwrap();
    // 100, 400, 1600 and 5000 bytes; PUT and GET; one at a time and many.
    assert_eq!(results.len(), 16, "{shown:#}");
    for result in results {
        let number = |it: &Value| it.as_f64().unwrap();
        let (min, p50, max) = (
            number(&result["latency_us"]["min"]),
            number(&result["latency_us"]["p50"]),
            number(&result["latency_us"]["max"]),
        );
        assert!(0.0 < min && min <= p50 && p50 <= max, "{result:#}");
        assert!(number(&result["messages"]) > 0.0, "{result:#}");
        let mib = number(&result["messages_per_s"]) * number(&result["bytes"]) / 1_048_576.0;
        assert!((mib - number(&result["mib_per_s"])).abs() < 0.01 * mib + 0.001, "{result:#}");
    }
    let counted = json(&place.ok(&["stats", "show", "--json"]));
    let puts = &counted["statistics"]["ends"]["receive inline"]["ok"];
    assert!(puts.as_u64().unwrap() >= 4 * 40, "the node has taken part: {counted:#}");
    // As a table.
    let table = place.ok(&["perf", "1@soft", "--from", "64", "--to", "64", "--iterations", "10"]);
    assert_eq!(table.lines().count(), 5, "{table}");
    assert_eq!(place.run(&["perf", "--from", "9", "--to", "8"]).status.code(), Some(2));
    // Against nodes that are not there, that do not measure, and that die.
    let told = place.refused(&["perf", "2@soft"]);
    assert!(told.contains("2@soft0: not present on this fabric"), "{told}");
    let mut perf = place.start("perf.log", &["perf", "1@soft", "--time", "2000"]);
    perf.wait_until("it measures", |log| log.contains("put "));
    node.kill();
    assert_eq!(perf.end().code(), Some(1));
    assert!(perf.log().contains("perf with 1@soft0: "), "{}", perf.log());
    let small = Place::new("perf-small");
    let mut node = small.small_node();
    let told = small.refused(&["perf", "1@soft"]);
    assert!(told.contains("windows are too small: 64 MiB are needed"), "{told}");
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
        assert!(place.ok(&["export"]).contains(" 9\n"), "a check sets nothing");
        place.ok(&["import", file]);
        assert_eq!(place.ok(&["export"]), exported, "{file}");
    }
    // All or nothing, with what is wrong and where.
    let wrong = |from: &str, to: &str| exported.replace(from, to);
    let deep = "[".repeat(100_000);
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

/// A client that was told that the node does not answer, or that has gone, does not find its
/// request carried out later.
#[test]
fn what_was_given_up_is_not_done_later() {
    let place = Place::new("control-late");
    let mut node = place.small_node();
    node.signal("-STOP");
    // This client has asked, and waits.
    let path = place.dir.join("lnd.fabric.1.control");
    let dir = fs::File::open(path.parent().unwrap()).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&dir);
    let socket = format!("/proc/self/fd/{fd}/lnd.fabric.1.control");
    let set = |value: u32| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let request = format!(
            "{{\"version\":1,\"do\":\"set\",\"knob\":\"message_timeout_ms\",\"value\":{value}}}\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    // One goes away before the node can take what it has asked for; another has ended its own
    // sending, and listens.
    drop(set(7));
    let told = place.refused(&["drain"]);
    assert!(told.contains("no answer within 8 s"), "{told}");
    let listening = set(8);
    listening.shutdown(std::net::Shutdown::Write).unwrap();
    node.signal("-CONT");
    let mut answer = String::new();
    BufReader::new(&listening).read_line(&mut answer).unwrap();
    let answer = json(&answer);
    assert_eq!(answer["answer"]["before"], 10_000, "the first was not carried out: {answer}");
    assert_eq!(answer["answer"]["value"], 8, "{answer}");
    // Nor was the node drained.
    let stats = json(&place.ok(&["stats", "show", "--json"]));
    assert_eq!(stats["statistics"]["server"]["draining"], false, "{stats:#}");
    node.stop();
}

/// The socket is its user's alone from its first moment: no file mode mask is needed for it.
#[test]
fn a_control_socket_is_private_whatever_the_mask() {
    let place = Place::new("control-mask");
    let script = "umask 000; exec \"$0\" node --me 1@soft --dir store --nodes 3 --window 34";
    let log = fs::File::create(place.dir.join("node.log")).unwrap();
    let child = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_lnd")])
        .current_dir(&place.dir)
        .stdin(Stdio::null())
        .stdout(log)
        .spawn()
        .unwrap();
    let mut node = place.adopt("node.log", child);
    node.wait_until("the node is up", |log| log.contains("is up"));
    let path = place.dir.join("lnd.fabric.1.control");
    wait_until("its socket", || path.exists());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    place.ok(&["net", "show"]);
    node.stop();
}

/// Numbers of two incarnations have no difference.
#[test]
fn a_node_that_was_started_anew_has_no_difference_to_show() {
    let place = Place::new("control-anew");
    for (second, code) in [("b", 1), ("a", 0)] {
        let path = place.dir.join("fake");
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let fake = std::thread::spawn(move || {
            for (incarnation, count) in [("a", 3), (second, 5)] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).unwrap();
                let statistics = serde_json::json!({ "incarnation": incarnation, "n": count });
                let answer = serde_json::json!({
                    "version": 1, "ok": true, "answer": { "statistics": statistics },
                });
                stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
            }
        });
        let output = place.run(&["stats", "show", "--diff", "1", "--control", "fake", "--json"]);
        fake.join().unwrap();
        assert_eq!(output.status.code(), Some(code));
        let (shown, told) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if code == 0 {
            assert_eq!(json(&shown)["statistics"]["n"], 2, "{shown}");
        } else {
            assert!(told.contains("the node was started anew meanwhile"), "{told}");
        }
    }
}

fn sockets(place: &Place) -> usize {
    use std::os::unix::fs::FileTypeExt;
    let entries = fs::read_dir(&place.dir).unwrap();
    entries.filter(|it| it.as_ref().unwrap().file_type().unwrap().is_socket()).count()
}

/// A file's name need not be text.
#[test]
fn a_fabric_of_any_name_has_its_control_socket() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new("control-name");
    let name = std::ffi::OsStr::from_bytes(b"f \n\xff");
    let log = fs::File::create(place.dir.join("node.log")).unwrap();
    let args = ["node", "--me", "1@soft", "--dir", "store", "--window", "34", "--fabric"];
    let child = place.lnd(&args).arg(name).stdout(log).spawn().unwrap();
    let mut node = place.adopt("node.log", child);
    node.wait_until("the node is up", |log| log.contains("is up"));
    wait_until("its socket", || sockets(&place) == 1);
    for args in [&["net", "show"][..], &["ping", "1@soft"]] {
        let output = place.lnd(args).arg("--fabric").arg(name).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    node.stop();
    assert_eq!(sockets(&place), 0);
}

/// What may be in use is no node's to take away.
#[test]
fn a_control_path_of_others_is_left_alone_and_the_node_leaves_in_good_order() {
    use std::os::unix::net::UnixDatagram;
    let place = Place::new("control-taken");
    let node = |control| ["node", "--me", "1@soft", "--window", "34", "--control", control];
    let datagrams = UnixDatagram::bind(place.dir.join("datagrams")).unwrap();
    fs::create_dir(place.dir.join("dir")).unwrap();
    for (control, why) in [("datagrams", "datagrams: "), ("dir", "dir: is there and is no socket")]
    {
        let told = place.refused(&node(control));
        assert!(told.contains(why), "{told}");
        // A fabric that was made for it is gone with it.
        assert!(!place.dir.join("lnd.fabric").exists());
    }
    drop(datagrams);
    assert!(place.dir.join("datagrams").exists());
    // In a fabric that was there: absent, and not dead.
    place.ok(&["fabric", "format", "lnd.fabric", "--window", "34"]);
    place.refused(&node("dir"));
    let shown = place.ok(&["fabric", "show", "lnd.fabric"]);
    assert!(shown.contains("1@soft0: absent"), "{shown}");
    // A socket that another has put in its place outlives the node.
    let mut node = place.start("node.log", &node("own"));
    node.wait_until("the node is up", |log| log.contains("is up"));
    wait_until("its socket", || place.dir.join("own").exists());
    fs::remove_file(place.dir.join("own")).unwrap();
    let _other = UnixListener::bind(place.dir.join("own")).unwrap();
    node.stop();
    assert!(place.dir.join("own").exists());
}

/// A reader that has seen enough, such as `head`, ends what would go on for long.
#[test]
fn what_is_read_by_no_one_any_more_ends() {
    let place = Place::new("control-pipe");
    // With windows that are large enough to measure in.
    let mut node = place.node("node.log");
    let pings = ["ping", "1@soft", "--count", "1000000", "--interval", "10", "--me", "3@soft"];
    let sizes = ["perf", "1@soft", "--time", "1000", "--iterations", "1000000", "--me", "3@soft"];
    for args in [&pings[..], &sizes] {
        let begun = Instant::now();
        let mut child = place.lnd(args).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut code = None;
        wait_until("its end", || {
            code = child.try_wait().unwrap();
            code.is_some()
        });
        assert_eq!(code.unwrap().code(), Some(1), "{args:?}");
        // All sizes take 44 s at least.
        assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    }
    node.stop();
}
