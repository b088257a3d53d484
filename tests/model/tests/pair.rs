// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every run of small worlds (INV-1 to INV-12, INV-15, R73). The README says which rules are
//! checked.
//!
//! The last argument of each is the number of states that there are. If it changes, what the
//! drivers do has changed: look at why, then take the new number over.
#![cfg(not(debug_assertions))] // Ten times slower without optimisation.

use lnd_core::driver::Kind::{Get, Put};
use lnd_model::facts::*;
use lnd_model::{explore, Faults, Setup};

const NONE: Faults = Faults {
    lost: 0,
    unverified: 0,
    twice: 0,
    broken: 0,
    repeated: 0,
    refused: 0,
    put_off: 0,
    withdrawn: [0; 2],
    peer_down: [0; 2],
    link_down: [0; 2],
    connection_down: [0; 2],
    restarted: [0; 2],
    shutdown: [0; 2],
    pause: [0; 2],
    unplug: [0; 2],
    slow: 0,
};

/// Payload that is staged and pulled.
const LARGE: u32 = 64;
/// Payload that travels inline.
const SMALL: u32 = 4;

#[test]
fn put_against_peer_down() {
    let faults = Faults { peer_down: [1, 1], ..NONE };
    let setup = Setup::new("put, peers down").sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, OK_THOUGH_DOWN, EARLY], 1_851);
}

#[test]
fn put_against_peers_and_links_down() {
    let faults = Faults { peer_down: [1, 1], link_down: [1, 1], ..NONE };
    let setup = Setup::new("put, peers and links down").sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, ASSERTED, OK_THOUGH_DOWN, STALE_COMPLETION], 164_073);
}

#[test]
fn get_against_peers_and_links_down() {
    let faults = Faults { peer_down: [1, 1], link_down: [1, 1], ..NONE };
    let setup = Setup::new("get, peers and links down").sends(0, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, ASSERTED, OK_THOUGH_DOWN, STALE_ANSWER], 113_762);
}

/// What is stopped is the connection; the link's gate never closes.
#[test]
fn put_against_peers_and_connections_down() {
    let faults = Faults { peer_down: [1, 1], connection_down: [1, 1], ..NONE };
    let setup = Setup { connects: true, ..Setup::new("put, peers and connections down") };
    let setup = setup.sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, ASSERTED, OK_THOUGH_DOWN, STALE_COMPLETION], 57_258);
}

#[test]
fn get_against_connections_and_links_down() {
    let faults = Faults { connection_down: [1, 1], link_down: [1, 0], ..NONE };
    let setup = Setup { connects: true, ..Setup::new("get, connections and a link down") };
    let setup = setup.sends(0, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, ASSERTED], 24_348);
}

#[test]
fn put_and_get_that_cross_against_connection_down() {
    let faults = Faults { connection_down: [1, 0], ..NONE };
    let setup = Setup { connects: true, ..Setup::new("put against get, connection down") };
    let setup = setup.sends(0, Put, LARGE).sends(1, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, ASSERTED], 121_349);
}

/// So many slots of a node that one is for its own transfers, and two for its peer's requests.
const ONE_OURS: u32 = 3;

/// Two puts by one slot: a proof of the connection is of the first use, and of no other.
#[test]
fn inv_3_two_uses_of_one_slot_against_connection_down() {
    let faults = Faults { connection_down: [1, 0], repeated: 1, ..NONE };
    let setup = Setup::new("two puts by one slot, connection down");
    let setup = Setup { connects: true, slots: ONE_OURS, ..setup };
    let setup = setup.sends(0, Put, LARGE).sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, ASSERTED, USED_AGAIN], 14_534);
}

#[test]
fn r14_two_uses_of_one_slot_against_repeated_completions() {
    let faults = Faults { peer_down: [1, 0], link_down: [1, 0], repeated: 1, ..NONE };
    let setup = Setup { slots: ONE_OURS, ..Setup::new("two puts by one slot") };
    let setup = setup.sends(0, Put, LARGE).sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, ASSERTED, STALE_COMPLETION, USED_AGAIN], 90_135);
}

#[test]
fn puts_that_cross_against_peer_down() {
    let faults = Faults { peer_down: [1, 0], ..NONE };
    let setup = Setup::new("put against put, peer down");
    let setup = setup.sends(0, Put, LARGE).sends(1, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, OK_THOUGH_DOWN], 84_859);
}

#[test]
fn put_and_get_that_cross_against_link_down() {
    let faults = Faults { link_down: [1, 0], ..NONE };
    let setup = Setup::new("put against get, link down");
    let setup = setup.sends(0, Put, LARGE).sends(1, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, ASSERTED], 163_804);
}

#[test]
fn r25_a_pull_that_waits_for_another_against_peer_down() {
    // Node 1 pulls both, one after the other.
    let faults = Faults { peer_down: [0, 1], ..NONE };
    let setup = Setup { pulls: 1, ..Setup::new("put against get, one pull at a time, peer down") };
    let setup = setup.sends(0, Put, LARGE).sends(1, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE], 21_944);
}

#[test]
fn r25_a_pull_that_waits_for_another_against_shutdown() {
    let faults = Faults { shutdown: [0, 1], ..NONE };
    let setup = Setup { pulls: 1, ..Setup::new("put against get, one pull at a time, shutdown") };
    let setup = setup.sends(0, Put, LARGE).sends(1, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, QUIESCENT], 34_506);
}

#[test]
fn inv_15_gets_that_cross_against_shutdown() {
    let faults = Faults { shutdown: [1, 0], ..NONE };
    let setup = Setup::new("get against get, shutdown");
    let setup = setup.sends(0, Get, LARGE).sends(1, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, QUIESCENT, REFUSED], 50_352);
}

#[test]
fn inv_15_put_against_two_shutdowns() {
    let faults = Faults { shutdown: [1, 1], slow: 2, ..NONE };
    let setup = Setup::new("put, both shut down").sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, QUIESCENT], 131_414);
}

#[test]
fn hello_race() {
    // R30: crossing hellos end in one session each way.
    let faults = Faults { lost: 1, twice: 1, ..NONE };
    let setup = Setup { met: false, ..Setup::new("hello against hello") };
    let setup = setup.sends(0, Put, SMALL).sends(1, Put, SMALL).with(faults);
    explore(setup, &[OK, DUPLICATE], 11_809);
}

#[test]
fn hello_race_against_a_new_incarnation() {
    let faults = Faults { restarted: [1, 0], lost: 1, twice: 1, ..NONE };
    let setup = Setup { met: false, ..Setup::new("hello against hello, a new life") };
    let setup = setup.sends(0, Put, SMALL).sends(1, Put, SMALL).with(faults);
    explore(setup, &[OK, ERROR, WRONG_INCARNATION, EARLY], 83_628);
}

#[test]
fn inv_11_one_credit_each_way_against_loss() {
    let faults = Faults { lost: 1, ..NONE };
    let setup = Setup { slots: 4, ..Setup::new("one credit each way") };
    let setup = setup.sends(0, Put, SMALL).sends(1, Put, SMALL);
    let setup = setup.sends(0, Put, SMALL).sends(1, Put, SMALL).with(faults);
    explore(setup, &[OK, ERROR, RESYNC], 48_335);
}

/// The puller's word has no way when it is due, and waits for one.
#[test]
fn put_without_remote_completion_against_the_pullers_link_down() {
    let faults = Faults { link_down: [0, 2], peer_down: [0, 1], ..NONE };
    let setup = Setup { signalled: false, slots: 4, ..Setup::new("put, the word waits") };
    let setup = setup.sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, ASSERTED, FINAL_WAITED], 8_403);
}

#[test]
fn get_without_remote_completion_against_the_pullers_connection_down() {
    let faults = Faults { connection_down: [2, 0], shutdown: [1, 0], ..NONE };
    let setup =
        Setup { signalled: false, connects: true, slots: 4, ..Setup::new("get, the word waits") };
    let setup = setup.sends(0, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, ASSERTED, FINAL_WAITED], 6_241);
}

#[test]
fn put_without_remote_completion_against_loss_and_link_down() {
    let faults = Faults { lost: 1, unverified: 1, link_down: [1, 0], ..NONE };
    let setup = Setup { signalled: false, ..Setup::new("put, done by word") };
    explore(setup.sends(0, Put, LARGE).with(faults), &[OK, ERROR, ASSERTED, DEADLINE], 2_291);
}

#[test]
fn get_without_remote_completion_against_loss_and_link_down() {
    let faults = Faults { lost: 1, unverified: 1, link_down: [0, 1], ..NONE };
    let setup = Setup { signalled: false, ..Setup::new("get, done by word") };
    explore(setup.sends(0, Get, LARGE).with(faults), &[OK, ERROR, ASSERTED, DEADLINE], 3_504);
}

#[test]
fn lu17841_put_against_new_incarnations_of_either_side() {
    // R15: no tag of one incarnation is given out in the next.
    let faults = Faults { restarted: [1, 1], twice: 1, ..NONE };
    let setup = Setup::new("put, new incarnations").sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, WRONG_INCARNATION], 9_737);
}

#[test]
fn lu17841_get_against_new_incarnations_of_either_side() {
    let faults = Faults { restarted: [1, 1], twice: 1, ..NONE };
    let setup = Setup::new("get, new incarnations").sends(0, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, WRONG_INCARNATION], 8_879);
}

#[test]
fn put_against_refusal_delay_and_a_broken_engine() {
    let faults = Faults { refused: 1, put_off: 1, broken: 1, slow: 2, ..NONE };
    let setup = Setup::new("put, refused or late").sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR, REFUSED, DEADLINE, LATE_DECISION], 6_620);
}

#[test]
fn get_against_refusal_delay_and_a_broken_engine() {
    let faults = Faults { refused: 1, put_off: 1, broken: 1, slow: 2, ..NONE };
    let setup = Setup::new("get, refused or late").sends(0, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, REFUSED, DEADLINE, LATE_DECISION], 4_146);
}

/// Two small messages over one credit to a node that does not run for any time, and that keeps what
/// it was asked: what is promised is seen (S0-18, R41).
#[test]
fn r41_small_puts_to_a_node_that_pauses() {
    let faults = Faults { pause: [0, 1], put_off: 1, ..NONE };
    let setup = Setup { slots: 4, ..Setup::new("small puts, a pause") };
    let setup = setup.sends(0, Put, SMALL).sends(0, Put, SMALL).with(faults);
    explore(setup, &[OK, RESYNC], 1_776);
}

#[test]
fn r41_puts_that_cross_between_nodes_that_pause() {
    let faults = Faults { pause: [1, 1], ..NONE };
    let setup = Setup { slots: 4, ..Setup::new("put against put, pauses") };
    let setup = setup.sends(0, Put, SMALL).sends(1, Put, LARGE).with(faults);
    explore(setup, &[OK], 62_914);
}

#[test]
fn lu16214_small_puts_from_a_node_that_was_taken_for_down() {
    let faults = Faults { peer_down: [0, 1], pause: [1, 0], ..NONE };
    let setup = Setup { slots: 4, ..Setup::new("small puts, a wrong decision") };
    let setup = setup.sends(0, Put, SMALL).sends(0, Put, SMALL).with(faults);
    explore(setup, &[OK], 1_024);
}

#[test]
fn lu17505_small_puts_over_a_link_of_our_own_that_fails() {
    let faults = Faults { unplug: [1, 0], ..NONE };
    let setup = Setup { met: false, slots: 4, ..Setup::new("small puts, our link is down") };
    let setup = setup.sends(0, Put, SMALL).sends(0, Put, SMALL).with(faults);
    explore(setup, &[OK], 2_303);
}

#[test]
fn s0_18_small_puts_without_slots_to_a_node_that_pauses() {
    let faults = Faults { pause: [0, 1], put_off: 1, ..NONE };
    let setup = Setup { slots: 4, ends_at_once: true, ..Setup::new("at once, a pause") };
    let setup = setup.sends(0, Put, SMALL).sends(0, Put, SMALL).with(faults);
    explore(setup, &[OK, RESYNC], 447);
}

#[test]
fn s0_18_small_puts_without_slots_against_peer_down_and_new_incarnations() {
    let faults = Faults { peer_down: [1, 0], restarted: [0, 1], ..NONE };
    let setup = Setup { slots: 4, ends_at_once: true, ..Setup::new("at once, new incarnations") };
    let setup = setup.sends(0, Put, SMALL).sends(0, Put, SMALL).sends(1, Put, SMALL).with(faults);
    explore(setup, &[OK], 13_945);
}

#[test]
fn s0_18_a_small_put_without_a_slot_beside_a_large_one_against_link_down() {
    let faults = Faults { link_down: [1, 1], ..NONE };
    let setup = Setup { ends_at_once: true, ..Setup::new("at once and pulled, links down") };
    let setup = setup.sends(0, Put, SMALL).sends(0, Put, LARGE).with(faults);
    explore(setup, &[OK, ERROR], 3_693);
}

/// Engines that do not invalidate safely: staged memory comes back by the word of its puller, its
/// goodbye, or a stop.
fn cancel_first(name: &'static str, faults: Faults) -> Setup {
    Setup { connects: true, safe_invalidate: false, ..Setup::new(name) }.with(faults)
}

#[test]
fn inv_2_put_that_is_withdrawn_from_engines_that_do_not_invalidate() {
    let faults = Faults { withdrawn: [1, 1], put_off: 1, refused: 1, broken: 1, ..NONE };
    let setup = cancel_first("put, withdrawn, no invalidations", faults).sends(0, Put, LARGE);
    let cases = [OK, ERROR, LOST_RACE, CANCELLED, CANCEL_HEARD, DUPLICATE, LATE_DECISION];
    explore(setup, &cases, 3_468);
}

#[test]
fn inv_2_get_that_is_withdrawn_from_engines_that_do_not_invalidate() {
    let faults = Faults { withdrawn: [1, 1], ..NONE };
    let setup = cancel_first("get, withdrawn, no invalidations", faults).sends(0, Get, LARGE);
    explore(setup, &[OK, ERROR, LOST_RACE, CANCELLED, CANCEL_HEARD, STALE_ANSWER], 756);
}

#[test]
fn s0_9_cancels_and_answers_that_are_late_or_lost() {
    let faults = Faults { withdrawn: [1, 0], lost: 1, slow: 3, ..NONE };
    let setup = cancel_first("put, withdrawn, loss, no invalidations", faults).sends(0, Put, LARGE);
    explore(setup, &[OK, ERROR, CANCELLED, CANCEL_HEARD, DRAIN_BOUND, ASSERTED], 60_031);
}

#[test]
fn put_done_by_word_against_cancel_and_connection_down() {
    let faults = Faults { withdrawn: [1, 0], connection_down: [1, 1], ..NONE };
    let setup = cancel_first("put, done by word, withdrawn, no invalidations", faults);
    let setup = Setup { signalled: false, ..setup }.sends(0, Put, LARGE);
    explore(setup, &[OK, ERROR, LOST_RACE, CANCELLED, CANCEL_HEARD, ASSERTED], 7_132);
}

#[test]
fn put_against_peers_down_shutdown_and_new_incarnations_without_invalidates() {
    let faults = Faults { peer_down: [1, 0], shutdown: [0, 1], restarted: [0, 1], ..NONE };
    let setup =
        cancel_first("put, peer down or gone, no invalidations", faults).sends(0, Put, LARGE);
    explore(setup, &[OK, ERROR, ASSERTED, QUIESCENT, DRAIN_BOUND], 4_483);
}

#[test]
fn puts_that_cross_and_are_withdrawn_without_invalidates() {
    let faults = Faults { withdrawn: [1, 0], ..NONE };
    let setup = cancel_first("put against put, withdrawn, no invalidations", faults);
    let setup = setup.sends(0, Put, LARGE).sends(1, Put, LARGE);
    explore(setup, &[OK, ERROR, CANCELLED, CANCEL_HEARD], 32_871);
}

#[test]
fn put_and_get_that_cross_and_are_withdrawn_without_invalidates() {
    let faults = Faults { withdrawn: [1, 1], ..NONE };
    let setup = cancel_first("put against get, withdrawn, no invalidations", faults);
    let setup = setup.sends(0, Put, LARGE).sends(1, Get, LARGE);
    explore(setup, &[OK, ERROR, CANCELLED, CANCEL_HEARD], 145_953);
}

/// Two puts by one slot over one pull: what waits is called off, and an answer is of one use of a
/// slot.
#[test]
fn r14_two_uses_of_one_slot_that_are_withdrawn_without_invalidates() {
    let faults = Faults { withdrawn: [2, 0], lost: 1, ..NONE };
    let setup = cancel_first("two puts by one slot, withdrawn, no invalidations", faults);
    let setup = Setup { slots: ONE_OURS, ..setup };
    let setup = setup.sends(0, Put, LARGE).sends(0, Put, LARGE);
    explore(setup, &[OK, ERROR, CANCELLED, CANCEL_HEARD, USED_AGAIN], 14_030);
}

/// Whole links are stopped.
#[test]
fn put_against_withdrawal_and_links_down_without_invalidates() {
    let faults = Faults { withdrawn: [1, 1], link_down: [1, 1], ..NONE };
    let setup = cancel_first("put, withdrawn, links down, no invalidations", faults);
    let setup = Setup { connects: false, ..setup }.sends(0, Put, LARGE);
    explore(setup, &[OK, ERROR, CANCELLED, CANCEL_HEARD, ASSERTED], 46_502);
}

/// Engines that push the answer to a GET into its sink, and that do not invalidate: what the sink's
/// peer may still write into is not given back (S3-11, INV-2).
fn pushed(name: &'static str, faults: Faults) -> Setup {
    Setup { pushes: true, signalled: false, ..cancel_first(name, faults) }.sends(0, Get, LARGE)
}

#[test]
fn s3_11_get_that_is_pushed_against_withdrawal() {
    let faults = Faults { withdrawn: [1, 1], put_off: 1, refused: 1, broken: 1, ..NONE };
    let setup = pushed("get, pushed, withdrawn, no invalidations", faults);
    let cases = [OK, ERROR, LOST_RACE, CANCELLED, CANCEL_HEARD, DUPLICATE, LATE_DECISION];
    explore(setup, &cases, 4_376);
}

#[test]
fn s3_11_get_that_is_pushed_against_loss_and_delay() {
    let faults = Faults { withdrawn: [1, 0], lost: 1, slow: 3, ..NONE };
    let setup = pushed("get, pushed, withdrawn, loss, no invalidations", faults);
    explore(setup, &[OK, ERROR, CANCELLED, CANCEL_HEARD, DRAIN_BOUND, ASSERTED], 58_887);
}

#[test]
fn s3_11_get_that_is_pushed_against_connections_down() {
    let faults = Faults { withdrawn: [1, 0], connection_down: [1, 1], ..NONE };
    let setup = pushed("get, pushed, connections down, no invalidations", faults);
    explore(setup, &[OK, ERROR, LOST_RACE, CANCELLED, CANCEL_HEARD, ASSERTED], 7_068);
}

#[test]
fn s3_11_get_that_is_pushed_against_peers_down_shutdown_and_new_incarnations() {
    let faults = Faults { peer_down: [1, 0], shutdown: [0, 1], restarted: [0, 1], ..NONE };
    let setup = pushed("get, pushed, peer down or gone, no invalidations", faults);
    explore(setup, &[OK, ERROR, ASSERTED, QUIESCENT], 5_546);
}

#[test]
fn s3_11_get_that_is_pushed_against_the_requesters_incarnations() {
    let faults = Faults { restarted: [1, 0], peer_down: [0, 1], twice: 1, ..NONE };
    let setup = pushed("get, pushed, new incarnations, no invalidations", faults);
    explore(setup, &[OK, ERROR, WRONG_INCARNATION], 22_366);
}

/// The end of the push finds no way, and waits for one.
#[test]
fn s3_11_the_end_of_a_push_waits_for_a_way() {
    let faults = Faults { link_down: [0, 2], peer_down: [0, 1], ..NONE };
    let setup = pushed("get, pushed, the word waits", faults);
    let setup = Setup { slots: 4, connects: false, safe_invalidate: true, ..setup };
    explore(setup, &[OK, ERROR, ASSERTED, FINAL_WAITED], 8_403);
}

#[test]
fn s3_11_gets_that_cross_and_are_pushed() {
    let faults = Faults { withdrawn: [1, 0], ..NONE };
    let setup = pushed("get against get, pushed, withdrawn", faults).sends(1, Get, LARGE);
    explore(setup, &[OK, ERROR, CANCELLED, CANCEL_HEARD], 18_080);
}

/// An answer is of one use of a slot, and what waits is called off.
#[test]
fn s3_11_two_pushed_gets_by_one_slot() {
    let faults = Faults { withdrawn: [1, 0], lost: 1, ..NONE };
    let setup = pushed("two gets by one slot, pushed, no invalidations", faults);
    let setup = Setup { slots: ONE_OURS, pulls: 1, ..setup }.sends(0, Get, LARGE);
    explore(setup, &[OK, ERROR, CANCELLED, CANCEL_HEARD, USED_AGAIN], 1_966);
}

/// Engines that invalidate at any time: no word of the peer is needed.
#[test]
fn s3_11_put_and_pushed_get_that_cross_against_link_down() {
    let faults = Faults { link_down: [1, 0], ..NONE };
    let setup = Setup { pushes: true, ..Setup::new("put against get, pushed, link down") };
    let setup = setup.sends(0, Put, LARGE).sends(1, Get, LARGE).with(faults);
    explore(setup, &[OK, ERROR, LOST_RACE, ASSERTED], 172_362);
}
