// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd perf`: latency and bandwidth of PUT and GET between two processes, by size.
//!
//! Messages go from the upper layer of one node to that of the other, without the file service.
//! Latency is from the call to the last event of one message at a time: of a PUT to its ACK, of a
//! GET to its data.

use std::collections::VecDeque;
use std::path::Path;

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_sim::fabric::{node_of, MemoryWindow};
use lnd_sim::lnet::{span, AckDue, Event, Get, Lnet, Match, Md, Put, SendError, Target};
use lnd_sim::runtime::Station;
use serde_json::{json, Value};

use super::bench::Bench;
use super::host::{host, Actor};
use super::patience::Patience;
use super::presence::obstacle;
use super::{parse_nid, signals, Broken, Setup};

/// The largest message.
pub const PERF_BYTES: u32 = 1 << 20;
/// Where nodes take what is measured.
const PORTAL: u32 = 24;
/// The word of everything that is measured; the file service has none like it.
const WORD: u64 = 0x7065_7266_0000_0000;
/// A node with a window of fewer bytes takes part in no measurement.
const LEAST_WINDOW: u64 = 64 << 20;
/// Messages before each measurement.
const WARM_UP: u32 = 8;

/// The other end of a measurement: memory of a node that peers may write and read.
#[derive(Debug, Default)]
pub(super) struct PerfTarget {
    due: VecDeque<AckDue>,
}

impl PerfTarget {
    /// Lends the end of the window. The bytes that are left for all else.
    pub fn begin(&mut self, window: u64, lnet: &mut Lnet) -> u64 {
        if window < LEAST_WINDOW {
            return window;
        }
        let begin = window - u64::from(PERF_BYTES);
        let criteria = Match { portal: PORTAL, ignore: u64::MAX, ..Match::default() };
        let md = Md {
            memory: span(begin, PERF_BYTES),
            put: true,
            get: true,
            manage_remote: true,
            user: WORD,
            ..Md::default()
        };
        match lnet.attach(criteria, md) {
            Ok(_) => begin,
            Err(_) => window,
        }
    }

    pub fn on_event(&mut self, lnet: &mut Lnet, event: Event) {
        if let Event::PutReceived { user: WORD, ack: Some(due), .. } = event {
            self.due.push_back(due);
            self.poll(lnet);
        }
    }

    /// Sends the ACKs for which the layer had no room.
    pub fn poll(&mut self, lnet: &mut Lnet) {
        while let Some(due) = self.due.pop_front() {
            if let Err((due, SendError::Full)) = lnet.send_ack(due) {
                self.due.push_front(due);
                return;
            }
        }
    }

    pub fn stop(&mut self) {
        self.due.clear();
    }
}

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct PerfPlan {
    /// The smallest message in bytes.
    pub from: u32,
    /// The largest.
    pub to: u32,
    /// Messages under way at a time where bandwidth is measured.
    pub depth: u32,
    /// Most messages of each measurement.
    pub iterations: u32,
    /// Most time of each measurement.
    pub time: Span,
    /// Whether the answer is JSON.
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Put,
    Get,
}

impl Operation {
    const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
        }
    }
}

/// Messages of one kind and size, so many at a time.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    operation: Operation,
    bytes: u32,
    depth: u32,
}

/// One that is under way.
#[derive(Debug)]
struct Running {
    of: Measurement,
    begun: u32,
    ended: u32,
    /// When the warm-up was over.
    since: Option<Instant>,
    /// When each message that is under way began, by its number.
    starts: Vec<Option<Instant>>,
    nanos: Vec<u64>,
}

impl Running {
    fn new(of: Measurement) -> Self {
        let starts = vec![None; of.depth as usize];
        Self { of, begun: 0, ended: 0, since: None, starts, nanos: Vec::new() }
    }

    fn is_enough(&self, now: Instant, plan: &PerfPlan) -> bool {
        let long = self.since.is_some_and(|since| now.since(since) >= plan.time);
        self.begun >= plan.iterations.saturating_add(WARM_UP) || long
    }

    /// What was measured between the warm-up and `now`.
    fn result(&mut self, now: Instant) -> Value {
        self.nanos.sort_unstable();
        let count = self.nanos.len();
        let at = |part: usize| {
            let found = self.nanos.get((count * part / 100).min(count.saturating_sub(1)));
            found.map_or(0.0, |nanos| *nanos as f64 / 1e3)
        };
        let sum: u64 = self.nanos.iter().sum();
        let average = sum as f64 / 1e3 / count.max(1) as f64;
        let span = self.since.map_or(0, |since| now.since(since).as_nanos()).max(1);
        let rate = count as f64 * 1e9 / span as f64;
        let bandwidth = rate * f64::from(self.of.bytes) / f64::from(1 << 20);
        json!({
            "operation": self.of.operation.name(),
            "bytes": self.of.bytes,
            "depth": self.of.depth,
            "messages": count,
            "latency_us": {
                "min": at(0), "avg": average, "p50": at(50), "p99": at(99), "max": at(100),
            },
            "messages_per_s": rate,
            "mib_per_s": bandwidth,
        })
    }
}

/// The measuring process.
struct Measuring {
    peer: Nid,
    plan: PerfPlan,
    /// Ends when no message has ended for too long while this process ran.
    patience: Patience,
    /// Messages that have ended.
    ended: u64,
    left: VecDeque<Measurement>,
    running: Option<Running>,
    results: Vec<Value>,
    /// When a message ended last.
    moved: Instant,
    broken: Option<String>,
    /// The node is at work, and is to remain so.
    at_work: bool,
}

impl Measuring {
    fn new(peer: Nid, plan: PerfPlan, timeout: Span) -> Self {
        let mut left = VecDeque::new();
        let mut bytes = plan.from;
        loop {
            for operation in [Operation::Put, Operation::Get] {
                for depth in [1, plan.depth] {
                    left.push_back(Measurement { operation, bytes, depth });
                }
            }
            if bytes >= plan.to {
                break;
            }
            bytes = bytes.saturating_mul(4).min(plan.to);
        }
        let (running, results, broken) = (None, Vec::new(), None);
        let (moved, patience) = (Instant::ORIGIN, Patience::new(Instant::ORIGIN, timeout));
        let (ended, at_work) = (0, false);
        Self { peer, plan, patience, ended, left, running, results, moved, broken, at_work }
    }

    /// Begins as many messages as may be under way.
    fn fill(&mut self, now: Instant, lnet: &mut Lnet) {
        let Some(running) = &mut self.running else { return };
        while running.begun - running.ended < running.of.depth
            && !running.is_enough(now, &self.plan)
        {
            let Some(place) = running.starts.iter().position(Option::is_none) else { return };
            let bytes = running.of.bytes;
            let memory = span(place as u64 * u64::from(PERF_BYTES), bytes);
            let target = Target { portal: PORTAL, ..Target::default() };
            let (to, user) = (self.peer, WORD | place as u64);
            let begun = match running.of.operation {
                Operation::Put => lnet.put(Put { to, target, memory, ack: true, user }).map(|_| ()),
                Operation::Get => lnet.get(Get { to, target, memory, user }).map(|_| ()),
            };
            match begun {
                Ok(()) => {}
                Err(SendError::Full) => return,
                Err(error) => {
                    self.broken.get_or_insert(format!("{error:?}"));
                    return;
                }
            }
            running.starts[place] = Some(now);
            running.begun += 1;
        }
    }

    fn fail(&mut self, what: impl Into<String>) {
        self.broken.get_or_insert(what.into());
    }
}

impl Actor for Measuring {
    fn begin(&mut self, station: &mut Station<'_>) -> Result<(), Broken> {
        let me = node_of(station.node.driver.identity().nid).unwrap_or_default();
        if let Some(why) = obstacle(station.fabric(), me, self.peer) {
            return Err(why.into());
        }
        let needed = u64::from(self.plan.depth) * u64::from(PERF_BYTES);
        if station.fabric().window_bytes() < needed.max(LEAST_WINDOW) {
            let mib = needed.max(LEAST_WINDOW) >> 20;
            return Err(format!("the fabric's windows are too small: {mib} MiB are needed").into());
        }
        self.moved = station.now();
        self.at_work = true;
        Ok(())
    }

    fn on_event(
        &mut self,
        now: Instant,
        _station: &mut Station<'_>,
        _window: &mut MemoryWindow<'_>,
        event: Event,
    ) {
        match event {
            Event::SendDone { end, .. } if !end.is_ok() => {
                self.fail("a message was not sent: does the node run, with a window of 64 MiB?");
            }
            Event::Reply { status, .. } if status.errno != 0 => self.fail("no data came back"),
            Event::Expired { .. } => self.fail("an answer did not come"),
            Event::RequestDone { user, .. } if user & !0xffff == WORD => {
                self.moved = now;
                self.ended += 1;
                let Some(running) = &mut self.running else { return };
                running.ended += 1;
                let place = usize::try_from(user & 0xffff).unwrap_or(usize::MAX);
                let started = running.starts.get_mut(place).and_then(Option::take);
                if running.since.is_some() {
                    running.nanos.extend(started.map(|it| now.since(it).as_nanos()));
                } else if running.ended >= WARM_UP {
                    running.since = Some(now);
                }
            }
            _ => {}
        }
    }

    fn on_peer_down(
        &mut self,
        _: Instant,
        _: &mut Station<'_>,
        _: &mut MemoryWindow<'_>,
        peer: Nid,
    ) {
        if peer == self.peer {
            self.fail("it is dead");
        }
    }

    fn poll(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        _window: &mut MemoryWindow<'_>,
    ) -> bool {
        if !self.at_work {
            return false;
        }
        if let Some(running) = &mut self.running {
            if running.is_enough(now, &self.plan) && running.begun == running.ended {
                let result = running.result(self.moved);
                if !self.plan.json {
                    if self.results.is_empty() {
                        say_head();
                    }
                    tell(&result);
                }
                self.results.push(result);
                self.running = None;
            }
        }
        if self.running.is_none() {
            self.running = self.left.pop_front().map(Running::new);
        }
        if self.patience.is_over(now, self.ended, 0) {
            let me = node_of(station.node.driver.identity().nid).unwrap_or_default();
            let why = obstacle(station.fabric(), me, self.peer);
            self.fail(why.unwrap_or_else(|| "does not answer".into()));
        }
        if self.broken.is_none() && !signals::stopped() {
            self.fill(now, &mut station.node.lnet);
        }
        false
    }

    fn is_done(&self) -> bool {
        self.running.is_none() && self.left.is_empty() && !self.results.is_empty()
            || self.broken.is_some()
            || crate::output::has_failed()
            || signals::stopped()
    }

    fn end(&mut self, _now: Instant, _station: &mut Station<'_>) {
        self.at_work = false;
    }
}

fn say_head() {
    crate::say!(
        "{:<4} {:>8} {:>5} {:>9} {:>9} {:>9} {:>9} {:>11} {:>9}",
        "",
        "bytes",
        "depth",
        "messages",
        "min µs",
        "p50 µs",
        "p99 µs",
        "messages/s",
        "MiB/s"
    );
}

fn tell(it: &Value) {
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let latency = &it["latency_us"];
    crate::say!(
        "{:<4} {:>8} {:>5} {:>9} {:>9.2} {:>9.2} {:>9.2} {:>11.0} {:>9.1}",
        it["operation"].as_str().unwrap_or_default(),
        it["bytes"].as_u64().unwrap_or(0),
        it["depth"].as_u64().unwrap_or(0),
        it["messages"].as_u64().unwrap_or(0),
        number(&latency["min"]),
        number(&latency["p50"]),
        number(&latency["p99"]),
        number(&it["messages_per_s"]),
        number(&it["mib_per_s"]),
    );
}

/// Measures against a node that runs, or one that is started for it.
///
/// # Errors
/// The fabric, the node, or a signal.
pub fn perf(mut setup: Setup, peer: Option<Nid>, plan: PerfPlan) -> Result<(), Broken> {
    signals::catch();
    if plan.json {
        crate::output::use_stderr();
    }
    // Gone, with its directory, when this returns.
    let mut own = None;
    let peer = match peer {
        Some(peer) => peer,
        None => {
            let memory = Path::new("/dev/shm");
            let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
            let mut bench = Bench::within(&place)?;
            bench.start()?;
            setup.fabric = bench.path("fabric");
            own = Some(bench);
            parse_nid("1@soft")?
        }
    };
    let mut measuring = Measuring::new(peer, plan, Span::from_secs(setup.timeout));
    let done = host(&setup, &mut measuring);
    drop(own);
    if let Some(why) = measuring.broken {
        return Err(format!("perf with {peer}: {why}").into());
    }
    done?;
    if signals::stopped() {
        return Err(format!("perf with {peer}: stopped by a signal").into());
    }
    if plan.json {
        let shown = json!({ "peer": peer.to_string(), "results": measuring.results });
        crate::output::document(&shown);
    }
    Ok(())
}
