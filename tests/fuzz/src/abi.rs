// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The C ABI: two NIs of one host, any order of calls, right and wrong, and calls out of callbacks.

// A sequence of calls under one argument reads better than one block a call.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::ptr::null_mut;

use arbitrary::{Arbitrary, Unstructured};
use lnd_ffi::abi::{
    lnd_error, lnd_message, lnd_nak_reason, lnd_request, lnd_run_state, lnd_sent_how, lnd_transfer,
    LND_NID_UNKNOWN,
};
use lnd_ffi::create::lnd_ni_destroy;
use lnd_ffi::decision::lnd_nak;
use lnd_ffi::interrupts::{lnd_interrupt, lnd_link_failed};
use lnd_ffi::messages::lnd_sent;
use lnd_ffi::peers::{lnd_link_event, lnd_peer_event};
use lnd_ffi::run::lnd_run;
use lnd_ffi::shutdown::{lnd_run_state_get, lnd_shutdown};
use lnd_ffi::stats::lnd_audit;
use lnd_ffi::submit::lnd_withdraw;

use crate::host::{Host, SECOND};
use ops::{Op, Twist};
use promises::Promises;

mod ops;
mod promises;

/// The NID of a node.
const fn nid_of(node: bool) -> u64 {
    if node {
        2
    } else {
        1
    }
}

struct World {
    hosts: [Box<Host>; 2],
    now: u64,
    next_user: u64,
    transfers: [Vec<lnd_transfer>; 2],
    paused: [bool; 2],
    /// The channel loses nothing and nothing is forged: what is promised is seen.
    reliable: bool,
    promises: Promises,
}

/// R14, R65, INV-1, INV-10, INV-15: no call does more than return an error, whatever it is given
/// and wherever it comes from; what was accepted is reported once, what was refused is not; the
/// books are right after every call; the lock is free; a shutdown ends, and what has ended is no
/// NI. Over a channel that loses nothing, what a sender is told was delivered is seen (S0-18).
pub fn abi(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let reliable = bool::arbitrary(&mut input).unwrap_or(false);
    let mut world = World {
        hosts: [Host::new(1, reliable), Host::new(2, reliable)],
        now: SECOND,
        next_user: 1,
        transfers: Default::default(),
        paused: [false; 2],
        reliable,
        promises: Promises::default(),
    };
    world.run_both();
    while let Ok(op) = Op::arbitrary(&mut input) {
        world.play(op);
        world.check();
        if input.is_empty() {
            break;
        }
    }
    if reliable {
        world.keep_promises();
    }
    world.end();
}

macro_rules! twisted {
    ($handle:expr, $twist:expr) => {{
        let mut handle = $handle;
        match $twist {
            Twist::Right => {}
            Twist::Kind(by) => handle.kind = handle.kind.wrapping_add(by | 1),
            Twist::Ni(by) => handle.ni = handle.ni.wrapping_add(by | 1),
            Twist::Generation(by) => handle.generation = handle.generation.wrapping_add(by),
            Twist::Index(by) => handle.index = handle.index.wrapping_add(by),
        }
        handle
    }};
}

mod calls;

fn pick<T: Copy + Default>(all: impl IntoIterator<Item = T>, at: u8) -> T {
    let all: Vec<T> = all.into_iter().collect();
    let at = usize::from(at) % all.len().max(1);
    all.get(at).copied().unwrap_or_default()
}

/// A handle of another kind or NI is never taken, by an NI that is one.
fn never_ok(error: lnd_error, twist: Twist) {
    if matches!(twist, Twist::Kind(_) | Twist::Ni(_)) {
        assert_ne!(error, lnd_error::LND_OK, "{twist:?}");
    }
}

impl World {
    fn host(&self, node: bool) -> &Host {
        &self.hosts[usize::from(node)]
    }

    fn user(&mut self) -> u64 {
        self.next_user += 1;
        self.next_user
    }

    fn play(&mut self, op: Op) {
        let now = self.now;
        if self.is_kept_from(&op) {
            return;
        }
        match op {
            Op::Submit { node, kind, len, nfrags, seconds } => {
                let user = self.user();
                self.submit(node, kind, len, nfrags, seconds, user);
            }
            Op::SubmitWrong { node, size, nulls, nid, link, header_len } => {
                self.submit_wrong(node, size, nulls, [nid, link, header_len]);
            }
            Op::Withdraw { node, handle, twist } => {
                let found = self.transfers[usize::from(node)].iter().copied();
                let handle: lnd_transfer = twisted!(pick(found, handle), twist);
                // SAFETY: see `Host::ni`.
                never_ok(unsafe { lnd_withdraw(self.host(node).ni(), handle, now) }, twist);
            }
            Op::Decision { node, handle, twist, give, len, seconds } => {
                self.decision(node, handle, twist, give, len, seconds);
            }
            Op::Refuse { node, handle, twist, why } => {
                let found = self.host(node).requests.borrow().clone();
                let handle: lnd_request = twisted!(pick(found, handle), twist);
                let why =
                    if why < 8 { u32::from(why) } else { lnd_nak_reason::LND_NAK_FAILED as u32 };
                // SAFETY: see `Host::ni`.
                never_ok(unsafe { lnd_nak(self.host(node).ni(), handle, why, now) }, twist);
            }
            Op::Deliver { node, again, flip } => self.deliver(node, again, flip),
            Op::Lose { node } => drop(self.host(node).wire.borrow_mut().pop_front()),
            Op::Garbage { node, link, bytes } => {
                let sender = if link < 128 { nid_of(!node) } else { LND_NID_UNKNOWN };
                self.host(node).frame_in(u32::from(link % 3), sender, &bytes, now);
            }
            Op::Sent { node, handle, twist, how } => {
                let found = self.host(node).messages.borrow().clone();
                let handle: lnd_message = twisted!(pick(found, handle), twist);
                let how = u32::from(how % 5);
                // SAFETY: see `Host::ni`.
                let error = unsafe { lnd_sent(self.host(node).ni(), handle, how, now) };
                never_ok(error, twist);
                let most = lnd_sent_how::LND_SENT_UNKNOWN as u32;
                assert!(how <= most || error != lnd_error::LND_OK);
            }
            Op::Pause { node, paused } => self.paused[usize::from(node)] = paused,
            Op::Work(rounds) => (0..rounds % 8).for_each(|_| self.work()),
            Op::Ones { node, ones } => self.host(node).ones.set(ones),
            Op::Scribble { node, word, value } => {
                self.promises.scribbled = true;
                self.host(node).scribble(word, value);
            }
            Op::Pass(micros) => self.now += u64::from(micros) * 1000,
            other => self.platform(&other),
        }
    }

    fn platform(&mut self, op: &Op) {
        let now = self.now;
        let ok = lnd_error::LND_OK;
        // SAFETY: for all of them: see `Host::ni`; pointers are null or to places of this function.
        unsafe {
            match *op {
                Op::Interrupt { node, link, budget } => {
                    let (mut more, link) = (7, u32::from(link % 4));
                    let ni = self.host(node).ni();
                    let error = lnd_interrupt(ni, link, u32::from(budget), now, &raw mut more);
                    assert!(error != ok || more <= 1);
                }
                Op::Run { node, budget } => {
                    let mut next = 0;
                    let ni = self.host(node).ni();
                    let error = lnd_run(ni, now, u32::from(budget), &raw mut next);
                    assert!(error != ok || next >= now, "R39");
                }
                Op::PeerEvent { node, nid, up } => {
                    lnd_peer_event(self.host(node).ni(), u64::from(nid % 4), u32::from(up), now);
                }
                Op::LinkEvent { node, link, up } => {
                    let link = u32::from(link % 3);
                    self.host(node).set_link(up);
                    lnd_link_event(self.host(node).ni(), link, u32::from(up), now);
                }
                Op::LinkFailed { node, link } => {
                    lnd_link_failed(self.host(node).ni(), u32::from(link % 3));
                }
                Op::Shutdown { node, millis } => {
                    let grace = now + u64::from(millis) * 1_000_000;
                    self.promises.ended[usize::from(node)] = true;
                    lnd_shutdown(self.host(node).ni(), now, grace);
                }
                Op::Destroy { node } => self.destroy(node),
                Op::Queries { node, size } => self.queries(node, size),
                Op::Send { node, answers } => self.host(node).answers.set(answers),
                Op::InInterrupt { node } => {
                    let host = self.host(node);
                    host.in_interrupt.set(true);
                    assert_ne!(lnd_run(host.ni(), now, 1, null_mut()), ok, "in an interrupt");
                    assert_ne!(lnd_shutdown(host.ni(), now, now), ok, "in an interrupt");
                    host.in_interrupt.set(false);
                }
                _ => {}
            }
        }
    }

    fn state(&self, node: bool) -> Option<u32> {
        let mut state = 0;
        // SAFETY: see `Host::ni`.
        let error = unsafe { lnd_run_state_get(self.host(node).ni(), &raw mut state) };
        (error == lnd_error::LND_OK).then_some(state)
    }

    fn destroy(&self, node: bool) {
        let host = self.host(node);
        let quiescent = self.state(node) == Some(lnd_run_state::LND_QUIESCENT as u32);
        // SAFETY: see `Host::ni`.
        let error = unsafe { lnd_ni_destroy(host.ni()) };
        if error == lnd_error::LND_OK {
            assert!(quiescent && host.open.borrow().is_empty(), "destroyed too early");
            host.dead.set(true);
        }
    }

    fn run_both(&self) {
        for host in &self.hosts {
            // SAFETY: see `Host::ni`.
            unsafe { lnd_run(host.ni(), self.now, 1000, null_mut()) };
        }
    }

    fn check(&self) {
        for host in &self.hosts {
            let wanted = if host.dead.get() { lnd_error::LND_E_NI } else { lnd_error::LND_OK };
            // SAFETY: see `Host::ni`.
            assert_eq!(unsafe { lnd_audit(host.ni()) }, wanted);
            assert_eq!(host.held.get(), 0, "the lock was left held");
        }
    }

    /// A shutdown ends, whatever has become of the other side (INV-15).
    fn end(mut self) {
        for node in [false, true] {
            self.host(node).set_link(true);
            self.host(node).ones.set(false);
            // SAFETY: see `Host::ni`.
            unsafe { lnd_shutdown(self.host(node).ni(), self.now, self.now) };
        }
        for _ in 0..100 {
            self.run_both();
            self.check();
            self.now += SECOND;
        }
        for node in [false, true] {
            let (host, quiescent) = (self.host(node), lnd_run_state::LND_QUIESCENT as u32);
            assert!(host.dead.get() || self.state(node) == Some(quiescent), "INV-15");
            assert!(host.open.borrow().is_empty(), "INV-1: never reported");
            self.destroy(node);
            assert!(host.dead.get(), "a quiescent NI can be destroyed");
        }
        self.check();
    }
}
