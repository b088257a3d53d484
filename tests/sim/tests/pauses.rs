// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Hosts that pause, keep requests, lose their links and read all ones. Where the channel loses
//! nothing, what a sender is told was delivered must be seen (S0-18). The seeds are worlds that
//! show a defect of sessions, credits or deadlines if one is there (`tests/defects/list`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_sim::world::{run, Options};

fn passes(seed: u64) {
    let options = Options {
        seed,
        seconds: Some(1),
        pauses: Some(true),
        byzantine: Some(false),
        ..Options::default()
    };
    let totals = run(&options).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(totals.delivered > 0, "{}: nothing was sent", options.command());
}

#[test]
fn s0_18_a_receiver_that_pauses_sees_what_was_promised() {
    passes(8);
}

#[test]
fn lu16303_nothing_is_sent_after_its_deadline() {
    passes(39);
}

#[test]
fn inv_12_no_peer_has_more_than_its_share() {
    passes(11);
}
