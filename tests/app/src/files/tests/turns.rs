// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Many files under way at a time: whose turn it is, how many bytes, and what a crash does to all.

use std::sync::Mutex;

use super::*;

/// A file that notes each read of it in a log that it shares with others.
struct Noted {
    number: usize,
    bytes: Arc<Vec<u8>>,
    log: Arc<Mutex<Vec<(usize, u64, usize)>>>,
}

impl Source for Noted {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.log.lock().unwrap().push((self.number, offset, into.len()));
        self.bytes.read(offset, into)
    }
}

/// Most turns of one other file between two turns of `file`, over all pairs of turns that `both`
/// takes as neighbours.
fn most_turns_between(
    log: &[(usize, u64, usize)],
    file: usize,
    both: impl Fn(u64, u64) -> bool,
) -> usize {
    let own: Vec<usize> = (0..log.len()).filter(|&at| log[at].0 == file).collect();
    let pairs = own.windows(2).filter(|pair| both(log[pair[0]].1, log[pair[1]].1));
    let turns = pairs.map(|pair| {
        let between = &log[pair[0] + 1..pair[1]];
        let of = |other: usize| between.iter().filter(|turn| turn.0 == other).count();
        (0..4).map(of).max().unwrap_or(0)
    });
    turns.max().unwrap_or(0)
}

#[test]
fn no_file_has_a_second_turn_before_another_has_had_one() {
    const LARGE: u32 = 512 << 10;
    let mut setup = Setup::roomy();
    setup.client.max_outstanding = 1000;
    let mut world = World::new(setup, 1);
    let log = Arc::new(Mutex::new(Vec::new()));
    let sizes = [(4 << 20, LARGE), (3 << 20, LARGE / 2), (400_000, 2000), (200_000, 1000)];
    for (number, (size, chunk)) in sizes.into_iter().enumerate() {
        let source = Noted { number, bytes: content(number as u64, size), log: log.clone() };
        let job = Job::put(nid(SERVER), &format!("f{number}"), source, Instant::NEVER);
        world.client().add(job.with_chunk(chunk));
    }
    // One look at the messages, and then some time passes, as in a real node.
    let mut done = Vec::new();
    for _ in 0..10_000 {
        world.step();
        world.now = world.now.after(Span::from_micros(50));
        done.extend(world.client().next_done().map(|end| (end.id, end.error)));
    }
    assert_eq!(done.len(), 4, "{done:?}");
    assert!(done.iter().all(|(_, error)| error.is_none()), "{done:?}");
    let log = log.lock().unwrap();
    assert!(log.iter().all(|turn| turn.2 <= 32 << 10), "a turn is a piece");
    let first = |file: usize| log.iter().position(|turn| turn.0 == file).unwrap();
    let last = |file: usize| log.iter().rposition(|turn| turn.0 == file).unwrap();
    for small in [2, 3] {
        // Small chunks wait for no window here, so every turn has its turn.
        assert!(most_turns_between(&log, small, |_, _| true) <= 1, "file {small}");
        assert!(first(0) < last(small) && first(small) < last(0), "they were under way together");
    }
    for (large, chunk) in [(0, LARGE), (1, LARGE / 2)] {
        // Between two chunks a large file waits for its window; within a chunk it waits for turns.
        let within = |a: u64, b: u64| a / u64::from(chunk) == b / u64::from(chunk);
        assert!(most_turns_between(&log, large, within) <= 1, "file {large}");
    }
    drop(log);
    world.close();
}

#[test]
fn a_large_chunk_is_not_overtaken_for_ever() {
    // Room for one large chunk at a time, and two files that want it.
    let mut setup = Setup::roomy();
    setup.client.max_bytes = 300 << 10;
    let mut world = World::new(setup, 2);
    let log = Arc::new(Mutex::new(Vec::new()));
    for (number, chunk) in [(0, 256 << 10), (1, 70 << 10)] {
        let source = Noted { number, bytes: content(number as u64, 2 << 20), log: log.clone() };
        let job = Job::put(nid(SERVER), &format!("f{number}"), source, Instant::NEVER);
        world.client().add(job.with_chunk(chunk));
    }
    let mut ended = 0;
    let all = |world: &mut World| {
        ended += usize::from(world.client().next_done().is_some_and(|end| end.is_ok()));
        ended == 2
    };
    assert!(world.run_until(seconds(60), all));
    let log = log.lock().unwrap();
    let halves = log.iter().filter(|turn| turn.0 == 0).nth(32).map(|turn| turn.1);
    assert_eq!(halves, Some(1 << 20), "64 pieces");
    // When half of the file with the long chunks has gone, the other has not gone altogether.
    let middle = log.iter().position(|turn| turn.0 == 0 && turn.1 == 1 << 20).unwrap();
    let others = log[..middle].iter().filter(|turn| turn.0 == 1).map(|turn| turn.2).sum::<usize>();
    assert!(others < 2 << 20, "{others}");
    drop(log);
    world.close();
}

#[test]
fn files_come_to_their_end_with_one_chunk_of_a_kind_at_a_time() {
    let mut setup = Setup::roomy();
    setup.client.max_chunks = Chunks { small: 1, large: 1 };
    let mut world = World::new(setup, 8);
    world.weather = Weather { lost: 50_000, refused: 50_000, ..Weather::default() };
    let chunks = [1000, 100_000, 64 << 10, 4096, 200_000, 70_000];
    let files: Vec<_> = (0..6).map(|n| (format!("f{n}"), content(n, 300_000))).collect();
    let jobs = files.iter().zip(chunks).map(|((name, bytes), chunk)| put(name, bytes, chunk));
    assert!(world.work(jobs).iter().all(JobDone::is_ok));
    for ((name, bytes), chunk) in files.iter().zip(chunks) {
        assert!(world.fetch(name, chunk) == **bytes, "{name}");
    }
    world.close();
}

#[test]
fn the_window_follows_what_arrives() {
    let mut setup = Setup::roomy();
    setup.client.max_bytes = 8 << 20;
    let mut world = World::new(setup, 3);
    let bytes = content(1, 24 << 20);
    assert_eq!(world.client().window_bytes(nid(SERVER)), 1 << 20);
    assert!(world.do_one(put("a", &bytes, 256 << 10)).is_ok());
    assert_eq!(world.client().window_bytes(nid(SERVER)), 8 << 20, "nothing was lost");
    world.weather = Weather { lost: 200_000, ..Weather::default() };
    assert!(world.do_one(put("a", &bytes, 256 << 10)).is_ok());
    let window = world.client().window_bytes(nid(SERVER));
    assert!(window <= 4 << 20, "every fifth message was lost: {window}");
    world.close();
}

#[test]
fn windows_of_a_file_are_read_ahead() {
    let mut world = World::new(Setup::roomy(), 4);
    let bytes = content(1, 9 << 20);
    assert!(world.do_one(put("a", &bytes, 1 << 20)).is_ok());
    let sink = SharedSink::default();
    world
        .client()
        .add(Job::get(nid(SERVER), "a", sink.clone(), Instant::NEVER).with_chunk(1 << 18));
    let mut open = 0;
    assert!(world.run_until(seconds(60), |world| {
        open = open.max(world.server().open_files().1);
        world.client().next_done().is_some_and(|end| end.is_ok())
    }));
    assert!((2..=4).contains(&open), "three, and one that is being closed: {open}");
    assert!(sink.take() == *bytes);
    world.close();
}

/// Sends and fetches many files while the server dies and is born again; the client is told of it,
/// or finds out. Returns the counts of both ends, the most restarts of a file, and the time from
/// the birth to the end.
fn crashed(seed: u64, notified: bool) -> (ClientStats, ServerStats, u32, Span) {
    let mut world = World::new(Setup::roomy(), seed);
    let files: Vec<_> =
        (0..24).map(|n| (format!("f{n}"), content(n, 70_001 * n as usize))).collect();
    for (name, bytes) in &files[..12] {
        assert!(world.do_one(put(name, bytes, 40_000)).is_ok());
    }
    let sinks: Vec<SharedSink> = (0..12).map(|_| SharedSink::default()).collect();
    for (n, (name, bytes)) in files.iter().enumerate() {
        // Some come while others go.
        let chunk = if n % 2 == 0 { 30_000 } else { 200_000 };
        match sinks.get(n) {
            None => drop(world.client().add(put(name, bytes, chunk))),
            Some(sink) => {
                let get = Job::get(nid(SERVER), name, sink.clone(), Instant::NEVER);
                world.client().add(get.with_chunk(chunk).expecting(hash(bytes)));
            }
        }
    }
    let moved = |world: &mut World| {
        let stats = *world.client().stats();
        stats.sent_bytes + stats.fetched_bytes > 9_000_000
    };
    assert!(world.run_until(seconds(60), moved));
    assert!(world.client().jobs().1 > 4, "many are under way");
    let mut ends = Vec::new();
    world.kill(SERVER);
    if notified {
        let now = world.now;
        let node = world.nodes.get_mut(&nid(CLIENT)).unwrap();
        node.client.on_server_down(now, &mut node.lnet, &mut node.ram, nid(SERVER));
    }
    let mourning = world.now.after(Span::from_millis(3));
    world.run_until(mourning, |world| {
        ends.extend(world.client().next_done());
        false
    });
    world.bear(SERVER);
    let started = world.now;
    assert!(world.run_until(seconds(60), |world| {
        ends.extend(world.client().next_done());
        ends.len() == 36 - 12
    }));
    let took = world.now.since(started);
    assert!(ends.iter().all(JobDone::is_ok), "{ends:?}");
    for (n, (name, bytes)) in files.iter().enumerate() {
        assert!(*world.store().contents(name).unwrap() == **bytes, "{name} as stored");
        let fetched = sinks.get(n).map(SharedSink::take);
        assert!(fetched.is_none_or(|fetched| fetched == **bytes), "{name} as fetched");
    }
    let restarts = ends.iter().map(|end| end.restarts).max().unwrap_or(0);
    let stats = (*world.client().stats(), *world.server().stats(), restarts, took);
    assert_eq!((stats.0.mismatches, stats.1.mismatches), (0, 0));
    world.close();
    stats
}

#[test]
fn a_crash_with_many_files_under_way_costs_each_one_restart_and_no_timeout() {
    for seed in 1..4 {
        let (client, _, restarts, took) = crashed(seed, true);
        assert!(client.restarts > 4, "many were under way: {client:?}");
        assert_eq!(restarts, 1, "each was begun anew once");
        let answer = ClientConfig::new(0).answer_timeout;
        assert!(took < answer, "nothing waits for an answer of the dead: {took:?}");
    }
}

#[test]
fn a_crash_that_nothing_is_said_of_is_found_out() {
    for seed in 1..4 {
        let (client, server, _, took) = crashed(seed, false);
        assert!(client.restarts > 0 && client.failures > 0, "{client:?}");
        assert!(took < Span::from_secs(2), "an answer is not waited for for ever: {took:?}");
        assert_eq!(server.expired_writes, 0, "what was opened twice was closed: {server:?}");
    }
}

#[test]
fn the_same_crash_is_the_same_run() {
    assert_eq!(crashed(7, true), crashed(7, true));
    assert_eq!(crashed(7, false), crashed(7, false));
    assert_ne!(crashed(7, true), crashed(8, true));
}

#[test]
fn what_is_opened_for_none_is_closed() {
    let mut world = World::new(Setup::small(), 5);
    let bytes = content(1, 100_000);
    assert!(world.do_one(put("a", &bytes, 4096)).is_ok());
    for get in [false, true] {
        // The call has left, and its job ends before the answer comes.
        let deadline = world.now.after(Span::from_micros(5));
        let job = if get {
            Job::get(nid(SERVER), "a", Discard, deadline)
        } else {
            put("b", &bytes, 4096)
        };
        let done = world.do_one(Job { deadline, ..job.with_chunk(4096) });
        assert_eq!(done.error, Some(JobError::Deadline));
        let later = world.now.after(Span::from_secs(1));
        let mut opened = false;
        world.run_until(later, |world| {
            opened |= world.server().open_files() != (0, 0);
            false
        });
        assert!(opened, "the call has arrived");
        assert_eq!(world.server().open_files(), (0, 0));
        assert_eq!(
            (world.server().stats().expired_writes, world.server().stats().expired_reads),
            (0, 0)
        );
    }
    world.close();
}

#[test]
fn a_lost_answer_is_asked_for_again_soon() {
    // The layer says that all is well, and no answer comes. An attempt may take ten seconds.
    let mut setup = Setup::small();
    setup.client.timeout = Span::from_secs(10);
    setup.client.answer_timeout = Span::from_millis(10);
    let mut world = World::new(setup, 6);
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
    // 10, 20, 40, 80, 160, 320 and 640 ms, each with a pause of at most 20.
    assert!((6..=7).contains(&stats.attempts), "{stats:?}");
}

#[test]
fn jobs_that_wait_for_their_turn_at_the_server_hold_up_no_other() {
    // More jobs than chunks may be under way, and more than the server takes at a time.
    let mut setup = Setup::small();
    setup.client.max_jobs = 12;
    setup.client.max_outstanding = 2;
    let mut world = World::new(setup, 7);
    let files: Vec<_> = (0..24).map(|n| (format!("f{n}"), content(n, 9000))).collect();
    let ends = world.work(files.iter().map(|(name, bytes)| put(name, bytes, 4096)));
    assert!(ends.iter().all(JobDone::is_ok));
    assert!(world.server().stats().busy > 0);
    world.close();
}
