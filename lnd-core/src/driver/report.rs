// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Finalize: the one place where a transfer leaves the driver, complete and once (S1-6, INV-1,
//! INV-2, R8).

use super::details::{Details, Marks, Role, NO_LIST};
use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{Nid, Tag};
use crate::message::{Lane, Message, Refusal};
use crate::peer::HelloState;
use crate::ports::{Channel, Ports, Tracer};
use crate::time::Instant;
use crate::trace::Trace;
use crate::transfer::{Delivery, Place, Status, Word};

/// The one end of a transfer (`lnet_finalize`). Its memory is the upper layer's again.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "this is the only time the transfer is reported"]
pub struct Report {
    /// Which transfer; the tag is stale from now on.
    pub tag: Tag,
    /// What the upper layer gave with it.
    pub user: u64,
    /// What it was for.
    pub role: Role,
    /// The other side.
    pub peer: Option<Nid>,
    /// How it ended.
    pub status: Status,
    /// Bytes moved if it ended OK, else zero.
    pub bytes: u32,
    /// An optimised GET: the status is the request's and the reply's, finalize both (R8).
    pub reply: bool,
    /// It had been cancelled and came back good all the same (S0-16).
    pub lost_race: bool,
}

impl<P: Ports> Driver<'_, P> {
    /// The next finished transfer, oldest first. Nothing is held while the caller deals with it.
    ///
    /// `None`: there is none, or only silent ones among as many as one call looks at; then
    /// [`nothing_to_report`](Self::nothing_to_report) is false and the call is to be repeated.
    pub fn next_report(&mut self, now: Instant) -> Option<Report> {
        for _ in 0..self.config.batch {
            if self.batch.is_empty() {
                self.batch = self.shared.take_completed();
            }
            let slot = self.shared.next_completed(&mut self.batch)?;
            if let Some(report) = self.finalize(now, slot) {
                return Some(report);
            }
        }
        None
    }

    /// Whether nothing waits to be reported. A hint.
    pub fn nothing_to_report(&self) -> bool {
        self.batch.is_empty() && self.shared.nothing_completed()
    }

    fn finalize(&mut self, now: Instant, slot: u32) -> Option<Report> {
        let tag = self.shared.tag(slot);
        let word = self.shared.word(slot);
        let ended = if seeded("status-ok-by-default") { Word::from_bits(0xc000) } else { word };
        let mut status = Status::of_word(self.config.policy, ended)?;
        let details = *self.details.get(slot as usize)?;
        // S0-18: such a channel's OK says that the message was sent, and no more.
        if details.role == Role::Immediate
            && status.errno == 0
            && !self.channel.is_reliable()
            && !seeded("sent-is-delivered")
        {
            status.delivery = Delivery::Sent;
        }
        self.tell_peer(now, tag, &details, word);
        self.count_end(&details, word, status);
        let peer = self.peer_of(slot);
        let nid = self.peers.get(peer).and_then(|p| p.nid);
        self.give_up_request(now, tag, &details, word);
        self.release(tag, &details);
        if details.marks.contains(Marks::PULLING) && !seeded("pull-credit-leaked") {
            self.pull_ended(now, peer);
        }
        if !details.role.reported() {
            return None;
        }
        self.tracer.record(now, Trace::Finalized { tag, status });
        Some(Report {
            tag,
            user: details.user,
            role: details.role,
            peer: nid,
            status,
            bytes: if word.lost() { 0 } else { details.length },
            reply: matches!(details.role, Role::GetSink | Role::GetPull),
            lost_race: lost_race(word),
        })
    }

    /// Tells the other side what the engines do not tell it. Fire and forget: what finds no room is
    /// made good by the peer's deadline.
    fn tell_peer(&mut self, now: Instant, tag: Tag, details: &Details, word: Word) {
        let id = self.peer_of(tag.index);
        // Another life has given the peer's tag to another transfer (R31).
        let other_life = !self.is_with(tag, id) && !seeded("last-word-to-another-life");
        if self.peer_state(id) == HelloState::Down || other_life {
            return;
        }
        if let Some(message) = last_word(details, word) {
            self.say_control(now, id, self.shared.whose(tag.index).link(), &message);
        }
    }

    /// A request that was sent and did not end well may still lie in the channel. The peer shall not
    /// take what its sender was told is lost, and its credit must come back.
    ///
    /// One that many later ones have overtaken cannot be announced, and in a reliable channel the peer
    /// would wait for it for ever: the session begins anew.
    fn give_up_request(&mut self, now: Instant, tag: Tag, details: &Details, word: Word) {
        let sent = details.session != 0 && !details.marks.contains(Marks::PASSIVE);
        if !sent || !word.lost() {
            return;
        }
        let id = self.peer_of(tag.index);
        let reliable = self.channel.is_reliable();
        let Some(peer) = self.peers.get_mut(id) else { return };
        let announced = peer.give_up(details.session, details.sequence);
        if !announced && reliable && !seeded("far-request-not-given-up") {
            self.begin_session(id);
            self.resync(now, id);
        }
    }

    fn count_end(&mut self, details: &Details, word: Word, status: Status) {
        let recalled = details.marks.contains(Marks::RECALLED);
        if recalled && word.lost() {
            self.counters.count(Counter::CameBackError);
        } else if recalled {
            self.counters.count(Counter::CameBackOk);
        }
        if !details.role.reported() {
            return;
        }
        if lost_race(word) {
            self.counters.count(Counter::LostRaces);
        }
        self.count_status(status);
    }

    fn count_status(&mut self, status: Status) {
        let end = if status.errno == 0 { Counter::FinalizedOk } else { Counter::FinalizedError };
        self.counters.count(end);
    }

    /// The one end of a message that took no slot: the call that ended it tells the upper layer.
    pub(super) fn ended_at_once(
        &mut self,
        now: Instant,
        (peer, sequence): (Nid, u32),
        length: u32,
        status: Status,
    ) {
        self.count_status(status);
        self.tracer.record(now, Trace::Ended { peer, sequence, length, status });
    }

    /// Gives everything back that the transfer held.
    fn release(&mut self, tag: Tag, details: &Details) {
        self.timers.disarm(tag.index);
        if details.list != NO_LIST && !seeded("list-leaked") {
            self.lists.give_back(details.list);
        }
        let peer = self.peer_of(tag.index);
        let passive = details.marks.contains(Marks::PASSIVE);
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.transfers = peer.transfers.saturating_sub(1);
            peer.passive = peer.passive.saturating_sub(u16::from(passive));
        }
        if passive {
            self.passive = self.passive.saturating_sub(1);
        } else {
            self.active = self.active.saturating_sub(1);
        }
        self.shared.release(tag);
        self.offer |= !seeded("silent-end-not-told") || details.role.reported();
        self.places.may_be_free();
    }

    /// Whether the control lane to the transfer's peer has room; for hosts that pace reports.
    pub fn can_answer(&mut self, tag: Tag) -> bool {
        let whose = self.shared.whose(tag.index);
        let nid = self.peers.get(self.peer_of(tag.index)).and_then(|p| p.nid);
        match (whose.link(), nid) {
            (Some(link), Some(nid)) => self.channel.ready(link, nid, Lane::Control),
            _ => false,
        }
    }
}

/// Whether a transfer was given up and came back good all the same. A descriptor that is asked
/// back because the peer has vouched for its data (PUT_DONE) has no cause and lost no race.
const fn lost_race(word: Word) -> bool {
    word.asked() && !word.lost() && word.cause().is_some()
}

/// What the peer must be told of a transfer's end, if anything.
///
/// That we have pulled, where its engine does not tell it (PUT_DONE). That we could not: perhaps the
/// pull never began, and no engine knows of it. That nothing will be staged for its GET.
fn last_word(details: &Details, word: Word) -> Option<Message<'static>> {
    let tag = details.remote;
    let failed = word.lost().then_some(Refusal::Failed);
    if details.role.pulls() {
        if details.marks.contains(Marks::OWES_DONE) {
            return Some(Message::PutDone { source: tag, failed });
        }
        return failed.map(|why| Message::PutNak { source: tag, why });
    }
    let never_staged = details.role == Role::GetSource && word.place() == Some(Place::Queue);
    failed.filter(|_| never_staged).map(|why| Message::GetNak { sink: tag, why })
}
