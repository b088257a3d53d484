// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One thing that may happen next.

use lnd_core::message::Lane;
use lnd_core::ports::{Returned, Sent};

/// What the upper layer says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Take it, or give what is asked for.
    Take,
    /// Refuse it.
    Refuse,
    /// Keep the ticket for later.
    Later,
}

/// One thing that may happen. Nodes are 0 and 1; a lane is named by its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The node's upper layer submits its next message.
    Submit(usize),
    /// The oldest frame of a lane arrives.
    Deliver(usize, Lane, Decision),
    /// The oldest frame of a lane arrives, and stays in the lane.
    DeliverTwice(usize, Lane, Decision),
    /// The oldest frame of a lane is lost.
    Lose(usize, Lane, Sent),
    /// The oldest frame of a lane arrives, and its sender is told that it is not known.
    Unverified(usize, Lane),
    /// The channel tells the node how its oldest message that was not told yet ended.
    Told(usize),
    /// The upper layer decides on the oldest ticket that it has put off.
    Decide(usize, Decision),
    /// The engine is done with the descriptor of a slot.
    Return(usize, u32, Returned),
    /// As `Return`, reported twice.
    Repeat(usize, u32),
    /// The node takes one completion, in an interrupt.
    Interrupt(usize),
    /// The engine stops, having been asked to.
    Stopped(usize),
    /// The node looks at the clock.
    OnTime(usize),
    /// The clock runs on to the next deadline.
    Tick,
    /// The node's upper layer gives up the first of its transfers.
    Withdraw(usize),
    /// The node hears in an interrupt that the other is down.
    PeerDown(usize),
    /// The node hears in an interrupt that its link has failed.
    LinkDown(usize),
    /// The node hears that its connection has failed.
    ConnectionDown(usize),
    /// The connection stops, having been asked to.
    Disconnected(usize),
    /// The node dies and comes back as another incarnation.
    Restarted(usize),
    /// The node begins to shut down.
    Shutdown(usize),
    /// The node does not run from now on, whatever the clock says.
    Pause(usize),
    /// The node runs again.
    Resume(usize),
    /// The node's link fails, which the node hears in an interrupt, and does not work.
    Unplug(usize),
    /// The node's link works again.
    Plug(usize),
}

impl Action {
    /// The node whose software runs for this, if one does.
    pub(crate) const fn runs(self) -> Option<usize> {
        match self {
            Self::Submit(node)
            | Self::Told(node)
            | Self::Decide(node, _)
            | Self::Interrupt(node)
            | Self::OnTime(node)
            | Self::Withdraw(node)
            | Self::PeerDown(node)
            | Self::LinkDown(node)
            | Self::ConnectionDown(node)
            | Self::Shutdown(node)
            | Self::Unplug(node)
            | Self::Pause(node) => Some(node),
            Self::Deliver(from, ..) | Self::DeliverTwice(from, ..) | Self::Unverified(from, _) => {
                Some(1 - from)
            }
            Self::Lose(..)
            | Self::Return(..)
            | Self::Repeat(..)
            | Self::Stopped(_)
            | Self::Disconnected(_)
            | Self::Tick
            | Self::Restarted(_)
            | Self::Resume(_)
            | Self::Plug(_) => None,
        }
    }
}
