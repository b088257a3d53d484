// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The receiving half of a node's short-message channel.

use lnd_core::id::LinkId;
use lnd_core::message::Lane;
use lnd_shortmsg::mailbox::{Consumer, Fault};

use crate::fabric::SoftFabric;
use crate::inlet::Found;
use crate::join::Membership;
use crate::outbox::lane_number;
use crate::shape::LANES;

/// Mailboxes that a pass of the likely ones looks at.
const LIKELY: usize = 8;
/// Whole passes of a term. A mailbox without a frame in a whole term is not likely any more.
const TERM: u32 = 64;

/// A frame that was copied out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxFrame {
    /// The sending node, known by its mailbox.
    pub from: u32,
    /// The link.
    pub link: LinkId,
    /// The lane.
    pub lane: Lane,
    /// Bytes of the frame.
    pub length: usize,
}

/// The receiving half. `S` is memory for [`Shape::mailboxes`](crate::Shape::mailboxes) consumers.
/// Context: one owner at a time; no call waits.
///
/// [`next`](Self::next) visits the mailboxes in passes, control lanes first, so that answers never
/// wait behind requests. A pass ends with `None`.
#[derive(Debug)]
pub struct Inbox<'m, S> {
    fabric: SoftFabric<'m>,
    boxes: S,
    /// The place within the pass, the mailbox there, and how much of it was read.
    at: usize,
    mailbox: usize,
    seen: u32,
    /// The mailboxes in which frames were found in this term or the last one.
    likely: Likely,
    /// Those of this term: at its end the others are forgotten.
    recent: Likely,
    /// Whole passes, and how many there were when this term began.
    passes: u32,
    term: u32,
    /// The frame copied last is still in its mailbox.
    offered: bool,
    /// The mailbox to check after this pass.
    look: usize,
    me: u32,
    faults: u32,
}

impl<'m, S: AsMut<[Option<Consumer<'m>>]>> Inbox<'m, S> {
    /// The inbox of a node that has joined; `boxes` is filled. A damaged mailbox counts as a
    /// [fault](Self::faults) and stays closed until it can be formatted again. The others are not
    /// affected.
    ///
    /// # Safety
    /// This address space uses no other inbox of this node any more.
    pub unsafe fn new(membership: &Membership<'m>, mut boxes: S) -> Self {
        let (fabric, me) = (*membership.fabric(), membership.node());
        boxes.as_mut().fill_with(|| None);
        let mut this = Self {
            fabric,
            boxes,
            at: 0,
            mailbox: 0,
            seen: 0,
            likely: Likely::NONE,
            recent: Likely::NONE,
            passes: 0,
            term: 0,
            offered: false,
            look: 0,
            me,
            faults: 0,
        };
        for at in 0..fabric.shape().mailboxes() {
            if this.open(at) {
                this.faults = this.faults.saturating_add(1);
            }
        }
        this
    }

    /// Opens a mailbox to which nothing is attached. Returns whether it is damaged.
    fn open(&mut self, at: usize) -> bool {
        let Some((from, link, lane)) = place(&self.fabric, at) else { return false };
        let Some(slot @ None) = self.boxes.as_mut().get_mut(at) else { return false };
        if from == self.me {
            return false;
        }
        match self.fabric.open_inlet(from, self.me, link, lane_number(lane)) {
            Found::Open(consumer) => {
                *slot = Some(consumer);
                false
            }
            Found::Damaged => true,
            Found::Fresh | Found::Nowhere => false,
        }
    }

    /// Checks one mailbox after each pass: its sender may have cleared it, or it can be opened now.
    fn look_after(&mut self) {
        let at = self.look;
        self.look = at.wrapping_add(1);
        if self.look >= self.fabric.shape().mailboxes() {
            self.look = 0;
        }
        if self.is_cleared(at) {
            self.detach(at);
        }
        self.open(at);
    }

    fn is_cleared(&self, at: usize) -> bool {
        place(&self.fabric, at).is_some_and(|(from, link, lane)| {
            let region = self.fabric.mailbox(from, self.me, link.index(), lane_number(lane));
            region.is_some_and(|region| region.is_fresh())
        })
    }

    fn detach(&mut self, at: usize) {
        if let Some(slot) = self.boxes.as_mut().get_mut(at) {
            *slot = None;
        }
    }

    /// Copies the next frame of this pass into `into`, which has room for
    /// [`Shape::frame_max`](crate::Shape::frame_max) bytes. The frame stays in its mailbox until it
    /// is [released](Self::release). If the next call comes before, the frame and those behind it
    /// wait for the next pass. A pass takes at most `budget` frames of each mailbox. `None`: the
    /// pass is over; the next call begins another.
    pub fn next(&mut self, budget: u32, into: &mut [u8]) -> Option<InboxFrame> {
        let frame = self.find(budget, into, Self::any_at);
        if frame.is_some() {
            self.recent.note(self.mailbox);
        } else {
            self.passes = self.passes.wrapping_add(1);
            self.look_after();
        }
        frame
    }

    /// As [`next`](Self::next), in a pass of those mailboxes in which whole passes have found
    /// frames lately, at most eight. It takes as long for any number of nodes. A host makes whole
    /// passes now and then, and one before it sleeps. A pass ends before one of the other kind
    /// begins.
    pub fn next_likely(&mut self, budget: u32, into: &mut [u8]) -> Option<InboxFrame> {
        if (self.at, self.seen, self.offered) == (0, 0, false) {
            if self.passes.wrapping_sub(self.term) >= TERM {
                self.term = self.passes;
                self.likely = core::mem::replace(&mut self.recent, Likely::NONE);
            }
            (0..LIKELY).map_while(|at| self.recent.at(at)).for_each(|it| self.likely.note(it));
        }
        let frame = self.find(budget, into, Self::likely_at);
        if frame.is_some() {
            self.recent.note(self.mailbox);
        }
        frame
    }

    /// The mailbox at a place of a whole pass.
    fn any_at(&self, at: usize) -> Option<usize> {
        (at < self.fabric.shape().mailboxes()).then_some(at)
    }

    /// The mailbox at a place of a pass of the likely ones.
    fn likely_at(&self, at: usize) -> Option<usize> {
        self.likely.at(at)
    }

    /// The next frame of a pass.
    fn find(
        &mut self,
        budget: u32,
        into: &mut [u8],
        mailbox_at: impl Fn(&Self, usize) -> Option<usize>,
    ) -> Option<InboxFrame> {
        if core::mem::take(&mut self.offered) {
            self.turn();
        }
        while let Some(number) = mailbox_at(self, self.at) {
            self.mailbox = number;
            if self.seen >= budget {
                self.turn();
                continue;
            }
            let Some(Some(consumer)) = self.boxes.as_mut().get_mut(number) else {
                self.turn();
                continue;
            };
            match consumer.peek(into).map(|mail| mail.map(|mail| mail.bytes().len())) {
                Ok(Some(length)) => {
                    let (from, link, lane) = place(&self.fabric, number)?;
                    self.offered = true;
                    return Some(InboxFrame { from, link, lane, length });
                }
                Ok(None) => self.turn(),
                Err(Fault::Length) => {
                    self.faults = self.faults.saturating_add(1);
                    self.seen = self.seen.saturating_add(1);
                }
                Err(Fault::Sequence) => {
                    // Nothing can be read from it until it is formatted again.
                    self.faults = self.faults.saturating_add(1);
                    self.detach(number);
                    self.turn();
                }
                Err(Fault::NoRoom) => {
                    self.faults = self.faults.saturating_add(1);
                    self.turn();
                }
            }
        }
        (self.at, self.seen) = (0, 0);
        None
    }

    /// Removes the frame that [`next`](Self::next) has copied from its mailbox. Without one, the
    /// call has no effect.
    pub fn release(&mut self) {
        if !core::mem::take(&mut self.offered) {
            return;
        }
        self.seen = self.seen.saturating_add(1);
        if let Some(Some(consumer)) = self.boxes.as_mut().get_mut(self.mailbox) {
            consumer.discard();
        }
    }

    /// Detaches from all mailboxes. Senders see everything that was released.
    pub fn close(&mut self) {
        self.boxes.as_mut().fill_with(|| None);
    }

    /// Number of damaged mailboxes and slots.
    pub const fn faults(&self) -> u32 {
        self.faults
    }

    /// Advances to the next mailbox.
    fn turn(&mut self) {
        self.at = self.at.saturating_add(1);
        self.seen = 0;
    }
}

/// Some mailboxes, in their order; the rest is `u16::MAX`.
#[derive(Clone, Copy, Debug)]
struct Likely([u16; LIKELY]);

impl Likely {
    const NONE: Self = Self([u16::MAX; LIKELY]);

    /// The mailbox at a place.
    fn at(&self, place: usize) -> Option<usize> {
        self.0.get(place).filter(|&&number| number != u16::MAX).map(|&number| usize::from(number))
    }

    /// `mailbox` is one of them from now on. Beyond eight, the last are left to whole passes.
    fn note(&mut self, mailbox: usize) {
        let Ok(mut number) = u16::try_from(mailbox) else { return };
        if self.0.contains(&number) {
            return;
        }
        for place in &mut self.0 {
            if *place > number {
                core::mem::swap(place, &mut number);
            }
        }
    }
}

/// The mailbox that has number `at` in a pass.
fn place(fabric: &SoftFabric<'_>, at: usize) -> Option<(u32, LinkId, Lane)> {
    let shape = fabric.shape();
    let lane_boxes = shape.mailboxes() / LANES;
    let (lane, rest) = if at < lane_boxes {
        (Lane::Control, at)
    } else {
        (Lane::Request, at.wrapping_sub(lane_boxes))
    };
    let links = shape.links as usize;
    let from = u32::try_from(rest.checked_div(links)?).ok()?;
    Some((from, LinkId::new(rest.checked_rem(links)?)?, lane))
}
