// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tests, and the double that takes the drivers' place in them: nodes in virtual time, joined by a
//! driver that carries every message, or that loses, refuses, delays and damages them at random.

mod aside;
mod disk;
mod faults;
mod limits;
mod node;
mod restart;
mod server;
mod transfers;
mod turns;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

use lnd_core::fragment::Fragment;
use lnd_core::id::Nid;
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Place, Policy, Status};

use super::*;
use disk::Disk;
use lnd_sim::lnet::{slice, AckPolicy, Config, Decision, Event, Kind, Outgoing, Routes};
use lnd_sim::rng::Rng;
use node::{Node, Setup};

/// Bus address of the window; not zero, to tell addresses from offsets.
const BASE: u64 = 1 << 32;

const CLIENT: u64 = 1;
const SERVER: u64 = 2;

fn nid(n: u64) -> Nid {
    Nid::from_raw(0x7_0000_0000 | n).unwrap()
}

fn lost() -> Status {
    Status::of(Policy::Seed, Cause::Deadline, Place::Moving)
}

fn refused() -> Status {
    Status::of(Policy::Seed, Cause::Refused, Place::Answer)
}

fn seconds(n: u64) -> Instant {
    Instant::ORIGIN.after(Span::from_secs(n))
}

/// Bytes that no two files share.
fn content(seed: u64, length: usize) -> Arc<Vec<u8>> {
    let mut random = Rng::new(seed);
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&random.next().to_le_bytes());
    }
    bytes.truncate(length);
    Arc::new(bytes)
}

/// What may go wrong, per million messages.
#[derive(Clone, Copy, Default)]
struct Weather {
    /// The driver does not take it.
    refused: u32,
    /// It never arrives, and the sender is told so.
    lost: u32,
    /// It arrives, and the sender is told that it was lost.
    unverified: u32,
    /// It is lost on the last bit: both ends are told so, and the memory holds anything.
    broken: u32,
    /// A bit of the payload changes, and no side is told.
    damaged: u32,
    /// It takes longer than any call waits for it.
    slow: u32,
}

/// What the drivers still have to do.
enum Duty {
    /// Finalize a message.
    End { node: Nid, id: u64, status: Status, reply: Option<u32> },
    /// Move its bytes: as late as they may, just before one of the two ends is told. Memory that is
    /// used for something else before has the wrong bytes by then (INV-2).
    Move { from: Nid, source: Vec<Fragment>, to: Nid, sink: Vec<Fragment>, broken: bool },
}

struct World {
    now: Instant,
    nodes: BTreeMap<Nid, Node>,
    /// Outlive the nodes.
    stores: BTreeMap<Nid, Disk>,
    setup: Setup,
    weather: Weather,
    /// Whether the driver optimises GETs where it may.
    optimise: bool,
    random: Rng,
    /// By time, and in order.
    duties: BTreeMap<(Instant, u64), Duty>,
    last_duty: u64,
    incarnations: u64,
}

impl World {
    /// A client and a server.
    fn new(setup: Setup, seed: u64) -> Self {
        let mut world = Self {
            now: Instant::ORIGIN,
            nodes: BTreeMap::new(),
            stores: BTreeMap::new(),
            setup,
            weather: Weather::default(),
            optimise: true,
            random: Rng::new(seed),
            duties: BTreeMap::new(),
            last_duty: 0,
            incarnations: seed << 20,
        };
        world.bear(CLIENT);
        world.bear(SERVER);
        world
    }

    /// Begins the next incarnation of a node. Its store is as the incarnation before has left it.
    fn bear(&mut self, node: u64) {
        self.bear_with(Config {
            acks: self.setup.acks,
            routes: self.setup.routes.clone(),
            ..Config::new(nid(node))
        });
    }

    fn bear_with(&mut self, config: Config) {
        self.incarnations += 1;
        let (id, store) = (config.nid, self.stores.entry(config.nid).or_default().clone());
        let node = Node::new(config, self.incarnations, store, &self.setup);
        assert!(self.nodes.insert(id, node).is_none(), "dead before");
    }

    /// Ends a node's incarnation, without a message.
    fn kill(&mut self, node: u64) -> Node {
        let dead = nid(node);
        for duty in std::mem::take(&mut self.duties) {
            match duty {
                // What is on its way arrives just before.
                (_, duty @ Duty::Move { .. }) => self.perform(duty),
                (_, Duty::End { node, .. }) if node == dead => {}
                (when, end) => drop(self.duties.insert(when, end)),
            }
        }
        self.nodes.remove(&dead).unwrap()
    }

    fn at(&mut self, node: u64) -> &mut Node {
        self.nodes.get_mut(&nid(node)).unwrap()
    }

    fn client(&mut self) -> &mut FileClient {
        &mut self.at(CLIENT).client
    }

    fn server(&mut self) -> &mut FileServer<Disk> {
        &mut self.at(SERVER).server
    }

    fn store(&self) -> Disk {
        self.stores[&nid(SERVER)].clone()
    }

    /// When the next message will be finalized: soon, in any order.
    fn some_time(&mut self) -> Instant {
        let most = if self.random.chance(self.weather.slow) { 200_000 } else { 1000 };
        self.now.after(Span::from_micros(10 + self.random.below(most)))
    }

    fn schedule(&mut self, when: Instant, duty: Duty) {
        self.last_duty += 1;
        self.duties.insert((when, self.last_duty), duty);
    }

    fn owe(&mut self, node: Nid, id: u64, status: Status) {
        let when = self.some_time();
        self.schedule(when, Duty::End { node, id, status, reply: None });
    }

    /// Takes one message to its next hop.
    fn carry(&mut self, from: Nid, out: Outgoing) {
        let weather = self.weather;
        if self.random.chance(weather.refused) {
            return self.nodes.get_mut(&from).unwrap().lnet.send_refused(out.id).unwrap();
        }
        let to = out.next_hop;
        if !self.nodes.contains_key(&to) || self.random.chance(weather.lost) {
            return self.owe(from, out.id, lost());
        }
        let broken = self.random.chance(weather.broken);
        let unverified = broken || self.random.chance(weather.unverified);
        let here = if unverified { lost() } else { Status::OK };
        let there = if broken { lost() } else { Status::OK };
        let rdma = out.kind == Kind::Get && !out.routed && self.optimise;
        let length = if rdma || out.kind != Kind::Get { out.length } else { 0 };
        let lnet = &mut self.nodes.get_mut(&to).unwrap().lnet;
        let (id, duty, reply) = match lnet.on_request(from, &out.header, length, rdma) {
            Decision::Recv { id, sink, length } => {
                let source = slice(&out.payload, 0, length);
                (id, Duty::Move { from, source, to, sink, broken }, None)
            }
            Decision::Reply { id, source, length } => {
                let sink = slice(&out.payload, 0, length);
                let duty = Duty::Move { from: to, source, to: from, sink, broken };
                (id, duty, Some(length))
            }
            Decision::Refuse(_) => return self.owe(from, out.id, refused()),
        };
        let (mine, other) = (self.some_time(), self.some_time());
        self.schedule(mine.min(other), duty);
        self.schedule(other, Duty::End { node: to, id, status: there, reply: None });
        self.schedule(mine, Duty::End { node: from, id: out.id, status: here, reply });
    }

    fn perform(&mut self, duty: Duty) {
        match duty {
            Duty::End { node, id, status, reply } => {
                let lnet = &mut self.nodes.get_mut(&node).unwrap().lnet;
                lnet.on_finalized(id, status, reply).unwrap();
            }
            Duty::Move { from, source, to, sink, broken } => {
                let mut data = self.nodes[&from].gather(&source);
                if !data.is_empty() && self.random.chance(self.weather.damaged) {
                    let bit = self.random.below(data.len() as u64 * 8) as usize;
                    data[bit / 8] ^= 1 << (bit % 8);
                }
                if broken {
                    data.fill(0xbb);
                }
                self.nodes.get_mut(&to).unwrap().scatter(&sink, &data);
            }
        }
    }

    /// Everything that happens at this moment. Returns whether anything has.
    fn step(&mut self) -> bool {
        let mut any = false;
        for node in self.nodes.values_mut() {
            any |= node.dispatch(self.now);
        }
        // What has been begun goes out before time passes.
        let ids: Vec<Nid> = self.nodes.keys().copied().collect();
        for node in ids {
            while let Some(out) = self.nodes.get_mut(&node).and_then(|n| n.lnet.next_send()) {
                any = true;
                self.carry(node, out);
            }
        }
        while let Some(first) = self.duties.first_entry().filter(|d| d.key().0 <= self.now) {
            any = true;
            let duty = first.remove();
            self.perform(duty);
        }
        any
    }

    /// Lets time pass until `done`, or until `limit`, or until nothing will ever happen again.
    /// Returns whether it is done.
    fn run_until(&mut self, limit: Instant, mut done: impl FnMut(&mut Self) -> bool) -> bool {
        loop {
            let any = self.step();
            if done(self) {
                return true;
            }
            if any {
                continue;
            }
            let duties = self.duties.keys().next().map(|(when, _)| *when);
            let nodes = self.nodes.values().filter_map(Node::next_deadline).min();
            let next = [duties, nodes].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= limit) else {
                self.now = limit;
                return false;
            };
            // A deadline at the origin means: at once.
            self.now = self.now.max(next);
        }
    }

    /// Does jobs, all at a time, and returns their ends by id.
    fn work(&mut self, jobs: impl IntoIterator<Item = Job>) -> Vec<JobDone> {
        let mut ids: Vec<JobId> = jobs.into_iter().map(|job| self.client().add(job)).collect();
        let mut ends = BTreeMap::new();
        let limit = self.now.after(Span::from_secs(600));
        let all = self.run_until(limit, |world| {
            while let Some(end) = world.client().next_done() {
                assert!(ends.insert(end.id, end).is_none(), "a job ends once");
            }
            ids.iter().all(|id| ends.contains_key(id))
        });
        assert!(all, "jobs without an end: {:?}", self.client());
        ids.drain(..).map(|id| ends.remove(&id).unwrap()).collect()
    }

    fn do_one(&mut self, job: Job) -> JobDone {
        self.work([job]).pop().unwrap()
    }

    /// Fetches a file.
    fn fetch(&mut self, name: &str, chunk: u32) -> Vec<u8> {
        let sink = SharedSink::default();
        let job = Job::get(nid(SERVER), name, sink.clone(), Instant::NEVER).with_chunk(chunk);
        let done = self.do_one(job);
        assert_eq!(done.error, None, "{name}");
        let bytes = sink.take();
        assert_eq!(done.checksum, Some(hash(&bytes)));
        assert_eq!(done.bytes, bytes.len() as u64);
        bytes
    }

    /// Lets what is under way end, without new faults.
    fn settle(&mut self) {
        self.weather = Weather::default();
        self.run_until(self.now.after(Span::from_secs(10)), |_| false);
    }

    /// Ends all nodes in good order; nothing may be left.
    fn close(mut self) {
        self.settle();
        let now = self.now;
        for node in self.nodes.values_mut() {
            node.client.stop(now, &mut node.lnet);
            node.server.stop(&mut node.lnet);
        }
        self.settle();
        for node in self.nodes.values_mut() {
            assert_eq!(node.server.pages().free_bytes(), node.server.pages().total_bytes());
            assert_eq!(node.client.pages().free_bytes(), node.client.pages().total_bytes());
            assert!(node.server.is_idle() && node.client.is_idle());
            node.lnet.shut_down();
            assert_eq!(node.lnet.next_event(), None, "no entry was left for the layer to unlink");
            assert_eq!(node.lnet.blockers(), []);
            node.lnet.audit().unwrap();
            assert_eq!(node.lnet.ledger().violations, 0);
        }
    }
}

fn put(name: &str, bytes: &Arc<Vec<u8>>, chunk: u32) -> Job {
    Job::put(nid(SERVER), name, bytes.clone(), Instant::NEVER).with_chunk(chunk)
}
