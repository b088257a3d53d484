// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One incarnation of a node: it joins, works, and leaves in good order or is killed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use lnd_core::config::Config;
use lnd_core::counters::{Counter, Counters};
use lnd_core::driver::IrqHandle;
use lnd_core::id::{LinkId, Nid};
use lnd_core::sync::AtomicU32;
use lnd_core::time::{Instant, Span};
use lnd_sim::fabric::{Fabric, MemoryWindow, Violation};
use lnd_sim::lnet::Lnet;
use lnd_sim::node::{Arena, Stats};
use lnd_sim::runtime::{
    drive_engine, Bells, Clock, EngineRef, EngineStats, Station, Wake, OPENING,
};

use super::percentiles::Latencies;
use crate::files::{FileClient, FileServer, Job, JobDone, JobId, MemoryStore};

/// What all incarnations share.
pub struct Stage<'m> {
    pub arena: &'m Arena,
    pub fabric: &'m Fabric<'m>,
    pub clock: Clock,
    pub config: Config,
    pub violations: &'m AtomicU32,
    pub bells: &'m Bells,
}

/// How the script speaks to an incarnation, and what it sees of it.
#[derive(Default)]
pub struct Stagehand<'m> {
    /// Dies at once, wherever it is.
    pub kill: AtomicBool,
    /// Ends in good order when its work is done.
    pub leave: AtomicBool,
    /// Up and working.
    pub ready: AtomicBool,
    /// The handle for other contexts: "interrupts" of the platform.
    pub irq_handle: Mutex<Option<IrqHandle<'m>>>,
    /// Peers that the platform declares down.
    pub down: Mutex<Vec<Nid>>,
    /// The latest counters, and the time the last link failure took to quiesce.
    pub seen: Mutex<Seen>,
    /// Bytes sent and fetched so far.
    pub sent: AtomicU64,
    pub fetched: AtomicU64,
    pub jobs_left: AtomicU64,
}

/// A snapshot of an incarnation.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub counters: Counters,
    pub quiesced: Vec<Option<Span>>,
    pub in_use: (u32, u32),
}

/// What is left of an incarnation.
#[derive(Debug, Default)]
pub struct Remains {
    pub stats: Stats,
    pub counters: Counters,
    pub engines: Vec<EngineStats>,
    pub bytes: u64,
    pub violations: u64,
    pub first_violation: Option<Violation>,
    pub ended_well: bool,
    /// Memory that was never taken back although the incarnation ended well.
    pub leaked: usize,
    pub bad_frames: u64,
    pub done: Vec<JobDone>,
    pub latencies: Latencies,
    pub error: Option<String>,
}

/// What a node does with its incarnation.
pub enum Part {
    /// Sends files, and fetches each once it is there.
    Client { client: ClientMaker, pairs: Vec<(Job, Job)> },
    /// Serves files.
    Server { server: ServerMaker },
}

/// Makes the client of one incarnation.
pub type ClientMaker = Box<dyn FnOnce(&mut Station<'_>) -> FileClient + Send>;
/// Makes the server of one incarnation.
pub type ServerMaker = Box<dyn FnOnce(&mut Station<'_>) -> FileServer<MemoryStore> + Send>;

enum Actor {
    /// The client, and the GETs that wait for their PUTs.
    Client(Box<FileClient>, BTreeMap<JobId, Job>),
    Server(Box<FileServer<MemoryStore>>),
}

pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Incarnations.
pub fn live<'m>(stage: &Stage<'m>, node: u32, hand: &Stagehand<'m>, part: Part) -> Remains {
    let Stage { arena, fabric, clock, config, violations, bells } = *stage;
    bells.host(node).into_iter().for_each(Wake::adopt);
    let joined = Station::join(arena, fabric, node, clock, config, violations, bells);
    let (mut station, engine_refs) = match joined {
        Ok(joined) => joined,
        Err(error) => return Remains { error: Some(error.to_string()), ..Remains::default() },
    };
    *lock(&hand.irq_handle) = Some(station.node.driver.irq_handle());
    let mut actor = match part {
        Part::Client { client, pairs } => {
            let mut client = client(&mut station);
            hand.jobs_left.store(2 * pairs.len() as u64, Ordering::Relaxed);
            let fetches = pairs.into_iter().map(|(put, get)| (client.add(put), get)).collect();
            Actor::Client(Box::new(client), fetches)
        }
        Part::Server { server } => Actor::Server(Box::new(server(&mut station))),
    };
    let engines_end = AtomicBool::new(false);
    thread::scope(|scope| {
        let threads: Vec<_> = engine_refs
            .into_iter()
            .map(|mut engine_ref: EngineRef<'m>| {
                let end = &engines_end;
                scope.spawn(move || drive_engine(&mut engine_ref, clock, end))
            })
            .collect();
        station.open_links(OPENING);
        hand.ready.store(true, Ordering::Release);
        let mut remains = Remains::default();
        work(stage, node, hand, &mut station, &mut actor, &mut remains);
        // A killed node's engines die with it, in the middle of whatever they do.
        engines_end.store(hand.kill.load(Ordering::Relaxed), Ordering::Release);
        finish(stage, node, hand, station, actor, &mut remains);
        engines_end.store(true, Ordering::Release);
        for thread in threads {
            // An engine's thread does not panic; if it does, the incarnation has not ended well.
            match thread.join() {
                Ok(stats) => remains.take_engine(stats),
                Err(_) => remains.error = Some("an engine's thread has panicked".to_owned()),
            }
        }
        *lock(&hand.irq_handle) = None;
        remains
    })
}

impl Remains {
    fn take_engine(&mut self, stats: EngineStats) {
        self.bytes += stats.bytes;
        self.violations += stats.violations.0;
        self.first_violation = self.first_violation.or(stats.violations.1);
        self.counters.merge(&stats.counters);
        self.engines.push(stats);
    }
}

/// Works until killed, or until told to leave and done.
fn work<'m>(
    stage: &Stage<'m>,
    node: u32,
    hand: &Stagehand<'m>,
    station: &mut Station<'m>,
    actor: &mut Actor,
    remains: &mut Remains,
) {
    let mut window = MemoryWindow::new(stage.fabric, node);
    let mut last_seen = Instant::ORIGIN;
    while !hand.kill.load(Ordering::Relaxed) {
        let now = station.now();
        for nid in std::mem::take(&mut *lock(&hand.down)) {
            station.node.driver.on_peer(now, nid, false);
            let lnet = &mut station.node.lnet;
            match actor {
                Actor::Client(client, _) => client.on_server_down(now, lnet, &mut window, nid),
                Actor::Server(server) => server.on_client_down(lnet, nid),
            }
        }
        let mut busy = station.poll(now);
        busy |= act(station.now(), station, actor, &mut window, remains);
        if now.since(last_seen) > Span::from_millis(2) {
            last_seen = now;
            show(hand, station, actor);
        }
        let idle = match actor {
            Actor::Client(client, fetches) => client.jobs() == (0, 0) && fetches.is_empty(),
            Actor::Server(_) => true,
        };
        if idle && hand.leave.load(Ordering::Relaxed) {
            show(hand, station, actor);
            return;
        }
        if !busy {
            station.rest();
        }
    }
}

/// Passes events on and lets the node's actor act; what it begins goes out at once. Returns whether
/// there was anything.
fn act(
    now: Instant,
    station: &mut Station<'_>,
    actor: &mut Actor,
    window: &mut MemoryWindow<'_>,
    remains: &mut Remains,
) -> bool {
    let mut busy = pass_on(now, &mut station.node.lnet, actor, window);
    let lnet = &mut station.node.lnet;
    match actor {
        Actor::Client(client, fetches) => {
            client.poll(now, lnet, window);
            busy |= client.next_deadline().is_some_and(|due| due <= now);
            while let Some(done) = client.next_done() {
                if let (Some(get), true) = (fetches.remove(&done.id), done.is_ok()) {
                    client.add(get);
                    busy = true;
                }
                remains.done.push(done);
            }
            while let Some(record) = client.next_record() {
                remains.latencies.note(&record);
            }
        }
        Actor::Server(server) => {
            busy |= server.next_deadline() == Some(Instant::ORIGIN);
            server.poll(now, lnet, window);
        }
    }
    if station.flush(now) {
        busy |= pass_on(station.now(), &mut station.node.lnet, actor, window);
    }
    busy
}

fn pass_on(
    now: Instant,
    lnet: &mut Lnet,
    actor: &mut Actor,
    window: &mut MemoryWindow<'_>,
) -> bool {
    let mut any = false;
    while let Some(event) = lnet.next_event() {
        any = true;
        // What is about no known file is a drop notice: counted by the layer.
        let _ = match actor {
            Actor::Client(client, _) => client.on_event(now, lnet, window, event),
            Actor::Server(server) => server.on_event(now, lnet, window, event),
        };
    }
    any
}

fn show(hand: &Stagehand<'_>, station: &Station<'_>, actor: &Actor) {
    let driver = &station.node.driver;
    let links = driver.config().links as usize;
    *lock(&hand.seen) = Seen {
        counters: driver.counters().clone(),
        quiesced: (0..links)
            .filter_map(LinkId::new)
            .map(|link| driver.time_to_quiesce(link))
            .collect(),
        in_use: driver.in_use(),
    };
    if let Actor::Client(client, fetches) = actor {
        let stats = client.stats();
        hand.sent.store(stats.sent_bytes, Ordering::Relaxed);
        hand.fetched.store(stats.fetched_bytes, Ordering::Relaxed);
        let (waiting, running) = client.jobs();
        hand.jobs_left.store((waiting + running + fetches.len()) as u64, Ordering::Relaxed);
    }
}

/// The end of an incarnation: by the kill nothing is put in order.
fn finish<'m>(
    stage: &Stage<'m>,
    node: u32,
    hand: &Stagehand<'m>,
    mut station: Station<'m>,
    mut actor: Actor,
    remains: &mut Remains,
) {
    let killed = hand.kill.load(Ordering::Relaxed);
    if !killed {
        let now = station.now();
        match &mut actor {
            Actor::Client(client, _) => client.stop(now, &mut station.node.lnet),
            Actor::Server(server) => server.stop(&mut station.node.lnet),
        }
        let mut window = MemoryWindow::new(stage.fabric, node);
        let mut books = (Stats::default(), Counters::new(), 0);
        let mut extra = Remains::default();
        remains.ended_well = station.shut_down(Span::from_secs(20), |station| {
            let now = station.now();
            act(now, station, &mut actor, &mut window, &mut extra);
            let driver = &station.node.driver;
            books = (
                station.node.stats.clone(),
                driver.counters().clone(),
                station.node.receiver().errors().total(),
            );
        });
        remains.leaked = stage.fabric.oracle().outstanding(node);
        (remains.stats, remains.counters, remains.bad_frames) = books;
    } else {
        remains.stats = station.node.stats.clone();
        remains.counters = station.node.driver.counters().clone();
        remains.bad_frames = station.node.receiver().errors().total();
    }
}

/// The counters that tell what a failure did.
pub const FAILURE_COUNTERS: [Counter; 12] = [
    Counter::Invalidated,
    Counter::CameBackOk,
    Counter::CameBackError,
    Counter::Reclaimed,
    Counter::ReclaimedReal,
    Counter::Asserted,
    Counter::LostRaces,
    Counter::FinalizedError,
    Counter::WrongIncarnation,
    Counter::Early,
    Counter::StaleAnswer,
    Counter::StaleCompletion,
];
