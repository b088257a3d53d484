// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The interrupts' halves: one of a link at a time, and what they count.

use lnd_core::counters::Counter;
use lnd_ffi::abi::{lnd_error, lnd_message};
use lnd_loom::{explore, Bound};

use super::host::{Host, Lock, BUSY, OK};

/// The second one is told so, and what it came for is taken by the first or is still there.
#[test]
fn r65_two_interrupts_of_one_link() {
    let ends = explore("interrupt ‖ interrupt, one link", Bound::Exhaustive, || {
        let host = Host::new(Lock::Broken);
        host.stale_completion(0);
        let other = host.context(2, |host| host.interrupt(0));
        let ends = [host.interrupt(0), other.join().unwrap()];
        assert!(ends.iter().all(|&end| end == OK || end == BUSY));
        let busy = ends.iter().filter(|&&end| end == BUSY).count() as u64;
        let stats = host.stats().unwrap();
        assert_eq!((stats.interrupts, stats.misuses), (2 - busy, busy));
        // R14: of no descriptor that was posted; taken once.
        assert_eq!((stats.completions, host.counter(Counter::StaleCompletion)), (1, 1));
        ends.map(|end| end as u32)
    });
    let (ok, busy) = (OK as u32, BUSY as u32);
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [[ok, ok], [ok, busy], [busy, ok]]);
}

/// Those of different links do not know of each other.
#[test]
fn r65_interrupts_of_two_links() {
    let ends = explore("interrupt ‖ interrupt, two links", Bound::Between(2, 3), || {
        let host = Host::new(Lock::Broken);
        (0..2).for_each(|link| host.stale_completion(link));
        let other = host.context(2, |host| host.interrupt(1));
        assert_eq!(host.interrupt(0), OK);
        let early = host.counter(Counter::StaleCompletion);
        assert_eq!(other.join().unwrap(), OK);
        assert_eq!((host.counter(Counter::StaleCompletion), host.bugs.get()), (2, 0));
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [1, 2]);
}

/// An end that crosses an interrupt waits for it, if it sees it; an interrupt that comes later
/// finds no NI.
#[test]
fn r65_interrupt_against_destroy() {
    let ends = explore("interrupt ‖ destroy", Bound::Exhaustive, || {
        let host = Host::new(Lock::Broken);
        host.shut_down();
        let other = host.context(2, |host| host.interrupt(0));
        let ours = host.destroy();
        let theirs = other.join().unwrap();
        match (ours, theirs) {
            (OK, OK | lnd_error::LND_E_NI) => {}
            (BUSY, OK) => assert_eq!(host.destroy(), OK),
            other => panic!("{other:?}"),
        }
        assert_eq!(host.interrupt(0), lnd_error::LND_E_NI);
        (ours == OK, theirs == OK)
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [(false, true), (true, false), (true, true)]);
}

/// Those without a lock count where others count too: nothing is lost.
#[test]
fn r14_two_ends_of_a_stale_message_against_the_reader() {
    let ends = explore("sent ‖ sent ‖ counter", Bound::Exhaustive, || {
        let host = Host::new(Lock::Excludes);
        host.submit(7);
        // The handle of a hello names nothing; that of a message that never was, is stale.
        let ni = host.submit(8).1.ni;
        let stale = lnd_message { index: 0, generation: 77, ni, kind: 0x4d47_0003 };
        let others = [2, 3].map(|me| host.context(me, move |host| host.sent(stale)));
        let early = host.counter(Counter::StaleCompletion);
        for other in others {
            assert_eq!(other.join().unwrap(), OK);
        }
        assert_eq!(host.counter(Counter::StaleCompletion), 2);
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1, 2]);
}
