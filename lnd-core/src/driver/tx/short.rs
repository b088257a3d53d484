// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A short message that has ended when `submit` returns.
//!
//! Nothing of it is outstanding afterwards: no other context can complete or cancel it. So it needs no
//! slot, no transfer word, no timer and no fence, only a credit and a number. A peer or a link that goes
//! down meanwhile is the same as one that goes down just after.

use crate::counters::Counter;
use crate::defect::seeded;
use crate::driver::copy::gather;
use crate::driver::submit::Request;
use crate::driver::Driver;
use crate::fragment::Fragment;
use crate::id::PeerId;
use crate::message::{Envelope, Lane, Message};
use crate::peer::HelloState;
use crate::ports::{Channel, ChannelFull, Ports, Sent};
use crate::time::Instant;
use crate::transfer::{step, Cause, Debts, Delivery, Event, Place, Policy, Status, Word};

impl<P: Ports> Driver<'_, P> {
    /// Sends a message whose payload goes inline, if nothing stands in its way and the channel ends
    /// messages at once. `None`: nothing was done, and the message takes the way of those that wait.
    #[inline]
    pub(in crate::driver) fn send_short(
        &mut self,
        now: Instant,
        id: PeerId,
        request: &Request<'_>,
        payload: &[Fragment],
        length: u32,
    ) -> Option<Status> {
        if !self.channel.ends_at_once() {
            return None;
        }
        let reliable = self.channel.is_reliable();
        let good = self.shared.peer_gate(id.index())?.view().state() == HelloState::Good;
        let peer = self.peers.get(id)?;
        let fits = length <= peer.immediate_max || seeded("inline-beyond-limit");
        if !good || !fits || !peer.may_send(reliable) {
            return None;
        }
        let link = self.open_link(request.link)?;
        if !self.channel.ready(link, request.peer, Lane::Request) {
            return None;
        }
        let scratch = self.scratch.get_mut(..length as usize)?;
        gather(&self.memory, payload, scratch).ok()?;
        let envelope = self.peers.get_mut(id)?.envelope(self.me, Lane::Request)?;
        let message = Message::Immediate { header: request.header, payload: scratch };
        let sent = self.channel.send(link, &envelope, &message, None);
        if seeded("message-repeated") {
            let _ = self.channel.send(link, &envelope, &message, None);
        }
        self.counters.count(Counter::Accepted);
        self.after_sending(now, link, &envelope, Lane::Request, sent.is_ok());
        let status = match sent {
            Ok(Some(Sent::Ok)) if reliable || seeded("sent-is-delivered") => Status::OK,
            Ok(Some(Sent::Ok)) => Status { delivery: Delivery::Sent, ..Status::OK },
            failed => self.short_failed(id, &envelope, failed),
        };
        self.ended_at_once(now, (envelope.to, envelope.sequence), length, status);
        Some(status)
    }

    /// The message has a number, and perhaps was not delivered: the peer's credit must come back, and the
    /// peer shall not take it any more.
    #[cold]
    fn short_failed(
        &mut self,
        id: PeerId,
        envelope: &Envelope,
        sent: Result<Option<Sent>, ChannelFull>,
    ) -> Status {
        if let Some(peer) = self.peers.get_mut(id).filter(|_| !seeded("short-not-given-up")) {
            // It is the latest one: the next hello can announce it.
            let _ = peer.give_up(envelope.session, envelope.sequence);
        }
        let event = match sent {
            Err(ChannelFull) => Event::Withdraw(Debts::MSG, Cause::Channel),
            Ok(Some(Sent::NotDelivered)) => Event::MsgNotDelivered,
            // A channel that does not say how it ended has broken its word.
            Ok(Some(Sent::Unknown | Sent::Ok) | None) => Event::MsgUnknown,
        };
        short_status(self.config.policy, event)
    }
}

/// The status that a transfer with a slot would have, from the same table.
fn short_status(policy: Policy, event: Event) -> Status {
    let sent = step(Word::live(0, Debts::MSG), event).word;
    let ended = Status::of_word(policy, step(sent, Event::PayCpu).word);
    ended.unwrap_or(Status::of(policy, Cause::Channel, Place::Message))
}
