// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Connections that go down by themselves, and what the link's other peers may see of it: nothing.

use std::collections::BTreeSet;

use lnd_core::id::LinkId;
use lnd_core::time::Span;
use lnd_core::transfer::Cause;
use lnd_dma::descriptor::State;
use lnd_dma::memory::LinkMemory;

use super::plan::{HostFaults, Plan, Scheduled, What};
use super::world::World;
use crate::fabric::nid_of;
use crate::lnet::SendEnd;
use crate::simulator::book::Record;
use crate::simulator::event::{Event, Fault};
use crate::simulator::fail::Violation;
use crate::simulator::fault_rates::{EngineFaults, MessageFaults};
use crate::simulator::layer::Running;

impl Plan {
    /// The nodes between which connections fail, the smaller number first, if that is all that
    /// happens.
    fn only_cuts(&self) -> Option<BTreeSet<(u32, u32)>> {
        let calm = self.messages == MessageFaults::default()
            && self.engine == EngineFaults::default()
            && self.hosts == HostFaults::default()
            && self.windows.is_empty()
            && self.byzantine.is_none()
            && !self.events.is_empty();
        let pair = |it: &Scheduled| {
            let peer = it.peer.filter(|_| it.what == What::ConnectionDown)?;
            Some((it.node.min(peer), it.node.max(peer)))
        };
        self.events.iter().map(pair).collect::<Option<_>>().filter(|_| calm)
    }
}

/// How often it is looked whether something moves on a connection.
const LOOK: Span = Span::from_micros(50);

/// Whether a descriptor of a connection is out.
fn moves(memory: &LinkMemory<'_>, peer: u32) -> bool {
    let all = (0..memory.geometry().descriptors).filter_map(|at| memory.descriptor(at));
    all.filter(|it| it.read().node == peer)
        .any(|it| it.own().is(State::Owned) || it.own().is(State::Busy))
}

impl World<'_> {
    /// A node is told that a connection has failed: as soon as something moves on it, and at the
    /// latest after the event's time.
    pub(super) fn connection_down(&mut self, it: Scheduled) {
        let (Some(peer), Some(link)) = (it.peer, LinkId::new(it.link as usize)) else { return };
        let now = self.now;
        let late = now >= self.start.after(Span::from_millis(u64::from(it.at_ms + it.for_ms)));
        let Some(incarnation) = self.incarnation(it.node) else { return };
        if !late
            && !incarnation.port(link.index()).is_some_and(|port| moves(&port.device.memory, peer))
        {
            self.queue.push(now.after(LOOK), Event::Fault(Fault::Begin(it)));
            return;
        }
        incarnation.node.driver.on_connection_down(now, link, nid_of(peer));
        self.tally.count("connections down");
        self.wake(it.node);
    }

    /// Requests between nodes whose connections did not fail, where nothing else happened.
    pub(super) fn bystanders(&self) -> impl Iterator<Item = (u64, &Record)> {
        let cut = self.layer.setup.plan.only_cuts().filter(|_| !self.layer.setup.routed);
        self.book.records().filter(move |(_, it)| {
            let pair = (it.from.min(it.to), it.from.max(it.to));
            cut.as_ref().is_some_and(|cut| !cut.contains(&pair))
        })
    }

    /// They end OK, or the destination has refused them, or their user did not want them any more.
    pub(super) fn bystanders_end_well(&self) -> Result<(), Violation> {
        for (number, record) in self.bystanders() {
            let fine = match record.end {
                Some(SendEnd::Finalized(status)) => status.evidence.is_none_or(|(cause, _)| {
                    matches!(cause, Cause::Refused | Cause::Withdrawn | Cause::Local)
                }),
                Some(SendEnd::Refused | SendEnd::Cancelled) | None => true,
            };
            if !fine {
                let what = format!("S0-10: request {number} is of no connection that failed");
                return Err(Violation::at(record.from, format!("{what}: {:?}", record.end)));
            }
        }
        Ok(())
    }
}
