// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages of peers: who is listened to, what their requests become.

use super::admit::Screening;
use super::arrival::{Arrival, Inbound};
use super::request::Screened;
use crate::base::id::{LinkId, PeerId};
use crate::base::message::{Envelope, Lane, Message, NakReason};
use crate::base::time::Instant;
use crate::ports::{Channel, Ports};
use crate::shard::{Driver, RunState};

impl<'m, P: Ports> Driver<'m, P> {
    /// A message of the LND layer has arrived on `link`.
    #[inline]
    pub fn on_message<'d, 'f>(
        &'d mut self,
        now: Instant,
        link: LinkId,
        from: &'d Envelope,
        message: &'d Message<'f>,
    ) -> Inbound<'d, 'm, 'f, P> {
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

    /// A message that is not a usual request.
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
                // It certainly was not begun: what comes again is not offered. Its sender may try again.
                self.refuse_offer(now, from, offer, message, NakReason::NoResources);
                screened = Screened::Handled;
            }
            Screened::Offer(_) => return screened,
            Screened::Handled | Screened::Wait => {}
        }
        self.stir();
        screened
    }

    /// A message that is no hello and answers none.
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
                self.settle_credits(now, id, from);
                self.unpark_if_handled(id, link, message, &screened);
                screened
            }
            Screening::Closed(id) => {
                let screened = self.of_the_closed(link, id, message);
                self.unpark_if_handled(id, link, message, &screened);
                screened
            }
            Screening::Parked => {
                self.correct_sender(now, from, Some(link));
                Screened::Wait
            }
            Screening::Dropped => {
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
            Message::CancelPut { .. } | Message::CancelGet { .. } => {
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

    /// A goodbye that its sender's successor has overtaken, by another link: what lies behind it counts.
    fn note_late_goodbye(&mut self, from: &Envelope, message: &Message<'_>) {
        let means_us =
            from.to_incarnation == Some(self.me.incarnation) && self.channel.is_reliable();
        let found = self.peers.find(from.from).and_then(|id| self.peers.get_mut(id));
        if let (Message::Close, true, Some(peer)) = (message, means_us, found) {
            // That of one that was there last is kept: what it left in the channel would wait for ever.
            let kept = peer.has_closed() && peer.is_settled();
            if !kept {
                peer.note_goodbye(from);
            }
        }
    }
}
