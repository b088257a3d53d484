// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The page of a running node: fetched and read as Prometheus does, and what dashboards may use.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use lnd_app::metrics::{parse_address, render, series, Page, Snapshot};
use lnd_core::observe::{Family, Metric, MetricKind, Unit};
use place::{wait_until, Place, Running};

/// One request, as it stands; the whole answer.
fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    // A page that closes before it has read all resets the connection.
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// The body of a page.
fn get(address: &str, path: &str) -> String {
    let answer = ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
    assert_eq!(length.parse(), Ok(body.len()));
    body.to_owned()
}

/// A family of a page: kind, help, and its samples by name and labels.
#[derive(Debug, Default)]
struct Read_ {
    kind: String,
    help: String,
    samples: BTreeMap<String, f64>,
}

/// Reads a page in the OpenMetrics text format. Fails at what the format does not allow.
fn parse(text: &str) -> BTreeMap<String, Read_> {
    let mut families: BTreeMap<String, Read_> = BTreeMap::new();
    let mut name = String::new();
    let mut lines = text.lines();
    assert_eq!(lines.next_back(), Some("# EOF"));
    for line in lines {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (family, help) = rest.split_once(' ').unwrap();
            name = family.to_owned();
            let read = Read_ { help: help.to_owned(), ..Read_::default() };
            assert!(families.insert(name.clone(), read).is_none(), "{name} twice");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (family, kind) = rest.split_once(' ').unwrap();
            assert_eq!(family, name);
            families.get_mut(&name).unwrap().kind = kind.to_owned();
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (family, unit) = rest.split_once(' ').unwrap();
            assert!(family == name && name.ends_with(&format!("_{unit}")), "{line}");
        } else {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let base = sample.split('{').next().unwrap();
            let read = families.get_mut(&name).unwrap();
            let suffixes: &[&str] = match read.kind.as_str() {
                "counter" => &["_total"],
                "gauge" => &[""],
                "histogram" => &["_bucket", "_sum", "_count"],
                other => panic!("{name} is a {other}"),
            };
            let named = suffixes.iter().any(|end| base == format!("{name}{end}"));
            assert!(named, "{line} under {name}");
            let before = read.samples.insert(sample.to_owned(), value.parse().unwrap());
            assert_eq!(before, None, "{sample} twice");
        }
    }
    families
}

/// The sum of all samples whose name begins so.
fn sum(families: &BTreeMap<String, Read_>, family: &str, begins: &str) -> f64 {
    let samples = &families.get(family).unwrap_or_else(|| panic!("no {family}")).samples;
    samples.iter().filter(|(name, _)| name.starts_with(begins)).map(|(_, value)| value).sum()
}

fn node(place: &Place) -> (Running, String) {
    let mut node =
        place.start("node.log", &["node", "--me", "1@soft", "--dir", "store", "--metrics", "0"]);
    node.wait_until("the node is up", |log| log.contains("is up"));
    let log = node.log();
    let address = log.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    assert!(address.starts_with("127.0.0.1:"), "on this machine only: {address}");
    (node, address)
}

#[test]
fn a_running_node_shows_what_it_does() {
    let place = Place::new("metrics");
    let (mut node, address) = node(&place);
    let before = parse(&get(&address, "/metrics"));
    assert_eq!(sum(&before, "lnd_requests", "lnd_requests_total"), 0.0);
    place.write("file", 8 << 20);
    place.ok(&["put", "file", "1@soft"]);
    place.ok(&["get", "file", "1@soft", "--out", "back"]);
    let mut page = BTreeMap::new();
    wait_until("the page shows the file", || {
        page = parse(&get(&address, "/metrics"));
        sum(&page, "lnd_payload", "lnd_payload_total") >= f64::from(2 * (8 << 20))
    });
    // All that the table has, with the table's words.
    for info in Metric::all().map(Metric::info) {
        let unit = if info.unit == Unit::Nanoseconds { "_seconds" } else { "" };
        let read = &page[&format!("lnd_{}{unit}", info.name)];
        let kind = if info.kind == MetricKind::Counter { "counter" } else { "gauge" };
        assert_eq!((read.kind.as_str(), read.help.as_str()), (kind, info.help));
        assert_eq!(read.samples.len(), 1, "{}", info.name);
    }
    assert_eq!(page.len(), Metric::all().count() + Family::ALL.len());
    // Every series on the page is in the list that dashboards are checked against.
    let known: BTreeSet<String> = series().into_iter().collect();
    for name in page.values().flat_map(|read| read.samples.keys()) {
        assert!(known.contains(name.split('{').next().unwrap()), "{name}");
    }
    assert_eq!(sum(&page, "lnd_links_up", "lnd_links_up"), 2.0);
    assert!(sum(&page, "lnd_finalized_ok", "lnd_finalized_ok_total") >= 16.0);
    assert_eq!(sum(&page, "lnd_ended", "lnd_ended_total{class=\"remote"), 0.0);
    let bounds = get(&address, "/bounds");
    // Five tries of 200 ms: the node's own choice, and what follows from it.
    for line in ["hello_timeout 200 ms, given: ", "peer_down 1000 ms, derived: "] {
        assert!(bounds.contains(line), "{line}: {bounds}");
    }
    assert_eq!(get(&address, "/blockers"), "", "it is idle");
    // Where the time went: the interrupts' own times are in, so engines were waited for.
    let wait = &page["lnd_wait_seconds"];
    let engine = "lnd_wait_seconds_sum{wait=\"engine\"";
    assert!(sum(&page, "lnd_wait_seconds", engine) > 0.0, "{wait:?}");
    assert_histograms(&page);
    let sum_of = |name: &str| sum(&page, name, &format!("{name}_sum"));
    let (waits, whole) = (sum_of("lnd_wait_seconds"), sum_of("lnd_transfer_seconds"));
    assert!((waits - whole).abs() < 1e-6 * whole, "{waits} of {whole}: no time is lost");
    node.stop();
    assert!(TcpStream::connect(&address).is_err(), "the page ends with its node");
}

/// Buckets only grow, the last one counts all, and the sum is theirs.
fn assert_histograms(page: &BTreeMap<String, Read_>) {
    let mut series = 0;
    for (family, read) in page.iter().filter(|(_, read)| read.kind == "histogram") {
        let mut rows: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for (sample, value) in &read.samples {
            let Some(labels) = sample.strip_prefix(&format!("{family}_bucket{{")) else { continue };
            let (le, others) = labels.trim_end_matches('}').split_once("\"").unwrap();
            assert_eq!(le, "le=", "{sample}");
            let (bound, others) = others.split_once('"').unwrap();
            let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() };
            let key = others.trim_start_matches(',').to_owned();
            rows.entry(key).or_default().push((bound, *value));
        }
        for (labels, mut row) in rows {
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(row.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{family} {labels}");
            let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
            let count = read.samples[&format!("{family}_count{braces}")];
            assert_eq!(row.last(), Some(&(f64::INFINITY, count)), "{family} {labels}");
            // The sum is in the unit of the bounds: within what the buckets allow.
            let sum = read.samples[&format!("{family}_sum{braces}")];
            let (mut least, mut most, mut below) = (0.0, 0.0, (0.0, 0.0));
            for (bound, value) in row {
                let here = value - below.1;
                least += here * below.0;
                most += if here > 0.0 { here * bound } else { 0.0 };
                below = (bound, value);
            }
            let slack = 1e-6 * sum + 1e-9;
            assert!(least <= sum + slack && sum <= most + slack, "{least} {sum} {most} {labels}");
            series += 1;
        }
    }
    assert!(series >= 3, "{series} histograms");
}

/// Kills a reader in the middle; what the node then says of what has failed. Each of the two stands
/// still for a while: the reader asks meanwhile for all that it can, and then pulls nothing of what
/// the node stages for it.
fn failed_by_a_death(name: &str) -> String {
    let size = 96 << 20;
    let place = Place::new(name);
    let (mut node, address) = node(&place);
    assert_eq!(get(&address, "/failed"), "");
    place.write("big", size);
    place.ok(&["put", "big", "1@soft"]);
    let crossed = || sum(&parse(&get(&address, "/metrics")), "lnd_payload", "lnd_payload_total");
    let before = crossed();
    let mut reader = place.start("get.log", &["get", "big", "1@soft", "--out", "back"]);
    reader.wait_until("a part has crossed", |_| crossed() > before + size as f64 / 8.0);
    node.signal("-STOP");
    sleep(Duration::from_millis(200));
    reader.signal("-STOP");
    node.signal("-CONT");
    let mut sent = before;
    wait_until("the node has staged what it can", || {
        let earlier = std::mem::replace(&mut sent, crossed());
        earlier == sent
    });
    reader.kill();
    let mut ended = 0.0;
    node.wait_until("the death is seen", |log| {
        let line = log.lines().find_map(|line| line.split_once(" transfers ended with an error, "));
        let count = line.and_then(|(begin, _)| begin.rsplit_once(' '));
        ended = count.map_or(0.0, |(_, count)| count.parse().unwrap());
        count.is_some()
    });
    // What has failed is on the page together with its count.
    wait_until("the page has it", || {
        let page = parse(&get(&address, "/metrics"));
        sum(&page, "lnd_finalized_error", "lnd_finalized_error_total") >= ended
    });
    let failed = get(&address, "/failed");
    node.stop();
    failed
}

#[test]
fn a_failed_transfer_is_explained() {
    // On a busy machine a reader may have asked for nothing yet. One in twenty has.
    let mut deaths = (0..20).map(|death| failed_by_a_death(&format!("metrics-failed-{death}")));
    let failed = deaths.find(|failed| !failed.is_empty()).unwrap();
    for part in ["given up by: ", "evidence: ", "points: queued +0 ns", "waited:"] {
        assert!(failed.contains(part), "{part}: {failed}");
    }
}

#[test]
fn readers_that_do_wrong_are_answered_or_left_alone() {
    let page = Page::open(parse_address("0").unwrap()).unwrap();
    let address = page.address().to_string();
    let status = |request: &str| ask(&address, request).lines().next().unwrap_or("").to_owned();
    assert_eq!(status("GET /nothing HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
    assert_eq!(status("POST /metrics HTTP/1.1\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
    let too_long = "HTTP/1.1 431 Request Header Fields Too Large";
    assert_eq!(status(&"x".repeat(10_000)), too_long);
    let head = ask(&address, "HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(head.ends_with("\r\n\r\n") && head.contains("openmetrics-text"), "{head}");
    // One that says nothing holds the next one up for two seconds at most.
    let silent = TcpStream::connect(&address).unwrap();
    assert!(get(&address, "/metrics").ends_with("# EOF\n"));
    drop(silent);
    assert!(Page::open(page.address()).is_err(), "taken");
    for (text, address) in
        [("9464", Some("127.0.0.1:9464")), ("[::1]:1", Some("[::1]:1")), ("x", None)]
    {
        assert_eq!(parse_address(text).ok().map(|it| it.to_string()).as_deref(), address);
    }
}

/// A dashboard uses no series that a node does not have.
#[test]
fn the_dashboard_uses_series_of_the_table() {
    let text = include_str!("../../../docs/dashboard.json");
    let known: BTreeSet<String> = series().into_iter().collect();
    let mut used = BTreeSet::new();
    for (at, _) in text.match_indices("lnd_") {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap();
        used.insert(rest[..end].to_owned());
    }
    let unknown: Vec<_> = used.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(used.len() > 20, "{used:?}");
    // It is JSON: every bracket that opens closes, outside of strings.
    let mut open = Vec::new();
    let mut quoted = false;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' if quoted => _ = chars.next(),
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => open.push(char),
            '}' if !quoted => assert_eq!(open.pop(), Some('{')),
            ']' if !quoted => assert_eq!(open.pop(), Some('[')),
            _ => {}
        }
    }
    assert!(open.is_empty() && !quoted);
}

/// An empty node has a whole page, too.
#[test]
fn a_page_of_nothing_is_a_page() {
    let page = parse(&render(Snapshot::default()));
    assert_eq!(page.len(), Metric::all().count() + Family::ALL.len());
}

/// Each answer arrives whole, whatever else comes with the request.
#[test]
fn a_page_answers_requests_that_are_more_than_it_reads() {
    let page = Page::open("127.0.0.1:0".parse().unwrap()).unwrap();
    let whole = |request: &str| {
        let mut stream = TcpStream::connect(page.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // What it does not read may not be written to the end either.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let get = "GET /metrics HTTP/1.1\r\n\r\n";
    for (request, status) in [
        (get.repeat(200), "200 OK"),
        ("GET /metrics?collect=all HTTP/1.1\r\n\r\n".into(), "200 OK"),
        ("GET /metrics HTTP/1.0\n\n".into(), "200 OK"),
        (format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20_000)), "431 Request"),
        (format!("POST / HTTP/1.1\r\n\r\n{}", "x".repeat(100_000)), "405 Method"),
        ("too-long / HTTP/1.1\r\n\r\n".into(), "405 Method"),
    ] {
        let answer = whole(&request);
        let begin = format!("HTTP/1.1 {status}");
        assert!(answer.starts_with(&begin), "{}: {answer}", &request[..20]);
    }
}

/// Connections that ask nothing are open for two seconds each, and a scrape has ten.
#[test]
fn readers_that_ask_nothing_hold_up_no_other() {
    let page = Page::open("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = page.address().to_string();
    let is_open = |stream: &mut TcpStream| {
        stream.set_nonblocking(true).unwrap();
        let read = stream.read(&mut [0]);
        read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    };
    let round = || {
        let mut silent: Vec<_> = (0..3).map(|_| TcpStream::connect(&address).unwrap()).collect();
        get(&address, "/bounds");
        silent.iter_mut().all(is_open)
    };
    // Again where this machine has kept the answer for as long as they may be silent.
    assert!((0..5).any(|_| round()), "an answer before the silent ones are given up");
    // More than there is room for are answered in their turn.
    let _silent: Vec<_> = (0..20).map(|_| TcpStream::connect(&address).unwrap()).collect();
    get(&address, "/bounds");
}
