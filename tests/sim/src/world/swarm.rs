// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fault plans that a seed draws.

use super::plan::{HostFaults, Plan, Scheduled, What};
use crate::rng::Rng;
use crate::simulator::fault_rates::{EngineFaults, MessageFaults};

/// Hosts that are slow, pause and lose their links; in a third of the seeds the channel then loses
/// nothing, so that every OK has to be true.
pub(super) fn draw_pauses(plan: &mut Plan, rng: &mut Rng, nodes: u32, links: u32, seconds: u32) {
    if rng.below(3) == 0 {
        plan.messages = MessageFaults::default();
        plan.events.retain(|it| !matches!(it.what, What::LinkDown | What::Partition));
    }
    plan.hosts = HostFaults {
        keep: maybe(rng, 400_000),
        keep_us: rng.between(100, 400_000) as u32,
        polls: rng.below(2) == 0,
        small: rng.below(3) == 0,
    };
    for (what, most, longest) in [
        (What::Pause, 8, 1500),
        (What::LinksDown, 2, 1000),
        (What::BlankRegisters, 2, 400),
        (What::Scribble, 2, 0),
    ] {
        for _ in 0..rng.below(most + 1) {
            let at_ms = rng.below(u64::from(1000 * seconds)) as u32;
            let for_ms = any_ms(rng, longest);
            let it = event(rng, what, nodes, links, at_ms);
            plan.events.push(Scheduled { for_ms, ..it });
        }
    }
    plan.events.sort_by_key(|event| event.at_ms);
}

/// Connections that fail beside everything else; some seeds have fewer places for them than fail.
pub(super) fn draw_connections(
    plan: &mut Plan,
    rng: &mut Rng,
    nodes: u32,
    links: u32,
    seconds: u32,
) {
    plan.connections = Some(rng.between(1, 4) as u8);
    for _ in 0..rng.below(40) {
        let at_ms = rng.below(u64::from(1000 * seconds)) as u32;
        plan.events.push(event(rng, What::ConnectionDown, nodes, links, at_ms));
    }
    plan.events.sort_by_key(|event| event.at_ms);
}

/// A plan of the seed's own.
pub(super) fn swarm(rng: &mut Rng, nodes: u32, links: u32, seconds: u32) -> Plan {
    if rng.below(12) == 0 {
        return Plan::default();
    }
    let mut plan = Plan::default();
    if rng.below(4) > 0 {
        plan.messages = MessageFaults {
            drop: maybe(rng, 20_000),
            not_delivered: maybe(rng, 20_000),
            unknown: maybe(rng, 20_000),
            duplicate: maybe(rng, 50_000),
            delay: maybe(rng, 100_000),
            delay_us: rng.between(10, 200_000) as u32,
            corrupt: maybe(rng, 10_000),
            lost_completion: maybe(rng, 2_000),
            replay: maybe(rng, 10_000),
        };
    }
    if rng.below(4) > 0 {
        plan.engine = EngineFaults {
            lose: maybe(rng, 3_000),
            twice: maybe(rng, 100_000),
            hold: maybe(rng, 100_000),
            hold_us: rng.between(10, 100_000) as u32,
            garble: maybe(rng, 3_000),
            overlook: maybe(rng, 800_000),
            overlook_us: rng.between(10, 300_000) as u32,
            small_chunk: maybe(rng, 500_000),
            stall: maybe(rng, 10_000),
            stall_us: rng.between(10, 100_000) as u32,
        };
    }
    // In some seeds everything happens at once.
    let spread = (1000 * seconds) >> rng.below(8);
    let from = rng.below(u64::from(1000 * seconds - spread) + 1) as u32;
    for (what, most) in [
        (What::LinkDown, 6),
        (What::LinkAlarm, 3),
        (What::Death, 4),
        (What::Restart, 2),
        (What::PeerAlarm, 3),
        (What::Partition, 3),
        (What::Freeze, 3),
    ] {
        for _ in 0..rng.below(most * 2).saturating_sub(most - 1) {
            let at_ms = from + rng.below(u64::from(spread)) as u32;
            plan.events.push(event(rng, what, nodes, links, at_ms));
        }
    }
    plan.events.sort_by_key(|event| event.at_ms);
    plan
}

/// Zero in half of the cases, else anything up to `most`, small values being as likely as large.
fn maybe(rng: &mut Rng, most: u64) -> u32 {
    if rng.below(2) == 0 {
        return 0;
    }
    let scale = most >> rng.below(6);
    rng.between(1, scale.max(1)) as u32
}

fn event(rng: &mut Rng, what: What, nodes: u32, links: u32, at_ms: u32) -> Scheduled {
    let node = rng.below(u64::from(nodes)) as u32;
    let peer = (node + 1 + rng.below(u64::from(nodes) - 1) as u32) % nodes;
    Scheduled {
        at_ms,
        what,
        node,
        link: rng.below(u64::from(links)) as u32,
        peer: Some(peer),
        for_ms: any_ms(rng, 600),
        noticed_ms: (rng.below(4) > 0).then(|| any_ms(rng, 100)),
        proven_ms: any_ms(rng, 300),
        grace_ms: any_ms(rng, 300),
    }
}

/// Up to `most` milliseconds, short times being as likely as long ones.
fn any_ms(rng: &mut Rng, most: u64) -> u32 {
    let scale = most >> rng.below(7);
    rng.below(scale + 1) as u32
}
