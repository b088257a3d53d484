// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A proof cannot be written down (INV-3).
use lnd_core::id::LinkId;
use lnd_core::link::Quiesced;

fn forged(link: LinkId) -> Quiesced {
    Quiesced { link, connection: None }
}

fn main() {}
