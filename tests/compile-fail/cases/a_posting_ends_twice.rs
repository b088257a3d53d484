// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who leaves a link's gate is out (R17): the link may be stopped now.
use lnd_core::link::LinkGate;

fn twice(gate: &LinkGate) {
    let inside = gate.enter();
    gate.exit(inside);
    gate.exit(inside);
}

fn main() {}
