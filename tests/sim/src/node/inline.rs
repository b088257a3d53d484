// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages that came whole: received while the driver waits for what the upper layer decides.

use lnd_core::driver::{Arrival, Immediate, Receive, Received, Role};
use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid};
use lnd_core::message::{Envelope, NakReason};
use lnd_core::ports::{Channel, Ports, Tracer};
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Place, Policy, Status};

use super::glue::Node;
use super::loans::Loans;
use super::stats::Stats;
use crate::fabric::{node_of, Lease};
use crate::lnet::{Decision, Lnet};

impl<C: Channel, T: Tracer> Node<'_, C, T> {
    /// Offers an inline message as the next one of its peer, which needs no look at what else it
    /// might be (decision 0031). `false`: nothing was done, and the usual way decides.
    pub(super) fn on_next(
        &mut self,
        now: Instant,
        link: LinkId,
        envelope: &Envelope,
        (header, payload): (&[u8], &[u8]),
    ) -> bool {
        // What is to be kept needs a slot.
        if self.keeping.is_some() {
            return false;
        }
        let deadline = now.after(self.timeout());
        let Some(next) = self.driver.on_immediate(now, link, envelope, payload) else {
            return false;
        };
        self.asked = true;
        let tracked = self
            .tracking
            .as_ref()
            .and_then(|oracle| oracle.borrow_mut().seen(node_of(next.from())?, self.node, header));
        let offered = Whole::Next(header, next);
        let inline =
            receive_inline(offered, deadline, &mut self.lnet, &mut self.loans, &mut self.stats);
        self.received_inline(inline, tracked);
        true
    }

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

/// An inline message that the driver offers, by either entry.
pub(super) enum Whole<'d, 'm, 'f, P: Ports> {
    /// As any request.
    Any(Arrival<'d, 'm, 'f, P>),
    /// As the next one of its peer, with its header.
    Next(&'f [u8], Immediate<'d, 'm, 'f, P>),
}

impl<P: Ports> Whole<'_, '_, '_, P> {
    fn from(&self) -> Nid {
        match self {
            Self::Any(it) => it.from(),
            Self::Next(_, it) => it.from(),
        }
    }

    fn header(&self) -> &[u8] {
        match self {
            Self::Any(it) => it.header(),
            Self::Next(header, _) => header,
        }
    }

    fn length(&self) -> u32 {
        match self {
            Self::Any(it) => it.length(),
            Self::Next(_, it) => it.length(),
        }
    }

    fn nak(self, why: NakReason) {
        match self {
            Self::Any(it) => it.nak(why),
            Self::Next(_, it) => it.nak(),
        }
    }

    /// Receives it. `None`: it was not received at once.
    fn recv(self, sink: &[Fragment], length: u32, deadline: Instant, user: u64) -> Option<Status> {
        match self {
            Self::Any(it) => match it.recv(&Receive { sink, length, deadline, user }) {
                Ok(Received::Done(status)) => Some(status),
                Ok(Received::Pending(_)) | Err(_) => None,
            },
            Self::Next(_, it) => it.recv(sink, length).ok(),
        }
    }
}

/// Asks the upper layer about an inline message, while the driver waits for what it says.
pub(super) fn receive_inline<P: Ports>(
    offered: Whole<'_, '_, '_, P>,
    deadline: Instant,
    lnet: &mut Lnet,
    loans: &mut Loans<'_>,
    stats: &mut Stats,
) -> Option<Inline> {
    let from = offered.from();
    let (id, sink, length) = match lnet.on_request(from, offered.header(), offered.length(), false)
    {
        Decision::Recv { id, sink, length } => (id, sink, length),
        Decision::Refuse(why) => {
            offered.nak(why);
            return None;
        }
        Decision::Reply { id, .. } => {
            stats.violations.push(format!("message {id} is an answer to what asks for nothing"));
            return None;
        }
    };
    stats.violations.extend(loans.lend(id, from, &sink, Lease::Write));
    let status = offered.recv(&sink, length, deadline, id).unwrap_or_else(|| {
        stats.violations.push(format!("message {id} came whole and was not received"));
        Status::of(Policy::Seed, Cause::Local, Place::Queue)
    });
    Some(Inline { id, status, length })
}
