// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Nodes die in the middle of it, without a word, and are born again with nothing but their store.

use super::*;

/// Runs until the client has moved more than `bytes` of its job.
fn run_to(world: &mut World, bytes: u64) {
    let moved = |world: &mut World| world.client().progress().0 > bytes;
    assert!(world.run_until(seconds(60), moved), "it is under way");
}

/// Lets time pass while the server is dead.
fn mourn(world: &mut World) {
    let later = world.now.after(Span::from_millis(200));
    world.run_until(later, |_| false);
}

fn finish(world: &mut World) -> JobDone {
    let mut end = None;
    let limit = world.now.after(Span::from_secs(60));
    world.run_until(limit, |world| {
        end = world.client().next_done();
        end.is_some()
    });
    end.expect("the job ends")
}

#[test]
fn a_file_survives_the_server_it_is_sent_to() {
    for (seed, acks) in [(1, AckPolicy::Auto), (2, AckPolicy::ByEvent)] {
        let mut world = World::new(Setup { acks, ..Setup::small() }, seed);
        let (old, bytes) = (content(1, 5000), content(2, 200_000));
        assert!(world.do_one(put("old", &old, 4096)).is_ok());
        world.client().add(put("a", &bytes, 4096));
        run_to(&mut world, 100_000);
        world.kill(SERVER);
        mourn(&mut world);
        world.bear(SERVER);
        let done = finish(&mut world);
        assert_eq!((done.error, done.bytes), (None, 200_000));
        assert_eq!(done.restarts, 1, "it was begun anew, once");
        assert!(*world.store().contents("a").unwrap() == *bytes);
        assert!(world.fetch("old", 4096) == *old, "what was committed is there");
        let server = *world.server().stats();
        assert!(
            server.stale_chunks > 0,
            "the new incarnation has got chunks of the old: {server:?}"
        );
        assert!(server.stale_chunks < 20, "and has said so at once: {server:?}");
        world.close();
    }
}

#[test]
fn a_file_survives_the_server_it_comes_from() {
    for optimise in [true, false] {
        let mut setup = Setup::small();
        setup.client.max_outstanding = 2;
        let mut world = World::new(setup, 3);
        world.optimise = optimise;
        let bytes = content(1, 200_000);
        assert!(world.do_one(put("a", &bytes, 4096)).is_ok());
        let sink = SharedSink::default();
        let job = Job::get(nid(SERVER), "a", sink.clone(), Instant::NEVER).with_chunk(4096);
        world.client().add(job);
        // In the middle of a window, of which more is missing than has been asked for.
        let there = |world: &mut World| world.client().stats().fetched_bytes > 82_000;
        assert!(world.run_until(seconds(60), there));
        world.kill(SERVER);
        mourn(&mut world);
        world.bear(SERVER);
        let done = finish(&mut world);
        assert_eq!((done.error, done.restarts), (None, 1), "the window was opened anew, once");
        assert!(sink.take() == *bytes);
        let fetched = world.client().stats().fetched_bytes;
        assert!(fetched <= 200_000 + 40_960, "verified windows are not fetched again: {fetched}");
        world.close();
    }
}

#[test]
fn a_commit_whose_answer_was_lost_with_its_server_is_made_again() {
    let mut world = World::new(Setup::small(), 4);
    let bytes = content(1, 30_000);
    world.client().add(put("a", &bytes, 4096));
    let committed = |world: &mut World| world.server().stats().commits == 1;
    assert!(world.run_until(seconds(60), committed));
    world.kill(SERVER);
    world.bear(SERVER);
    assert_eq!(finish(&mut world).error, None);
    assert!(*world.store().contents("a").unwrap() == *bytes);
    world.close();
}

#[test]
fn servers_that_die_again_and_again_get_all_files_in_the_end() {
    let mut world = World::new(Setup::small(), 5);
    world.weather = Weather { lost: 30_000, unverified: 30_000, ..Weather::default() };
    let files: Vec<_> = (0..8).map(|n| (format!("f{n}"), content(n, 60_000))).collect();
    for (name, bytes) in &files {
        world.client().add(put(name, bytes, 4096));
    }
    let mut done = 0;
    let mut deaths = 0;
    while done < files.len() {
        let later = world.now.after(Span::from_millis(20));
        world.run_until(later, |world| {
            while let Some(end) = world.client().next_done() {
                assert_eq!(end.error, None);
                done += 1;
            }
            false
        });
        world.kill(SERVER);
        world.bear(SERVER);
        deaths += 1;
        assert!(deaths < 500, "it comes to an end");
    }
    assert!(deaths > 3, "{deaths}");
    for (name, bytes) in &files {
        assert!(*world.store().contents(name).unwrap() == **bytes, "{name}");
    }
    world.close();
}

#[test]
fn a_dead_client_leaks_nothing_and_its_jobs_go_on_in_its_next_incarnation() {
    let mut world = World::new(Setup::small(), 6);
    let bytes = content(1, 200_000);
    assert!(world.do_one(put("a", &bytes, 4096)).is_ok());
    let sink = SharedSink::default();
    world.client().add(put("b", &bytes, 4096));
    let job = Job::get(nid(SERVER), "a", sink.clone(), Instant::NEVER).with_chunk(4096);
    world.client().add(job);
    run_to(&mut world, 100_000);
    let jobs = world.kill(CLIENT).client.into_jobs();
    assert_eq!(jobs.len(), 2);
    assert_ne!(world.server().open_files(), (0, 0));
    let idle = world.setup.server.idle;
    let later = world.now.after(idle).after(Span::from_secs(1));
    world.run_until(later, |_| false);
    let server = *world.server().stats();
    assert_eq!(world.server().open_files(), (0, 0));
    assert_eq!(server.expired_writes, 1);
    // The server has at most three windows open at a time.
    assert!(server.expired_reads <= 3);

    world.bear(CLIENT);
    let ends = world.work(jobs.into_iter().map(|(_, job)| job));
    assert!(ends.iter().all(JobDone::is_ok));
    assert!(sink.take() == *bytes && *world.store().contents("b").unwrap() == *bytes);
    world.close();
}
