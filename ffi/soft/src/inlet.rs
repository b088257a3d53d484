// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mailboxes as their two ends open them: made by the reader, and made anew when they are damaged.
//!
//! A mailbox is formatted by its reader, when it is *fresh*: never formatted, or cleared. Each end
//! opens what is sound and leaves the rest closed; other mailboxes are not affected. What is damaged
//! becomes fresh by its sender alone, at a moment at which the sender has nothing attached to it, or
//! by the reader if the sender is proven not to be there. So nothing is formatted under a sender.
//!
//! | found damaged by | does |
//! |---|---|
//! | the sender, when it attaches | clears it |
//! | the sender, when there is no room | detaches; then as above |
//! | the reader, and the sender is absent or dead | formats it |
//! | the reader, and the sender may be attached | detaches, and marks the header if only slots are bad |

use lnd_core::id::LinkId;
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::{Consumer, MailboxRegion};

use crate::fabric::SoftFabric;
use crate::nodes::NodeState;

/// A mailbox as one end finds it.
pub(crate) enum Found<T> {
    /// Sound, and attached.
    Open(T),
    /// Its reader has not made it yet, or not anew.
    Fresh,
    /// Damaged; the other end has to do something.
    Damaged,
    /// There is no such mailbox.
    Nowhere,
}

impl<'m> SoftFabric<'m> {
    /// Opens a mailbox for its reader `to`, which has nothing attached to it; makes it if it is fresh.
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
            if self.has_sound_header(region, lane) {
                region.condemn();
            }
            return Found::Damaged;
        }
        // SAFETY: only the reader formats, which is our caller and has nothing attached. The sender
        // has nothing attached either: it attaches to sound mailboxes only and clears a mailbox only
        // when it is detached, or its absence is proven. It attaches after the format at the
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

    /// Whether a mailbox's header is what this fabric's mailboxes have.
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
