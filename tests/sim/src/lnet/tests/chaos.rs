// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Four nodes, one of them a router, and a driver that refuses, loses and delays at random: the
//! books balance at every step, all data that is said to be there is there, and everything ends.

use std::collections::BTreeSet;

use super::*;

const PIECE: u32 = 48;
/// The memory for PUTs of others begins here…
const LOG: u64 = 1 << 13;
/// …and the memory of own requests here, one piece for each ever made.
const OWN: u64 = 1 << 15;

struct Chaos {
    world: World,
    random: Random,
    debts: Vec<Debt>,
    /// Requests that have not had their last event, by node; none may have two.
    open: BTreeMap<Nid, BTreeSet<RequestHandle>>,
    begun: u64,
    ended: u64,
}

/// A node's byte that it never changes: what a GET has to bring.
fn face(node: Nid) -> u8 {
    node.address() as u8
}

impl Chaos {
    fn new(seed: u64) -> Self {
        let (a, b, r) = abr();
        let c = nid(3);
        let acks = if seed.is_multiple_of(2) { AckPolicy::Auto } else { AckPolicy::ByEvent };
        let far =
            |node, routes: Routes| Config { routes, acks, max_messages: 20, ..Config::new(node) };
        let buffers = (0..3).map(|n| span(LOG - 256 + n * 64, 64)).collect();
        let router = RouterConfig { buffers, tiny: 3, max_hops: 2 };
        let mut world = World::new([
            far(a, Routes::default().with(b, r)),
            far(b, Routes::default().with(a, r)),
            far(c, Routes::default()),
            Config { router: Some(router), ..far(r, Routes::default()) },
        ]);
        for node in [a, b, c, r] {
            // GETs read what never changes; each PUT finds memory of its own.
            world.write(node, 0, &[face(node); 4096]);
            let (criteria, md) = open_md(0, 4096);
            world.at(node).attach(criteria, Md { put: false, ..md }).unwrap();
            for n in 0..200 {
                let user = LOG + n * u64::from(PIECE);
                let memory = span(user, PIECE);
                let once = Md {
                    memory,
                    put: true,
                    threshold: Some(1),
                    unlink: true,
                    user,
                    ..Md::default()
                };
                world.at(node).attach(criteria, once).unwrap();
            }
        }
        let open = [a, b, c, r].map(|node| (node, BTreeSet::new())).into();
        let random = Random::new(seed);
        Self { world, random, debts: Vec::new(), open, begun: 0, ended: 0 }
    }

    fn any_node(&mut self) -> Nid {
        [nid(1), nid(2), nid(3), nid(9)][self.random.below(4) as usize]
    }

    /// Begins a PUT or a GET.
    fn begin(&mut self) {
        let (node, to) = (self.any_node(), self.any_node());
        let length = 1 + self.random.below(u64::from(PIECE)) as u32;
        let base = OWN + self.begun * u64::from(PIECE);
        let begun = if self.random.one_in(2) {
            let (ack, data) = (self.random.one_in(2), self.begun & 0xff);
            self.world.write(node, base as usize, &[data as u8; PIECE as usize]);
            let target = Target { data, ..target(0) };
            self.world.at(node).put(Put { target, ..put_of(to, base, length, ack) })
        } else {
            let user = base << 8 | u64::from(face(to));
            self.world.at(node).get(Get { user, ..get_of(to, base, length) })
        };
        match begun {
            Ok(request) => {
                self.begun += 1;
                assert!(self.open.get_mut(&node).unwrap().insert(request));
            }
            Err(error) => assert!(
                matches!(error, SendError::Full) || (error == SendError::ToSelf && node == to)
            ),
        }
    }

    /// Lets the driver take one message, or not.
    fn send(&mut self) {
        let node = self.any_node();
        let busy = self.any_node();
        let Some(out) = self.world.at(node).next_send_if(|hop| hop != busy) else { return };
        match self.random.below(12) {
            0 => self.world.at(node).requeue(out.id).unwrap(),
            1 => self.world.at(node).send_refused(out.id).unwrap(),
            2 => self.debts.push(Debt { node, id: out.id, status: lost(), reply: None }),
            _ => {
                self.world.optimise = self.random.one_in(2);
                let mut debts = self.world.carry(node, &out);
                for debt in &mut debts {
                    if self.random.one_in(12) {
                        debt.status = lost();
                    }
                }
                self.debts.append(&mut debts);
            }
        }
    }

    fn pay_one(&mut self) {
        if !self.debts.is_empty() {
            let which = self.random.below(self.debts.len() as u64) as usize;
            let debt = self.debts.swap_remove(which);
            self.world.pay(debt);
        }
    }

    fn give_up_one(&mut self) {
        let node = self.any_node();
        let Some(&request) = self.open[&node].first() else { return };
        // Stale if it has ended and that was not read yet.
        self.world.at(node).expire(request);
    }

    fn listen(&mut self) {
        let node = self.any_node();
        for event in self.world.events(node) {
            match event {
                Event::RequestDone { request, .. } => {
                    assert!(self.open.get_mut(&node).unwrap().remove(&request), "only once");
                    assert_eq!(self.world.at(node).expire(request), Expiry::Stale);
                    self.ended += 1;
                }
                Event::Reply { user, length, status, request } if status == Status::OK => {
                    assert!(self.open[&node].contains(&request), "before the last event");
                    self.assert_all(node, user >> 8, length, user as u8);
                }
                Event::PutReceived { user, data, length, status, ack, .. } => {
                    if status == Status::OK {
                        self.assert_all(node, user, length, data as u8);
                    }
                    // No room is no harm: the sender gives up some day.
                    ack.map(|due| self.world.at(node).send_ack(due));
                }
                _ => {}
            }
        }
    }

    fn assert_all(&self, node: Nid, address: u64, length: u32, byte: u8) {
        let bytes = self.world.read(node, address as usize, length as usize);
        assert_eq!(bytes, vec![byte; length as usize]);
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=4 => self.begin(),
            5..=10 => self.send(),
            11..=16 => self.pay_one(),
            17 if self.random.one_in(4) => self.give_up_one(),
            _ => self.listen(),
        }
        let node = self.any_node();
        self.world.at(node).audit().unwrap();
    }

    /// No new work, no more faults: everything ends.
    fn finish(&mut self) {
        while let Some(debt) = self.debts.pop() {
            self.world.pay(debt);
        }
        self.world.run();
        let nodes: Vec<Nid> = self.open.keys().copied().collect();
        for &node in &nodes {
            for request in self.open[&node].clone() {
                self.world.at(node).expire(request);
            }
            self.world.at(node).shut_down();
        }
        self.world.run();
        while nodes.iter().any(|node| !self.open[node].is_empty()) {
            let before = self.ended;
            (0..100).for_each(|_| self.listen());
            // Listening may have made ACKs.
            self.world.run();
            assert!(self.ended > before, "a request has no last event");
        }
        self.world.assert_idle();
        assert_eq!(self.begun, self.ended);
    }
}

#[test]
fn nothing_is_lost_and_nothing_ends_twice() {
    // INV-1, INV-15, R1.
    let mut totals = Ledger::default();
    for seed in 0..12 {
        let mut chaos = Chaos::new(seed);
        (0..1500).for_each(|_| chaos.step());
        chaos.finish();
        for node in chaos.world.nodes.values() {
            let ledger = node.lnet.ledger();
            assert_eq!(ledger.violations, 0);
            totals.forwarded += ledger.forwarded;
            totals.send_cancelled += ledger.send_cancelled;
            totals.send_refused += ledger.send_refused;
            totals.late_replies += ledger.late_replies;
            totals.receive_failed += ledger.receive_failed;
            for kind in Kind::ALL {
                *totals.created.entry(kind).or_default() += ledger.created(kind);
            }
            for (reason, count) in &ledger.drops {
                *totals.drops.entry(*reason).or_default() += count;
            }
        }
    }
    // The chaos was one.
    assert!(Kind::ALL.iter().all(|kind| totals.created(*kind) > 100), "{totals:?}");
    assert!(totals.forwarded > 100 && totals.receive_failed > 100, "{totals:?}");
    assert!(totals.send_cancelled > 0 && totals.send_refused > 100, "{totals:?}");
    assert!(totals.late_replies > 0 && totals.dropped(DropReason::Stale) > 0, "{totals:?}");
    assert!(totals.dropped(DropReason::NoBuffer) > 0, "{totals:?}");
}

#[test]
fn the_same_seed_is_the_same_run() {
    let run = |seed| {
        let mut chaos = Chaos::new(seed);
        (0..800).for_each(|_| chaos.step());
        let ledgers: Vec<Ledger> =
            chaos.world.nodes.values().map(|node| node.lnet.ledger().clone()).collect();
        (chaos.world.log, ledgers)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5).0, run(6).0);
}
