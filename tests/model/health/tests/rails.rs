// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! S4-9, S4-14, S4-17 to S4-20, R44, R45, R50 in every order of events, and seeded defects that the
//! same checks find.
#![cfg(not(debug_assertions))] // Ten times slower without optimisation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_health::attempts::UNTIL_DEADLINE;
use lnd_model_health::{explore, find, Defect, Setup};

#[test]
fn one_message_with_all_tries() {
    // Over all four paths, with time and recovery in between.
    for networks in [1, 2] {
        for suppress in [true, false] {
            let setup = Setup { messages: 1, retries: 3, networks, suppress, ..Setup::PLAIN };
            assert!(explore(setup) > 1000);
        }
    }
}

#[test]
fn one_message_until_its_deadline() {
    // S4-19: no limit of tries; pauses, and recovery that ends them.
    let retries = UNTIL_DEADLINE;
    let few = Setup { messages: 1, networks: 2, suppress: false, ..Setup::PLAIN };
    let setup = Setup { retries, deadline: 2, horizon: 2, ..few };
    assert!(explore(setup) > 1000);
}

#[test]
fn pings_of_which_nothing_is_told() {
    let few = Setup { messages: 1, networks: 2, suppress: false, ..Setup::PLAIN };
    assert!(explore(Setup { retries: 1, silent: true, ..few }) > 100);
}

#[test]
fn one_message_and_a_new_incarnation_of_the_peer() {
    for suppress in [true, false] {
        let setup = Setup { messages: 1, retries: 1, restart: true, suppress, ..Setup::PLAIN };
        assert!(explore(setup) > 1000);
    }
}

#[test]
fn two_messages() {
    // They share the rails' health and the receiver's window.
    for (suppress, networks) in [(true, 2), (false, 1)] {
        let setup =
            Setup { retries: 1, deadline: 1, horizon: 1, suppress, networks, ..Setup::PLAIN };
        assert!(explore(setup) > 10_000);
    }
}

#[test]
fn every_check_finds_its_seeded_defect() {
    let setup = Setup { messages: 1, ..Setup::PLAIN };
    for (defect, expected) in [
        (Defect::NoWindow, "two deliveries"),
        (Defect::NoClock, "a try begins at or past the deadline"),
        (Defect::SamePath, "a path is tried twice"),
        (Defect::Twice, "two ends"),
        (Defect::Forget, "no end"),
    ] {
        assert_eq!(find(setup, defect), expected, "{defect:?}");
    }
    // What is taken for "surely not delivered" is sent again to a receiver that cannot tell.
    let blind = Setup { suppress: false, ..setup };
    let found = find(blind, Defect::Optimist);
    assert!(["two deliveries", "delivered after all"].contains(&found), "{found}");
}
