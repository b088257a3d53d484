// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is done with nothing held (INV-13): who decides, whose frame it is, who runs.

use lnd_core::message::Message;
use lnd_ffi::abi::lnd_error;
use lnd_loom::{explore, Bound};

use super::host::{Host, Lock, BUSY, OK};

const REQUEST: lnd_error = lnd_error::LND_REQUEST;
const STALE: lnd_error = lnd_error::LND_E_STALE;
const MAIL: Message<'_> = Message::Immediate { header: &[], payload: &[9; 8] };

/// A request is decided by two threads: by one of them, whose copy is over before the other one is
/// told that the frame is not needed any more.
#[test]
fn inv_13_two_decisions_of_one_request() {
    let ends = explore("recv ‖ recv", Bound::Exhaustive, || {
        let host = Host::new(Lock::Excludes);
        host.handshake();
        // An earlier one, which is never decided.
        let former = host.offer(1, 1, &MAIL).1;
        let (error, request) = host.offer(1, 1, &MAIL);
        assert_eq!(error, REQUEST);
        assert_eq!(host.recv(former), STALE, "another has come by its link");
        host.frame.set(1);
        let other = host.context(2, move |host| host.recv(request));
        let ends = [host.recv(request), other.join().unwrap()];
        // The frame is ours again: loom finds here a copy that is not over.
        host.frame.set(0);
        host.run_if_woken();
        assert_eq!((host.reports.borrow().len(), host.bugs.get()), (1, 0), "taken once");
        ends.map(|end| end as u32)
    });
    let (ok, stale) = (OK as u32, STALE as u32);
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [[ok, stale], [stale, ok]]);
}

/// One undecided request a link; the one that another frame has taken the place of is offered
/// again.
#[test]
fn r65_frames_of_two_threads() {
    let ends = explore("frame ‖ frame", Bound::Between(2, 3), || {
        let host = Host::new(Lock::Excludes);
        host.handshake();
        host.frame.set(1);
        let other = host.context(2, |host| take(host, 2));
        let tries = [take(&host, 1), other.join().unwrap()];
        host.run_if_woken();
        assert_eq!((host.reports.borrow().len(), host.bugs.get()), (2, 0), "each once");
        tries
    });
    assert!(ends.contains_key(&[1, 1]) && ends.len() > 1, "{ends:?}");
}

/// Offers a request until it is taken. How often that was.
fn take(host: &Host, sequence: u32) -> u32 {
    for tries in 1..=4 {
        let (error, request) = host.offer(1, sequence, &MAIL);
        assert_eq!(error, REQUEST);
        match host.recv(request) {
            OK => return tries,
            error => assert_eq!(error, STALE),
        }
    }
    panic!("never taken")
}

/// One run at a time, although it holds nothing while it reports.
#[test]
fn r65_runs_of_two_threads() {
    let ends = explore("run ‖ run", Bound::Between(2, 3), || {
        let host = Host::new(Lock::Excludes);
        let transfer = host.submit(7).1;
        assert_eq!(host.withdraw(transfer), OK);
        let other = host.context(2, |host| host.run());
        let ends = [host.run(), other.join().unwrap()];
        assert!(ends.contains(&OK));
        assert_eq!((host.reports.borrow().len(), host.bugs.get()), (1, 0));
        ends.map(|end| end as u32)
    });
    let (ok, busy) = (OK as u32, BUSY as u32);
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [[ok, ok], [ok, busy], [busy, ok]]);
}
