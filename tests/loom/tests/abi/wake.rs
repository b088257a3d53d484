// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The word that says whether the thread has been woken: a run sees what was done before, or there
//! will be another one (INV-15). And a link's news, which go by it.

use lnd_loom::{explore, Bound};

use super::host::{Host, Lock, OK};

/// What an interrupt leaves for the thread.
#[test]
fn inv_15_link_event_against_run() {
    let ends = explore("interrupt with news ‖ run", Bound::Between(2, 2), || {
        let host = Host::new(Lock::Broken);
        host.link_breaks(0);
        let other = host.context(2, |host| host.interrupt(0));
        assert_eq!(host.run(), OK);
        let early = !host.link_is_up(0);
        assert_eq!(other.join().unwrap(), OK);
        host.run_if_woken();
        assert!(!host.link_is_up(0), "no thread has looked at the link");
        assert!(host.link_is_up(1));
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}

/// What an interrupt leaves for a run that was called for before: there is no second call.
#[test]
fn inv_15_link_event_against_a_run_that_was_called_for() {
    let ends = explore("interrupt with news ‖ woken run", Bound::Between(2, 2), || {
        let host = Host::new(Lock::Broken);
        assert_eq!(host.submit(7).0, OK);
        host.link_breaks(0);
        let other = host.context(2, |host| host.interrupt(0));
        assert!(host.run_if_woken());
        let early = !host.link_is_up(0);
        assert_eq!(other.join().unwrap(), OK);
        let again = host.run_if_woken();
        assert!(!host.link_is_up(0), "no thread has looked at the link");
        (early, again)
    });
    let all = [(false, true), (true, false), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

/// What another thread leaves, under the lock.
#[test]
fn inv_15_withdraw_against_run() {
    let ends = explore("withdraw ‖ run", Bound::Between(2, 3), || {
        let host = Host::new(Lock::Excludes);
        let (error, transfer) = host.submit(7);
        assert_eq!((error, host.run_if_woken()), (OK, true));
        let other = host.context(2, move |host| host.withdraw(transfer));
        assert_eq!(host.run(), OK);
        let early = host.reports.borrow().len();
        assert_eq!(other.join().unwrap(), OK);
        host.run_if_woken();
        assert_eq!(*host.reports.borrow(), [7], "reported once");
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1]);
}

/// What the platform knows of a link, in any context.
#[test]
fn inv_15_link_failed_against_run() {
    let ends = explore("link failed ‖ run", Bound::Exhaustive, || {
        let host = Host::new(Lock::Broken);
        let other = host.context(2, |host| host.link_failed(0));
        assert_eq!(host.run(), OK);
        let early = !host.link_is_up(0);
        assert_eq!(other.join().unwrap(), OK);
        host.run_if_woken();
        assert!(!host.link_is_up(0), "no thread has looked at the link");
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}
