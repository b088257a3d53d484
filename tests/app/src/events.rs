// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver's trace as events of the crate `tracing`, with fields: for programs that have a
//! subscriber already. Only with feature `tracing`; the core knows nothing of it.

use lnd_core::id::Tag;
use lnd_core::link::LinkState;
use lnd_core::ports::Tracer;
use lnd_core::time::Instant;
use lnd_core::trace::Trace;
use tracing::{debug, info, trace, warn};

/// A tracer that gives every record to the present subscriber, and then to another tracer.
///
/// Ends with an error and links that are not up are warnings; other ends, peers and links are
/// information; what is accepted or posted is for debugging, the rest for tracing. The target of
/// all is `lnd`. Times are the driver's, in nanoseconds: the field `at`.
///
/// ```
/// use lnd_app::events::Events;
/// use lnd_core::ports::{NoTrace, Tracer};
/// use lnd_core::time::Instant;
/// use lnd_core::trace::Trace;
///
/// let tag = lnd_core::id::Tag { index: 3, generation: 7 };
/// // Without a subscriber nothing is written, and a record costs a comparison.
/// Events(NoTrace).record(Instant::ORIGIN, Trace::Stale { tag });
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Events<T>(pub T);

/// A transfer, as `lnd decode` and the observer write it.
fn name(tag: Tag) -> String {
    format!("{}/{}", tag.index, tag.generation)
}

impl<T: Tracer> Tracer for Events<T> {
    fn record(&mut self, now: Instant, record: Trace) {
        publish(now.as_nanos(), record);
        self.0.record(now, record);
    }
}

fn publish(at: u64, record: Trace) {
    match record {
        Trace::Accepted { tag, peer, length } => {
            debug!(target: "lnd", at, transfer = name(tag), %peer, length, "accepted");
        }
        Trace::Step { tag, event, after, .. } => {
            trace!(target: "lnd", at, transfer = name(tag), ?event, %after, "step");
        }
        Trace::Posted { tag, link } => {
            debug!(target: "lnd", at, transfer = name(tag), link = link.index(), "posted");
        }
        Trace::Finalized { tag, status } if status.errno != 0 => {
            let (errno, class) = (status.errno, status.health);
            let (evidence, delivery) = (status.evidence, status.delivery);
            warn!(target: "lnd", at, transfer = name(tag), errno, ?class, ?delivery, ?evidence,
                "failed");
        }
        Trace::Finalized { tag, .. } => {
            info!(target: "lnd", at, transfer = name(tag), "finalized");
        }
        Trace::Ended { peer, sequence, length, status } if status.errno != 0 => {
            let (errno, class) = (status.errno, status.health);
            warn!(target: "lnd", at, %peer, sequence, length, errno, ?class, "failed");
        }
        Trace::Ended { peer, sequence, length, .. } => {
            info!(target: "lnd", at, %peer, sequence, length, "ended");
        }
        Trace::Peer { peer, state } => info!(target: "lnd", at, %peer, ?state, "peer"),
        Trace::Link { link, state: LinkState::Up } => {
            info!(target: "lnd", at, link = link.index(), "link is up");
        }
        Trace::Link { link, state } => {
            warn!(target: "lnd", at, link = link.index(), ?state, "link");
        }
        Trace::Connection { connection, state } => {
            let (peer, link) = (connection.peer, connection.link.index());
            warn!(target: "lnd", at, %peer, link, ?state, "connection");
        }
        Trace::Stale { tag } => trace!(target: "lnd", at, transfer = name(tag), "stale"),
        Trace::Invalidated { tag, link } => {
            debug!(target: "lnd", at, transfer = name(tag), link = link.index(), "invalidated");
        }
        Trace::Reclaimed { tag, link, real } => {
            debug!(target: "lnd", at, transfer = name(tag), link = link.index(), real, "reclaimed");
        }
        Trace::Sent { to, link, lane, sequence } => {
            trace!(target: "lnd", at, peer = %to, link = link.index(), ?lane, sequence, "sent");
        }
        Trace::Received { from, lane, sequence, taken } => {
            trace!(target: "lnd", at, peer = %from, ?lane, sequence, taken, "received");
        }
    }
}
