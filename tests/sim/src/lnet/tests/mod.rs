// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tests, and the double that takes the driver's place in them: it never loses anything.

mod chaos;
mod ends;
mod get;
mod matching;
mod put;
mod routed;
mod wire;

use std::collections::BTreeMap;

use lnd_core::fragment::Fragment;
use lnd_core::id::Nid;
use lnd_core::transfer::{Cause, Place, Policy, Status};

use super::*;

/// Bytes of memory a node has.
const MEMORY: usize = 1 << 16;

fn nid(n: u64) -> Nid {
    Nid::from_raw(0x7_0000_0000 | n).unwrap()
}

/// The three nodes of most tests. R is the router where there is one.
fn abr() -> (Nid, Nid, Nid) {
    (nid(1), nid(2), nid(9))
}

fn lost() -> Status {
    Status::of(Policy::Seed, Cause::Deadline, Place::Moving)
}

fn refused() -> Status {
    Status::of(Policy::Seed, Cause::Refused, Place::Answer)
}

struct Node {
    lnet: Lnet,
    memory: Vec<u8>,
}

/// One message on one hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hop {
    from: Nid,
    to: Nid,
    kind: Kind,
    rdma: bool,
}

/// A finalize that the driver owes.
#[derive(Clone, Copy, Debug)]
struct Debt {
    node: Nid,
    id: u64,
    status: Status,
    reply: Option<u32>,
}

/// Nodes, joined by a driver that carries every message at once.
struct World {
    nodes: BTreeMap<Nid, Node>,
    log: Vec<Hop>,
    /// Whether the driver optimises GETs where it may.
    optimise: bool,
}

impl World {
    fn new(configs: impl IntoIterator<Item = Config>) -> Self {
        let node = |config: Config| {
            let lnet = Lnet::new(config).unwrap();
            (lnet.nid(), Node { lnet, memory: vec![0; MEMORY] })
        };
        Self { nodes: configs.into_iter().map(node).collect(), log: Vec::new(), optimise: true }
    }

    /// Two neighbours.
    fn pair() -> Self {
        Self::new([Config::new(nid(1)), Config::new(nid(2))])
    }

    fn at(&mut self, node: Nid) -> &mut Lnet {
        &mut self.nodes.get_mut(&node).unwrap().lnet
    }

    fn write(&mut self, node: Nid, address: usize, bytes: &[u8]) {
        let memory = &mut self.nodes.get_mut(&node).unwrap().memory;
        memory[address..address + bytes.len()].copy_from_slice(bytes);
    }

    fn read(&self, node: Nid, address: usize, length: usize) -> &[u8] {
        &self.nodes[&node].memory[address..address + length]
    }

    fn gather(&self, node: Nid, fragments: &[Fragment]) -> Vec<u8> {
        let bytes =
            fragments.iter().map(|f| self.read(node, f.address as usize, f.length as usize));
        bytes.flatten().copied().collect()
    }

    fn scatter(&mut self, node: Nid, fragments: &[Fragment], mut bytes: &[u8]) {
        for fragment in fragments {
            let (now, later) = bytes.split_at(fragment.length as usize);
            self.write(node, fragment.address as usize, now);
            bytes = later;
        }
        assert!(bytes.is_empty(), "the sink is as long as what is put into it");
    }

    /// Carries one message to the next hop and returns what is owed for it, receiver first.
    fn carry(&mut self, from: Nid, out: &Outgoing) -> Vec<Debt> {
        let (to, kind) = (out.next_hop, out.kind);
        let rdma = kind == Kind::Get && !out.routed && self.optimise;
        self.log.push(Hop { from, to, kind, rdma });
        let payload = if kind == Kind::Get { 0 } else { out.length };
        let length = if rdma { out.length } else { payload };
        let decision = self.at(to).on_request(from, &out.header, length, rdma);
        let mine = |status, reply| Debt { node: from, id: out.id, status, reply };
        let other = |id| Debt { node: to, id, status: Status::OK, reply: None };
        match decision {
            Decision::Recv { id, sink, length: taken } => {
                let data = self.gather(from, if payload == 0 { &[] } else { &out.payload });
                assert!(taken as usize <= data.len());
                self.scatter(to, &sink, &data[..taken as usize]);
                vec![other(id), mine(Status::OK, None)]
            }
            Decision::Reply { id, source, length: given } => {
                assert!(rdma && given <= length);
                let data = self.gather(to, &source);
                let sink = slice(&out.payload, 0, given);
                self.scatter(from, &sink, &data);
                vec![other(id), mine(Status::OK, Some(given))]
            }
            Decision::Refuse(_) => vec![mine(refused(), None)],
        }
    }

    fn pay(&mut self, debt: Debt) {
        self.at(debt.node).on_finalized(debt.id, debt.status, debt.reply).unwrap();
        self.at(debt.node).audit().unwrap();
    }

    /// Carries messages until there are none.
    fn run(&mut self) {
        let all: Vec<Nid> = self.nodes.keys().copied().collect();
        while let Some((from, out)) = all.iter().find_map(|&n| Some(n).zip(self.at(n).next_send()))
        {
            for debt in self.carry(from, &out) {
                self.pay(debt);
            }
        }
    }

    fn events(&mut self, node: Nid) -> Vec<Event> {
        std::iter::from_fn(|| self.at(node).next_event()).collect()
    }

    fn assert_idle(&self) {
        for node in self.nodes.values() {
            assert_eq!(node.lnet.blockers(), []);
            assert!(node.lnet.idle());
            node.lnet.audit().unwrap();
        }
    }

    /// The hops taken so far, for comparison.
    fn path(&self) -> Vec<(Kind, Nid, Nid)> {
        self.log.iter().map(|hop| (hop.kind, hop.from, hop.to)).collect()
    }
}

/// Memory that any PUT or GET on portal 4 with bits 7 finds; the sender chooses the offset.
fn open_md(base: u64, length: u32) -> (Match, Md) {
    let criteria = Match { portal: 4, bits: 7, ..Match::default() };
    let memory = span(base, length);
    let md = Md { memory, put: true, get: true, manage_remote: true, user: 50, ..Md::default() };
    (criteria, md)
}

fn target(offset: u32) -> Target {
    Target { portal: 4, match_bits: 7, offset, data: 0xda7a }
}

fn put_of(to: Nid, base: u64, length: u32, ack: bool) -> Put {
    Put { to, target: target(0), memory: span(base, length), ack, user: 1 }
}

fn get_of(to: Nid, base: u64, length: u32) -> Get {
    Get { to, target: target(0), memory: span(base, length), user: 2 }
}

/// A small generator of our own, so that a seed means the same for ever (xorshift64*).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16) % limit
    }

    /// True once in `n` times on average.
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
