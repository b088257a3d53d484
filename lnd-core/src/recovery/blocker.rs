// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file reports what keeps the driver from being idle.

use crate::base::id::{LinkId, Nid, Tag};
use crate::base::time::Instant;
use crate::machines::link::LinkState;
use crate::machines::transfer::{Phase, Word};
use crate::ports::Ports;
use crate::shard::{Driver, RunState};

/// A thing that a shutdown or a drain waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blocker {
    /// A transfer that has not ended.
    Transfer {
        /// Its tag.
        tag: Tag,
        /// The other side.
        peer: Option<Nid>,
        /// Its link, if it has one.
        link: Option<LinkId>,
        /// What it still owes, and why it ends.
        word: Word,
        /// The time that bounds its wait.
        until: Option<Instant>,
    },
    /// A transfer that has ended and has not been fetched by
    /// [`next_report`](Driver::next_report).
    Unreported {
        /// Its tag.
        tag: Tag,
    },
    /// A link whose engine has not stopped.
    Link {
        /// The link.
        link: LinkId,
        /// Its state.
        state: LinkState,
    },
}

impl<P: Ports> Driver<'_, P> {
    /// What keeps the driver from being idle, from slot `from` on. `None`: nothing is left. Walks
    /// the whole table at most. For operators and for tests.
    pub fn blocker(&self, from: u32) -> Option<Blocker> {
        for slot in from..self.config.slots {
            let word = self.slots.word(slot);
            let tag = self.slots.tag(slot);
            match word.phase() {
                Phase::Free => {}
                Phase::Done => return Some(Blocker::Unreported { tag }),
                Phase::Queued | Phase::Live => {
                    let owner = self.slots.owner(slot);
                    return Some(Blocker::Transfer {
                        tag,
                        peer: self.peers.nid(self.peers.of_slot(slot)),
                        link: owner.link(),
                        word,
                        until: self.slots.armed(slot),
                    });
                }
            }
        }
        // Links count only once they are being stopped. Before that an open link is no obstacle.
        if self.run.state() != RunState::Stopping {
            return None;
        }
        self.links.ids().find_map(|link| {
            let state = self.link_state(link)?;
            (state != LinkState::Down).then_some(Blocker::Link { link, state })
        })
    }
}
