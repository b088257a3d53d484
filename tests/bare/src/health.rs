// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd-health`: the tables, then a node's health by all its calls.

use core::mem::MaybeUninit;

use lnd_core::id::{Incarnation, Nid};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Cause, Delivery, HealthClass as Class, Place, Policy, Status};
use lnd_health::attempts::{Path, Terms};
use lnd_health::node::{Action, End, Next, PeerSettings};
use lnd_health::prober::ProbeEnd;
use lnd_health::reconnect::Connected;
use lnd_health::select::{Match, NoPath, Rule};
use lnd_health::tracker::Tracker;
use lnd_health::{
    effect, refusal_of_errno, Health, HealthConfig, HealthValue, NiId, Number, Object, PeerId,
    PeerNiId, ProbeKind, ProbeKinds, Profile, RouteId, Stamp, Trial, WindowCheck,
};

/// One cell of the effects' table, and a decrement.
#[no_mangle]
pub extern "C" fn lnd_bare_health(class: u32, sensitivity: u16) -> u32 {
    let health = if class == 0 { Class::Ok } else { Class::NetworkTimeout };
    let e = effect(Profile::Seed, health, Delivery::Unknown, class > 1);
    let value = HealthValue::FULL.decremented(sensitivity).recovered(1);
    u32::from(e.local_decrement) + u32::from(value.get())
}

/// Creation.
#[no_mangle]
pub extern "C" fn lnd_bare_health_create<'m>(
    memory: &'m mut [MaybeUninit<u8>],
    sizes: &[u32; 4],
    out: &mut MaybeUninit<Health<'m>>,
) -> usize {
    let mut config = HealthConfig::new(sizes[0] as u8, sizes[1], sizes[2]);
    config.journal = sizes[3];
    if let Ok(health) = Health::create(memory, config, Instant::ORIGIN) {
        out.write(health);
    }
    config.bytes_needed()
}

/// The tables.
#[no_mangle]
pub extern "C" fn lnd_bare_health_tables(health: &mut Health<'_>, raw: u64, n: u32) -> bool {
    let Some(nid) = Nid::from_raw(raw) else { return false };
    let (peer, hop) = (PeerId::new(n), PeerNiId::new(n));
    let Some(local) = NiId::new(n as usize) else { return false };
    health.set_credits(Object::Peer(hop), n as i32);
    health.set_sensitivity(Object::Local(local), Some(n as u16));
    health.set_rules([
        Rule { to: Match::Nid(nid), priority: 1 },
        Rule { to: Match::Pair { local: nid, peer: nid }, priority: 0 },
        Rule { to: Match::Net(n), priority: 2 },
        Rule { to: Match::Gateway(nid), priority: 2 },
    ]);
    health.add_local(nid).is_ok()
        | health.add_peer(PeerSettings::default()).is_ok()
        | health.add_peer_ni(peer, nid).is_ok()
        | health.add_route(n, hop).is_ok()
        | health.find(peer, nid).is_some()
        | health.remove_route(RouteId::new(n)).is_ok()
        | health.remove_peer(peer).is_ok()
        | health.remove_local(local).is_ok()
        | health.audit().is_ok()
}

/// A message's way.
#[no_mangle]
pub extern "C" fn lnd_bare_health_message(health: &mut Health<'_>, n: u64, errno: i32) -> u32 {
    let now = Instant::from_nanos(n);
    let Some(mut attempts) = health.open(PeerId::new(n as u32), Terms::new(n, now)) else {
        return 0;
    };
    let Ok(choice) = health.choose(&attempts, &[]) else {
        return health.give_up(attempts, NoPath::Tried).tries;
    };
    if !health.begin(now, &mut attempts, &choice) {
        return health.give_up(attempts, NoPath::Tried).tries;
    }
    let number = health.stamp(&attempts).map_or(0, |stamp| stamp.number.raw());
    let slice = health.slice(now, &attempts).as_nanos().wrapping_add(number);
    let next = match (refusal_of_errno(errno), Cause::ALL.get(n as usize)) {
        (refusal, None) if refusal.again => health.refused(now, attempts, refusal),
        (_, Some(&cause)) => {
            let status = Status::of(Policy::Seed, cause, Place::Queue);
            health.outcome(now, attempts, End::of(&status))
        }
        _ => health.outcome(now, attempts, End::failed(Class::NetworkTimeout, Delivery::Unknown)),
    };
    match next {
        Next::Again(attempts) => health.give_up(attempts, NoPath::Tried).tries,
        Next::Later(attempts, at) => {
            let early = health.next_try(&attempts).max(at).as_nanos() as u32;
            early.wrapping_add(health.give_up(attempts, NoPath::Tried).tries)
        }
        Next::Ended(ended) => ended.tries.wrapping_add(slice as u32),
    }
}

/// What is received, and what is not.
#[no_mangle]
pub extern "C" fn lnd_bare_health_evidence(health: &mut Health<'_>, n: u64) -> bool {
    let now = Instant::from_nanos(n);
    let (hop, peer) = (PeerNiId::new(n as u32), PeerId::new(n as u32));
    let (Some(local), Some(incarnation)) = (NiId::new(n as usize), Incarnation::from_raw(n)) else {
        return false;
    };
    let mut tracker = Tracker::begin(now, Span::from_nanos(n), Path { local, hop });
    if let Some(end) = tracker.expire(now) {
        health.no_response(now, end, n);
    }
    health.received(now, hop, Some(local));
    health.fatal(now, local, n > 7);
    health.drain_local(now, local, n > 8);
    health.drain_peer(now, peer, n > 9);
    health.set_health(now, Object::Local(local), HealthValue::new(n as u16));
    let number = Number::from_raw(n | 1 << 32);
    let stamp = number.map(|number| Stamp { from: incarnation, to: Some(incarnation), number });
    let arrived = stamp.is_some_and(|stamp| {
        health.arrived(peer, stamp) == WindowCheck::First
            && health.message_received(peer, stamp)
            && health.message_not_received(peer, stamp)
    });
    health.peer_incarnation(peer, incarnation) | arrived
}

/// Time.
#[no_mangle]
pub extern "C" fn lnd_bare_health_time(health: &mut Health<'_>, n: u64, good: bool) -> u64 {
    let (now, hop) = (Instant::from_nanos(n), PeerNiId::new(n as u32));
    match health.next_action(now) {
        Some(Action::Ping(ping)) => {
            let class = if good { Class::Ok } else { Class::NetworkTimeout };
            health.answered(now, ping, class);
        }
        Some(Action::Probe(probe)) => {
            let end = if good { ProbeEnd::Success } else { ProbeEnd::RetryExceeded };
            health.probed(now, probe, end);
        }
        Some(Action::Connect(attempt)) => {
            let how = if good { Connected::NobodyListens } else { Connected::No };
            health.connected(now, attempt, how);
        }
        None => {}
    }
    let mut trial = Trial::new();
    trial.end(ProbeEnd::AccessError);
    *health.probe_kinds() = ProbeKinds::offered(good, true, good, good);
    health.probe_kinds().turn_on(ProbeKind::Noop);
    health.watch(now, hop, good);
    health.migrating(hop, good);
    health.add_user(hop);
    health.remove_user(hop);
    health.published(hop, good);
    health.urge(hop);
    health.unwatch(hop);
    health.connection_lost(now, hop);
    health.connection_settled(hop);
    let entries = health.journal().entries().count() as u64;
    if n == 3 {
        health.shut_down();
    }
    health.next_deadline().as_nanos().wrapping_add(entries)
}
