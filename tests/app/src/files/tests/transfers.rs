// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files go there and come back, while nothing fails.

use lnd_sim::lnet::{span, RouterConfig};

use super::*;

const MIB: u32 = 1 << 20;

/// Sends a file, fetches it, and compares.
fn round_trip(world: &mut World, name: &str, length: usize, chunk: u32) {
    let bytes = content(length as u64, length);
    let done = world.do_one(put(name, &bytes, chunk));
    assert_eq!((done.error, done.bytes), (None, length as u64), "{name}");
    assert_eq!(done.checksum, Some(hash(&bytes)), "{name}");
    assert_eq!(done.restarts, 0, "{name}");
    assert!(*world.store().contents(name).unwrap() == *bytes, "{name} as stored");
    assert!(world.fetch(name, chunk) == *bytes, "{name} as fetched");
}

#[test]
fn files_of_all_sizes_go_there_and_come_back() {
    for (acks, optimise) in [(AckPolicy::Auto, true), (AckPolicy::ByEvent, false)] {
        let mut world = World::new(Setup { acks, ..Setup::roomy() }, 1);
        world.optimise = optimise;
        for (length, chunk) in [
            (0, MIB),
            (1, MIB),
            (4095, 4096),
            (4096, 4096),
            (4097, 4096),
            (300, 1),
            (1000, 7),
            (MIB as usize + 1, MIB),
            (9 << 20, 4 << 20),
            (5 << 20, 1_300_001),
        ] {
            round_trip(&mut world, &format!("{length}/{chunk}"), length, chunk);
        }
        world.settle();
        let client = *world.client().stats();
        assert_eq!((client.failures, client.restarts, client.stale_answers), (0, 0, 0));
        let server = *world.server().stats();
        assert_eq!((server.bad_calls, server.bad_chunks, server.duplicate_chunks), (0, 0, 0));
        assert_eq!((server.commits, server.answers_dropped), (10, 0));
        assert_eq!(server.chunk_bytes, client.sent_bytes);
        assert_eq!(server.get_bytes, client.fetched_bytes);
        assert_eq!(world.server().open_files(), (0, 0), "all was closed");
        world.close();
    }
}

#[test]
fn many_files_at_a_time_share_scarce_memory() {
    let mut world = World::new(Setup::small(), 2);
    let files: Vec<_> = (0..40).map(|n| (format!("f{n}"), content(n, 997 * n as usize))).collect();
    let ends = world.work(files.iter().map(|(name, bytes)| put(name, bytes, 10 << 10)));
    assert!(ends.iter().all(JobDone::is_ok));
    assert_eq!(world.store().len(), 40);
    let sinks: Vec<SharedSink> = files.iter().map(|_| SharedSink::default()).collect();
    let gets: Vec<Job> = files
        .iter()
        .zip(&sinks)
        .map(|((name, bytes), sink)| {
            Job::get(nid(SERVER), name, sink.clone(), Instant::NEVER)
                .with_chunk(9 << 10)
                .expecting(hash(bytes))
        })
        .collect();
    assert!(world.work(gets).iter().all(JobDone::is_ok));
    assert!(files.iter().zip(&sinks).all(|((_, bytes), sink)| sink.take() == **bytes));
    world.close();
}

#[test]
fn both_nodes_may_serve_each_other() {
    let mut world = World::new(Setup::small(), 3);
    let (there, back) = (content(1, 100_000), content(2, 70_000));
    world.at(SERVER).client.add(Job::put(nid(CLIENT), "back", back.clone(), Instant::NEVER));
    let done = world.do_one(put("there", &there, 4096));
    assert!(done.is_ok());
    world.run_until(seconds(1), |world| world.at(SERVER).client.next_done().is_some());
    assert_eq!(*world.store().contents("there").unwrap(), *there);
    // The chunk of 1 MiB is more than the small server takes, so the size is what it refuses.
    assert!(world.stores[&nid(CLIENT)].is_empty());
    let job = Job::put(nid(CLIENT), "back", back.clone(), Instant::NEVER).with_chunk(4096);
    world.at(SERVER).client.add(job);
    assert!(world.run_until(seconds(2), |world| {
        world.at(SERVER).client.next_done().is_some_and(|done| done.is_ok())
    }));
    assert_eq!(*world.stores[&nid(CLIENT)].contents("back").unwrap(), *back);
    world.close();
}

#[test]
fn files_pass_a_router() {
    // S3-14: a routed GET is not optimised, its data comes as a message.
    let setup = Setup { routes: Routes::default(), ..Setup::small() };
    let mut world = World::new(setup, 4);
    let (a, b, r) = (nid(CLIENT), nid(SERVER), nid(9));
    world.kill(CLIENT);
    world.kill(SERVER);
    for (node, peer) in [(a, b), (b, a)] {
        let routes = Routes::default().with(peer, r);
        world.bear_with(Config { routes, ..Config::new(node) });
    }
    let own = world.setup.memory.0 + world.setup.memory.1;
    let buffers = (0..8).map(|n| span(BASE + own + n * 16384, 16384)).collect();
    let router = RouterConfig { buffers, tiny: 16, max_hops: 3 };
    world.bear_with(Config { router: Some(router), ..Config::new(r) });
    world.at(9).ram.0.resize(own as usize + 8 * 16384, 0);
    round_trip(&mut world, "routed", 123_456, 8192);
    assert!(world.at(9).lnet.ledger().forwarded > 2 * 123_456 / 8192);
    world.close();
}

#[test]
fn every_chunk_leaves_its_records() {
    let mut world = World::new(Setup::small(), 5);
    let bytes = content(1, 50_000);
    assert!(world.do_one(put("a", &bytes, 8192)).is_ok());
    world.fetch("a", 8192);
    world.settle();
    let mut sums: BTreeMap<OpKind, (u64, u64)> = BTreeMap::new();
    while let Some(record) = world.client().next_record() {
        assert!(record.ok, "{record:?}");
        assert!(record.duration() > Span::default(), "the driver is never that fast");
        let sum = sums.entry(record.kind).or_default();
        *sum = (sum.0 + 1, sum.1 + u64::from(record.bytes));
    }
    assert_eq!(sums[&OpKind::Put], (7, 50_000));
    assert_eq!(sums[&OpKind::Ack], (7, 50_000));
    // Two windows: 40960 bytes are five chunks, the rest is two.
    assert_eq!(sums[&OpKind::Get], (7, 50_000));
    // OpenWrite, Commit; OpenRead and Close for each window.
    assert_eq!(sums[&OpKind::Call].0, 6);
    world.close();
}

#[test]
fn a_server_with_fewer_windows_than_a_file_may_have_open_serves_it_without_a_restart() {
    let mut world = World::new(Setup::small(), 9);
    let bytes = content(1, 400_000);
    assert!(world.do_one(put("a", &bytes, 4096)).is_ok());
    let sink = SharedSink::default();
    let job = Job::get(nid(SERVER), "a", sink.clone(), Instant::NEVER).with_chunk(4096);
    let done = world.do_one(job);
    assert_eq!((done.error, done.restarts), (None, 0));
    assert!(sink.take() == *bytes);
    assert!(world.server().stats().busy > 0, "it has refused a window");
    world.close();
}

#[test]
fn pings_and_lists_are_answered() {
    let mut world = World::new(Setup::small(), 6);
    let echo: Vec<u8> = (0..100).collect();
    assert!(world.do_one(Job::ping(nid(SERVER), echo, Instant::NEVER)).is_ok());
    // More names than one answer can hold.
    let names: Vec<String> = (0..300).map(|n| format!("{n:05}{}", "x".repeat(40))).collect();
    let empty = content(0, 0);
    assert!(world.work(names.iter().map(|n| put(n, &empty, 1))).iter().all(JobDone::is_ok));
    let done = world.do_one(Job::list(nid(SERVER), Instant::NEVER));
    assert_eq!((done.error, done.names), (None, names));
    world.close();
}

#[test]
fn progress_is_told_in_bytes() {
    let mut world = World::new(Setup::small(), 7);
    let bytes = content(1, 100_000);
    world.client().add(put("a", &bytes, 4096));
    let mut seen = Vec::new();
    world.run_until(seconds(10), |world| {
        seen.push(world.client().progress());
        world.client().next_done().is_some()
    });
    assert!(seen.contains(&(0, 100_000)) && seen.contains(&(100_000, 100_000)));
    assert!(seen.iter().any(|(done, _)| (1..100_000).contains(done)));
    world.close();
}

#[test]
fn events_of_others_are_handed_back() {
    use lnd_sim::lnet::{Match, Md, Put, Target};
    let mut world = World::new(Setup::small(), 8);
    let md = Md { put: true, user: 77, ..Md::default() };
    world.at(SERVER).lnet.attach(Match { portal: 5, ..Match::default() }, md).unwrap();
    let target = Target { portal: 5, ..Target::default() };
    let put = Put { to: nid(SERVER), target, memory: Vec::new(), ack: true, user: 78 };
    world.at(CLIENT).lnet.put(put).unwrap();
    world.run_until(seconds(1), |_| false);
    let of = |events: &[Event]| events.len();
    assert_eq!(of(&world.at(SERVER).others), 1);
    assert_eq!(of(&world.at(CLIENT).others), 3, "sent, acknowledged, done");
    let server = world.at(SERVER);
    assert!(matches!(server.others[0], Event::PutReceived { user: 77, .. }));
}
