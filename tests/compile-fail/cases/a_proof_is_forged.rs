// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Only an engine makes a proof, and it must answer for it (INV-3, R11).
use lnd_core::id::LinkId;
use lnd_core::link::Quiesced;

fn asserted_for_by_none(link: LinkId) -> Quiesced {
    Quiesced::assert_stopped(link)
}

fn main() {}
