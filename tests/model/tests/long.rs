// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Larger worlds, for the long mode: as `pair.rs`.
#![cfg(not(debug_assertions))]

use lnd_core::driver::Kind::{Get, Put};
use lnd_model::facts::*;
use lnd_model::{explore, Faults, Setup};

/// Payload that is staged and pulled.
const LARGE: u32 = 64;

#[test]
fn put_against_everything_once() {
    let faults = Faults {
        lost: 1,
        unverified: 1,
        twice: 1,
        broken: 1,
        repeated: 1,
        peer_down: [1, 0],
        link_down: [1, 0],
        ..Faults::default()
    };
    let setup = Setup::new("put, everything once").sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, ASSERTED, OK_THOUGH_DOWN, DUPLICATE], 110_923);
}

#[test]
fn get_against_incarnations_links_and_a_slow_world() {
    let faults =
        Faults { restarted: [1, 0], link_down: [0, 1], twice: 1, slow: 1, ..Faults::default() };
    let setup = Setup::new("get, incarnations and links").sends(0, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, ASSERTED, WRONG_INCARNATION], 203_471);
}

#[test]
fn puts_that_cross_against_links_and_shutdown() {
    let faults = Faults { link_down: [1, 0], shutdown: [1, 0], ..Faults::default() };
    let setup = Setup::new("put against put, links and shutdown");
    let setup = setup.sends(0, Put, LARGE).sends(1, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, ASSERTED, QUIESCENT], 1_155_722);
}
