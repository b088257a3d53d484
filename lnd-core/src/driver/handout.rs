// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Handing a transfer out: the one place that posts descriptors and sends messages for transfers.
//!
//! The order is the same for every role and is what makes the races harmless:
//! publish the debts, with `CPU` → full fence → look at the gates → post → doorbell → send →
//! pay `CPU`. What is staged is staged before the message that lets the peer begin (INV-7).
//! Whoever closes a gate closes, fences and sweeps: either we see the closed gate, or
//! the sweep sees our debts (INV-1, INV-2).

use super::details::{Details, Role, NO_LIST};
use super::links::Link;
use super::Driver;
use crate::config::MAX_DEPTH;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::driver::copy::gather;
use crate::fragment::Fragment;
use crate::id::{LinkId, PeerId, Tag};
use crate::link::Posting;
use crate::message::{Envelope, Lane, Message, PullReady};
use crate::peer::{GateView, HelloState};
use crate::ports::{
    BadAddress, Bd, Channel, Engine, Features, Motion, Ports, PostError, Sent, Tracer,
};
use crate::shared::Whose;
use crate::sync::{fence, Ordering};
use crate::time::Instant;
use crate::trace::Trace;
use crate::transfer::{Cause, Debts, Effect, Event, Word};

/// Where a transfer comes from when it is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// Just claimed: nobody else has seen it.
    Claim,
    /// Published as `Queued`.
    Queue,
    /// The peer's answer has turned its wait into debts already.
    Answer,
}

/// A transfer that is being handed out, inside its link's gate.
struct Inside {
    peer: PeerId,
    debts: Debts,
    /// What stands in its way.
    hindrance: Option<Cause>,
    posting: Posting,
}

impl<P: Ports> Driver<'_, P> {
    /// The link by which a request of this peer could go out now, if nothing stands in its way.
    pub(super) fn way_out(&mut self, id: PeerId, tag: Tag) -> Option<LinkId> {
        let peer = self.peers.get(id)?;
        let nid = peer.nid?;
        let good = self.peer_state(id) == HelloState::Good;
        let first = peer.queue.is_empty() || peer.queue.first == tag.index;
        if !good || !first || !peer.has_credit(self.channel.is_reliable()) {
            return None;
        }
        let wish = self.details.get(tag.index as usize)?.wish;
        let link = self.open_link(LinkId::new(wish as usize))?;
        self.channel.ready(link, nid, Lane::Request).then_some(link)
    }

    /// An open link: the one asked for, else the next in turn.
    pub(super) fn open_link(&mut self, wish: Option<LinkId>) -> Option<LinkId> {
        if let Some(link) = wish {
            return self.shared.link(link)?.is_open().then_some(link);
        }
        for _ in 0..self.links.len() {
            self.rotor = if self.rotor + 1 < self.links.len() { self.rotor + 1 } else { 0 };
            let link = LinkId::new(self.rotor)?;
            if self.shared.link(link)?.is_open() {
                return Some(link);
            }
        }
        None
    }

    /// Hands a transfer out on `link`; one from a queue whose deadline has passed ends there instead.
    pub(super) fn hand_out(&mut self, now: Instant, tag: Tag, link: LinkId, from: From) {
        if from == From::Queue && self.end_if_late(now, tag) {
            return;
        }
        if let Some(Inside { peer, debts, hindrance, posting }) = self.go_in(now, tag, link, from) {
            self.post_and_send(now, tag, link, peer, debts, hindrance);
            self.leave(now, tag, link, posting);
        }
    }

    /// The part up to the fence: the debts are published and the gates looked at.
    #[inline]
    fn go_in(&mut self, now: Instant, tag: Tag, link: LinkId, from: From) -> Option<Inside> {
        let gate = self.shared.link(link)?;
        let peer = self.peer_of(tag.index);
        let details = self.details.get_mut(tag.index as usize)?;
        let peer_gate = self.shared.peer_gate(peer.index())?;
        details.settle_role(self.peers.get(peer).map_or(u32::MAX, |p| p.immediate_max));
        let role = details.role;
        let awaits = if seeded("inline-awaits-answer") { Role::GetSink } else { role };
        let debts = awaits.debts(self.signalled(peer));
        let seen = peer_gate.view();
        let posting = gate.enter();
        // A request of ours goes to the life that we know now; an answer stays with its own.
        let life = if role.requests() { seen.life() } else { self.shared.whose(tag.index).life() };
        self.shared.assign(tag, Whose::new(peer, life, Some(link)));
        let armed = match from {
            From::Claim => {
                self.shared.publish(tag, Word::live(tag.generation, debts));
                true
            }
            From::Queue => self.apply(now, tag, Event::Arm(debts)) == Some(Effect::None),
            From::Answer => true,
        };
        if !armed {
            gate.leave(posting);
            let _ = self.apply(now, tag, Event::PayCpu);
            return None;
        }
        // Partner: the fences in `LinkGate::close` and `PeerGate::change`.
        if !seeded("no-fence-in-hand-out") {
            fence(Ordering::SeqCst);
        }
        let hindrance = if gate.admitted(&posting) {
            refused_by(peer_gate.view(), role, life)
        } else {
            Some(Cause::LinkDown)
        };
        Some(Inside { peer, debts, hindrance, posting })
    }

    /// The part between the fence and paying `CPU`.
    fn post_and_send(
        &mut self,
        now: Instant,
        tag: Tag,
        link: LinkId,
        peer: PeerId,
        debts: Debts,
        hindrance: Option<Cause>,
    ) {
        if let Some(cause) = hindrance {
            let _ = self.apply(now, tag, Event::Withdraw(debts, cause));
            return;
        }
        let mut given = Debts(0);
        if debts.0 & Debts::HW.0 != 0 {
            if let Err(why) = self.post(tag, link, peer) {
                self.counters.count(Counter::PostFailed);
                let cause = if why == PostError::Gone { Cause::LinkDown } else { Cause::Local };
                let _ = self.apply(now, tag, Event::Withdraw(debts, cause));
                return;
            }
            self.counters.count(Counter::Posted);
            self.tracer.record(now, Trace::Posted { tag, link });
            self.ring_staged(tag, link);
            given = Debts::HW;
        }
        if debts.0 & Debts::MSG.0 != 0 {
            if let Err(cause) = self.say(now, tag, link, peer) {
                // A descriptor that is out stays owed and is asked to come back.
                let kept =
                    if seeded("posted-debt-dropped") { debts } else { Debts(debts.0 & !given.0) };
                let _ = self.apply(now, tag, Event::Withdraw(kept, cause));
            }
        }
    }

    fn leave(&mut self, now: Instant, tag: Tag, link: LinkId, posting: Posting) {
        if let Some(gate) = self.shared.link(link) {
            gate.leave(posting);
        }
        if self.apply(now, tag, Event::PayCpu) == Some(Effect::Invalidate) {
            self.recall(now, tag);
        }
    }

    /// Whether both engines tell the source side of the end of a pull. By what was announced, not
    /// by what this link can do: both sides must come to the same answer.
    pub(super) fn signalled(&self, peer: PeerId) -> bool {
        let theirs = self.peers.get(peer).map_or(0, |p| p.features);
        self.features() & theirs & Features::REMOTE_COMPLETION.0 != 0
    }

    /// Announces a staged descriptor at once, since the peer is about to be told of it; pulls share a
    /// doorbell (see [`ring`](Self::ring)).
    fn ring_staged(&mut self, tag: Tag, link: LinkId) {
        let role = self.details.get(tag.index as usize).map(|d| d.role);
        let stages = role.is_some_and(Role::stages)
            && !(role == Some(Role::GetSource) && seeded("pull-ready-before-doorbell"));
        if stages && !seeded("said-before-staged") {
            if let Some(true) = self.links.get_mut(link.index()).map(Link::ring) {
                self.counters.count(Counter::Doorbells);
            }
        }
    }

    /// Posts the transfer's descriptor.
    #[inline(never)]
    fn post(&mut self, tag: Tag, id: LinkId, peer: PeerId) -> Result<(), PostError> {
        let (Some(details), Some(link), Some(nid)) = (
            self.details.get(tag.index as usize),
            self.links.get_mut(id.index()),
            self.peers.get(peer).and_then(|p| p.nid),
        ) else {
            return Err(PostError::Invalid);
        };
        let one = [Fragment::new(details.address, details.fragment)];
        let (fragments, list) = match (details.list, details.fragments) {
            (_, 0) => (&[][..], None),
            (NO_LIST, _) => (&one[..], None),
            (list, count) => (self.lists.get(list, count), Some(list)),
        };
        let motion = if details.role.stages() {
            Motion::Stage { to: nid }
        } else {
            Motion::Pull { from: nid, source: details.remote }
        };
        let bd = Bd { tag, motion, length: details.length, fragments, list };
        link.engine.post(&bd)?;
        link.doorbell_owed = true;
        Ok(())
    }

    /// Rings the doorbell of every link to which pulls were posted since the last ring. Call after
    /// a batch of messages; [`on_time`](Self::on_time) does so too. Bounded by the links.
    pub fn ring(&mut self) {
        for link in &mut self.links {
            if link.ring() {
                self.counters.count(Counter::Doorbells);
            }
        }
    }

    /// Sends the transfer's message.
    fn say(&mut self, now: Instant, tag: Tag, link: LinkId, id: PeerId) -> Result<(), Cause> {
        let Some(details) = self.details.get(tag.index as usize) else { return Err(Cause::Local) };
        let (role, length) = (details.role, details.length);
        let lane = if role.requests() { Lane::Request } else { Lane::Control };
        if role == Role::Immediate {
            self.gather(tag)?;
        }
        let envelope = self.envelope(id, lane);
        // By reference: no copy on the stack.
        let Some(envelope) = &envelope else { return Err(Cause::Local) };
        let Some(details) = self.details.get_mut(tag.index as usize) else {
            return Err(Cause::Local);
        };
        if lane == Lane::Request {
            (details.session, details.sequence) = (envelope.session, envelope.sequence);
        }
        let (header, remote, why) = (details.header(), details.remote, details.why);
        let payload = self.scratch.get(..length as usize).unwrap_or(&[]);
        let message = match role {
            Role::Immediate => Message::Immediate { header, payload },
            Role::PutSource => Message::PutReq { header, source: tag, length },
            Role::GetSink => Message::GetReq { header, sink: tag, length },
            Role::GetSource => Message::PullReady(PullReady { sink: remote, source: tag, length }),
            Role::NakGet => Message::GetNak { sink: remote, why },
            _ => Message::PutNak { source: remote, why },
        };
        if role == Role::GetSource && seeded("pull-ready-unsaid")
            || role == Role::PutSource && seeded("put-request-unsaid")
        {
            return Ok(());
        }
        let mut sent = self.channel.send(link, envelope, &message, Some(tag));
        if seeded("message-repeated") {
            let _ = self.channel.send(link, envelope, &message, Some(tag));
        }
        if seeded("over-when-sent") {
            sent = sent.map(|ended| ended.or(Some(Sent::Ok)));
        }
        self.after_sending(now, link, envelope, lane, sent.is_ok());
        if let Some(ended) = sent.map_err(|_| Cause::Channel)? {
            self.on_sent(now, tag, ended);
        }
        Ok(())
    }

    pub(super) fn after_sending(
        &mut self,
        now: Instant,
        link: LinkId,
        envelope: &Envelope,
        lane: Lane,
        sent: bool,
    ) {
        if sent {
            self.counters.count(Counter::Sent);
            let (to, sequence) = (envelope.to, envelope.sequence);
            self.tracer.record(now, Trace::Said { to, link, lane, sequence });
        } else {
            self.counters.count(Counter::SendFailed);
        }
    }

    /// Copies an inline payload together.
    fn gather(&mut self, tag: Tag) -> Result<(), Cause> {
        let Some(details) = self.details.get(tag.index as usize) else { return Err(Cause::Local) };
        let one = [Fragment::new(details.address, details.fragment)];
        let fragments = match details.list {
            NO_LIST => one.get(..details.fragments as usize).unwrap_or(&[]),
            list => self.lists.get(list, details.fragments),
        };
        let place = self.scratch.get_mut(..details.length as usize).ok_or(Cause::Local)?;
        gather(&self.memory, fragments, place).map_err(|BadAddress| Cause::Local)
    }

    /// The envelope of the next message to a peer. A request takes a credit (R34).
    pub(super) fn envelope(&mut self, id: PeerId, lane: Lane) -> Option<Envelope> {
        self.peers.get_mut(id)?.envelope(self.me, lane)
    }

    /// Hands out what waits for a peer, as far as credits, links and the channel go. Bounded by the
    /// credits, and by `batch` for what is late: it ends here and spends no credit.
    pub(super) fn flush(&mut self, now: Instant, id: PeerId) {
        let bound = self.config.batch.saturating_add(u32::from(MAX_DEPTH));
        for _ in 0..if seeded("flush-without-bound") { u32::MAX } else { bound } {
            let Some(peer) = self.peers.get(id) else { return };
            if peer.queue.is_empty() {
                if self.peer_state(id) == HelloState::Good && peer.ours.left() > 0 {
                    self.timers.disarm(self.config.slots + id.index() as u32);
                }
                return;
            }
            let tag = self.shared.tag(peer.queue.first);
            let Some(link) = self.way_out(id, tag) else { break };
            self.unqueue(tag);
            self.hand_out(now, tag, link, From::Queue);
        }
        self.after_queueing(now, id);
    }
}

/// Why the peer's gate does not let a transfer pass, if it does not.
fn refused_by(view: GateView, role: Role, life: u32) -> Option<Cause> {
    if view.state() == HelloState::Down {
        Some(Cause::PeerDown)
    } else if view.life() != life && !seeded("gate-life-unchecked") {
        Some(Cause::PeerRestarted)
    } else if role.requests() && view.state() != HelloState::Good {
        Some(Cause::PeerDown)
    } else {
        None
    }
}

impl Details {
    /// A payload that was to go inline is staged if the peer cannot take so much inline.
    fn settle_role(&mut self, peer_max: u32) {
        if self.role == Role::Immediate && self.length > peer_max {
            self.role = Role::PutSource;
        }
    }
}
