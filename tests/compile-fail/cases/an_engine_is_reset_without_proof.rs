// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Neither a reset nor a reclaim goes without the proof (S0-11, S0-12; LU-17271: a key was used
//! again while the target might still know it).
use lnd_core::id::Tag;
use lnd_core::ports::Engine;

fn reset<E: Engine>(engine: &mut E, tag: Tag) {
    let _ = engine.reclaim(tag);
    engine.reset();
}

fn main() {}
