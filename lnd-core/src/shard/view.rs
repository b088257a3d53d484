// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file shows peers and transfers to operators (R69).

use super::Driver;
use crate::base::id::{Incarnation, LinkId, Nid, PeerId, Tag};
use crate::base::time::Instant;
use crate::machines::peer::HelloState;
use crate::machines::transfer::{Phase, Word};
use crate::ports::Ports;
use crate::slots::Role;

/// One transfer, as an operator sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferView {
    /// Its tag.
    pub tag: Tag,
    /// Its purpose.
    pub role: Role,
    /// The other side.
    pub peer: Option<Nid>,
    /// Its link, once it has one.
    pub link: Option<LinkId>,
    /// What it still owes, and why it ends.
    pub word: Word,
    /// Payload bytes.
    pub length: u32,
    /// The time that bounds its present wait.
    pub until: Option<Instant>,
}

/// One peer, as an operator sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerView {
    /// Its id.
    pub id: PeerId,
    /// Its NID.
    pub nid: Nid,
    /// Its incarnation, as far as is known.
    pub incarnation: Option<Incarnation>,
    /// How far the handshake has come.
    pub state: HelloState,
    /// When a message of it was last received, to some 17 ms. Messages that were dropped do not
    /// count.
    pub last_heard: Instant,
    /// Transfers with it.
    pub transfers: u32,
    /// Requests that may still be sent to it.
    pub credits: u32,
    /// Requests of ours that it has not consumed yet.
    pub in_flight: u32,
    /// The session that was opened to it last. Zero: none yet.
    pub session: u32,
    /// Pulls from it that are under way, at most the configured number (R25).
    pub pulls: u32,
    /// Pulls from it that wait for others to end.
    pub pulls_waiting: u32,
}

/// The credits of both directions with one peer (INV-12), as counts that wrap at 16 bits. Between
/// two ends with the same session: `returned ≤ announced ≤ consumed ≤ sent ≤ returned + depth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditView {
    /// Our session, to which `sent` and `returned` belong.
    pub session: u32,
    /// Requests that may be in flight to the peer.
    pub depth: u16,
    /// Requests that were sent.
    pub sent: u16,
    /// Of these, consumed as far as the peer has announced.
    pub returned: u16,
    /// The peer's session, to which `consumed` and `announced` belong.
    pub their_session: Option<u32>,
    /// Requests of the peer that were consumed here, or are known to be lost.
    pub consumed: u16,
    /// Of these, announced to the peer.
    pub announced: u16,
}

impl<P: Ports> Driver<'_, P> {
    /// The credits with a peer. `None`: the id is stale. For audits of both ends together.
    pub fn credits_with(&self, peer: PeerId) -> Option<CreditView> {
        let peer = self.peers.named(peer)?;
        let (sent, returned) = peer.ours.counts();
        let (consumed, announced) = peer.theirs.counts();
        Some(CreditView {
            session: peer.session,
            depth: peer.ours.depth(),
            sent,
            returned,
            their_session: peer.counted_session(),
            consumed,
            announced,
        })
    }

    /// Places of the peer table that are or were in use: the bound of
    /// [`peer_view`](Self::peer_view).
    pub fn peers_known(&self) -> u32 {
        self.peers.len() as u32
    }

    /// The peer in a place of the table, `0..peers_known()`.
    pub fn peer_view(&self, index: u32) -> Option<PeerView> {
        let id = self.peers.id(index)?;
        let peer = self.peers.get(id)?;
        Some(PeerView {
            id,
            nid: peer.nid?,
            incarnation: peer.incarnation(),
            state: self.peers.state(id),
            last_heard: peer.last_heard.time(self.ran),
            transfers: peer.held.transfers(),
            credits: u32::from(peer.ours.left()),
            in_flight: u32::from(peer.ours.in_flight()),
            session: peer.session,
            pulls: u32::from(peer.pulls),
            pulls_waiting: peer.pull_queue.len(&self.slots),
        })
    }

    /// The transfer in a slot, `0..slots`. `None`: the slot is free.
    pub fn transfer_view(&self, slot: u32) -> Option<TransferView> {
        let state = self.slots.get(slot)?;
        let word = self.slots.word(slot);
        if word.phase() == Phase::Free {
            return None;
        }
        let owner = self.slots.owner(slot);
        Some(TransferView {
            tag: self.slots.tag(slot),
            role: state.role,
            peer: self.peers.get(self.peers.of_slot(slot)).and_then(|p| p.nid),
            link: owner.link(),
            word,
            length: state.length,
            until: self.slots.armed(slot),
        })
    }
}
