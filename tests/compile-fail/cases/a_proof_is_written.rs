// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A proof cannot be written down (INV-3).
use lnd_core::link::Quiesced;

fn forged(proof: Quiesced, another: Quiesced) -> Quiesced {
    Quiesced { domain: another.domain, ..proof }
}

fn main() {}
