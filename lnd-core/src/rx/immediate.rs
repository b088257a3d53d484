// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file receives the usual short message at once: the next one of a peer, inline, that needs
//! no slot and has ended when the call returns (decision 0031).
//!
//! A message that is not of this kind goes through [`on_message`](Driver::on_message). So does one
//! that the upper layer does not want to receive at once: until it is received nothing has changed.

use core::fmt;

use super::request::Offer;
use crate::base::counters::Counter;
use crate::base::fragment::Fragment;
use crate::base::id::{LinkId, Nid, PeerId};
use crate::base::message::{Envelope, Lane};
use crate::base::time::Instant;
use crate::machines::peer::window::SequenceCheck;
use crate::machines::transfer::{Cause, Place, Status};
use crate::peers::Heard;
use crate::ports::trace::Trace;
use crate::ports::{Ports, Tracer};
use crate::shard::{Driver, RunState};
use crate::tx::{scatter, Why};

/// A peer's next message, inline, with the driver that waits for the upper layer's decision. One
/// that is dropped has changed nothing.
#[must_use = "a peer's message needs a decision"]
pub struct Immediate<'d, 'm, 'f, P: Ports> {
    driver: &'d mut Driver<'m, P>,
    now: Instant,
    peer: PeerId,
    /// The sender and the message's number, for the trace.
    from: (Nid, u32),
    /// The sender's count of our requests in the present session.
    credits: u16,
    payload: &'f [u8],
}

impl<P: Ports> fmt::Debug for Immediate<'_, '_, '_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.payload.len();
        f.debug_struct("Immediate").field("length", &length).finish_non_exhaustive()
    }
}

impl<'m, P: Ports> Driver<'m, P> {
    /// Offers an IMMEDIATE that has arrived on `link`, if it is the next one of an admitted peer.
    /// `None`: nothing was done, and [`on_message`](Self::on_message) decides. The upper layer's
    /// header is in the frame, and the host reads it there.
    ///
    /// ```
    /// use lnd_core::prelude::*;
    ///
    /// /// Takes a message in. `sink`: where the upper layer wants the payload of a small PUT.
    /// /// Returns whether the frame's place in the channel is free.
    /// fn message<P: Ports>(
    ///     driver: &mut Driver<'_, P>,
    ///     (now, link): (Instant, LinkId),
    ///     (envelope, message): (&Envelope, &Message<'_>),
    ///     sink: &[Fragment],
    ///     mut decide: impl FnMut(Arrival<'_, '_, '_, P>) -> bool,
    /// ) -> bool {
    ///     if let Message::Immediate { header: _, payload } = message {
    ///         if let Some(next) = driver.on_immediate(now, link, envelope, payload) {
    ///             let length = next.length();
    ///             if next.recv(sink, length).is_ok() {
    ///                 return true;
    ///             }
    ///             // The buffers do not fit. Nothing has changed, and the usual way is open.
    ///         }
    ///     }
    ///     match driver.on_message(now, link, envelope, message) {
    ///         Inbound::Handled => true,
    ///         Inbound::Request(arrival) => decide(arrival),
    ///         Inbound::Wait => false,
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn on_immediate<'d, 'f>(
        &'d mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        payload: &'f [u8],
    ) -> Option<Immediate<'d, 'm, 'f, P>> {
        let running = self.run.state() == RunState::Running;
        if !running || from.to != self.me.nid || link.index() >= self.links.len() {
            return None;
        }
        let id = self.peers.find_again(from.from)?;
        // The full order of checks is in `on_request`. Every condition here is one that it would
        // also pass. A slot is not among them: none is needed.
        let open = self.peers.view(id)?.is_open();
        let peer = self.peers.get(id)?;
        if !open || !peer.sends_next(from, self.me.incarnation) {
            return None;
        }
        let (credits, from) = (from.credits, (from.from, from.sequence));
        Some(Immediate { driver: self, now, peer: id, from, credits, payload })
    }

    /// Ends an IMMEDIATE that was offered before, as [`Arrival::nak`](crate::driver::Arrival::nak)
    /// does. The upper layer may have its payload already. So its frame is over whatever has
    /// happened since the offer: all slots may be taken, and its sender may be down.
    pub fn nak_immediate(&mut self, link: LinkId, from: &Envelope) {
        let me = self.me.incarnation;
        let Some(peer) = self.peers.find_again(from.from) else { return };
        // In a session that is over it has no number and no credit.
        let counts = self.peers.get(peer).is_some_and(|it| {
            it.is_of(from, me)
                && it.counted_session() == Some(from.session)
                && matches!(it.theirs.peek(from.sequence), SequenceCheck::Fresh { .. })
        });
        self.consume_offer(&Offer { peer, link, former: !counts }, from);
    }
}

impl<P: Ports> Immediate<'_, '_, '_, P> {
    /// The node that it came from.
    pub const fn from(&self) -> Nid {
        self.from.0
    }

    /// Bytes of payload.
    #[inline]
    pub const fn length(&self) -> u32 {
        // A frame holds less than 2^32 bytes.
        self.payload.len() as u32
    }

    /// Receives the first `length` bytes of the payload. The message has then ended, and no report
    /// follows (INV-1).
    ///
    /// # Errors
    /// The reason for which the buffers do not fit. It is counted as a refused call. Nothing else
    /// has changed, as after a dropped offer.
    #[inline]
    pub fn recv(self, sink: &[Fragment], length: u32) -> Result<Status, Why> {
        let Self { driver, now, peer, from, credits, payload } = self;
        match driver.check_memory(sink) {
            Ok(room) if length <= room => {}
            Ok(_) => return Err(driver.refuse_call(Why::TooLong)),
            Err(why) => return Err(driver.refuse_call(why)),
        }
        let Some(wanted) = payload.get(..length as usize) else {
            return Err(driver.refuse_call(Why::TooLong));
        };
        let counted = driver.take_next(now, peer, from, credits);
        if scatter(&mut driver.memory, wanted, sink).is_err() {
            let status = driver.failed_locally(now, from, length);
            driver.settle_count(now, peer, credits);
            return Ok(status);
        }
        driver.ended_at_once(now, from, length, Status::OK);
        // The credits come last: they may send requests, and these must follow the effects of the
        // message.
        if counted {
            driver.settle_count(now, peer, credits);
        }
        Ok(Status::OK)
    }

    /// Refuses the message: it is dropped, and its credit returns. Its sender is told nothing, as
    /// by [`Arrival::nak`](crate::driver::Arrival::nak) of an inline message.
    pub fn nak(self) {
        let Self { driver, now, peer, from, credits, .. } = self;
        if driver.take_next(now, peer, from, credits) {
            driver.settle_count(now, peer, credits);
        }
    }
}

impl<P: Ports> Driver<'_, P> {
    /// The end of a message whose payload could not be written.
    #[cold]
    fn failed_locally(&mut self, now: Instant, from: (Nid, u32), length: u32) -> Status {
        let status = Status::of(self.config.policy, Cause::Local, Place::Queue);
        self.ended_at_once(now, from, length, status);
        status
    }

    /// Accepts the next request of a peer, and returns its credit. Returns whether the peer's count
    /// of our requests is new, and is to be [settled](Self::settle_count) at the end.
    #[inline]
    fn take_next(
        &mut self,
        now: Instant,
        id: PeerId,
        (from, sequence): (Nid, u32),
        credits: u16,
    ) -> bool {
        let lane = Lane::Request;
        self.tracer.record(now, Trace::Received { from, lane, sequence, taken: true });
        self.counters.count(Counter::Requests);
        let Some(peer) = self.peers.get_mut(id) else { return false };
        peer.last_heard = Heard::at(now);
        peer.theirs.take_next();
        let counted = !peer.ours.has_returned(credits);
        if peer.consume(self.config.depth) {
            self.send_credits(id);
        }
        counted
    }
}
