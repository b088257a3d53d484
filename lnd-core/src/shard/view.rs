// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How peers and transfers stand, for operators (R69).

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
    /// Which.
    pub tag: Tag,
    /// What it is for.
    pub role: Role,
    /// The other side.
    pub peer: Option<Nid>,
    /// Its link, once it has one.
    pub link: Option<LinkId>,
    /// What it owes, and why it is ending.
    pub word: Word,
    /// Payload bytes.
    pub length: u32,
    /// When its present wait is bounded by.
    pub until: Option<Instant>,
}

/// One peer, as an operator sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerView {
    /// Its id.
    pub id: PeerId,
    /// Its NID.
    pub nid: Nid,
    /// Its life, as far as we know.
    pub incarnation: Option<Incarnation>,
    /// How far the handshake has come.
    pub state: HelloState,
    /// When it was last heard of; a message that did not count does not count here.
    pub last_heard: Instant,
    /// Transfers with it.
    pub transfers: u32,
    /// Requests that we may still send.
    pub credits: u32,
    /// Requests of ours that it has not consumed yet.
    pub in_flight: u32,
    /// The session that we opened last; zero: none yet.
    pub session: u32,
    /// Pulls from it that are under way, at most the configured number (R25).
    pub pulls: u32,
    /// Pulls from it that wait for those.
    pub pulls_waiting: u32,
}

/// The credits of both directions with one peer (INV-12), as counts that wrap at 16 bits. Between two
/// ends that mean the same session: `returned ≤ told ≤ consumed ≤ sent ≤ returned + depth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditView {
    /// Our session, of which `sent` and `returned` are.
    pub session: u32,
    /// Requests that we may have in flight.
    pub depth: u16,
    /// Requests that we have sent.
    pub sent: u16,
    /// Of these, consumed as far as the peer has told us.
    pub returned: u16,
    /// The peer's session, of which `consumed` and `announced` are.
    pub their_session: Option<u32>,
    /// Requests of the peer that we have consumed, or know to be lost.
    pub consumed: u16,
    /// Of these, told to the peer.
    pub announced: u16,
}

impl<P: Ports> Driver<'_, P> {
    /// The credits with a peer; `None` if the id is stale. For audits of both ends together.
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

    /// Places of the peer table that are or were in use: the bound of [`peer_view`](Self::peer_view).
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
            incarnation: peer.incarnation,
            state: self.peers.state(id),
            last_heard: peer.last_heard,
            transfers: peer.transfers,
            credits: u32::from(peer.ours.left()),
            in_flight: u32::from(peer.ours.in_flight()),
            session: peer.session,
            pulls: u32::from(peer.pulls),
            pulls_waiting: u32::from(peer.pulls_waiting),
        })
    }

    /// The transfer in a slot, `0..slots`; `None` if the slot is free.
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
