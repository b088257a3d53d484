// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The world whose channel loses nothing and in which nothing is forged: what senders were told,
//! and what the upper layers have seen.

use std::collections::BTreeMap;
use std::ptr::null_mut;

use lnd_ffi::abi::{lnd_delivery, lnd_error, lnd_lane, lnd_nak_reason, lnd_sent_how};
use lnd_ffi::decision::lnd_nak;
use lnd_ffi::messages::lnd_sent;
use lnd_ffi::run::lnd_run;

use super::{nid_of, Op, Twist, World};
use crate::host::SECOND;

/// What was accepted, by the number that its header and its report have.
#[derive(Debug, Default)]
pub(super) struct Promises {
    /// Whether its payload must be pulled, by engines that move nothing.
    messages: BTreeMap<u64, bool>,
    /// A node has begun to shut down.
    pub ended: [bool; 2],
    /// Completions may have been forged.
    pub scribbled: bool,
}

impl Promises {
    pub fn accepted(&mut self, number: u64, pulled: bool) {
        self.messages.insert(number, pulled);
    }
}

impl World {
    /// Whether an operation does not occur: of a node that pauses, or one that would be a loss or a
    /// lie where there are none.
    pub(super) fn is_kept_from(&self, op: &Op) -> bool {
        let lie = match op {
            Op::Lose { .. } | Op::Garbage { .. } => true,
            Op::Sent { twist, how, .. } => {
                *twist != Twist::Right
                    || u32::from(how % 5) == lnd_sent_how::LND_SENT_NOT_DELIVERED as u32
            }
            _ => false,
        };
        let by = match *op {
            Op::Submit { node, .. }
            | Op::SubmitWrong { node, .. }
            | Op::Withdraw { node, .. }
            | Op::Decision { node, .. }
            | Op::Refuse { node, .. }
            | Op::Sent { node, .. }
            | Op::Interrupt { node, .. }
            | Op::Run { node, .. }
            | Op::PeerEvent { node, .. }
            | Op::LinkEvent { node, .. }
            | Op::LinkFailed { node, .. }
            | Op::Shutdown { node, .. }
            | Op::Destroy { node } => Some(node),
            Op::Deliver { node, .. } => Some(!node),
            _ => None,
        };
        self.reliable && lie || by.is_some_and(|node| self.paused[usize::from(node)])
    }

    /// Offers the oldest frames of a lane that `node` has sent, up to `most`: what must wait stays.
    pub(super) fn offer(&self, node: bool, lane: u32, most: usize) {
        let to = self.host(!node);
        for _ in 0..most {
            let mut wire = self.host(node).wire.borrow_mut();
            let Some(at) = wire.iter().position(|frame| frame.1 == lane) else { return };
            let Some(frame) = wire.remove(at) else { return };
            drop(wire);
            let (link, _, bytes) = &frame;
            let error = to.frame_in(*link, nid_of(node), bytes, self.now);
            if error == lnd_error::LND_E_WAIT {
                self.host(node).wire.borrow_mut().insert(at, frame);
                return;
            }
        }
    }

    /// A round in which everything goes on as it should. Frames come before the clock, as in a
    /// host.
    pub(super) fn work(&mut self) {
        for node in [false, true].into_iter().filter(|node| !self.paused[usize::from(!node)]) {
            self.offer(node, lnd_lane::LND_LANE_CONTROL as u32, 64);
            self.offer(node, lnd_lane::LND_LANE_REQUEST as u32, 64);
        }
        for node in [false, true].into_iter().filter(|node| !self.paused[usize::from(*node)]) {
            let host = self.host(node);
            for message in std::mem::take(&mut *host.messages.borrow_mut()) {
                let how = lnd_sent_how::LND_SENT_OK as u32;
                // SAFETY: see `Host::ni`.
                unsafe { lnd_sent(host.ni(), message, how, self.now) };
            }
            // SAFETY: see `Host::ni`.
            unsafe { lnd_run(host.ni(), self.now, 1000, null_mut()) };
        }
    }

    /// Both run, links and devices work, no request is kept; then what was promised was seen.
    pub(super) fn keep_promises(&mut self) {
        self.paused = [false; 2];
        for host in &self.hosts {
            host.set_link(true);
            host.ones.set(false);
            host.answers.set(0);
        }
        for _ in 0..200 {
            for host in &self.hosts {
                for request in std::mem::take(&mut *host.requests.borrow_mut()) {
                    let why = lnd_nak_reason::LND_NAK_NO_MATCH as u32;
                    // SAFETY: see `Host::ni`.
                    unsafe { lnd_nak(host.ni(), request, why, self.now) };
                }
            }
            self.work();
            if self
                .hosts
                .iter()
                .all(|host| host.wire.borrow().is_empty() && host.open.borrow().is_empty())
            {
                break;
            }
            self.now += SECOND / 2;
        }
        for (number, host) in self.hosts.iter().enumerate() {
            let seen = self.hosts[1 - number].seen.borrow();
            for report in &*host.reports.borrow() {
                let Some(&pulled) = self.promises.messages.get(&report.user) else { continue };
                let good = report.error == 0;
                assert!(
                    !good || !pulled || self.promises.scribbled,
                    "no byte was moved: {report:?}"
                );
                let promised = good || report.delivery == lnd_delivery::LND_DELIVERED as u32;
                let denied = report.delivery == lnd_delivery::LND_NOT_DELIVERED as u32;
                let excused = self.promises.ended != [false; 2];
                let there = seen.contains(&report.user);
                assert!(
                    !promised || there || excused,
                    "delivered, and never seen (S0-18): {report:?}"
                );
                assert!(!denied || !there || pulled, "seen, and not delivered (S0-18): {report:?}");
            }
        }
    }
}
