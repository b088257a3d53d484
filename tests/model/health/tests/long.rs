// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The same with more of everything: minutes, and a gigabyte.
#![cfg(all(feature = "long", not(debug_assertions)))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_model_health::{explore, Setup};

#[test]
fn one_message_with_all_tries_and_a_new_incarnation() {
    // S4-19, R44, R45.
    for suppress in [true, false] {
        let setup = Setup { messages: 1, retries: 3, restart: true, suppress, ..Setup::PLAIN };
        assert!(explore(setup) > 100_000);
    }
}

#[test]
fn two_messages_with_suppression() {
    let setup = Setup { retries: 1, deadline: 1, horizon: 1, ..Setup::PLAIN };
    assert!(explore(setup) > 100_000);
}

#[test]
fn two_messages_and_recovery() {
    for (suppress, networks) in [(true, 1), (true, 2), (false, 1)] {
        let setup =
            Setup { retries: 1, deadline: 1, horizon: 2, suppress, networks, ..Setup::PLAIN };
        assert!(explore(setup) > 100_000);
    }
}
