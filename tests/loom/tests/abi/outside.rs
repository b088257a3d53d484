// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is called with nothing held (INV-13): who parses, whose frame it is, who runs.

use std::rc::Rc;

use core::cell::RefCell;

use lnd_core::message::Message;
use lnd_ffi::abi::lnd_error;
use lnd_loom::{explore, Bound};

use super::host::{Host, Lock, BUSY, OK};

const MAIL: Message<'_> = Message::Immediate { header: &[], payload: &[9; 8] };

/// A request is received by another thread than the one that is in `parse()`: its bytes are copied
/// out while the frame is lent, or not at all.
#[test]
fn inv_13_recv_elsewhere_against_the_end_of_parse() {
    let ends = explore("parse ‖ recv", Bound::Exhaustive, || {
        let host = Host::new(Lock::Excludes);
        host.greet();
        host.frame.set(1);
        let receiver = Rc::new(RefCell::new(None));
        let (there, spawned) = (Rc::clone(&host), Rc::clone(&receiver));
        *host.on_parse.borrow_mut() = Some(Box::new(move |request| {
            *spawned.borrow_mut() = Some(there.context(2, move |host| host.recv(request)));
        }));
        assert_eq!(host.frame_in(1, 1, &MAIL), OK);
        // The frame is ours again: loom finds here a copy that is not over, `mem_write` a later one.
        host.frame.set(0);
        let receiver = receiver.borrow_mut().take().unwrap();
        let received = receiver.join().unwrap();
        host.run_if_woken();
        let reports = host.reports.borrow().len();
        assert_eq!(reports, usize::from(received == OK), "reported if it was taken");
        assert_eq!(host.bugs.get(), 0);
        received as u32
    });
    // Without its frame a request has no bytes.
    let all = [OK as u32, lnd_error::LND_E_TOO_LONG as u32];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

/// One `parse()` at a time; the frame that finds another one there is not lost.
#[test]
fn r65_frames_of_two_threads() {
    let ends = explore("frame ‖ frame", Bound::Between(2, 3), || {
        let host = Host::new(Lock::Excludes);
        host.greet();
        let other = host.context(2, |host| host.frame_in(1, 2, &MAIL));
        let ends = [(1, host.frame_in(1, 1, &MAIL)), (2, other.join().unwrap())];
        for (sequence, end) in ends {
            assert!(end == OK || end == BUSY, "{end:?}");
            if end == BUSY {
                assert_eq!(host.frame_in(1, sequence, &MAIL), OK);
            }
        }
        assert_eq!(host.parsed.borrow().len(), 2, "each once");
        assert_eq!(host.bugs.get(), 0);
        ends.map(|(_, end)| end as u32)
    });
    let (ok, busy) = (OK as u32, BUSY as u32);
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [[ok, ok], [ok, busy], [busy, ok]]);
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
