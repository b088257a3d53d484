// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The short-message channel of a node in virtual time.

use std::cell::RefCell;
use std::rc::Rc;

use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane as Kind, Message};
use lnd_core::ports::{Channel, ChannelFull, Sent};
use lnd_shortmsg::wire::{encode, encoded_len, max_immediate, Checksum};

use super::mailbox::Lane;
use super::network::Network;
use crate::fabric::node_of;

/// One node's end of the network.
#[derive(Clone, Debug)]
pub struct VirtualChannel<'m> {
    node: u32,
    frame: usize,
    network: Rc<RefCell<Network<'m>>>,
}

impl<'m> VirtualChannel<'m> {
    /// The channel of `node`, whose frames have at most `frame` bytes.
    pub const fn new(node: u32, frame: usize, network: Rc<RefCell<Network<'m>>>) -> Self {
        Self { node, frame, network }
    }

    fn lane(&self, link: LinkId, to: Nid, kind: Kind) -> Option<Lane> {
        let control = kind == Kind::Control;
        Some(Lane { from: self.node, to: node_of(to)?, link, control })
    }
}

impl Channel for VirtualChannel<'_> {
    fn reaches(&self, to: Nid) -> bool {
        node_of(to).is_some_and(|to| self.network.borrow().neighbours(self.node, to))
    }

    fn is_reliable(&self) -> bool {
        self.network.borrow().reliable
    }

    fn ends_at_once(&self) -> bool {
        self.network.borrow().ends_at_once
    }

    fn immediate_max(&self) -> u32 {
        max_immediate(self.frame)
    }

    fn ready(&mut self, link: LinkId, to: Nid, kind: Kind) -> bool {
        let Some(lane) = self.lane(link, to, kind) else { return false };
        let network = self.network.borrow();
        let [requests, control] = network.room;
        let room = if lane.control { control } else { requests };
        network.boxes.get(&lane).map_or(0, |mailbox| mailbox.taken) < room
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let kind = message.lane();
        if !self.ready(link, envelope.to, kind) {
            return Err(ChannelFull);
        }
        let lane = self.lane(link, envelope.to, kind).ok_or(ChannelFull)?;
        let length = encoded_len(envelope, message).map_err(|_| ChannelFull)?;
        let mut bytes = vec![0; length];
        encode(envelope, message, Checksum::On, &mut bytes).map_err(|_| ChannelFull)?;
        let mut network = self.network.borrow_mut();
        network.watch(lane, envelope, message);
        network.track(lane, envelope, message);
        Ok(network.send(lane, bytes, tag, matches!(message, Message::Close)))
    }

    fn quiesce(&mut self, link: LinkId, proof: &Quiesced) {
        // A peer that no fabric has was sent nothing.
        let peer = proof.connection().map(|it| node_of(it.peer).unwrap_or(u32::MAX));
        self.network.borrow_mut().quiesce(self.node, link, peer);
    }
}

#[cfg(test)]
mod tests {
    use lnd_core::id::Incarnation;
    use lnd_core::message::PullReady;

    use super::super::tally::Tally;
    use super::*;
    use crate::fabric::nid_of;
    use crate::lnet::{Body, LnetHeader, Target};
    use crate::rng::Rng;

    fn envelope(from: u32, to: u32) -> Envelope {
        Envelope {
            from: nid_of(from),
            to: nid_of(to),
            from_incarnation: Incarnation::from_raw(1).unwrap(),
            to_incarnation: Incarnation::from_raw(2),
            session: 1,
            sequence: 1,
            credits: 0,
            credits_of: 0,
        }
    }

    /// What the watch says of a GET_REQ from node 0 to node 1 for a node, and of its answer.
    fn seen(destination: u32) -> usize {
        let network = Network::new(Rng::new(1), Tally::default(), [8, 8], false);
        let network = Rc::new(RefCell::new(network));
        let link = LinkId::new(0).unwrap();
        let sink = Tag { index: 3, generation: 9 };
        let body = Body::Get { target: Target::default(), length: 5000, request: sink };
        let header =
            LnetHeader { hops: 0, source: nid_of(0), destination: nid_of(destination), body };
        let request = Message::GetReq { header: &header.encode(), sink, length: 5000, key: &[] };
        let mut asks = VirtualChannel::new(0, 512, network.clone());
        asks.send(link, &envelope(0, 1), &request, None).unwrap();
        let mut gives = VirtualChannel::new(1, 512, network.clone());
        let ready = Message::PullReady(PullReady { sink, source: sink, length: 5000, key: &[] });
        gives.send(link, &envelope(1, 0), &ready, None).unwrap();
        let violations = network.borrow().violations.len();
        violations
    }

    #[test]
    fn a_routed_get_that_is_optimised_is_seen() {
        // S3-14.
        assert_eq!(seen(1), 0);
        assert_eq!(seen(2), 1);
    }

    #[test]
    fn a_pull_ready_that_none_asked_for_is_seen() {
        let network = Network::new(Rng::new(1), Tally::default(), [8, 8], false);
        let network = Rc::new(RefCell::new(network));
        let tag = Tag { index: 1, generation: 1 };
        let ready = Message::PullReady(PullReady { sink: tag, source: tag, length: 1, key: &[] });
        let mut channel = VirtualChannel::new(1, 512, network.clone());
        channel.send(LinkId::new(0).unwrap(), &envelope(1, 0), &ready, None).unwrap();
        assert_eq!(network.borrow().violations.len(), 1);
    }

    #[test]
    fn a_mailbox_has_as_much_room_as_it_promises() {
        let network = Network::new(Rng::new(1), Tally::default(), [2, 1], false);
        let network = Rc::new(RefCell::new(network));
        let mut channel = VirtualChannel::new(0, 512, network);
        let link = LinkId::new(0).unwrap();
        let (noop, to) = (Message::Noop, nid_of(1));
        assert!(channel.ready(link, to, Kind::Control));
        assert_eq!(channel.send(link, &envelope(0, 1), &noop, None), Ok(None));
        assert!(!channel.ready(link, to, Kind::Control));
        assert_eq!(channel.send(link, &envelope(0, 1), &noop, None), Err(ChannelFull));
        assert!(channel.ready(link, to, Kind::Request), "lanes have room of their own");
    }
}
