// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a step asks for is done (R2).
#![deny(unused_must_use)]
use lnd_core::transfer::{step, Event, Word};

fn ignored(word: Word) {
    step(word, Event::PayCpu);
}

fn main() {}
