// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Transfers, put together from a run's log: what each driver did with one, the frames that are
//! about it, and the transfer at the other end.

use std::collections::HashMap;

use lnd_core::id::Tag;
use lnd_core::trace::Trace;
use lnd_core::transfer::{Effect, Phase, Status};
use lnd_shortmsg::wire::{decode, Checksum};
use lnd_sim::fabric::node_of;
use lnd_sim::simulator::mailbox::Lane;
use lnd_sim::simulator::run_log::{Entry, FrameId, Logged};
use serde::Serialize;

use super::strings::Strings;
use super::words::{event_words, said, About};
use crate::recorded::Cast;

/// What a driver did with a transfer: when, in which words, and its place in the log.
pub type Line = (u64, u32, usize);

/// A transfer of one driver. Times are nanoseconds since the run's start.
#[derive(Debug, Serialize)]
pub struct Transfer {
    pub unit: u32,
    pub peer: Option<u32>,
    pub role: u32,
    pub bytes: u32,
    pub begun: u64,
    /// Something was posted.
    pub live: Option<u64>,
    /// Every debt was settled.
    pub done: Option<u64>,
    /// It was reported to the upper layer.
    pub ended: Option<u64>,
    /// Its node ended before it did.
    pub cut: Option<u64>,
    /// It was a request that was refused: the upper layer never hears of its end.
    pub refused: bool,
    pub errno: Option<i32>,
    pub health: u32,
    pub delivery: u32,
    pub evidence: u32,
    /// The transfer at the other end.
    pub other: Option<usize>,
    pub lines: Vec<Line>,
    pub frames: Vec<usize>,
    /// It began with a frame that was read.
    #[serde(skip)]
    accepts: bool,
}

/// A frame.
#[derive(Debug, Serialize)]
pub struct Frame {
    pub from: u32,
    pub to: u32,
    pub link: usize,
    pub kind: u32,
    /// When it was handed over; its place in the log.
    pub sent: (u64, usize),
    /// When copies came, what had happened to them, their places in the log.
    pub arrived: Vec<(u64, u32, usize)>,
    /// When it was lost; its place in the log.
    pub lost: Option<(u64, usize)>,
    /// What has happened to it when it was handed over.
    pub fault: u32,
    #[serde(skip)]
    about: About,
    #[serde(skip)]
    owner: Option<usize>,
    #[serde(skip)]
    sequence: u32,
}

/// Everything about transfers.
#[derive(Debug, Default)]
pub struct Transfers {
    pub all: Vec<Transfer>,
    pub frames: Vec<Frame>,
    live: HashMap<(u32, Tag), usize>,
    by_id: HashMap<FrameId, usize>,
    last_sent: HashMap<u32, usize>,
    /// The entry that is looked at.
    place: usize,
}

impl Transfers {
    /// Puts together what the log has. `start`: the run's start in nanoseconds.
    pub fn of(entries: &[Entry], cast: &Cast, start: u64, strings: &mut Strings) -> Self {
        let mut this = Self::default();
        for (place, entry) in entries.iter().enumerate() {
            this.place = place;
            let at = entry.at.as_nanos().saturating_sub(start);
            match &entry.what {
                Logged::Trace { unit, trace, reading } => {
                    this.trace(at, *unit, trace, *reading, strings);
                }
                Logged::Sent { frame, lane, tag, bytes, leaves, fault, .. } => {
                    let lost = (!leaves).then_some((at, place));
                    this.sent(at, (*frame, *lane, *tag), bytes, (lost, fault), strings);
                }
                Logged::Arrived { frame, fault, .. } => {
                    if let Some(it) = this.frame(*frame) {
                        it.arrived.push((at, strings.of(fault), place));
                    }
                }
                Logged::Lost { frame, .. } => {
                    if let Some(it) = this.frame(*frame) {
                        it.lost = Some((at, place));
                    }
                }
                Logged::Host { host, up: false, .. } => this.host_ends(at, *host, cast),
                _ => {}
            }
        }
        this
    }

    fn frame(&mut self, id: FrameId) -> Option<&mut Frame> {
        self.frames.get_mut(*self.by_id.get(&id)?)
    }

    /// Everything of a node that has ended is cut off.
    fn host_ends(&mut self, at: u64, host: u32, cast: &Cast) {
        let all = &mut self.all;
        self.live.retain(|&(unit, _), number| {
            if cast.host(unit) != host {
                return true;
            }
            if let Some(it) = all.get_mut(*number).filter(|it| it.ended.is_none() && !it.refused) {
                it.cut = Some(at);
            }
            false
        });
    }

    fn trace(&mut self, at: u64, unit: u32, trace: &Trace, read: FrameId, strings: &mut Strings) {
        let (tag, words) = match *trace {
            Trace::Accepted { tag, peer, length } => {
                let number = self.begin(at, unit, node_of(peer), length, strings);
                self.live.insert((unit, tag), number);
                self.came_of(number, read, strings);
                (tag, format!("accepted, {length} bytes"))
            }
            Trace::Step { tag, event, after, effect, .. } => {
                if let Some(it) = self.of_tag(unit, tag) {
                    match after.phase() {
                        Phase::Live => it.live = it.live.or(Some(at)),
                        Phase::Done => {
                            it.done = it.done.or(Some(at));
                            // Refused without a word: nothing was ever posted for it.
                            it.refused |= it.accepts && it.live.is_none() && !after.lost();
                        }
                        Phase::Free | Phase::Queued => {}
                    }
                }
                let then = match effect {
                    Effect::None => String::new(),
                    _ => format!(", then {effect:?}"),
                };
                (tag, format!("{}: {after}{then}", event_words(event)))
            }
            Trace::Stale { tag } => (tag, "a stale tag".into()),
            Trace::Posted { tag, link } => {
                if let Some(it) = self.of_tag(unit, tag) {
                    it.live = it.live.or(Some(at));
                }
                (tag, format!("posted on link {}", link.index()))
            }
            Trace::Invalidated { tag, link } => {
                (tag, format!("invalidated on link {}", link.index()))
            }
            Trace::Reclaimed { tag, link, real } => {
                let end = if real { " with its real end" } else { "" };
                (tag, format!("reclaimed from link {}{end}", link.index()))
            }
            Trace::Finalized { tag, status } => {
                let words = self.finish(at, self.live.get(&(unit, tag)).copied(), status, strings);
                (tag, words)
            }
            Trace::Ended { peer, sequence, length, status } => {
                let number = self.begin(at, unit, node_of(peer), length, strings);
                self.ended_at_once(number, sequence, read, strings);
                let words = self.finish(at, Some(number), status, strings);
                self.line(at, number, &words, strings);
                return;
            }
            _ => return,
        };
        if let Some(&number) = self.live.get(&(unit, tag)) {
            self.line(at, number, &words, strings);
        }
        if matches!(trace, Trace::Finalized { .. }) {
            self.live.remove(&(unit, tag));
        }
    }

    fn of_tag(&mut self, unit: u32, tag: Tag) -> Option<&mut Transfer> {
        self.all.get_mut(*self.live.get(&(unit, tag))?)
    }

    fn line(&mut self, at: u64, number: usize, words: &str, strings: &mut Strings) {
        if let Some(it) = self.all.get_mut(number) {
            it.lines.push((at, strings.of(words), self.place));
        }
    }

    fn begin(
        &mut self,
        begun: u64,
        unit: u32,
        peer: Option<u32>,
        bytes: u32,
        strings: &mut Strings,
    ) -> usize {
        let none = strings.of("");
        self.all.push(Transfer {
            unit,
            peer,
            role: strings.of("not sent"),
            bytes,
            begun,
            live: None,
            done: None,
            ended: None,
            cut: None,
            refused: false,
            accepts: false,
            errno: None,
            health: none,
            delivery: none,
            evidence: none,
            other: None,
            lines: Vec::new(),
            frames: Vec::new(),
        });
        self.all.len() - 1
    }

    /// A transfer has ended; in words.
    fn finish(
        &mut self,
        at: u64,
        number: Option<usize>,
        status: Status,
        strings: &mut Strings,
    ) -> String {
        let evidence =
            status.evidence.map_or(String::new(), |(cause, place)| format!("{cause:?}, {place:?}"));
        if let Some(it) = number.and_then(|number| self.all.get_mut(number)) {
            it.ended = Some(at);
            it.done = it.done.or(Some(at));
            it.errno = Some(status.errno);
            it.health = strings.of(&format!("{:?}", status.health));
            it.delivery = strings.of(&format!("{:?}", status.delivery));
            it.evidence = strings.of(&evidence);
        }
        if status.errno == 0 {
            "finalized, OK".into()
        } else {
            format!("finalized, errno {}, {:?} ({evidence})", status.errno, status.health)
        }
    }

    /// A driver that read a frame has begun a transfer.
    fn came_of(&mut self, number: usize, read: FrameId, strings: &mut Strings) {
        let Some(&at) = self.by_id.get(&read) else { return };
        let Some(frame) = self.frames.get(at) else { return };
        let (from, about, owner) = (frame.from, frame.about, frame.owner);
        let (role, other) = match about {
            About { put_req: Some(source), .. } => {
                ("PUT, sink", self.live.get(&(from, source)).copied())
            }
            About { get_req: Some(sink), .. } => {
                ("GET, source", self.live.get(&(from, sink)).copied())
            }
            About { immediate: true, .. } => ("receive inline", owner),
            _ => return,
        };
        if let Some(it) = self.all.get_mut(number) {
            it.accepts = true;
        }
        self.set_role(number, role, strings);
        self.about(number, at);
        self.join(number, other.or(owner));
    }

    /// A message that used no slot has ended.
    fn ended_at_once(&mut self, number: usize, sequence: u32, read: FrameId, s: &mut Strings) {
        if self.by_id.contains_key(&read) {
            self.came_of(number, read, s);
            return;
        }
        self.set_role(number, "send inline", s);
        let Some(unit) = self.all.get(number).map(|it| it.unit) else { return };
        let Some(&at) = self.last_sent.get(&unit) else { return };
        let Some(frame) = self.frames.get_mut(at) else { return };
        if frame.about.immediate && frame.sequence == sequence {
            frame.owner = Some(number);
            self.about(number, at);
        }
    }

    fn set_role(&mut self, number: usize, role: &str, strings: &mut Strings) {
        let (role, unknown) = (strings.of(role), strings.of("not sent"));
        if let Some(it) = self.all.get_mut(number).filter(|it| it.role == unknown) {
            it.role = role;
        }
    }

    /// A frame is about a transfer.
    fn about(&mut self, number: usize, frame: usize) {
        if let Some(it) = self.all.get_mut(number).filter(|it| !it.frames.contains(&frame)) {
            it.frames.push(frame);
        }
    }

    /// Two transfers are each other's other end.
    fn join(&mut self, one: usize, other: Option<usize>) {
        let Some(other) = other.filter(|&other| other != one) else { return };
        for (a, b) in [(one, other), (other, one)] {
            if let Some(it) = self.all.get_mut(a) {
                it.other = it.other.or(Some(b));
            }
        }
    }

    fn sent(
        &mut self,
        at: u64,
        (id, lane, tag): (FrameId, Lane, Option<Tag>),
        bytes: &[u8],
        (lost, fault): (Option<(u64, usize)>, &str),
        strings: &mut Strings,
    ) {
        // What a byzantine node sends may be no message.
        let decoded = decode(bytes, Checksum::On).ok().map(|it| it.into_parts());
        let (kind, about) = decoded.map_or(("no message", About::default()), |it| said(&it.1));
        let own = tag.or(about.own);
        let owner = own.and_then(|tag| self.live.get(&(lane.from, tag)).copied());
        let theirs = about.others.and_then(|tag| self.live.get(&(lane.to, tag)).copied());
        let number = self.frames.len();
        self.frames.push(Frame {
            from: lane.from,
            to: lane.to,
            link: lane.link.index(),
            kind: strings.of(kind),
            sent: (at, self.place),
            arrived: Vec::new(),
            lost,
            fault: strings.of(fault),
            about,
            owner,
            sequence: decoded.map_or(0, |it| it.0.sequence),
        });
        self.by_id.insert(id, number);
        self.last_sent.insert(lane.from, number);
        for transfer in [owner, theirs].into_iter().flatten() {
            self.about(transfer, number);
        }
        if let Some(owner) = owner {
            if matches!(kind, "PUT_NAK" | "GET_NAK") {
                if let Some(it) = self.all.get_mut(owner) {
                    it.refused = it.ended.is_none();
                }
            }
            let role = match kind {
                "IMMEDIATE" => "send inline",
                "PUT_REQ" => "PUT, source",
                "GET_REQ" => "GET, sink",
                "PUT_DONE" => "PUT, sink",
                "PULL_READY" | "GET_DONE" => "GET, source",
                _ => return,
            };
            self.set_role(owner, role, strings);
            self.join(owner, theirs);
        }
    }
}
