// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files go there and come back, while messages are lost, refused, delayed and damaged.

use super::*;

const STORM: Weather = Weather {
    refused: 50_000,
    lost: 80_000,
    unverified: 80_000,
    broken: 50_000,
    slow: 30_000,
    damaged: 0,
};

/// Sends files, fetches them, compares; returns the counts of both ends.
fn weathered(setup: Setup, seed: u64, weather: Weather) -> (ClientStats, ServerStats) {
    let mut world = World::new(setup, seed);
    world.optimise = seed.is_multiple_of(2);
    world.weather = weather;
    let files: Vec<_> =
        (0..6).map(|n| (format!("f{n}"), content(n, 20_011 * n as usize))).collect();
    let ends = world.work(files.iter().map(|(name, bytes)| put(name, bytes, 4096)));
    assert!(ends.iter().all(JobDone::is_ok), "seed {seed}: {ends:?}");
    for (name, bytes) in &files {
        assert!(*world.store().contents(name).unwrap() == **bytes, "seed {seed}: {name} as stored");
        assert!(world.fetch(name, 5000) == **bytes, "seed {seed}: {name} as fetched");
    }
    let stats = (*world.client().stats(), *world.server().stats());
    if weather.damaged == 0 {
        // INV-2: memory that is given back too early would show here.
        assert_eq!((stats.0.mismatches, stats.1.mismatches), (0, 0), "seed {seed}");
    }
    world.close();
    stats
}

#[test]
fn a_storm_delays_files_and_changes_nothing() {
    for (seed, acks) in [(1, AckPolicy::Auto), (2, AckPolicy::ByEvent), (3, AckPolicy::Auto)] {
        let (client, server) = weathered(Setup { acks, ..Setup::small() }, seed, STORM);
        assert!(client.failures > 50, "the storm was one: {client:?}");
        assert!(server.duplicate_chunks > 0 && server.bad_chunks > 0, "{server:?}");
        assert!(server.gets_failed > 0 && server.answers_lost > 0, "{server:?}");
    }
}

#[test]
fn no_damaged_byte_gets_into_a_file() {
    // The driver says OK and the bytes are wrong: only the checksums can tell.
    let (mut files, mut windows, mut messages) = (0, 0, 0);
    for seed in 10..13 {
        let weather = Weather { damaged: 30_000, ..Weather::default() };
        let (client, server) = weathered(Setup::small(), seed, weather);
        files += server.mismatches;
        windows += client.mismatches;
        messages += server.bad_calls + client.bad_answers;
    }
    assert!(files > 0 && windows > 0 && messages > 0, "{files} {windows} {messages}");
}

#[test]
fn a_dead_calm_needs_no_second_attempt() {
    let (client, server) = weathered(Setup::small(), 20, Weather::default());
    // Four jobs at a time, three files: the fourth is told to wait.
    assert!(server.busy > 0);
    assert_eq!(client.failures, server.busy);
    assert_eq!((client.restarts, server.duplicate_chunks), (0, 0));
}

#[test]
fn the_same_seed_is_the_same_run() {
    let run = |seed| weathered(Setup::small(), seed, STORM);
    assert_eq!(run(30), run(30));
    assert_ne!(run(30), run(31));
}

#[test]
fn pauses_grow_to_their_limit_and_are_not_all_the_same() {
    let mut world = World::new(Setup::small(), 40);
    world.weather = Weather { lost: 1_000_000, ..Weather::default() };
    let bytes = content(1, 10);
    let job = Job { deadline: seconds(2), ..put("a", &bytes, 4096) };
    assert_eq!(world.do_one(job).error, Some(JobError::Deadline));
    assert!(world.now >= seconds(2));
    let mut starts = Vec::new();
    while let Some(record) = world.client().next_record() {
        starts.push(record.started);
    }
    let gaps: Vec<u64> = starts.windows(2).map(|w| w[1].since(w[0]).as_nanos()).collect();
    // A loss is told within a millisecond; the pause is 10 to 20 ms in the end.
    assert!(gaps.iter().all(|gap| *gap < 21_000_001), "{gaps:?}");
    assert!(gaps[0] < 2_100_000 && gaps[10..].iter().all(|gap| *gap >= 10_000_000), "{gaps:?}");
    let mut late = gaps[10..].to_vec();
    late.sort_unstable();
    late.dedup();
    assert!(late.len() > 10, "{late:?}");
    world.close();
}

#[test]
fn a_silent_server_is_not_waited_for_for_ever() {
    // The driver says that all is well, and no answer comes.
    let mut world = World::new(Setup::small(), 50);
    let now = world.now;
    let server = world.at(SERVER);
    server.server.stop(&mut server.lnet);
    server.dispatch(now);
    let md = lnd_sim::lnet::Md { put: true, truncate: true, ..lnd_sim::lnet::Md::default() };
    let portal = lnd_sim::lnet::Match { portal: PORTAL_CALL, ignore: !0, ..Default::default() };
    world.at(SERVER).lnet.attach(portal, md).unwrap();
    let job = Job { deadline: seconds(1), ..put("a", &content(1, 10), 4096) };
    assert_eq!(world.do_one(job).error, Some(JobError::Deadline));
    let stats = *world.client().stats();
    // An attempt takes 50 ms and its pause at most 20.
    assert!((14..=20).contains(&stats.attempts), "{stats:?}");
}
