// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a file is fetched: window after window, each verified before the sink sees it.
//!
//! ```text
//!   Closed ──OpenRead──▶ Opening ──Reading──▶ Fetching ──all there, checksum right──▶ sink
//!     ▲                     │                   │ failed, wrong                        │
//!     └─────────────────────┴───────────────────┴── pause ─────────────────────────────┘ next
//! ```

use crate::files::hash::{hash, Hash};
use crate::files::local::Sink;
use crate::files::pages::{Buffer, WindowMemory};
use crate::files::rpc::{Answer, Call, Window};
use crate::files::window_bits;

use super::desk::{Desk, Progress, Step};
use super::job::JobError;
use super::operations::{End, Finished, Part};
use super::put::Whose;

/// Longest window that a client has room for.
const MAX_WINDOW: u32 = 64 << 20;

/// A file on its way from a server.
#[derive(Debug)]
pub(super) struct GetPlan {
    stage: Stage,
    /// Bytes that the sink has.
    offset: u64,
    /// Of these bytes.
    hash: Hash,
    /// The content that these bytes are of: its size and version.
    content: Option<(u64, u64)>,
}

#[derive(Debug)]
enum Stage {
    Closed,
    Opening,
    Fetching(Fetching),
}

#[derive(Debug)]
struct Fetching {
    window: Window,
    bytes: Vec<u8>,
    /// The next chunk to begin.
    next: u32,
    /// Bytes that are there.
    moved: u64,
}

impl GetPlan {
    pub fn new() -> Self {
        Self { stage: Stage::Closed, offset: 0, hash: Hash::new(), content: None }
    }

    /// Bytes that have been verified.
    pub fn bytes(&self) -> u64 {
        self.offset
    }

    /// Bytes of the whole file; zero until that is known.
    pub fn size(&self) -> u64 {
        self.content.map_or(0, |(size, _)| size)
    }

    pub fn checksum(&self) -> u64 {
        self.hash.finish()
    }

    /// The id that the server knows the window by.
    pub fn id(&self) -> Option<u32> {
        match &self.stage {
            Stage::Closed | Stage::Opening => None,
            Stage::Fetching(fetching) => Some(fetching.window.id),
        }
    }

    /// Begins the next operation.
    pub fn advance(
        &mut self,
        whose: &Whose<'_>,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Progress {
        match &mut self.stage {
            Stage::Closed => {
                let call = Call::OpenRead { name: whose.name.to_owned(), offset: self.offset };
                let progress = desk.call(whose.job, whose.server, &call);
                if progress == Progress::Begun {
                    self.stage = Stage::Opening;
                }
                progress
            }
            Stage::Opening => Progress::Waits,
            Stage::Fetching(fetching) => fetching.begin_next(whose, desk),
        }
    }

    /// One of its operations has ended. Its window is [closed](Self::reset) by its owner before a
    /// pause.
    pub fn on_end(
        &mut self,
        whose: &Whose<'_>,
        sink: &mut dyn Sink,
        finished: &Finished,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Step {
        match (&mut self.stage, finished.part, &finished.end) {
            (Stage::Opening, Part::Call, End::Answered(Answer::Reading(window))) => {
                self.on_window(whose, *window, desk)
            }
            (Stage::Fetching(fetching), Part::Fetch(chunk), End::Moved) => {
                fetching.take_over(whose, chunk, &finished.buffer, desk.at.memory);
                if fetching.moved < u64::from(fetching.window.length) {
                    return Step::On;
                }
                self.on_all_there(whose, sink, desk)
            }
            (_, _, End::Answered(Answer::Refused(why))) if why.is_final() => {
                Step::Fail(JobError::Refused(*why))
            }
            (_, _, End::Impossible(error)) => Step::Fail(JobError::Unreachable(*error)),
            // A server that was reborn does not know the window.
            _ => Step::Pause,
        }
    }

    /// Forgets the window; what has been verified stays.
    pub fn reset(&mut self) {
        self.stage = Stage::Closed;
    }

    fn on_window(
        &mut self,
        whose: &Whose<'_>,
        window: Window,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Step {
        let left = window.size.checked_sub(self.offset);
        let empty = left == Some(0);
        let sound = left.is_some_and(|left| u64::from(window.length) <= left)
            && window.length <= MAX_WINDOW
            && (window.length == 0) == empty;
        let content = Some((window.size, window.version));
        let other = self.content.is_some() && self.content != content;
        if other || !sound {
            if window.length > 0 {
                desk.close(whose.server, window.id);
            }
            // Another content: what the sink has is of no use.
            *self = Self::new();
            return Step::Pause;
        }
        self.content = content;
        if empty {
            return Step::Done;
        }
        let bytes = vec![0; window.length as usize];
        self.stage = Stage::Fetching(Fetching { window, bytes, next: 0, moved: 0 });
        Step::On
    }

    fn on_all_there(
        &mut self,
        whose: &Whose<'_>,
        sink: &mut dyn Sink,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Step {
        let Stage::Fetching(Fetching { window, bytes, .. }) = &self.stage else { return Step::On };
        if hash(bytes) != window.checksum {
            desk.operations.records.stats.mismatches += 1;
            return Step::Pause;
        }
        if let Err(error) = sink.write(self.offset, bytes) {
            return Step::Fail(JobError::Sink(error.kind()));
        }
        self.hash.update(bytes);
        self.offset += u64::from(window.length);
        let whole = self.offset == window.size;
        desk.close(whose.server, window.id);
        self.reset();
        if whole {
            Step::Done
        } else {
            Step::On
        }
    }
}

impl Fetching {
    fn begin_next(
        &mut self,
        whose: &Whose<'_>,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Progress {
        let offset = u64::from(self.next) * u64::from(whose.chunk);
        let left = u64::from(self.window.length).saturating_sub(offset);
        if left == 0 {
            return Progress::Waits;
        }
        let length = left.min(u64::from(whose.chunk)) as u32;
        let buffer = match desk.take(length) {
            Ok(buffer) => buffer,
            Err(progress) => return progress,
        };
        let bits = window_bits(self.window.id, self.next);
        // Within the window, whose length is 32 bits.
        desk.fetch(whose.job, whose.server, bits, offset as u32, buffer);
        self.next += 1;
        Progress::Begun
    }

    fn take_over(
        &mut self,
        whose: &Whose<'_>,
        chunk: u32,
        buffer: &Buffer,
        memory: &impl WindowMemory,
    ) {
        let start = chunk as usize * whose.chunk as usize;
        let place = self.bytes.get_mut(start..).and_then(|b| b.get_mut(..buffer.length() as usize));
        if let Some(place) = place {
            memory.read(buffer.address(), place);
            self.moved += u64::from(buffer.length());
        }
    }
}
