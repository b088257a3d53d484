// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a file is fetched: a few windows at a time, each verified before the sink sees it, and in
//! order.
//!
//! ```text
//!   OpenRead ──Reading──▶ Fetching ──all there, checksum right, those before it written──▶ sink
//!      ▲                     │ failed, wrong
//!      └────── pause ────────┘ what has not been written is asked for again
//! ```
//!
//! The next window is asked for when the answer to the one before has come: until then its place is
//! not known. So the server reads ahead while chunks of the windows before are on their way.

use std::collections::VecDeque;

use crate::files::hash::{hash, Hash};
use crate::files::local::Sink;
use crate::files::pages::{Buffer, WindowMemory};
use crate::files::rpc::{Answer, Call, Window};
use crate::files::window_bits;

use super::desk::{Desk, Progress, Step};
use super::job::JobError;
use super::operations::{End, Finished, Operations, Part};
use super::put::Whose;

/// Longest window that a client has room for.
const MAX_WINDOW: u32 = 64 << 20;
/// Most windows of a file that are open at a time.
const AHEAD: usize = 3;

/// A file on its way from a server.
#[derive(Debug)]
pub(super) struct GetPlan {
    /// An OpenRead is on its way.
    asking: bool,
    /// Open windows, one behind the other; the first begins at `offset`.
    open: VecDeque<Fetching>,
    /// Bytes that the sink has.
    offset: u64,
    /// Of these bytes.
    hash: Hash,
    /// The content that these bytes are of: its size and version.
    content: Option<(u64, u64)>,
}

#[derive(Debug)]
struct Fetching {
    window: Window,
    /// At least as long as the window.
    bytes: Vec<u8>,
    /// The next chunk to begin.
    next: u32,
    /// Bytes that are there.
    moved: u64,
}

impl GetPlan {
    pub fn new() -> Self {
        let open = VecDeque::new();
        Self { asking: false, open, offset: 0, hash: Hash::new(), content: None }
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

    /// The ids that the server knows the windows by.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.open.iter().map(|fetching| fetching.window.id)
    }

    /// Where the window begins that has not been asked for.
    fn end(&self) -> u64 {
        let lengths = self.open.iter().map(|fetching| u64::from(fetching.window.length));
        self.offset + lengths.sum::<u64>()
    }

    /// Begins the next operation.
    pub fn advance(
        &mut self,
        whose: &Whose<'_>,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Progress {
        let offset = self.end();
        let more = self.content.is_none_or(|(size, _)| offset < size);
        if more && !self.asking && self.open.len() < AHEAD {
            let call = Call::OpenRead { name: whose.name.to_owned(), offset };
            let progress = desk.call(whose.job, whose.server, &call);
            self.asking = progress == Progress::Begun;
            return progress;
        }
        match self.open.iter_mut().find(|fetching| fetching.has_next(whose.chunk)) {
            Some(fetching) => fetching.begin_next(whose, desk),
            None => Progress::Waits,
        }
    }

    /// One of its operations has ended. Its windows are closed and [forgotten](Self::reset) by its
    /// owner before a pause.
    pub fn on_end(
        &mut self,
        whose: &Whose<'_>,
        sink: &mut dyn Sink,
        finished: &Finished,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Step {
        match (finished.part, &finished.end) {
            (Part::Call, End::Answered(Answer::Reading(window))) if self.asking => {
                self.asking = false;
                self.on_window(whose, *window, desk)
            }
            (Part::Fetch(bits), End::Moved) => {
                let (id, chunk) = ((bits >> 32) as u32, bits as u32);
                let place = self.open.iter_mut().find(|fetching| fetching.window.id == id);
                if let Some(fetching) = place {
                    fetching.take_over(whose, chunk, &finished.buffer, desk.at.memory);
                }
                self.deliver(whose, sink, desk)
            }
            (_, End::Answered(Answer::Refused(why))) if why.is_final() => {
                Step::Fail(JobError::Refused(*why))
            }
            (_, End::Impossible(error)) => Step::Fail(JobError::Unreachable(*error)),
            // A server that was reborn does not know the window.
            _ => Step::Pause,
        }
    }

    /// Forgets the windows; what has been verified and written stays.
    pub fn reset(&mut self, operations: &mut Operations) {
        self.asking = false;
        self.open.drain(..).for_each(|fetching| operations.keep_spare(fetching.bytes));
    }

    fn on_window(
        &mut self,
        whose: &Whose<'_>,
        window: Window,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Step {
        let left = window.size.checked_sub(self.end());
        let empty = left == Some(0);
        let sound = left.is_some_and(|left| u64::from(window.length) <= left)
            && window.length <= MAX_WINDOW
            && (window.length == 0) == empty
            && self.ids().all(|id| id != window.id);
        let content = Some((window.size, window.version));
        let other = self.content.is_some() && self.content != content;
        if other || !sound {
            if window.length > 0 {
                desk.close(whose.server, window.id);
            }
            // Another content: what the sink has is of no use. The windows are closed by our owner.
            (self.offset, self.hash, self.content) = (0, Hash::new(), None);
            return Step::Pause;
        }
        self.content = content;
        if empty {
            return if self.open.is_empty() { Step::Done } else { Step::On };
        }
        let bytes = desk.operations.take_spare(window.length as usize);
        self.open.push_back(Fetching { window, bytes, next: 0, moved: 0 });
        Step::On
    }

    /// Verifies and writes the windows that are complete and have none before them.
    fn deliver(
        &mut self,
        whose: &Whose<'_>,
        sink: &mut dyn Sink,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Step {
        while let Some(Fetching { window, bytes, .. }) =
            self.open.front().filter(|fetching| fetching.is_complete())
        {
            let bytes = &bytes[..window.length as usize];
            if hash(bytes) != window.checksum {
                desk.operations.records.stats.mismatches += 1;
                return Step::Pause;
            }
            if let Err(error) = sink.write(self.offset, bytes) {
                return Step::Fail(JobError::Sink(error.kind()));
            }
            self.hash.update(bytes);
            self.offset += u64::from(window.length);
            desk.close(whose.server, window.id);
            if let Some(fetching) = self.open.pop_front() {
                desk.operations.keep_spare(fetching.bytes);
            }
        }
        let whole = self.content.is_some_and(|(size, _)| self.offset == size);
        if whole && !self.asking {
            Step::Done
        } else {
            Step::On
        }
    }
}

impl Fetching {
    fn is_complete(&self) -> bool {
        self.moved >= u64::from(self.window.length)
    }

    fn has_next(&self, chunk: u32) -> bool {
        u64::from(self.next) * u64::from(chunk) < u64::from(self.window.length)
    }

    fn begin_next(
        &mut self,
        whose: &Whose<'_>,
        desk: &mut Desk<'_, '_, impl WindowMemory>,
    ) -> Progress {
        let offset = u64::from(self.next) * u64::from(whose.chunk);
        let left = u64::from(self.window.length).saturating_sub(offset);
        let length = left.min(u64::from(whose.chunk)) as u32;
        let buffer = match desk.take(whose.server, length) {
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
