// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Health over several rails, in virtual time: scenarios with the semantics of LNet's own
//! conformance tests, those of the 2017 design, and seeds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod conformance;
mod copies;
mod defects;
mod probing;
mod recovery;
mod resend;
mod responses;
mod routers;
mod runs;
mod status;

use lnd_sim::rails::{with, Plan, Profile, World};

/// Both profiles.
pub const BOTH: [Profile; 2] = [Profile::Seed, Profile::LnetCompat];

/// Two nodes with the same interfaces: `"ab"` is one on `a`, one on `b`. LNet's retry count is an
/// operator's limit in both profiles, unless a test says otherwise.
pub fn pair(nis: &str, profile: Profile) -> Plan {
    Plan { profile, retries: Some(2), ..Plan::of(&[nis, nis]) }
}

/// Plays with a plan's world; afterwards everything must come to rest and shut down.
#[track_caller]
pub fn play(plan: &Plan, run: impl FnOnce(&mut World<'_>)) {
    with(plan, 1, None, |world| {
        run(world);
        world.calm_down();
        world.come_to_rest().unwrap();
        world.end_all().unwrap();
    })
    .unwrap();
}

/// The nodes get to know each other: a message each way over each pair of interfaces.
pub fn acquaint(world: &mut World<'_>) {
    for _ in 0..4 {
        let numbers = [world.put(0, 1, 100, true).unwrap(), world.put(1, 0, 100, true).unwrap()];
        world.wait_for(&numbers).unwrap();
        assert!(numbers.iter().all(|&n| world.record(n).unwrap().answered));
    }
}

/// One PUT without ACK, to its end; whether that was OK.
pub fn put(world: &mut World<'_>, length: u32) -> bool {
    let number = world.put(0, 1, length, false).unwrap();
    world.wait_for(&[number]).unwrap();
    world.record(number).unwrap().end.unwrap().is_ok()
}

/// Health that node 0 has lost at its own interfaces, and at those of node 1.
pub fn lost(world: &World<'_>) -> (u16, u16) {
    let of = |host: u32| {
        (0..4).filter_map(|ni| world.health(0, (host, ni))).map(|it| 1000 - it.value).sum()
    };
    (of(0), of(1))
}
