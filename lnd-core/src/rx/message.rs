// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file dispatches messages of peers.

use super::admit::Screening;
use super::arrival::{Arrival, Inbound};
use super::request::Screened;
use crate::base::id::{LinkId, PeerId};
use crate::base::message::{Envelope, Lane, Message, NakReason};
use crate::base::time::Instant;
use crate::ports::{Channel, Ports};
use crate::shard::{Driver, RunState};

impl<'m, P: Ports> Driver<'m, P> {
    /// Handles a message of the LND layer that has arrived on `link`.
    #[inline]
    pub fn on_message<'d, 'f>(
        &'d mut self,
        now: Instant,
        link: LinkId,
        from: &'d Envelope,
        message: &'d Message<'f>,
    ) -> Inbound<'d, 'm, 'f, P> {
        // The usual request is checked first and in one place. All other messages share one
        // function that is not inlined, so the usual path stays short.
        let offer = match self.usual_request(now, link, from, message) {
            Some(offer) => offer,
            None => match self.on_any_message(now, link, from, message) {
                Screened::Offer(offer) => offer,
                Screened::Wait => return Inbound::Wait,
                Screened::Handled => return Inbound::Handled,
            },
        };
        Arrival::of(self, now, from, offer, message)
    }

    /// Handles a message that is not a usual request.
    #[inline(never)]
    fn on_any_message(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        message: &Message<'_>,
    ) -> Screened {
        if !self.listens_to(link, from) {
            return Screened::Handled;
        }
        let mut screened = Screened::Handled;
        match message {
            Message::Hello(hello) => self.on_hello(now, link, from, hello),
            Message::HelloAck(ack) => {
                if let Some(id) = self.on_hello_ack(now, from, ack) {
                    // The answer has opened the peer's gate. What waits is sent here, once, after
                    // all of the answer was applied.
                    self.flush(now, id);
                }
            }
            _ => screened = self.on_other(now, link, from, message),
        }
        match screened {
            Screened::Offer(offer) if self.run.state() != RunState::Running => {
                self.refuse_offer(now, from, offer, message, NakReason::ShuttingDown);
                screened = Screened::Handled;
            }
            Screened::Offer(offer) if self.may_be_called_off(&offer, message) => {
                // A request of a former session has no number to remember a promise by. It
                // certainly was not begun, so the refusal is safe. Its sender may try again
                // (decision 0029).
                self.refuse_offer(now, from, offer, message, NakReason::NoResources);
                screened = Screened::Handled;
            }
            Screened::Offer(_) => return screened,
            Screened::Handled | Screened::Wait => {}
        }
        // Anything but an offer may have changed timers or queues.
        self.note_work();
        screened
    }

    /// Handles a message that is neither a hello nor an answer to one.
    #[inline(never)]
    fn on_other(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        message: &Message<'_>,
    ) -> Screened {
        match self.admitted(now, from, message.lane()) {
            Screening::From(id) => {
                let screened = self.on_admitted(now, link, id, from, message);
                // The credits come last: they may send requests, and these must follow the effects
                // of the message.
                self.settle_credits(now, id, from);
                self.unpark_if_handled(id, link, message, &screened);
                screened
            }
            Screening::Closed(id) => {
                let screened = self.on_message_of_closed(link, id, message);
                self.unpark_if_handled(id, link, message, &screened);
                screened
            }
            Screening::Parked => {
                self.correct_sender(now, from, Some(link));
                Screened::Wait
            }
            Screening::Dropped => {
                // The request leaves the channel although it was dropped, so nothing waits there
                // for its sender any more.
                if let Some(id) = self.peers.find(from.from) {
                    self.unpark_if_handled(id, link, message, &Screened::Handled);
                }
                self.note_late_goodbye(from, message);
                self.correct_sender(now, from, None);
                Screened::Handled
            }
        }
    }

    #[inline]
    fn on_admitted(
        &mut self,
        now: Instant,
        link: LinkId,
        id: PeerId,
        from: &Envelope,
        message: &Message<'_>,
    ) -> Screened {
        match message {
            Message::Immediate { .. } | Message::PutReq { .. } | Message::GetReq { .. } => {
                return self.on_request(now, link, id, from);
            }
            Message::PullReady(ready) => self.pull_ready(now, link, id, ready),
            Message::CancelPut { .. } | Message::CancelGet { .. } | Message::CancelPush { .. } => {
                self.on_cancel(now, link, id, message);
            }
            _ => self.on_answer(now, id, from, message),
        }
        Screened::Handled
    }

    fn unpark_if_handled(
        &mut self,
        id: PeerId,
        link: LinkId,
        message: &Message<'_>,
        screened: &Screened,
    ) {
        if message.lane() == Lane::Request && matches!(screened, Screened::Handled) {
            self.unpark(id, link);
        }
    }

    /// Notes a goodbye that its sender's successor has overtaken on another link. The requests
    /// behind it are still delivered.
    fn note_late_goodbye(&mut self, from: &Envelope, message: &Message<'_>) {
        let means_us =
            from.to_incarnation == Some(self.me.incarnation) && self.channel.is_reliable();
        let found = self.peers.find(from.from).and_then(|id| self.peers.get_mut(id));
        if let (Message::Close, true, Some(peer)) = (message, means_us, found) {
            // The goodbye of the latest incarnation is kept. Otherwise its requests would wait in
            // the channel for ever.
            let kept = peer.has_closed() && peer.is_settled();
            if !kept {
                peer.note_goodbye(from);
            }
        }
    }
}
