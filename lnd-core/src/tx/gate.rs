// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file leads a transfer through the gates of its link and its peer.
//!
//! The debts are published, then comes a full fence, then the gates are read. A closer changes the
//! gate, then comes a fence, then the sweep. Either the poster sees the closed gate, or the sweep
//! sees the debts (INV-1, INV-2).

use crate::base::defect::fenced;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::sync::Ordering;
use crate::base::time::Instant;
use crate::machines::link::{LinkGate, Posting};
use crate::machines::peer::{GateView, HelloState};
use crate::machines::transfer::{Cause, Debts, Effect, Event, Word};
use crate::peers::PeerFlags;
use crate::ports::{Channel, Ports};
use crate::shard::Driver;
use crate::slots::shared::Owner;
use crate::slots::Role;

/// The origin of a transfer that is being posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostFrom<'h> {
    /// Just claimed: no other context has seen it. Contains the upper layer's header, which is not
    /// kept.
    Claim(&'h [u8]),
    /// Published as `Queued`.
    Queue,
    /// The peer's answer has already turned its wait into debts.
    Answer,
}

/// A transfer that is being posted, looked up once, inside its link's gate.
pub(super) struct Tx<'m> {
    pub tag: Tag,
    pub link: LinkId,
    pub peer: PeerId,
    pub role: Role,
    pub debts: Debts,
    /// The reason for which it cannot be posted.
    pub blocked_by: Option<Cause>,
    gate: &'m LinkGate,
    posting: Posting,
}

/// The reason for which the peer's gate refuses a transfer.
fn refused_by(view: GateView, incarnation: u32) -> Option<Cause> {
    // A reply needs no `Good` peer: the peer itself has asked for it (INV-11). A request has found
    // its peer `Good`, and since then another context can only have declared it down.
    if view.state() == HelloState::Down {
        Some(Cause::PeerDown)
    } else if view.incarnation() != incarnation {
        // The present incarnation has no state for the transfer.
        Some(Cause::PeerRestarted)
    } else {
        None
    }
}

impl<'m, P: Ports> Driver<'m, P> {
    /// The part up to the fence: publishes the debts, then reads the gates.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(super) fn enter_gate(
        &mut self,
        now: Instant,
        tag: Tag,
        peer: PeerId,
        link: LinkId,
        role: Role,
        from: PostFrom<'_>,
    ) -> Option<Tx<'m>> {
        let gate = self.links.gate(link)?;
        let (peer_gate, record) = (self.peers.gate(peer)?, self.peers.get(peer)?);
        let nid = record.nid;
        let debts = role.debts(record.is(PeerFlags::SIGNALLED));
        // A message that ends within its send is no debt.
        let ends = if self.channel.ends_at_once() { Debts::MSG.0 } else { 0 };
        let owed = Debts(debts.0 & !ends);
        // A request of ours goes to the present incarnation. A reply stays with the incarnation
        // that asked.
        let incarnation = if role.requests() {
            peer_gate.view().incarnation()
        } else {
            self.slots.owner(tag.index).incarnation()
        };
        // The poster enters the link's gate before the debts are visible. A closer that sees them
        // must also see the poster, or it would stop the engine under the post.
        let posting = gate.enter();
        // The owner is assigned before the word is published. The sweep judges the transfer by
        // both. A claim has assigned it already, for this link.
        if !matches!(from, PostFrom::Claim(_)) {
            self.slots.assign(tag, Owner::new(peer, incarnation, Some(link)));
        }
        let armed = match from {
            PostFrom::Claim(_) => {
                self.slots.publish(tag, Word::live(tag.generation, owed));
                true
            }
            PostFrom::Queue => self.apply(now, tag, Event::Arm(owed)) == Some(Effect::None),
            PostFrom::Answer => true,
        };
        // Not armed: another context has cancelled the transfer while it was queued. `CPU` is its
        // last debt.
        if !armed {
            gate.exit(posting);
            let _ = self.apply(now, tag, Event::PayCpu);
            return None;
        }
        // Partner: the fences in `LinkGate::close` and `PeerGate::change`. One fence serves both
        // gates (decision 0002). Without other contexts there is no closer.
        if !self.shared.alone().is_set() {
            fenced("no-fence-in-hand-out", Ordering::SeqCst);
        }
        let blocked_by = if !gate.admitted(&posting) {
            Some(Cause::LinkDown)
        } else if nid.is_some_and(|nid| self.links.is_out(nid, link)) {
            // Only this thread closes a connection, so no fence is needed for it (decision 0026).
            Some(Cause::ConnectionDown)
        } else {
            refused_by(peer_gate.view(), incarnation)
        };
        Some(Tx { tag, link, peer, role, debts, blocked_by, gate, posting })
    }

    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(super) fn exit_gate(&mut self, now: Instant, tx: Tx<'_>) {
        tx.gate.exit(tx.posting);
        if self.pay_cpu(now, tx.tag) == Some(Effect::Invalidate) {
            self.invalidate(now, tx.tag);
        }
    }
}
