// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The thread's half: two threads, with a lock and with one that does not exclude; the end.

use lnd_ffi::abi::lnd_error;
use lnd_loom::{explore, Bound};

use super::host::{Host, Lock, BUSY, OK};

#[test]
fn r65_two_threads_with_a_lock() {
    let ends = explore("submit ‖ submit, locked", Bound::Exhaustive, || {
        let host = Host::new(Lock::Excludes);
        let other = host.context(2, |host| host.submit(2));
        let ours = host.submit(1);
        let theirs = other.join().unwrap();
        assert_eq!((ours.0, theirs.0), (OK, OK), "the second one waits");
        assert_ne!(ours.1, theirs.1);
        assert_eq!((host.stats().unwrap().active, host.bugs.get()), (2, 0));
        host.first()
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn r65_two_threads_with_a_lock_that_does_not_exclude() {
    let ends = explore("submit ‖ submit, not locked", Bound::Exhaustive, || {
        let host = Host::new(Lock::Broken);
        let other = host.context(2, |host| host.submit(2).0);
        let ends = (host.submit(1).0, other.join().unwrap());
        let busy = [ends.0, ends.1].iter().filter(|&&end| end == BUSY).count() as u32;
        let stats = host.stats().unwrap();
        assert_eq!((stats.active, stats.misuses), (2 - busy, u64::from(busy)));
        assert_eq!(host.bugs.get(), busy);
        (ends.0 as u32, ends.1 as u32)
    });
    let (ok, busy) = (OK as u32, BUSY as u32);
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [(ok, ok), (ok, busy), (busy, ok)]);
}

/// Calls that do nothing which could order them but to enter and to leave.
#[test]
fn r65_two_looks_with_a_lock_that_does_not_exclude() {
    let ends = explore("stats ‖ stats, not locked", Bound::Exhaustive, || {
        let host = Host::new(Lock::Broken);
        let other = host.context(2, |host| host.stats().map(|stats| stats.active));
        let ours = host.stats().map(|stats| stats.active);
        let theirs = other.join().unwrap();
        assert!([ours, theirs].iter().all(|&end| end == Ok(0) || end == Err(BUSY)));
        (ours.is_ok(), theirs.is_ok())
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [(false, true), (true, false), (true, true)]);
}

/// The call that waits for the lock while the NI is destroyed finds none any more.
#[test]
fn r65_thread_call_against_destroy() {
    let ends = explore("stats ‖ destroy", Bound::Exhaustive, || {
        let host = Host::new(Lock::Excludes);
        host.shut_down();
        let other = host.context(2, |host| host.destroy());
        let ours = host.stats().map(|_| ());
        assert_eq!(other.join().unwrap(), OK);
        let first = host.first();
        let waited = first == 2 && host.order.borrow().len() == 2;
        assert_eq!(ours, if first == 1 { Ok(()) } else { Err(lnd_error::LND_E_NI) });
        assert_eq!(host.stats().map(|_| ()), Err(lnd_error::LND_E_NI));
        (first, waited)
    });
    // Before; after, without looking for the lock; after having waited.
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [(1, false), (2, false), (2, true)]);
}

/// An NI is not destroyed while a thread is between two halves of a run.
#[test]
fn r65_run_against_destroy() {
    let ends = explore("run ‖ destroy", Bound::Between(2, 3), || {
        let host = Host::new(Lock::Excludes);
        host.shut_down();
        let other = host.context(2, |host| host.destroy());
        let ours = host.run();
        let theirs = other.join().unwrap();
        assert_eq!(host.bugs.get(), 0);
        match (ours, theirs) {
            (OK, BUSY) => assert_eq!(host.destroy(), OK),
            (OK | lnd_error::LND_E_NI, OK) => assert_eq!(host.destroy(), lnd_error::LND_E_NI),
            other => panic!("{other:?}"),
        }
        (ours == OK, theirs == OK)
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [(false, true), (true, false), (true, true)]);
}
