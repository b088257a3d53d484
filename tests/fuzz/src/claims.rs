// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The claim bitmap against a set.

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::claims::{Claims, Cursor};
use lnd_core::sync::AtomicU32;

#[derive(Arbitrary, Debug)]
enum Op {
    Claim,
    /// Releases one of the claimed slots.
    Release(u8),
    /// Looks at any slot, even one beyond the table.
    Look(u16),
}

/// INV-1, INV-14: a slot is claimed once until it is released, and refused only when all are.
pub fn claims(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let slots = 1 + usize::from(u8::arbitrary(&mut input).unwrap_or(0));
    let words: Vec<AtomicU32> =
        (0..Claims::words(slots)).map(|i| AtomicU32::new(Claims::initial(slots, i))).collect();
    let claims = Claims::new(&words, slots);
    let mut cursor = Cursor::default();
    let mut taken = BTreeSet::new();
    while let Ok(op) = Op::arbitrary(&mut input) {
        match op {
            Op::Claim => match claims.claim(&mut cursor) {
                Some(slot) => {
                    assert!((slot as usize) < slots, "slot {slot} of {slots}");
                    assert!(taken.insert(slot), "slot {slot} claimed twice");
                }
                None => assert_eq!(taken.len(), slots, "refused although slots are free"),
            },
            Op::Release(pick) => {
                let nth = usize::from(pick) % taken.len().max(1);
                if let Some(&slot) = taken.iter().nth(nth) {
                    taken.remove(&slot);
                    claims.release(slot);
                }
            }
            Op::Look(slot) => {
                let slot = u32::from(slot);
                let free = (slot as usize) < slots && !taken.contains(&slot);
                assert_eq!(claims.is_free(slot), free, "slot {slot}");
            }
        }
        if input.is_empty() {
            break;
        }
    }
}
