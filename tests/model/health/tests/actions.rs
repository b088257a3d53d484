// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! R41, R59, INV-14: actions whose ends are never told, in every order of events. The numbers are
//! those of the states that there are: one that has changed says that health does something else
//! than before.
#![cfg(not(debug_assertions))] // Ten times slower without optimisation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_model_health::Untold;

#[test]
fn connects_of_which_nothing_is_told() {
    assert_eq!(Untold { horizon: 5, actions: 4, probes: false }.explore(), 11_832);
}

#[test]
fn nothing_is_told_of_probes_either() {
    assert_eq!(Untold { horizon: 3, actions: 3, probes: true }.explore(), 42_270);
}
