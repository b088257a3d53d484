// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The server alone, called by nodes that keep no rule.

use lnd_sim::lnet::{span, Get, Match, Md, Put, SendEnd, Target};

use super::*;

/// Nodes that speak for themselves.
pub(super) const EVE: u64 = 5;
const MAL: u64 = 6;
/// Room behind a node's window: for what it sends, and for the answers.
const OUT: u64 = 64 << 10;
const IN: u64 = 1 << 20;

pub(super) struct Raw {
    pub(super) world: World,
    xid: u64,
}

impl Raw {
    pub(super) fn new(setup: Setup) -> Self {
        let mut world = World::new(setup, 9);
        let end = BASE + world.setup.memory.0 + world.setup.memory.1;
        for node in [EVE, MAL] {
            world.bear(node);
            let now = world.now;
            let node = world.at(node);
            node.client.stop(now, &mut node.lnet);
            node.dispatch(now);
            node.ram.0.resize((end + OUT + IN - BASE) as usize, 0);
            let any = Match { portal: PORTAL_ANSWER, ignore: !0, ..Match::default() };
            let md = Md { memory: span(end + OUT, IN as u32), put: true, ..Md::default() };
            node.lnet.attach(any, md).unwrap();
        }
        Self { world, xid: 100 }
    }

    /// Sends any bytes to any portal, and returns what comes back.
    pub(super) fn send(&mut self, from: u64, target: Target, bytes: &[u8]) -> Vec<Answer> {
        let end = BASE + self.world.setup.memory.0 + self.world.setup.memory.1;
        let node = self.world.at(from);
        node.ram.write(end, bytes);
        let memory = span(end, bytes.len() as u32);
        let put = Put { to: nid(SERVER), target, memory, ack: false, user: 0 };
        node.lnet.put(put).unwrap();
        self.listen(from)
    }

    pub(super) fn listen(&mut self, node: u64) -> Vec<Answer> {
        let end = BASE + self.world.setup.memory.0 + self.world.setup.memory.1;
        let later = self.world.now.after(Span::from_millis(10));
        self.world.run_until(later, |_| false);
        let node = self.world.at(node);
        let mut answers = Vec::new();
        for event in std::mem::take(&mut node.others) {
            if let Event::PutReceived { offset, length, match_bits, .. } = event {
                let mut bytes = vec![0; length as usize];
                node.ram.read(end + OUT + u64::from(offset), &mut bytes);
                let (xid, answer) = Answer::decode(&bytes).unwrap();
                assert_eq!(xid, match_bits);
                answers.push(answer);
            }
        }
        answers
    }

    /// Makes a call with a number of its own.
    pub(super) fn call(&mut self, from: u64, call: &Call) -> Answer {
        self.xid += 1;
        self.call_again(from, call)
    }

    /// Makes a call with the number of the one before.
    fn call_again(&mut self, from: u64, call: &Call) -> Answer {
        let target = Target { portal: PORTAL_CALL, match_bits: self.xid, ..Target::default() };
        let mut answers = self.send(from, target, &call.encode(self.xid));
        assert_eq!(answers.len(), 1, "{call:?}: {answers:?}");
        answers.remove(0)
    }

    pub(super) fn chunk(
        &mut self,
        from: u64,
        (id, incarnation): (u32, u64),
        n: u32,
        bytes: &[u8],
    ) -> Vec<Answer> {
        let match_bits = window_bits(id, n);
        let target = Target { portal: PORTAL_CHUNK, match_bits, offset: 0, data: incarnation };
        self.send(from, target, bytes)
    }

    pub(super) fn open(&mut self, from: u64, name: &str, size: u64, chunk: u32) -> (u32, u64) {
        match self.call(from, &Call::OpenWrite { name: name.to_owned(), size, chunk }) {
            Answer::Writing { id, incarnation } => (id, incarnation),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn commit(&mut self, from: u64, id: u32, content: &[u8]) -> Answer {
        self.call(from, &Call::Commit { id, checksum: hash(content) })
    }

    fn window(&mut self, from: u64, name: &str, offset: u64) -> Window {
        match self.call(from, &Call::OpenRead { name: name.to_owned(), offset }) {
            Answer::Reading(window) => window,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn stats(&self) -> ServerStats {
        *self.world.nodes[&nid(SERVER)].server.stats()
    }
}

pub(super) fn refusal(why: Refusal) -> Answer {
    Answer::Refused(why)
}

#[test]
fn names_that_lead_out_are_refused() {
    let mut raw = Raw::new(Setup::small());
    for name in ["", "..", "../up", "/etc/passwd", "a/../b", "nul\0", ".drafts/0"] {
        let name = name.to_owned();
        let write = Call::OpenWrite { name: name.clone(), size: 1, chunk: 1 };
        assert_eq!(raw.call(EVE, &write), refusal(Refusal::BadName), "{name:?}");
        let read = Call::OpenRead { name: name.clone(), offset: 0 };
        assert_eq!(raw.call(EVE, &read), refusal(Refusal::BadName), "{name:?}");
    }
    assert!(raw.world.store().is_empty());
}

#[test]
fn nonsense_is_counted_and_answered_by_nothing() {
    let mut raw = Raw::new(Setup::small());
    let mut random = Rng::new(7);
    let incarnation = raw.open(EVE, "a", 100, 100).1;
    for portal in [PORTAL_CALL, PORTAL_CHUNK] {
        for _ in 0..50 {
            let length = random.below(4000) as usize;
            let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            let target = Target { portal, match_bits: random.next(), offset: 0, data: incarnation };
            let answers = raw.send(EVE, target, &bytes);
            assert!(answers.iter().all(|answer| matches!(answer, Answer::Lost { .. })));
        }
    }
    assert_eq!(raw.stats().bad_calls, 50);
    assert_eq!(raw.stats().stale_chunks, 50);
    let echo = vec![1, 2, 3];
    assert_eq!(raw.call(EVE, &Call::Ping { echo: echo.clone() }), Answer::Pong { echo });
    raw.call(EVE, &Call::Close { id: 0 });
}

#[test]
fn the_same_call_again_changes_nothing() {
    let mut raw = Raw::new(Setup::small());
    let write = Call::OpenWrite { name: "a".to_owned(), size: 3, chunk: 3 };
    let Answer::Writing { id, incarnation } = raw.call(EVE, &write) else { panic!() };
    assert_eq!(raw.call_again(EVE, &write), Answer::Writing { id, incarnation });
    assert_eq!(raw.world.server().open_files(), (1, 0));
    assert_ne!(raw.call(EVE, &write), Answer::Writing { id, incarnation }, "another call");
    assert_eq!(raw.world.server().open_files(), (2, 0));

    assert_eq!(raw.chunk(EVE, (id, incarnation), 0, b"abc"), []);
    assert_eq!(raw.chunk(EVE, (id, incarnation), 0, b"xyz"), [], "too late to change it");
    assert_eq!((raw.stats().chunks, raw.stats().duplicate_chunks), (1, 1));
    assert_eq!(raw.commit(EVE, id, b"abc"), Answer::Committed);
    assert_eq!(raw.commit(EVE, id, b"abc"), Answer::Committed, "the first answer was lost, say");
    assert_eq!(raw.commit(EVE, id, b"xyz"), refusal(Refusal::Unknown));
    assert_eq!(raw.stats().commits, 1);
    assert_eq!(**raw.world.store().contents("a").unwrap(), *b"abc");

    let read = Call::OpenRead { name: "a".to_owned(), offset: 1 };
    let first = raw.call(EVE, &read);
    assert_eq!(raw.call_again(EVE, &read), first);
    let Answer::Reading(Window { id, length: 2, size: 3, checksum, .. }) = first else { panic!() };
    assert_eq!(checksum, hash(b"bc"));
    assert_eq!(raw.world.server().open_files(), (1, 1));
    for _ in 0..2 {
        assert_eq!(raw.call(EVE, &Call::Close { id }), Answer::Closed);
    }
    assert_eq!(raw.world.server().open_files(), (1, 0));
}

#[test]
fn what_is_not_right_does_not_become_a_file() {
    let mut raw = Raw::new(Setup::small());
    let file = raw.open(EVE, "a", 5, 3);
    for (n, bytes) in [(0, &b"ab"[..]), (0, b"abcd"), (1, b"abc"), (2, b"a"), (u32::MAX, b"")] {
        assert_eq!(raw.chunk(EVE, file, n, bytes), []);
    }
    assert_eq!((raw.stats().chunks, raw.stats().bad_chunks), (0, 5));
    let lost = [Answer::Lost { id: file.0 }];
    assert_eq!(raw.chunk(EVE, (file.0, file.1 + 1), 0, b"abc"), lost, "of another incarnation");
    assert_eq!(raw.chunk(EVE, (file.0 + 1, file.1), 0, b"abc"), [Answer::Lost { id: file.0 + 1 }]);
    assert_eq!(raw.chunk(EVE, file, 0, b"abc"), []);
    assert_eq!(raw.commit(EVE, file.0, b"abc"), refusal(Refusal::Incomplete));
    assert_eq!(raw.commit(EVE, file.0, b"abc"), refusal(Refusal::Unknown), "it is forgotten");

    let file = raw.open(EVE, "a", 6, 3);
    raw.chunk(EVE, file, 1, b"abc");
    raw.chunk(EVE, file, 0, b"def");
    assert_eq!(raw.commit(EVE, file.0, b"abcdef"), refusal(Refusal::Mismatch), "swapped chunks");
    assert_eq!(raw.stats().mismatches, 1);
    assert!(raw.world.store().is_empty());
    assert_eq!(raw.world.server().open_files(), (0, 0));
}

#[test]
fn files_belong_to_who_opened_them() {
    let mut raw = Raw::new(Setup::small());
    let file = raw.open(EVE, "a", 3, 3);
    assert_eq!(raw.chunk(MAL, file, 0, b"bad"), [Answer::Lost { id: file.0 }]);
    assert_eq!(raw.call(MAL, &Call::Close { id: file.0 }), Answer::Closed);
    assert_eq!(raw.chunk(EVE, file, 0, b"abc"), []);
    assert_eq!(raw.commit(MAL, file.0, b"abc"), refusal(Refusal::Unknown));
    assert_eq!(raw.commit(EVE, file.0, b"abc"), Answer::Committed);

    let window = raw.window(EVE, "a", 0);
    raw.call(MAL, &Call::Close { id: window.id });
    let end = BASE + raw.world.setup.memory.0 + raw.world.setup.memory.1;
    let mut get = |from: u64| {
        let match_bits = window_bits(window.id, 0);
        let target = Target { portal: PORTAL_WINDOW, match_bits, ..Target::default() };
        let get = Get { to: nid(SERVER), target, memory: span(end, 3), user: 0 };
        let node = raw.world.at(from);
        node.lnet.get(get).unwrap();
        let later = raw.world.now.after(Span::from_millis(10));
        raw.world.run_until(later, |_| false);
        let node = raw.world.at(from);
        let sent = |event: &Event| match event {
            Event::SendDone { end: SendEnd::Finalized(status), .. } => status.errno == 0,
            _ => false,
        };
        let ok = node.others.iter().any(sent);
        node.others.clear();
        ok
    };
    assert!(!get(MAL), "nothing matches");
    assert!(get(EVE));
    assert_eq!(raw.stats().gets, 1);
}

#[test]
fn limits_hold() {
    let mut raw = Raw::new(Setup::small());
    let config = raw.world.setup.server.clone();
    let open = |size, chunk| Call::OpenWrite { name: "a".to_owned(), size, chunk };
    for (size, chunk) in [
        (1, 0),
        (1, config.max_chunk + 1),
        (config.max_file + 1, 1 << 14),
        (u64::MAX, 1),
        (u64::from(config.max_chunks) + 1, 1),
    ] {
        assert_eq!(raw.call(EVE, &open(size, chunk)), refusal(Refusal::TooLarge), "{size} {chunk}");
    }
    let ids: Vec<u32> = (0..3).map(|_| raw.open(EVE, "a", 10, 10).0).collect();
    assert_eq!(raw.call(MAL, &open(1, 1)), refusal(Refusal::Busy));
    raw.call(EVE, &Call::Close { id: ids[0] });
    raw.open(MAL, "a", 1, 1);

    // Windows: three at a time, and no more memory than there is; 64 KiB are left for them.
    let bytes = content(1, 100_000);
    let mut draft = raw.world.store().create("big", 100_000).unwrap();
    raw.world.store().write(&mut draft, 0, &bytes).unwrap();
    raw.world.store().commit(draft).unwrap();
    assert_eq!(raw.window(EVE, "big", 100_000).length, 0, "behind its end");
    assert_eq!(raw.window(EVE, "big", u64::MAX).length, 0);
    assert_eq!(raw.window(EVE, "big", 99_990).length, 10);
    let long = raw.window(EVE, "big", 0);
    assert_eq!(long.length, config.max_window);
    assert_eq!(raw.window(EVE, "big", 0).length, config.max_window / 2, "as much as there is");
    let again = Call::OpenRead { name: "big".to_owned(), offset: 0 };
    assert_eq!(raw.call(MAL, &again), refusal(Refusal::Busy));
    raw.call(EVE, &Call::Close { id: long.id });
    assert_eq!(raw.window(MAL, "big", 0).length, config.max_window);
    assert_eq!(raw.stats().busy, 2);
}

/// What a client's former incarnation had open keeps no room from its successor, and none that the
/// client has opened itself is lost.
#[test]
fn what_a_former_incarnation_of_a_client_had_open_is_forgotten() {
    let mut raw = Raw::new(Setup::small());
    let (max_writes, max_reads) =
        (raw.world.setup.server.max_writes, raw.world.setup.server.max_reads);
    let file = raw.open(MAL, "a", 3, 3);
    raw.chunk(MAL, file, 0, b"abc");
    assert_eq!(raw.commit(MAL, file.0, b"abc"), Answer::Committed);
    let own = raw.window(MAL, "a", 0);
    let reads: Vec<_> = (1..max_reads).map(|_| raw.window(EVE, "a", 0)).collect();
    let writes: Vec<_> = (0..max_writes).map(|_| raw.open(EVE, "b", 6, 3)).collect();
    let read = Call::OpenRead { name: "a".to_owned(), offset: 0 };
    assert_eq!(raw.call(EVE, &read), refusal(Refusal::Busy), "the same incarnation");
    assert_eq!(raw.world.server().open_files(), (max_writes, max_reads));

    raw.xid += 1 << 32;
    assert_eq!(raw.call(EVE, &read), refusal(Refusal::Busy), "the layer gives memory back first");
    let second = raw.window(EVE, "a", 0);
    assert_eq!(raw.world.server().open_files(), (0, 2), "of both clients one");
    assert!(second.id != own.id && reads.iter().all(|read| read.id != second.id));
    assert_eq!(raw.chunk(EVE, writes[0], 0, b"abc"), [Answer::Lost { id: writes[0].0 }]);
    raw.open(EVE, "b", 6, 3);
    assert_eq!(raw.world.server().open_files(), (1, 2), "its own window stays");
    raw.xid += 1 << 32;
    raw.open(EVE, "b", 6, 3);
    assert_eq!(raw.world.server().open_files(), (1, 1));

    let node = raw.world.at(SERVER);
    node.server.on_client_down(&mut node.lnet, nid(MAL));
    raw.listen(EVE);
    assert_eq!(raw.world.server().open_files(), (1, 0));
    let node = raw.world.at(SERVER);
    node.server.on_client_down(&mut node.lnet, nid(EVE));
    assert_eq!(raw.world.server().open_files(), (0, 0));
}

/// A file that is replaced between the look at its version and the reading of its bytes: no window
/// has the version of one and the bytes of the other.
#[test]
fn a_file_that_changes_while_a_window_is_staged_is_looked_up_again() {
    let mut raw = Raw::new(Setup::small());
    let (old, new) = ([b'o'; 900], [b'n'; 900]);
    let file = raw.open(EVE, "a", 900, 900);
    raw.chunk(EVE, file, 0, &old);
    assert_eq!(raw.commit(EVE, file.0, &old), Answer::Committed);
    let before = raw.window(EVE, "a", 0);
    assert_eq!(before.checksum, hash(&old));
    raw.world.store().swap_before_read(&new);
    let read = Call::OpenRead { name: "a".to_owned(), offset: 0 };
    assert_eq!(raw.call(EVE, &read), refusal(Refusal::Busy));
    let after = raw.window(EVE, "a", 0);
    assert_eq!(after.checksum, hash(&new));
    assert_ne!(after.version, before.version);
    assert_eq!(raw.world.server().open_files(), (0, 2));
}

#[test]
fn what_none_touches_is_forgotten() {
    let mut raw = Raw::new(Setup::small());
    let file = raw.open(EVE, "a", 6, 3);
    let idle = raw.world.setup.server.idle;
    let half = Span::from_nanos(idle.as_nanos() * 2 / 3);
    let later = raw.world.now.after(half);
    raw.world.run_until(later, |_| false);
    assert_eq!(raw.chunk(EVE, file, 0, b"abc"), [], "a chunk keeps it");
    let later = raw.world.now.after(half);
    raw.world.run_until(later, |_| false);
    assert_eq!(raw.world.server().open_files(), (1, 0));
    let later = raw.world.now.after(half);
    raw.world.run_until(later, |_| false);
    assert_eq!(raw.world.server().open_files(), (0, 0));
    assert_eq!(raw.stats().expired_writes, 1);
    assert_eq!(raw.chunk(EVE, file, 1, b"def"), [Answer::Lost { id: file.0 }]);
}

#[test]
fn a_store_that_fails_fails_the_file() {
    let mut raw = Raw::new(Setup::small());
    let file = raw.open(EVE, "a", 3, 3);
    raw.world.store().set_broken(true);
    assert_eq!(raw.chunk(EVE, file, 0, b"abc"), []);
    raw.world.store().set_broken(false);
    assert_eq!(raw.commit(EVE, file.0, b"abc"), refusal(Refusal::Failed), "a chunk is missing");

    let file = raw.open(EVE, "a", 3, 3);
    raw.chunk(EVE, file, 0, b"abc");
    raw.world.store().set_broken(true);
    assert_eq!(raw.commit(EVE, file.0, b"abc"), refusal(Refusal::Failed));
    let list = Call::List { after: String::new() };
    assert_eq!(raw.call(EVE, &list), refusal(Refusal::Failed));
    let read = Call::OpenRead { name: "a".to_owned(), offset: 0 };
    assert_eq!(raw.call(EVE, &read), refusal(Refusal::Failed));
    assert_eq!(raw.world.server().open_files(), (0, 0));
}
