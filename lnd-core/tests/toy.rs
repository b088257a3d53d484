// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The example does what it says: its own assertions hold.

#[path = "../examples/toy.rs"]
mod toy;

#[test]
fn the_toy_moves_both_messages() -> Result<(), Box<dyn std::error::Error>> {
    toy::main()
}
