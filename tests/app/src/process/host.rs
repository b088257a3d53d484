// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One process's node: fabric file, station with its engines, peers watched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::id::{LinkId, Nid};
use lnd_core::link::LinkState;
use lnd_core::sync::AtomicU32;
use lnd_core::time::{Instant, Span};
use lnd_sim::fabric::{nid_of, node_of, Fabric, JoinError, Mapping, MemoryWindow, SharedTap};
use lnd_sim::lnet::Event;
use lnd_sim::node::Arena;
use lnd_sim::runtime::{
    sharpen_timers, Bells, Clock, Monitor, Mover, Station, StationError, Wake, OPENING,
};

use serde_json::Value;

use super::{Broken, Control, Setup, LINKS};
use crate::capture::Live;
use crate::control::{answer, default_path, OfProcess, Order, Process, Socket};
use crate::text::is_same;

/// The configuration of a process's node.
pub fn config() -> Config {
    let mut config = Config::new(256, 64, LINKS as u8);
    config.lists = 64;
    // A process that hangs in the midst of a copy holds up what is moved with it, and nothing else.
    config.connections = 16;
    config.drain_bound = Span::from_secs(1);
    config.hello_timeout = Span::from_millis(200);
    // Longer payloads are pulled, which copies them once. In a message they are copied three times,
    // and summed up at both ends.
    config.immediate_max = 1024;
    config
}

/// What a process does with its node.
pub trait Actor {
    /// Called once, when the node is at work.
    fn begin(&mut self, station: &mut Station<'_>) -> Result<(), Broken>;
    /// An event of the upper layer.
    fn on_event(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        window: &mut MemoryWindow<'_>,
        event: Event,
    );
    /// A peer's incarnation is over: nothing that was under way with it will be answered.
    fn on_peer_down(
        &mut self,
        _now: Instant,
        _station: &mut Station<'_>,
        _window: &mut MemoryWindow<'_>,
        _peer: Nid,
    ) {
    }
    /// A round. Returns whether there is more to do at once.
    fn poll(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        window: &mut MemoryWindow<'_>,
    ) -> bool;
    /// Whether the process is done.
    fn is_done(&self) -> bool;
    /// What the process tells of itself, beside what its node tells.
    fn show(&self) -> Value {
        Value::Null
    }
    /// What it can change of itself, as it is now.
    fn knobs(&self) -> OfProcess {
        OfProcess::new()
    }
    /// Sets one of [`knobs`](Self::knobs); a value that is in its range.
    fn set(&mut self, _name: &str, _value: u64) {}
    /// To take nothing new, let what is open end until then, and be done.
    ///
    /// # Errors
    /// What the process does cannot be drained.
    fn drain(&mut self, _until: Instant) -> Result<(), String> {
        Err("this process cannot be drained".into())
    }
    /// Called once, when the process is done: the place to tell others.
    fn leave(&mut self, _: Instant, _: &mut Station<'_>, _: &mut MemoryWindow<'_>) {}
    /// Whether all that was to be told has arrived. It is not waited for long.
    fn has_left(&self) -> bool {
        true
    }
    /// Called once, before the node shuts down.
    fn end(&mut self, now: Instant, station: &mut Station<'_>);
}

/// Joins, lets the actor act until it is done, and leaves in good order. If the actor does not
/// begin, a fabric that was made for it is removed again.
///
/// # Errors
/// The fabric refuses, or the node does not come to its end.
pub fn host(setup: &Setup, actor: &mut dyn Actor) -> Result<(), Broken> {
    let (mapping, made) = setup.map()?;
    let mut has_begun = false;
    let ended = host_on(setup, actor, &mapping, &mut has_begun);
    if made && !has_begun {
        mapping.remove_unused(&setup.fabric);
    }
    ended
}

fn host_on(
    setup: &Setup,
    actor: &mut dyn Actor,
    mapping: &Mapping,
    has_begun: &mut bool,
) -> Result<(), Broken> {
    let fabric = Fabric::attach(mapping)?;
    setup.check(&fabric)?;
    let (arena, clock, violations) = (Arena::new(), Clock::start(), AtomicU32::new(0));
    let bells = Bells::new(fabric.shape().nodes, LINKS);
    let (mut station, mover) = join(setup, &arena, &fabric, clock, &violations, &bells)?;
    let node = node_of(station.node.driver.identity().nid).unwrap_or_default();
    let tapped = tap(setup, &mut station, node);
    let end = AtomicBool::new(false);
    bells.host(node).into_iter().for_each(Wake::adopt);
    sharpen_timers();
    thread::scope(|scope| {
        let _stop = StopMover { end: &end, bells: &bells, node };
        let mover_end = &end;
        scope.spawn(move || mover.drive(clock, mover_end));
        station.open_links(OPENING);
        // The control socket is there before the node says that it is up.
        let open = tapped.and_then(|()| control(setup, &station));
        let begun = open.and_then(|control| actor.begin(&mut station).map(|()| control));
        // A node that cannot go on leaves in good order too: others would take it for dead.
        let (begun, control) = match begun {
            Ok(control) => (Ok(()), control),
            Err(error) => (Err(error), None),
        };
        *has_begun = begun.is_ok();
        let mut window = MemoryWindow::new(&fabric, node);
        let mut watch = Watch::new();
        while begun.is_ok() && !actor.is_done() {
            let now = station.now();
            let mut busy = station.poll(now);
            if let Some(dead) = watch.look(now, &mut station) {
                if !station.is_ours() {
                    // Another may be this node already: its memory is not touched any more.
                    std::mem::forget(station);
                    let why = "was declared dead although it was running; stopped";
                    return Err(format!("{}: {why}", nid_of(node)).into());
                }
                for peer in dead {
                    actor.on_peer_down(now, &mut station, &mut window, peer);
                }
            }
            // What has come is told with a time that is not before it came.
            let then = if busy { station.now() } else { now };
            busy |= act(then, actor, &mut station, &mut window);
            // One a round: a client that asks without a pause must not hold the node up.
            if let Some(asked) = control.as_ref().and_then(Socket::next) {
                let answered = answer_to(now, &mut station, actor, &asked.request);
                asked.answer(answered);
            }
            if !busy {
                station.rest();
            }
        }
        if begun.is_ok() {
            actor.leave(station.now(), &mut station, &mut window);
            let until = station.now().after(LEAVING);
            while !actor.has_left() && station.now() < until {
                let now = station.now();
                let mut busy = station.poll(now);
                busy |= act(now, actor, &mut station, &mut window);
                if !busy {
                    station.rest();
                }
            }
        }
        if *has_begun {
            actor.end(station.now(), &mut station);
        }
        let ended = station.shut_down(Span::from_secs(20), |station| {
            act(station.now(), actor, station, &mut window);
        });
        begun?;
        if !ended {
            return Err(format!("{}: did not come to its end in 20 s", nid_of(node)).into());
        }
        let leaked = fabric.oracle().outstanding(node);
        let objections = violations.load(lnd_core::sync::Ordering::Relaxed);
        if leaked > 0 || objections > 0 {
            let text = format!("{leaked} pages leaked, {objections} memory oracle violations");
            return Err(text.into());
        }
        Ok(())
    })
}

/// What the node and its process answer; what they are to do is done.
fn answer_to(
    now: Instant,
    station: &mut Station<'_>,
    actor: &mut dyn Actor,
    request: &Value,
) -> Result<Value, String> {
    let process = Process { served: actor.show(), knobs: actor.knobs() };
    let (answer, order) = answer(now, station, process, request)?;
    match order {
        Some(Order::Drain(grace)) => actor.drain(now.after(grace))?,
        Some(Order::Set(all)) => all.iter().for_each(|(name, value)| actor.set(name, *value)),
        None => {}
    }
    Ok(answer)
}

/// Writes the frames that pass to a file, if they are asked for.
fn tap(setup: &Setup, station: &mut Station<'_>, node: u32) -> Result<(), Broken> {
    let Some(path) = &setup.capture else { return Ok(()) };
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    if is_same(path, &setup.fabric) {
        // Every node of it would end: the file is cut before it is written.
        return Err(format!("{}: is the fabric, and no place for a capture", path.display()).into());
    }
    let live = Live::create(path, node, LINKS as usize).map_err(named)?;
    let tap: SharedTap = Arc::new(Mutex::new(live));
    station.tap(&tap);
    Ok(())
}

/// Opens the control socket, if there is to be one. Beside a fabric where none can be, the node
/// goes without.
fn control(setup: &Setup, station: &Station<'_>) -> Result<Option<Socket>, Broken> {
    match &setup.control {
        Control::None => Ok(None),
        Control::At(path) => Socket::open(path).map(Some),
        Control::Beside => {
            let path = default_path(&setup.fabric, station.node.driver.identity().nid);
            let opened = Socket::open(&path);
            opened.map(Some).or_else(|error| {
                crate::complain!("no control socket: {error}");
                Ok(None)
            })
        }
    }
}

/// Passes events on and lets the actor act; what it begins goes out at once. Returns whether there
/// was anything.
fn act(
    now: Instant,
    actor: &mut dyn Actor,
    station: &mut Station<'_>,
    window: &mut MemoryWindow<'_>,
) -> bool {
    let mut busy = pass_on(now, actor, station, window);
    busy |= actor.poll(now, station, window);
    if station.flush(now) {
        busy |= pass_on(station.now(), actor, station, window);
    }
    busy
}

fn pass_on(
    now: Instant,
    actor: &mut dyn Actor,
    station: &mut Station<'_>,
    window: &mut MemoryWindow<'_>,
) -> bool {
    let mut any = false;
    while let Some(event) = station.node.lnet.next_event() {
        any = true;
        actor.on_event(now, station, window, event);
    }
    any
}

/// Becomes the node asked for, or any that is free.
fn join<'m>(
    setup: &Setup,
    arena: &'m Arena,
    fabric: &'m Fabric<'m>,
    clock: Clock,
    violations: &'m AtomicU32,
    bells: &'m Bells,
) -> Result<(Station<'m>, Mover<'m>), Broken> {
    let mut config = config();
    config.links = LINKS as u8;
    if let Some(nid) = setup.me {
        let node = node_of(nid).filter(|node| *node < fabric.shape().nodes);
        let last = nid_of(fabric.shape().nodes.saturating_sub(1));
        let node = node
            .ok_or_else(|| format!("{nid}: this fabric has the nodes {} to {last}", nid_of(0)))?;
        let joined = Station::join_alone(arena, fabric, node, clock, config, violations, bells);
        return Ok(joined.map_err(|error| format!("{nid}: {error}"))?);
    }
    // From the end, where servers are not.
    for node in (0..fabric.shape().nodes).rev() {
        match Station::join_alone(arena, fabric, node, clock, config, violations, bells) {
            Err(StationError::Join(JoinError::Taken)) => {}
            other => return Ok(other?),
        }
    }
    let (at, all) = (setup.fabric.display(), fabric.shape().nodes);
    let why =
        "a client takes one, too; end one, or make a larger fabric: --nodes, another --fabric";
    Err(format!("every node of {at} is taken, all {all}: {why}").into())
}

/// Ends the mover when it is dropped.
struct StopMover<'e> {
    end: &'e AtomicBool,
    bells: &'e Bells,
    node: u32,
}

impl Drop for StopMover<'_> {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Release);
        self.bells.ring_engines(self.node);
    }
}

/// Longest wait for others to hear that this process leaves.
const LEAVING: Span = Span::from_secs(1);
/// So often a process looks at the fabric's table.
const LOOK: Span = Span::from_millis(20);

/// Watches links and peers, and says what fails, and when all that was under way with a dead peer
/// has ended.
struct Watch {
    monitor: Monitor,
    looked: Instant,
    /// Links that were in service at the last look.
    up: [bool; LINKS as usize],
    draining: Option<(u32, Instant, u64)>,
}

impl Watch {
    fn new() -> Self {
        let (monitor, up) = (Monitor::new(LOOK), [true; LINKS as usize]);
        Self { monitor, looked: Instant::ORIGIN, up, draining: None }
    }

    /// Looks, if it is time. Returns the peers whose incarnations are over since the last look.
    fn look(&mut self, now: Instant, station: &mut Station<'_>) -> Option<Vec<Nid>> {
        if now.since(self.looked) < LOOK {
            return None;
        }
        self.looked = now;
        self.look_at_links(station);
        Some(self.look_at_peers(now, station))
    }

    fn look_at_links(&mut self, station: &Station<'_>) {
        for (number, was_up) in self.up.iter_mut().enumerate() {
            let state = LinkId::new(number).and_then(|it| station.node.driver.link_state(it));
            let is_up = state == Some(LinkState::Up);
            if std::mem::replace(was_up, is_up) != is_up {
                crate::say!("link {number} is {}", if is_up { "up" } else { "down" });
            }
        }
    }

    fn look_at_peers(&mut self, now: Instant, station: &mut Station<'_>) -> Vec<Nid> {
        let failed = station.node.driver.counters().value(Counter::FinalizedError);
        let dead = self.monitor.look(now, station);
        for &dead in &dead {
            crate::say!("{} is dead", nid_of(dead));
            self.draining = Some((dead, now, failed));
        }
        self.drain(now, station);
        dead.into_iter().map(nid_of).collect()
    }

    fn drain(&mut self, now: Instant, station: &mut Station<'_>) {
        let Some((dead, since, before)) = self.draining else { return };
        let to_dead = |blocker| {
            matches!(blocker, lnd_core::driver::Blocker::Transfer { peer, .. }
                if peer == Some(nid_of(dead)))
        };
        let mut from = 0;
        while let Some(blocker) = station.node.driver.blocker(from) {
            if to_dead(blocker) {
                return;
            }
            from = match blocker {
                lnd_core::driver::Blocker::Transfer { tag, .. }
                | lnd_core::driver::Blocker::Unreported { tag } => tag.index + 1,
                lnd_core::driver::Blocker::Link { .. } => break,
            };
        }
        let failed = station.node.driver.counters().value(Counter::FinalizedError);
        let millis = now.since(since).as_nanos() as f64 / 1e6;
        crate::say!(
            "{}: {} transfers ended with an error, nothing outstanding after {millis:.1} ms",
            nid_of(dead),
            failed - before
        );
        self.draining = None;
    }
}
