// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd ping` and `lnd perf`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;

use crate::json;
use crate::place::{wait_until, Place};

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
