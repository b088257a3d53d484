// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a client does not do, or gives up, and that nothing is left of it.

use std::io::{Error, ErrorKind};

use lnd_sim::lnet::SendError;

use super::*;

fn get(name: &str, sink: impl Sink + 'static) -> Job {
    Job::get(nid(SERVER), name, sink, Instant::NEVER).with_chunk(4096)
}

#[test]
fn jobs_that_cannot_be_done_fail_at_once() {
    let mut world = World::new(Setup::small(), 1);
    let bytes = content(1, 100);
    let too_large = Some(JobError::Refused(Refusal::TooLarge));
    let bad_name = Some(JobError::Refused(Refusal::BadName));
    let most = world.client().pages().free_bytes() as u32;
    let cases = [
        (put("../a", &bytes, 4096), bad_name),
        (get("/a", Discard), bad_name),
        (put("a", &bytes, 0), too_large),
        (get("a", Discard).with_chunk(most), too_large),
        (Job::ping(nid(SERVER), vec![0; MAX_MESSAGE], Instant::NEVER), too_large),
        (get("nothing", Discard), Some(JobError::Refused(Refusal::NotFound))),
        (put("a", &content(2, 20_000), 17 << 10), too_large),
        (
            Job::put(nid(CLIENT), "a", bytes.clone(), Instant::NEVER),
            Some(JobError::Unreachable(SendError::ToSelf)),
        ),
        (Job { deadline: Instant::ORIGIN, ..put("a", &bytes, 1) }, Some(JobError::Deadline)),
    ];
    for (job, error) in cases {
        let what = format!("{job:?}");
        let done = world.do_one(job);
        assert_eq!((done.error, done.checksum, done.restarts), (error, None, 0), "{what}");
    }
    assert!(world.now < seconds(1));
    assert_eq!(world.client().stats().jobs_failed, 9);
    world.close();
}

#[test]
fn a_small_file_may_have_a_large_chunk() {
    let mut world = World::new(Setup::small(), 2);
    let bytes = content(1, 100);
    // More than the client has memory for, but no chunk will be as long.
    assert!(world.do_one(put("a", &bytes, 16 << 10)).is_ok());
    assert!(world.fetch("a", 16 << 10) == *bytes);
    world.close();
}

struct Failing;

impl Source for Failing {
    fn size(&self) -> u64 {
        100_000
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        into.fill(1);
        if offset < 50_000 {
            Ok(())
        } else {
            Err(ErrorKind::PermissionDenied.into())
        }
    }
}

impl Sink for Failing {
    fn write(&mut self, offset: u64, _: &[u8]) -> std::io::Result<()> {
        if offset == 0 {
            Ok(())
        } else {
            Err(Error::from(ErrorKind::StorageFull))
        }
    }

    fn finish(&mut self, _: u64) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_job_that_fails_in_the_middle_is_cleared_away_at_both_ends() {
    let mut world = World::new(Setup::small(), 3);
    let job = Job::put(nid(SERVER), "a", Failing, Instant::NEVER).with_chunk(4096);
    assert_eq!(world.do_one(job).error, Some(JobError::Source(ErrorKind::PermissionDenied)));
    world.settle();
    assert_eq!(world.server().open_files(), (0, 0));

    let bytes = content(1, 100_000);
    assert!(world.do_one(put("a", &bytes, 4096)).is_ok());
    assert_eq!(world.do_one(get("a", Failing)).error, Some(JobError::Sink(ErrorKind::StorageFull)));
    world.settle();
    assert_eq!(world.server().open_files(), (0, 0));

    let deadline = world.now.after(Span::from_millis(4));
    let done = world.do_one(Job { deadline, ..put("b", &bytes, 1024) });
    assert_eq!(done.error, Some(JobError::Deadline));
    assert!((1..100_000).contains(&done.bytes), "in the middle: {}", done.bytes);
    let deadline = world.now.after(Span::from_millis(4));
    let done = world.do_one(Job { deadline, ..get("a", Discard) });
    assert_eq!(done.error, Some(JobError::Deadline));
    world.settle();
    assert_eq!(world.server().open_files(), (0, 0));
    let expired = world.server().stats().expired_writes + world.server().stats().expired_reads;
    assert_eq!(expired, 0, "the server has been told");
    world.close();
}

/// A full disk is no matter of patience: the client is told at once, the server says which file.
#[test]
fn a_store_without_room_ends_the_job_at_once() {
    for (kind, why) in [
        (ErrorKind::StorageFull, Refusal::Full),
        (ErrorKind::QuotaExceeded, Refusal::Full),
        (ErrorKind::PermissionDenied, Refusal::Denied),
    ] {
        let mut world = World::new(Setup::small(), 6);
        let bytes = content(1, 400_000);
        let id = world.client().add(put("a", &bytes, 4096));
        assert!(world.run_until(seconds(60), |world| world.client().progress().0 > 100_000));
        world.store().set_error(Some(kind));
        let begun = world.now;
        let mut end = None;
        world.run_until(seconds(60), |world| {
            end = world.client().next_done();
            end.is_some()
        });
        let end = end.unwrap();
        assert_eq!((end.id, end.error), (id, Some(JobError::Refused(why))));
        let server = &mut world.at(SERVER).server;
        let trouble = server.next_trouble().unwrap();
        assert_eq!((trouble.name.as_str(), trouble.error), ("a", StoreError::Io(kind)));
        assert_eq!(trouble.client, nid(CLIENT));
        assert_eq!(server.next_trouble(), None, "said once for a file");
        // One attempt's time, and no pause and second attempt.
        assert!(world.now < begun.after(Span::from_millis(50)));
        world.settle();
        assert_eq!(world.server().open_files(), (0, 0));
        assert_eq!(world.do_one(put("b", &bytes, 4096)).error, Some(JobError::Refused(why)));
        world.store().set_error(None);
        assert!(world.do_one(put("a", &bytes, 4096)).is_ok());
        world.close();
    }
}

/// A client that is ended in the middle tells its servers: nothing waits there until it is
/// forgotten.
#[test]
fn a_client_that_leaves_is_cleared_away_at_the_server() {
    let mut world = World::new(Setup::small(), 7);
    let bytes = content(1, 400_000);
    assert!(world.do_one(put("a", &bytes, 4096)).is_ok());
    world.client().add(put("b", &bytes, 4096));
    world.client().add(get("a", Discard));
    assert!(world.run_until(seconds(60), |world| {
        world.client().progress().0 > 100_000 && world.server().open_files() != (0, 0)
    }));
    let now = world.now;
    let node = world.at(CLIENT);
    node.client.leave(now, &mut node.lnet, &mut node.ram);
    let errors: Vec<_> = (0..2).map(|_| world.client().next_done().unwrap().error).collect();
    assert_eq!(errors, [Some(JobError::Stopped); 2]);
    assert!(world.run_until(seconds(60), |world| world.client().is_quiet()));
    assert_eq!(world.server().open_files().0, 0);
    world.settle();
    assert_eq!(world.server().open_files(), (0, 0));
    let expired = world.server().stats().expired_writes + world.server().stats().expired_reads;
    assert_eq!(expired, 0, "the server has been told");
    world.close();
}

#[test]
fn another_file_than_expected_is_not_finished() {
    let mut world = World::new(Setup::small(), 4);
    let bytes = content(1, 1000);
    assert!(world.do_one(put("a", &bytes, 4096)).is_ok());
    let sink = SharedSink::default();
    let done = world.do_one(get("a", sink).expecting(hash(&bytes) ^ 1));
    assert_eq!(done.error, Some(JobError::Unexpected { checksum: hash(&bytes) }));
    assert!(world.do_one(get("a", Discard).expecting(hash(&bytes))).is_ok());
    world.close();
}

/// A file that another program writes: after each read it has another version, and after
/// `overwritten` bytes its first byte is another one.
struct Written {
    bytes: Arc<Vec<u8>>,
    overwritten: u64,
    read: u64,
}

impl Source for Written {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.bytes.read(offset, into)?;
        if offset == 0 && self.read >= self.overwritten {
            into[0] ^= 1;
        }
        self.read += into.len() as u64;
        Ok(())
    }

    fn version(&self) -> std::io::Result<u64> {
        Ok(self.read)
    }
}

#[test]
fn a_source_that_grows_is_stored_as_far_as_it_went() {
    let mut world = World::new(Setup::small(), 5);
    let bytes = content(1, 200_000);
    let source = Written { bytes: bytes.clone(), overwritten: u64::MAX, read: 0 };
    let done = world.do_one(Job::put(nid(SERVER), "a", source, Instant::NEVER).with_chunk(4096));
    assert_eq!((done.error, done.restarts, done.checksum), (None, 0, Some(hash(&bytes))));
    assert!(world.fetch("a", 4096) == *bytes);
    world.close();
}

/// A mixture of two contents is not stored, and what was there before stays.
#[test]
fn a_source_that_is_overwritten_while_it_is_read_is_not_stored() {
    let mut world = World::new(Setup::small(), 5);
    let before = content(2, 100);
    assert!(world.do_one(put("a", &before, 4096)).is_ok());
    let source = Written { bytes: content(1, 200_000), overwritten: 1, read: 0 };
    let done = world.do_one(Job::put(nid(SERVER), "a", source, Instant::NEVER).with_chunk(4096));
    assert_eq!(done.error, Some(JobError::Changed));
    world.settle();
    assert_eq!(world.server().open_files(), (0, 0));
    assert!(world.fetch("a", 4096) == *before);
    world.close();
}

#[test]
fn a_file_that_changes_on_the_way_is_fetched_anew() {
    let mut world = World::new(Setup::small(), 5);
    let (old, new) = (content(1, 200_000), content(2, 150_000));
    assert!(world.do_one(put("a", &old, 4096)).is_ok());
    let sink = SharedSink::default();
    let id = world.client().add(get("a", sink.clone()));
    assert!(world.run_until(seconds(60), |world| world.client().progress().0 > 50_000));
    let mut store = world.store();
    let mut draft = store.create("a", 150_000).unwrap();
    store.write(&mut draft, 0, &new).unwrap();
    store.commit(draft).unwrap();
    let mut end = None;
    world.run_until(seconds(60), |world| {
        end = world.client().next_done();
        end.is_some()
    });
    let done = end.unwrap();
    assert_eq!((done.id, done.error, done.restarts), (id, None, 1));
    assert_eq!((done.bytes, done.checksum), (150_000, Some(hash(&new))));
    assert!(sink.take() == *new, "nothing of the old is left");
    world.close();
}

/// A file that grows all the time is given up after some attempts, and the error says why.
#[test]
fn a_file_that_never_stays_the_same_is_given_up() {
    let mut world = World::new(Setup::small(), 5);
    assert!(world.do_one(put("a", &content(1, 200_000), 4096)).is_ok());
    world.client().add(get("a", SharedSink::default()));
    let mut end = None;
    for version in 1..100 {
        // Some of each version crosses.
        let later = world.now.after(Span::from_secs(30));
        world.run_until(later, |world| {
            end = end.take().or_else(|| world.client().next_done());
            let begun_anew = world.client().stats().restarts + 1 == version;
            end.is_some() || begun_anew && world.client().progress().0 > 20_000
        });
        if end.is_some() {
            break;
        }
        let mut store = world.store();
        let mut draft = store.create("a", 200_000 + version).unwrap();
        store.write(&mut draft, 0, &content(version, 200_000 + version as usize)).unwrap();
        store.commit(draft).unwrap();
    }
    let done = end.unwrap();
    assert_eq!(done.error, Some(JobError::Changes));
    world.settle();
    assert_eq!(world.server().open_files(), (0, 0));
    world.close();
}

#[test]
fn a_disk_that_recovers_gets_its_file() {
    let mut world = World::new(Setup::small(), 6);
    let bytes = content(1, 50_000);
    world.client().add(put("a", &bytes, 4096));
    world.run_until(seconds(60), |world| world.client().progress().0 > 10_000);
    world.store().set_broken(true);
    let later = world.now.after(Span::from_millis(500));
    world.run_until(later, |_| false);
    assert_eq!(world.client().jobs(), (0, 1), "it goes on trying");
    world.store().set_broken(false);
    assert!(world.run_until(seconds(60), |world| world.client().next_done().is_some()));
    assert!(*world.store().contents("a").unwrap() == *bytes);
    world.close();
}

#[test]
fn a_client_that_is_stopped_ends_every_job() {
    let mut world = World::new(Setup::small(), 7);
    for n in 0..10 {
        world.client().add(put(&format!("f{n}"), &content(n, 100_000), 4096));
    }
    world.run_until(seconds(60), |world| world.client().progress().0 > 50_000);
    let now = world.now;
    let node = world.at(CLIENT);
    node.client.stop(now, &mut node.lnet);
    let errors: Vec<_> = std::iter::from_fn(|| node.client.next_done()).map(|d| d.error).collect();
    assert_eq!(errors, [Some(JobError::Stopped); 10]);
    assert!(!node.client.is_idle(), "the driver still has memory of it");
    world.settle();
    assert!(world.client().is_idle());
    world.close();
}

#[test]
fn records_that_none_reads_do_not_pile_up() {
    let mut setup = Setup::small();
    setup.client.max_records = 10;
    let mut world = World::new(setup, 8);
    assert!(world.do_one(put("a", &content(1, 100_000), 4096)).is_ok());
    let dropped = world.client().stats().records_dropped;
    let kept = std::iter::from_fn(|| world.client().next_record()).count();
    assert_eq!(kept, 10);
    // 25 chunks with two records each, two calls with one.
    assert_eq!(dropped, 42);
    world.close();
}

#[test]
fn a_window_that_is_too_small_is_refused() {
    let setup = Setup::small();
    let mut lnet = Lnet::new(Config::new(nid(1))).unwrap();
    let needed = setup.server.least_memory();
    let pages = Pages::new(0, needed - 1);
    let small = FileServer::new(setup.server, pages, MemoryStore::new(), &mut lnet);
    assert_eq!(small.err().map(|error| error.needed), Some(needed));
    let pages = Pages::new(0, 4096);
    let small = FileClient::new(setup.client, pages, &mut lnet);
    assert_eq!(small.err().map(|error| error.free), Some(4096));
}
