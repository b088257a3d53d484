// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--json`: which commands have it, and that what they print is one document.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;
use std::path::Path;

use place::Place;
use serde_json::Value;

/// Commands that print no answer: logs, a screen, texts in languages of their own.
const WITHOUT: [&str; 6] =
    ["lnd-cluster-run", "lnd-completion", "lnd-man", "lnd-node", "lnd-schema", "lnd-top"];

#[test]
fn every_command_with_an_answer_has_it_as_json_too() {
    let place = Place::new("json-all");
    fs::create_dir(place.dir.join("man")).unwrap();
    place.ok(&["man", "--dir", "man"]);
    let mut seen = 0;
    for name in place.names("man") {
        let page = fs::read_to_string(place.dir.join("man").join(&name)).unwrap();
        let name = name.strip_suffix(".1").unwrap();
        let has_some_below = page.contains(".SH SUBCOMMANDS");
        if WITHOUT.contains(&name) || has_some_below && name != "lnd" {
            continue;
        }
        assert!(page.contains("\\-\\-json"), "{name} has no --json");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

fn document(place: &Place, args: &[&str]) -> Value {
    let text = place.ok(args);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"))
}

#[test]
fn what_is_done_is_told_as_one_document() {
    let place = Place::new("json-done");
    let made = document(&place, &["fabric", "format", "--nodes", "3", "--window", "34", "--json"]);
    assert_eq!(made["fabric"], "lnd.fabric", "{made:#}");
    let link = ["fabric", "link", "1@soft", "1", "down", "--json"];
    let told = place.refused(&link);
    assert!(told.contains("1@soft0 has no link 1 yet"), "{told}");
    let mut node = place.small_node();
    place.write("file", 70_000);
    let put = document(&place, &["put", "file", "1@soft", "--json"]);
    assert_eq!((&put["put"], &put["bytes"]), (&"file".into(), &70_000.into()), "{put:#}");
    let got = document(&place, &["get", "file", "1@soft", "--out", "back", "--json"]);
    assert_eq!((&got["get"], &got["checksum"]), (&"file".into(), &put["checksum"]), "{got:#}");
    let both = ["get", "file", "1@soft", "--out", "-", "--json"];
    assert_eq!(place.run(&both).status.code(), Some(2));
    let pulled = document(&place, &link);
    assert_eq!((&pulled["link"], &pulled["carrier"]), (&1.into(), &false.into()), "{pulled:#}");
    let shown = document(&place, &["fabric", "show", "--json"]);
    let first = &shown["nodes"][0];
    assert_eq!((&first["state"], &first["locked"]), (&"alive".into(), &true.into()), "{shown:#}");
    assert_eq!(first["links"][1]["carrier"], false, "{shown:#}");
    node.kill();
    let dead = document(&place, &["fabric", "dead", "1@soft", "--json"]);
    assert_eq!(dead["state"], "dead", "{dead:#}");
    fs::write(place.dir.join("one.toml"), "[[node]]\nnid = \"2@soft\"\ndir = \"d\"\n").unwrap();
    let checked = document(&place, &["cluster", "check", "one.toml", "--json"]);
    assert_eq!(checked["nodes"][0], "2@soft", "{checked:#}");
    // The demonstration, and the copies that are measured beside it.
    fs::create_dir(place.dir.join("files")).unwrap();
    place.write("files/one", 5000);
    let demo = ["--dir", "files", "--generated", "1", "--scratch", ".", "--calm", "--json"];
    let demo = document(&place, &demo);
    assert_eq!(demo["result"], "ok", "{demo:#}");
    assert_eq!(demo["accepted"], demo["finalized"], "{demo:#}");
    assert!(demo["latencies"][0]["us"]["p50"].as_f64().unwrap() > 0.0, "{demo:#}");
    if Path::new("/dev/shm").is_dir() {
        let bench = document(&place, &["bench", "--size", "1", "--runs", "1", "--json"]);
        assert!(bench["put"]["of_cp"].as_f64().unwrap() > 0.0, "{bench:#}");
        assert_eq!(bench["get"]["all"].as_array().unwrap().len(), 1, "{bench:#}");
    }
}
