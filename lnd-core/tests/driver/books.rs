// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The audit finds what is wrong with a driver's books. What lies in shared words is spoilt here from
//! outside; what lies within the driver, only the seeded defects spoil.

use lnd_core::claims::Cursor;
use lnd_core::driver::Broken;
use lnd_core::transfer::{Debts, Phase, Word};

use super::world::World;

/// Runs `spoil` on the words of a driver with one queued request, and audits.
fn audit(
    spoil: impl FnOnce(&lnd_core::shared::Shared<'_>, lnd_core::id::Tag),
) -> Result<(), Broken> {
    let mut w = World::new(2);
    let tag = w.put(0, 1, 10).unwrap();
    assert_eq!((tag.index, w.nodes[0].driver.audit()), (0, Ok(())));
    spoil(w.nodes[0].driver.decider().shared(), tag);
    w.nodes[0].driver.audit()
}

/// The word of a transfer with other debts.
fn owing(word: Word, debts: Debts) -> Word {
    Word::from_bits(word.bits() & !0xf | u32::from(debts.0))
}

#[test]
fn an_audit_bites() {
    let claim = |shared: &lnd_core::shared::Shared<'_>| {
        shared.claims().claim(&mut Cursor::default()).unwrap()
    };
    let claimed = audit(|shared, _| assert_eq!(claim(shared), 1));
    assert_eq!(claimed, Err(Broken::SlotState(1)));
    let released = audit(|shared, tag| shared.claims().release(tag.index));
    assert_eq!(released, Err(Broken::SlotState(0)));
    let live = audit(|shared, tag| shared.publish(tag, Word::live(tag.generation, Debts::CPU)));
    assert_eq!(live, Err(Broken::QueueState(0)));
    let owes = audit(|shared, tag| {
        let debts = Debts(Debts::CPU.0 | Debts::HW.0);
        shared.publish(tag, owing(shared.word(tag.index), debts));
    });
    assert_eq!(owes, Err(Broken::QueueState(0)));
    let unknown = audit(|shared, _| {
        let tag = shared.renew(claim(shared));
        shared.publish(tag, Word::queued(tag.generation));
    });
    assert_eq!(unknown, Err(Broken::SlotCount));
    let done = audit(|shared, _| {
        let tag = shared.renew(claim(shared));
        let word = Word::from_bits((Phase::Done as u32) << 14 | (tag.generation << 16));
        shared.publish(tag, owing(word, Debts::HW));
    });
    assert_eq!(done, Err(Broken::DoneOwes(1)));
}
