// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps messages between their arrival and the driver.

use heapless::Deque;

use crate::base::id::LinkId;
use crate::base::message::{Envelope, Lane, Message};
use crate::base::owned::OwnedMessage;
use crate::base::time::Instant;
use crate::ports::{ChannelFull, Ports};
use crate::rx::arrival::{Arrival, Inbound};
use crate::shard::Driver;

/// The messages of one peer on one link that the driver has not taken: `PLACES` of each lane, with
/// payloads of at most `PAYLOAD` bytes. One for each peer and link, because a request that waits
/// holds up those behind it.
///
/// ```
/// use lnd_core::host::Backlog;
/// use lnd_core::id::{Incarnation, Nid};
/// use lnd_core::message::{Envelope, Lane, Message};
///
/// let envelope = Envelope {
///     from: Nid::from_raw(1).unwrap(),
///     to: Nid::from_raw(2).unwrap(),
///     from_incarnation: Incarnation::from_raw(7).unwrap(),
///     to_incarnation: None,
///     session: 1,
///     sequence: 1,
///     credits: 0,
///     credits_of: 0,
/// };
/// let mut mail = Backlog::<64, 1>::new();
/// mail.push(&envelope, &Message::Close).unwrap();
/// assert!(mail.push(&envelope, &Message::Noop).is_err());
/// assert!(!mail.has_room(Lane::Control) && mail.has_room(Lane::Request));
/// ```
#[derive(Debug, Default)]
pub struct Backlog<const PAYLOAD: usize, const PLACES: usize> {
    control: Deque<OwnedMessage<PAYLOAD>, PLACES>,
    requests: Deque<OwnedMessage<PAYLOAD>, PLACES>,
}

impl<const PAYLOAD: usize, const PLACES: usize> Backlog<PAYLOAD, PLACES> {
    /// Without a message.
    pub const fn new() -> Self {
        Self { control: Deque::new(), requests: Deque::new() }
    }

    /// Whether a lane has room for one more message:
    /// [`Channel::ready`](crate::ports::Channel::ready) of its sender.
    pub fn has_room(&self, lane: Lane) -> bool {
        match lane {
            Lane::Control => !self.control.is_full(),
            Lane::Request => !self.requests.is_full(),
        }
    }

    /// Keeps a message behind the earlier ones of its lane.
    ///
    /// # Errors
    /// [`ChannelFull`]: the lane has no room, or the message is too long. Nothing was kept.
    pub fn push(&mut self, envelope: &Envelope, message: &Message<'_>) -> Result<(), ChannelFull> {
        let kept = OwnedMessage::new(envelope, message).ok_or(ChannelFull)?;
        let lane = match message.lane() {
            Lane::Control => &mut self.control,
            Lane::Request => &mut self.requests,
        };
        lane.push_back(kept).map_err(|_| ChannelFull)
    }

    /// Passes on what has arrived on `link`: all of the control lane, then requests in their order
    /// until one has to wait. Returns whether one does: it stays, and is offered by the next call.
    ///
    /// `decide` is the upper layer's decision about a request. It returns whether it has decided; a
    /// request that it has dropped stays.
    ///
    /// A host that sleeps while a request waits calls this when [`Driver::offer_again`] returns
    /// `true`, and after each arrival. With more than one link it does so for every link.
    pub fn offer<P: Ports>(
        &mut self,
        now: Instant,
        link: LinkId,
        driver: &mut Driver<'_, P>,
        mut decide: impl FnMut(Arrival<'_, '_, '_, P>) -> bool,
    ) -> bool {
        // Answers first: they return the credits and slots that requests wait for, and wait for
        // nothing themselves (INV-11).
        while let Some(kept) = self.control.pop_front() {
            let _ = driver.on_message(now, link, kept.envelope(), &kept.message());
        }
        while let Some(kept) = self.requests.front() {
            let taken = match driver.on_message(now, link, kept.envelope(), &kept.message()) {
                Inbound::Handled => true,
                Inbound::Wait => false,
                Inbound::Request(arrival) => decide(arrival),
            };
            if !taken {
                return true;
            }
            self.requests.pop_front();
        }
        false
    }
}
