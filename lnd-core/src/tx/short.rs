// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file sends a short message that has ended when `submit` returns (decision 0021).
//!
//! Nothing of it is outstanding afterwards, so no other context can complete or cancel it. It needs
//! no slot, no transfer word, no timer and no fence, only a credit and a number. A peer or a link
//! that goes down meanwhile is the same as one that goes down just after.

use super::copy::gather;
use super::request::{Kind, Request};
use crate::base::counters::Counter;
use crate::base::id::PeerId;
use crate::base::message::{Envelope, Lane};
use crate::base::time::Instant;
use crate::machines::transfer::{step, Cause, Debts, Delivery, Event, Place, Policy, Status, Word};
use crate::ports::{Channel, ChannelFull, Ports, Sent};
use crate::shard::Driver;

/// The status that a transfer with a slot would have, from the same table.
fn short_status(policy: Policy, event: Event) -> Status {
    let sent = step(Word::live(0, Debts::MSG), event).word;
    let ended = Status::of_word(policy, step(sent, Event::PayCpu).word);
    ended.unwrap_or(Status::of(policy, Cause::Channel, Place::Message))
}

impl<P: Ports> Driver<'_, P> {
    /// Sends a message whose payload goes inline, if the channel ends messages at once and nothing
    /// else prevents it. The peer is `Good`. `None`: nothing was done, and the message becomes a
    /// transfer.
    #[inline]
    pub(super) fn send_short(
        &mut self,
        now: Instant,
        id: PeerId,
        request: &Request<'_>,
        length: u32,
    ) -> Option<Status> {
        let reliable = self.channel.is_reliable();
        let peer = self.peers.get_mut(id)?;
        // A GET goes inline without payload if it need not be optimised, or must not be (R26).
        let get = request.kind == Kind::Get;
        let inline = length <= peer.inline_max() || get && request.routed;
        if !self.channel.ends_at_once() || !inline || !peer.may_send(reliable) {
            return None;
        }
        let (payload, length) = if get { (&[][..], 0) } else { (request.payload, length) };
        // The envelope is built without spending a number: a return before the send undoes nothing.
        let envelope = peer.next_envelope(self.me)?;
        let link = self.links.way_to(envelope.to, request.link)?;
        if !self.channel.ready(link, envelope.to, Lane::Request) {
            return None;
        }
        let scratch = self.scratch.get_mut(..length as usize)?;
        let memory = &self.memory;
        let written = |place: &mut [u8]| gather(memory, payload, place).is_ok();
        let sent = self.channel.send_inline(link, &envelope, request.header, scratch, written);
        if sent.is_some() {
            let _ = peer.take_next();
        }
        // `None`: nothing was sent, so no number and no credit was used.
        let sent = sent?;
        self.counters.count(Counter::Accepted);
        self.after_sending(now, link, &envelope, Lane::Request, sent.is_ok());
        let status = match sent {
            Ok(Some(Sent::Ok)) if reliable => Status::OK,
            Ok(Some(Sent::Ok)) => Status { delivery: Delivery::Sent, ..Status::OK },
            failed => self.short_failed(id, &envelope, failed),
        };
        self.ended_at_once(now, (envelope.to, envelope.sequence), length, status);
        Some(status)
    }

    /// Handles a short message that was perhaps not delivered. It has a number, so its credit must
    /// return, and the peer must not deliver it any more.
    #[cold]
    fn short_failed(
        &mut self,
        id: PeerId,
        envelope: &Envelope,
        sent: Result<Option<Sent>, ChannelFull>,
    ) -> Status {
        if let Some(peer) = self.peers.get_mut(id) {
            // It is the latest one, so the next hello can announce it.
            let _ = peer.give_up(envelope.session, envelope.sequence);
        }
        let event = match sent {
            Err(ChannelFull) => Event::Withdraw(Debts::MSG, Cause::Channel),
            Ok(Some(Sent::NotDelivered)) => Event::MsgNotDelivered,
            // A channel that does not report the end has broken its contract.
            Ok(Some(Sent::Unknown | Sent::Ok) | None) => Event::MsgUnknown,
        };
        short_status(self.config.policy, event)
    }
}
