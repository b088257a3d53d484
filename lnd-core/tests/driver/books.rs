// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The audit finds what is wrong with a driver's books. What lies in shared words is spoilt here
//! from outside; what lies within the driver, only the seeded defects spoil.

use lnd_core::claims::Cursor;
use lnd_core::config::Config;
use lnd_core::driver::Broken;
use lnd_core::transfer::{Debts, Phase, Word};

use super::device::OnInvalidate;
use super::node::{Decision, TAKE};
use super::peer_down::devices;
use super::world::{config, World};

/// Runs `spoil` on the words of a driver with one queued request, and audits.
fn audit(
    spoil: impl FnOnce(&lnd_core::shared::Shared<'_>, lnd_core::id::Tag),
) -> Result<(), Broken> {
    let mut w = World::new(2);
    let tag = w.put(0, 1, 10).unwrap();
    assert_eq!((tag.index, w.nodes[0].driver.audit()), (0, Ok(())));
    spoil(w.nodes[0].driver.irq_handle().shared(), tag);
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

/// Peers 1 to 3 have `kept` requests each that wait for a decision, or that were taken and whose
/// pulls do not end. `again`: the first peer is in its second incarnation, and has opened another
/// session.
fn served(depth: u16, kept: bool, again: bool) -> World {
    let mut w = World::with(4, Config { depth, pulls: 1, ..config() });
    if again {
        w.put(1, 0, 10).unwrap();
        w.settle();
        w.reboot(1);
    }
    w.node(0).put = if kept { Decision::Keep } else { TAKE };
    devices(&w, 0, true, OnInvalidate::Never);
    for from in 1..4 {
        for _ in 0..depth {
            w.put(from, 0, 5000).unwrap();
        }
        w.settle();
    }
    assert_eq!(w.nodes[0].driver.in_use(), (0, 3 * u32::from(depth)));
    assert_eq!(w.nodes[0].driver.audit(), Ok(()));
    w
}

/// Transfers whose shared words say that they are of another peer: its credits and its share are
/// wrong.
#[test]
fn an_audit_counts_each_peers_own() {
    let cases = [
        (2, true, false, Broken::Credits(0)),
        (2, true, true, Broken::Passive(0)),
        (1, false, false, Broken::Passive(0)),
    ];
    for (depth, kept, again, broken) in cases {
        let w = served(depth, kept, again);
        let shared = w.nodes[0].driver.irq_handle().shared();
        let of = |slot: u32| shared.owner(slot);
        let (first, others): (Vec<u32>, Vec<u32>) = (0..16)
            .filter(|&slot| shared.word(slot).phase() != Phase::Free)
            .partition(|&slot| of(slot).peer_index() == 0);
        assert_eq!((first.len(), others.len()), (depth as usize, 2 * depth as usize));
        // Requests of two peers are within its share of slots, but more than it may have undecided.
        let moved = if again { depth as usize } else { others.len() };
        for &slot in others.iter().take(moved) {
            shared.assign(shared.tag(slot), of(first[0]));
        }
        assert_eq!(w.nodes[0].driver.audit(), Err(broken), "{depth} {kept} {again}");
    }
}

/// R25: pulls under way are held against the bound, too, and not only against their count.
#[test]
fn r25_an_audit_holds_pulls_against_their_bound() {
    let mut w = World::met_with(Config { pulls: 2, ..config() });
    devices(&w, 0, true, OnInvalidate::Never);
    w.node(0).audits = false;
    for _ in 0..4 {
        w.put(1, 0, 5000).unwrap();
    }
    w.settle();
    let view = w.nodes[0].driver.peer_view(0).unwrap();
    assert_eq!((view.transfers, w.nodes[0].driver.audit()), (4, Ok(())));
}

/// A GET whose pull waits for another's: live, and it owes what its queue holds.
#[test]
fn an_audit_looks_at_a_pull_that_waits() {
    let mut w = World::met_with(Config { pulls: 1, ..config() });
    devices(&w, 0, true, OnInvalidate::Never);
    for _ in 0..2 {
        w.get(0, 1, 5000).unwrap();
    }
    w.settle();
    let shared = w.nodes[0].driver.irq_handle().shared();
    let waits = |&slot: &u32| shared.word(slot).owes(Debts::CPU);
    let slots: Vec<u32> = (0..16).filter(waits).collect();
    let [slot] = slots[..] else { panic!("{slots:?}") };
    let (word, tag) = (shared.word(slot), shared.tag(slot));
    for debts in [Debts::CPU, Debts::HW, Debts(0)] {
        shared.publish(tag, owing(word, debts));
        assert_eq!(w.nodes[0].driver.audit(), Err(Broken::QueueState(slot)), "{debts:?}");
    }
    shared.publish(tag, word);
    assert_eq!(w.nodes[0].driver.audit(), Ok(()));
}
