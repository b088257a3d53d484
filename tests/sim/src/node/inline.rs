// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages that came whole: received while the driver waits for what the upper layer decides.

use lnd_core::driver::{Arrival, Receive, Received, Role};
use lnd_core::ports::{Channel, Ports, Tracer};
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Place, Policy, Status};

use super::glue::Node;
use super::loans::Loans;
use super::stats::Stats;
use crate::fabric::Lease;
use crate::lnet::{Decision, Lnet};

impl<C: Channel, T: Tracer> Node<'_, C, T> {
    /// What came whole has ended: a transfer that was accepted and reported in one.
    pub(super) fn received_inline(&mut self, inline: Option<Inline>, tracked: Option<usize>) {
        let Some(Inline { id, status, length }) = inline else { return };
        self.stats.accepted += 1;
        if let Some(at) = tracked {
            self.tracked.insert(id, at);
        }
        self.ended(id, Role::InlineSink, (status, length), None);
    }
}

/// An inline message that was taken.
pub(super) struct Inline {
    pub id: u64,
    pub status: Status,
    pub length: u32,
}

/// Asks the upper layer about an inline message, while the driver waits for what it says.
pub(super) fn receive_inline<P: Ports>(
    arrival: Arrival<'_, '_, '_, P>,
    deadline: Instant,
    lnet: &mut Lnet,
    loans: &mut Loans<'_>,
    stats: &mut Stats,
) -> Option<Inline> {
    let from = arrival.from();
    let (id, sink, length) = match lnet.on_request(from, arrival.header(), arrival.length(), false)
    {
        Decision::Recv { id, sink, length } => (id, sink, length),
        Decision::Refuse(why) => {
            arrival.nak(why);
            return None;
        }
        Decision::Reply { id, .. } => {
            stats.violations.push(format!("message {id} is an answer to what asks for nothing"));
            return None;
        }
    };
    stats.violations.extend(loans.lend(id, from, &sink, Lease::Write));
    let status = match arrival.recv(&Receive { sink: &sink, length, deadline, user: id }) {
        Ok(Received::Done(status)) => status,
        Ok(Received::Pending(_)) | Err(_) => {
            stats.violations.push(format!("message {id} came whole and was not received"));
            Status::of(Policy::Seed, Cause::Local, Place::Queue)
        }
    };
    Some(Inline { id, status, length })
}
