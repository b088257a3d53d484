// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A reset consumes the proof (R12): nothing is taken away from an engine that runs again.
use lnd_core::id::Tag;
use lnd_core::link::Quiesced;
use lnd_core::ports::Engine;

fn reclaimed_after_the_reset<E: Engine>(engine: &mut E, tag: Tag, proof: Quiesced) {
    engine.reset(proof);
    let _ = engine.reclaim(tag, &proof);
}

fn copied(proof: &Quiesced) -> Quiesced {
    proof.clone()
}

fn main() {}
