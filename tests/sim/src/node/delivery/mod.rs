// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The oracle of delivery, from end to end: what the upper layers submitted, were told and saw,
//! over every message of a run.
//!
//! It knows the upper layers of all nodes and the frames on the wire. It never asks a driver how a
//! message stands.
//!
//! | rule | broken when |
//! |---|---|
//! | delivered means seen (S0-18) | a sender is told *delivered*, the incarnation that it was sent to lives, and its upper layer never sees it; if the sender's incarnation ends first, its goodbye was read before the message or before a word of its successor |
//! | reliable means delivered (S0-18) | over a reliable channel a sender is told no more than *sent* |
//! | at most once (INV-6) | an upper layer sees one message twice |
//! | not delivered means not seen (S0-18) | a sender is told *not delivered* of what the other side has seen or received |
//! | no message after its deadline (LU-16303) | a frame of a message leaves when its deadline has passed |
//! | our own faults are ours (LU-17505, LU-20379) | a sender all of whose links are down, and that knows it, is told that the peer is down |

mod words;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use lnd_core::id::{Incarnation, Tag};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Cause, Delivery, Place, Status};

/// The oracle, as nodes and network share it.
pub type Tracking = Rc<RefCell<DeliveryOracle>>;

/// One message, from one upper layer to the next hop's.
#[derive(Clone, Debug)]
struct Tracked {
    from: u32,
    to: u32,
    tag: Option<Tag>,
    submitted: Instant,
    deadline: Instant,
    /// The incarnation that submitted it.
    sent_by: Option<Incarnation>,
    /// It asks for a payload, which travels the other way.
    asks: bool,
    /// A frame of it has left.
    sent: bool,
    /// The receiver's incarnation that the frame names.
    sent_to: Option<Incarnation>,
    /// The driver did not take it.
    refused: bool,
    /// How often an upper layer has seen it.
    seen: u32,
    /// An upper layer was told that it has all of it.
    received: bool,
    /// It was read behind a successor's word and before its sender's goodbye, or behind a
    /// successor's goodbye.
    overtaken: bool,
    end: Option<Status>,
}

/// A rule that was broken: where, by which transfer, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    /// The node concerned.
    pub node: u32,
    /// The sender's transfer.
    pub tag: Option<Tag>,
    /// What was broken.
    pub what: String,
}

/// One node, as the oracle sees it.
#[derive(Clone, Copy, Debug, Default)]
struct EngineRef {
    /// The incarnation that lives.
    incarnations: Option<Incarnation>,
    /// When that changed last.
    changed: Instant,
    /// Since when all links have been down and the node has known it.
    cut_off: Option<Instant>,
}

/// What a node has read of another one, whose incarnations are numbered by their births.
#[derive(Clone, Debug, Default)]
struct Read {
    /// The latest incarnation of which it has read a word.
    latest: usize,
    /// Those whose goodbye it has read.
    goodbyes: BTreeSet<usize>,
}

/// What is known of every message of a run.
#[derive(Debug, Default)]
pub struct DeliveryOracle {
    /// The time.
    pub now: Instant,
    /// The node whose word proves nothing.
    pub byzantine: Option<u32>,
    /// Channels lose nothing that they call sent.
    pub reliable: bool,
    engine_refs: BTreeMap<u32, EngineRef>,
    messages: Vec<Tracked>,
    by_header: HashMap<(u32, u32, Vec<u8>), usize>,
    /// Deadlines of what a node has staged for a GET, by its transfer.
    replies: HashMap<(u32, Tag), Instant>,
    /// When a node was told last, truly or not, that a peer is down.
    alarms: BTreeMap<(u32, u32), Instant>,
    /// Incarnations that have said goodbye, and to which node.
    goodbyes: BTreeSet<(Incarnation, u32)>,
    /// Incarnations in the order of their births.
    starts: Vec<Incarnation>,
    /// What a node has read of another one.
    read: BTreeMap<(u32, u32), Read>,
    broken: Vec<Undelivered>,
}

/// After a change of incarnation, and after an alarm, this long a peer may be taken for down.
const AFTERMATH: Span = Span::from_secs(2);

impl DeliveryOracle {
    /// An oracle of no messages, of a world that has a byzantine node or none.
    pub fn new(now: Instant, byzantine: Option<u32>) -> Self {
        Self { now, byzantine, ..Self::default() }
    }

    /// The first rule broken since the last call.
    pub fn take_broken(&mut self) -> Option<Undelivered> {
        (!self.broken.is_empty()).then(|| self.broken.remove(0))
    }

    /// A node begins an incarnation, or ends one.
    pub fn incarnations(&mut self, node: u32, incarnation: Option<Incarnation>) {
        let changed = self.now;
        // Another incarnation may begin with the same names.
        self.replies.retain(|&(of, _), _| of != node);
        self.starts.extend(incarnation);
        self.read.retain(|&(_, to), _| to != node);
        self.engine_refs
            .insert(node, EngineRef { incarnations: incarnation, changed, cut_off: None });
    }

    /// A node says goodbye to a peer, and the channel delivers it.
    pub fn goodbye(&mut self, node: u32, peer: u32) {
        if let Some(incarnation) =
            self.engine_refs.get(&node).and_then(|engine_ref| engine_ref.incarnations)
        {
            self.goodbyes.insert((incarnation, peer));
        }
    }

    /// A node takes a frame of another one out of its mailbox: a request that carries `header`, or
    /// a control message, which may be a goodbye.
    pub fn takes(
        &mut self,
        (from, to): (u32, u32),
        by: Incarnation,
        header: Option<&[u8]>,
        closes: bool,
    ) {
        let Some(start) = self.starts.iter().position(|&it| it == by) else { return };
        let read = self.read.entry((from, to)).or_default();
        read.latest = read.latest.max(start);
        if closes {
            read.goodbyes.insert(start);
        }
        let unannounced = read.latest > start && !read.goodbyes.contains(&start);
        let overtaken = unannounced || read.goodbyes.last().is_some_and(|&last| last > start);
        let at = header.and_then(|header| self.by_header.get(&(from, to, header.to_vec())));
        if let Some(message) = at.and_then(|&at| self.messages.get_mut(at)) {
            message.overtaken |= overtaken;
        }
    }

    /// All links of a node are down and it was told so; or one works again.
    pub fn cut_off(&mut self, node: u32, is_cut_off: bool) {
        let now = self.now;
        let engine_ref = self.engine_refs.entry(node).or_default();
        engine_ref.cut_off = is_cut_off.then(|| engine_ref.cut_off.unwrap_or(now));
    }

    /// A node is told that a peer is down.
    pub fn alarmed(&mut self, node: u32, peer: u32) {
        self.alarms.insert((node, peer), self.now);
    }

    /// Whether nothing has happened for a while that ends what two nodes have with each other.
    pub fn undisturbed(&self, node: u32, peer: u32) -> bool {
        let past = |at: Instant| at.after(AFTERMATH) < self.now;
        let changed = |node| {
            self.engine_refs.get(&node).map_or(Instant::ORIGIN, |engine_ref| engine_ref.changed)
        };
        let alarm = |a, b| self.alarms.get(&(a, b)).is_none_or(|&at| past(at));
        past(changed(node)) && past(changed(peer)) && alarm(node, peer) && alarm(peer, node)
    }

    fn classifies(&self, message: &Tracked) -> bool {
        self.byzantine != Some(message.from) && self.byzantine != Some(message.to)
    }

    fn report(&mut self, at: usize, node: u32, what: &str) {
        let Some(message) = self.messages.get(at) else { return };
        if self.classifies(message) {
            let what = format!("{what}: {message}");
            self.broken.push(Undelivered { node, tag: message.tag, what });
        }
    }

    /// An upper layer is about to submit a message; the message's number.
    pub fn submit(&mut self, from: u32, to: u32, header: &[u8], deadline: Instant) -> usize {
        let at = self.messages.len();
        self.messages.push(Tracked {
            from,
            to,
            tag: None,
            submitted: self.now,
            deadline,
            sent_by: self.engine_refs.get(&from).and_then(|engine_ref| engine_ref.incarnations),
            asks: false,
            sent: false,
            sent_to: None,
            refused: false,
            seen: 0,
            received: false,
            overtaken: false,
            end: None,
        });
        if let Some(former) = self.by_header.insert((from, to, header.to_vec()), at) {
            if self.messages.get(former).is_some_and(|m| !m.refused) {
                self.report(former, from, "INV-6: one message is submitted twice");
            }
        }
        at
    }

    /// A message is a GET that the other side answers by itself: what is said of its delivery is
    /// said of the payload.
    pub fn asks(&mut self, at: usize) {
        if let Some(message) = self.messages.get_mut(at) {
            message.asks = true;
        }
    }

    /// The driver has taken a message.
    pub fn accepted(&mut self, at: usize, tag: Tag) {
        if let Some(message) = self.messages.get_mut(at) {
            message.tag = Some(tag);
        }
    }

    /// The driver has not taken a message, or the upper layer has taken it back.
    pub fn refused(&mut self, at: usize) {
        let Some(message) = self.messages.get_mut(at) else { return };
        message.refused = true;
        if message.sent {
            let from = message.from;
            self.report(at, from, "INV-1: refused, and sent");
        }
    }

    /// A frame with a message's header leaves, for an incarnation of the receiver.
    pub fn sent(
        &mut self,
        (from, to): (u32, u32),
        header: &[u8],
        incarnation: Option<Incarnation>,
    ) {
        let Some(&at) = self.by_header.get(&(from, to, header.to_vec())) else { return };
        let Some(message) = self.messages.get_mut(at) else { return };
        (message.sent, message.sent_to) = (true, incarnation);
        if message.deadline <= self.now {
            self.report(at, from, "LU-16303: sent after its deadline");
        }
    }

    /// A node has staged what a GET asks for, and gives up at `deadline`.
    pub fn staged(&mut self, node: u32, tag: Tag, deadline: Instant) {
        self.replies.insert((node, tag), deadline);
    }

    /// A node tells a peer that what a GET asked for is staged.
    pub fn reply_sent(&mut self, node: u32, tag: Tag) {
        let deadline = self.replies.get(&(node, tag)).copied();
        if self.byzantine != Some(node) && deadline.is_some_and(|at| at <= self.now) {
            let what = format!("LU-16303: PULL_READY after its deadline {deadline:?}");
            self.broken.push(Undelivered { node, tag: Some(tag), what });
        }
    }

    /// The upper layer of `node` sees a message of `from`; the message's number.
    pub fn seen(&mut self, from: u32, node: u32, header: &[u8]) -> Option<usize> {
        let Some(&at) = self.by_header.get(&(from, node, header.to_vec())) else {
            if self.byzantine != Some(from) {
                let what = format!("INV-6: seen, and node {from} has not submitted it");
                self.broken.push(Undelivered { node, tag: None, what });
            }
            return None;
        };
        let message = self.messages.get_mut(at)?;
        message.seen += 1;
        if message.seen > 1 {
            self.report(at, node, "INV-6: seen twice");
        }
        self.compare(at);
        Some(at)
    }

    /// The upper layer that saw a message is told how its end of it went.
    pub fn received(&mut self, at: usize, ok: bool) {
        if let Some(message) = self.messages.get_mut(at) {
            message.received |= ok;
        }
        self.compare(at);
    }

    /// The sender's upper layer is told how a message ended.
    pub fn ended(&mut self, at: usize, status: Status) {
        let Some(message) = self.messages.get_mut(at) else { return };
        message.end = Some(status);
        let (from, to, submitted) = (message.from, message.to, message.submitted);
        if self.reliable && status.delivery == Delivery::Sent {
            self.report(at, from, "S0-18: told no more than sent, over a reliable channel");
        }
        let cut_off = self.engine_refs.get(&from).and_then(|engine_ref| engine_ref.cut_off);
        let blames = matches!(status.evidence, Some((Cause::PeerDown, _)));
        if blames && cut_off.is_some_and(|at| at <= submitted) && self.undisturbed(from, to) {
            self.report(at, from, "LU-17505: our own links are down, and the peer is blamed");
        }
        self.compare(at);
    }

    /// What is known not to be delivered was neither seen nor received (S0-18). A message that was
    /// staged or refused may have been seen; what the sender was told is that its data was not
    /// taken.
    fn compare(&mut self, at: usize) {
        let Some(message) = self.messages.get(at) else { return };
        let Some(status) = message.end.filter(|end| end.delivery == Delivery::NotDelivered) else {
            return;
        };
        let never_left = matches!(status.evidence, Some((_, Place::Queue | Place::Message)));
        let to = message.to;
        if message.received {
            self.report(at, to, "S0-18: told not delivered, and received");
        } else if message.seen > 0 && never_left && !message.asks {
            self.report(at, to, "S0-18: told not delivered, and seen");
        }
    }

    /// At rest, when no frame is under way: what was delivered was seen, or the incarnation that it
    /// was sent to has ended (S0-18).
    ///
    /// # Errors
    /// The first message that was not.
    pub fn at_rest(&mut self) -> Result<(), Undelivered> {
        let silent = |message: &Tracked| {
            let promised = message.end.is_some_and(|end| end.delivery == Delivery::Delivered);
            let incarnations =
                self.engine_refs.get(&message.to).and_then(|engine_ref| engine_ref.incarnations);
            let ended = message.sent && message.sent_to != incarnations;
            // A sender that ended without a goodbye is owed nothing, nor is one whose goodbye comes
            // too late.
            let sender =
                self.engine_refs.get(&message.from).and_then(|engine_ref| engine_ref.incarnations);
            let said = |it| self.goodbyes.contains(&(it, message.to));
            let gone = message.sent_by != sender
                && (message.overtaken || message.sent_by.is_none_or(|it| !said(it)));
            promised && message.seen == 0 && !ended && !gone && self.classifies(message)
        };
        match self.messages.iter().find(|message| silent(message)) {
            None => Ok(()),
            Some(message) => Err(Undelivered {
                node: message.from,
                tag: message.tag,
                what: format!("S0-18: reported as delivered, not received: {message}"),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
