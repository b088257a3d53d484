// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Opens mailboxes for both ends. The reader formats them, and formats damaged ones again.
//!
//! The reader formats a mailbox when it is *fresh*: never formatted, or cleared. Each end opens
//! sound mailboxes and leaves the others closed; other mailboxes are not affected. Only the sender
//! makes a damaged mailbox fresh, while it has nothing attached to it. The reader may do so if the
//! sender is proven absent. So no mailbox is formatted under an attached sender.
//!
//! | found damaged by | action |
//! |---|---|
//! | the sender, at attach | clears it |
//! | the sender, by a mark or without room | detaches; then as above |
//! | the reader, and the sender is absent or dead | formats it |
//! | the reader, and the sender may be attached | detaches; marks it |
//!
//! A sender looks for the mark before each frame. Without that it would go on to send into a
//! mailbox without a reader, as long as there is room.

use lnd_core::id::LinkId;
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::{Consumer, MailboxRegion};

use crate::fabric::SoftFabric;
use crate::nodes::NodeState;

/// The state of a mailbox for one end.
pub(crate) enum Found<T> {
    /// Sound, and attached.
    Open(T),
    /// Its reader has not formatted it, or not again.
    Fresh,
    /// Damaged; the other end must act.
    Damaged,
    /// There is no such mailbox.
    Nowhere,
}

impl<'m> SoftFabric<'m> {
    /// Opens a mailbox for its reader `to`, which has nothing attached to it. Formats it if it is
    /// fresh.
    pub(crate) fn open_inlet(
        &self,
        from: u32,
        to: u32,
        link: LinkId,
        lane: usize,
    ) -> Found<Consumer<'m>> {
        let region = self.mailbox(from, to, link.index(), lane);
        let geometry = self.shape().box_geometry(lane);
        let (Some(region), Some(geometry)) = (region, geometry) else { return Found::Nowhere };
        if let Some(consumer) = self.attach_inlet(region, lane) {
            return Found::Open(consumer);
        }
        let sender_is_gone = matches!(self.state_of(from), NodeState::Absent | NodeState::Dead);
        if !region.is_fresh() && !sender_is_gone {
            region.condemn();
            return Found::Damaged;
        }
        // SAFETY: only the reader formats, which is our caller and has nothing attached. The sender
        // has nothing attached either: it attaches to sound mailboxes only and clears a mailbox
        // only when it is detached, or its absence is proven. It attaches after the format at the
        // earliest, since the magic comes last.
        let made = unsafe { region.format(geometry, 0) };
        match made.ok().and_then(|()| self.attach_inlet(region, lane)) {
            Some(consumer) => Found::Open(consumer),
            None => Found::Damaged,
        }
    }

    /// Opens a mailbox for its sender `from`, which has nothing attached to it.
    pub(crate) fn open_outlet(
        &self,
        from: u32,
        to: u32,
        link: LinkId,
        lane: usize,
    ) -> Found<Producer<'m>> {
        let Some(region) = self.mailbox(from, to, link.index(), lane) else {
            return Found::Nowhere;
        };
        if region.is_fresh() {
            return Found::Fresh;
        }
        if self.has_sound_header(region, lane) {
            // SAFETY: the caller is the only sender and has no other producer of this mailbox.
            if let Ok(producer) = unsafe { Producer::attach(region) } {
                return Found::Open(producer);
            }
        }
        region.clear();
        Found::Damaged
    }

    /// Whether a mailbox's header matches this fabric's geometry.
    pub(crate) fn has_sound_header(&self, region: MailboxRegion<'_>, lane: usize) -> bool {
        region.check().ok() == self.shape().box_geometry(lane)
    }

    fn attach_inlet(&self, region: MailboxRegion<'m>, lane: usize) -> Option<Consumer<'m>> {
        if !self.has_sound_header(region, lane) {
            return None;
        }
        // SAFETY: the caller is the only reader and has no other consumer of this mailbox.
        unsafe { Consumer::attach(region) }.ok()
    }
}
