// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A transfer on its way through the gates of its link and its peer.
//!
//! The debts are published, then there is a full fence, then the gates are looked at. A gate is closed
//! first, then there is a fence, then the sweep: either we see the closed gate, or the sweep sees our
//! debts (INV-1, INV-2).

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

/// Where a transfer comes from when it is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From<'h> {
    /// Just claimed: no other context has seen it. The upper layer's header, which is not kept.
    Claim(&'h [u8]),
    /// Published as `Queued`.
    Queue,
    /// The peer's answer has turned its wait into debts already.
    Answer,
}

/// A transfer that is being posted, looked up once, inside its link's gate.
pub(super) struct Tx<'m> {
    pub tag: Tag,
    pub link: LinkId,
    pub peer: PeerId,
    pub role: Role,
    pub debts: Debts,
    /// What stands in its way.
    pub blocked_by: Option<Cause>,
    gate: &'m LinkGate,
    posting: Posting,
}

/// Why the peer's gate does not let a transfer pass, if it does not.
fn refused_by(view: GateView, role: Role, incarnation: u32) -> Option<Cause> {
    if view.state() == HelloState::Down {
        Some(Cause::PeerDown)
    } else if view.incarnation() != incarnation {
        Some(Cause::PeerRestarted)
    } else if role.requests() && view.state() != HelloState::Good {
        Some(Cause::PeerDown)
    } else {
        None
    }
}

impl<'m, P: Ports> Driver<'m, P> {
    /// The part up to the fence: the debts are published and the gates looked at.
    #[inline]
    pub(super) fn enter_gate(
        &mut self,
        now: Instant,
        tag: Tag,
        peer: PeerId,
        link: LinkId,
        from: From<'_>,
    ) -> Option<Tx<'m>> {
        let gate = self.links.gate(link)?;
        let (peer_gate, record) = (self.peers.gate(peer)?, self.peers.get(peer)?);
        let nid = record.nid;
        let state = self.slots.get_mut(tag.index)?;
        state.choose_role(record.inline_max);
        let role = state.role;
        let debts = role.debts(record.is(PeerFlags::SIGNALLED));
        // A message that will have ended when it is sent is no debt.
        let ends = if self.channel.ends_at_once() { Debts::MSG.0 } else { 0 };
        let owed = Debts(debts.0 & !ends);
        // A request of ours goes to the life that we know now; a reply stays with its own.
        let incarnation = if role.requests() {
            peer_gate.view().incarnation()
        } else {
            self.slots.owner(tag.index).incarnation()
        };
        let posting = gate.enter();
        self.slots.assign(tag, Owner::new(peer, incarnation, Some(link)));
        let armed = match from {
            From::Claim(_) => {
                self.slots.publish(tag, Word::live(tag.generation, owed));
                true
            }
            From::Queue => self.apply(now, tag, Event::Arm(owed)) == Some(Effect::None),
            From::Answer => true,
        };
        if !armed {
            gate.exit(posting);
            let _ = self.apply(now, tag, Event::PayCpu);
            return None;
        }
        // Partner: the fences in `LinkGate::close` and `PeerGate::change`.
        fenced("no-fence-in-hand-out", Ordering::SeqCst);
        let blocked_by = if !gate.admitted(&posting) {
            Some(Cause::LinkDown)
        } else if nid.is_some_and(|nid| self.links.is_out(nid, link)) {
            Some(Cause::ConnectionDown)
        } else {
            refused_by(peer_gate.view(), role, incarnation)
        };
        Some(Tx { tag, link, peer, role, debts, blocked_by, gate, posting })
    }

    #[inline]
    pub(super) fn exit_gate(&mut self, now: Instant, tx: Tx<'_>) {
        tx.gate.exit(tx.posting);
        if self.apply(now, tx.tag, Event::PayCpu) == Some(Effect::Invalidate) {
            self.invalidate(now, tx.tag);
        }
    }
}
