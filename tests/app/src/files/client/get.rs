// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a file is fetched: a few windows at a time. The sink gets them in order, and each is
//! verified before the next.
//!
//! ```text
//!   OpenRead ──Reading──▶ Fetching ──chunks, in order──▶ sink ──checksum right──▶ next window
//!      ▲                     │ failed, wrong
//!      └────── pause ────────┘ what has not been verified is asked for and written again
//! ```
//!
//! A chunk is copied out of the payload window in pieces: what the checksums have seen is what the
//! sink gets, and it stays in the processor's cache on its way. One that comes early is kept.
//!
//! The next window is asked for when the answer to the one before has come: until then its place is
//! not known. So the server reads ahead while chunks of the windows before are on their way.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use crate::files::hash::Hash;
use crate::files::local::Sink;
use crate::files::pages::{Buffer, WindowMemory};
use crate::files::rpc::{Answer, Call, Window};
use crate::files::window_bits;

use super::job::JobError;
use super::job_context::{JobContext, Progress, Step};
use super::operations::{End, Finished, Operations, Part};
use super::put::Whose;

/// Longest window that a client has room for.
const MAX_WINDOW: u32 = 64 << 20;
/// Most windows of a file that are open at a time. With fewer the server waits for the next call
/// now and then: it comes when the answer to the one before has been seen.
const AHEAD: usize = 4;
/// A file that has another content so often is not fetched. One that grows all the time would be
/// begun again for ever.
const MAX_CHANGES: u32 = 8;

/// A file on its way from a server.
#[derive(Debug)]
pub(super) struct GetPlan {
    /// An OpenRead is on its way.
    asking: bool,
    /// Open windows, one behind the other; the first begins at `offset`.
    open: VecDeque<Fetching>,
    /// Bytes that the sink has and that have been verified.
    offset: u64,
    /// Of these bytes, and of those of the first window that the sink has already.
    hash: Hash,
    /// Of these bytes alone, as it was when the first window was begun.
    verified: Hash,
    /// The content that these bytes are of: its size and version.
    content: Option<(u64, u64)>,
    /// How often the file had another content than before.
    changes: u32,
}

#[derive(Debug)]
struct Fetching {
    window: Window,
    /// The next chunk to begin.
    next: u32,
    /// The next chunk for the sink, the bytes that the sink has, and their checksum.
    wanted: u32,
    written: u32,
    hash: Hash,
    /// Chunks that came before their turn, with their lengths.
    early: BTreeMap<u32, (Vec<u8>, usize)>,
}

impl GetPlan {
    pub fn new() -> Self {
        let open = VecDeque::new();
        let (hash, verified) = (Hash::new(), Hash::new());
        Self { asking: false, open, offset: 0, hash, verified, content: None, changes: 0 }
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
        self.verified.finish()
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
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> Progress {
        let offset = self.end();
        let more = self.content.is_none_or(|(size, _)| offset < size);
        if more && !self.asking && self.open.len() < AHEAD {
            let call = Call::OpenRead { name: whose.name.to_owned(), offset };
            let progress = context.call(whose.job, whose.server, &call);
            self.asking = progress == Progress::Begun;
            return progress;
        }
        match self.open.iter_mut().find(|fetching| fetching.has_next(whose.chunk)) {
            Some(fetching) => fetching.begin_next(whose, context),
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
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> Step {
        match (finished.part, &finished.end) {
            (Part::Call, End::Answered(Answer::Reading(window))) if self.asking => {
                self.asking = false;
                self.on_window(whose, *window, context)
            }
            (Part::Fetch(bits), End::Moved) => {
                let (id, chunk) = ((bits >> 32) as u32, bits as u32);
                match self.take_over(id, chunk, &finished.buffer, sink, context) {
                    Ok(()) => self.go_on(whose, sink, context),
                    Err(error) => Step::Fail(JobError::Sink(error.kind())),
                }
            }
            (_, End::Answered(Answer::Refused(why))) if why.is_final() => {
                Step::Fail(JobError::Refused(*why))
            }
            (_, End::Impossible(error)) => Step::Fail(JobError::Unreachable(*error)),
            // A server that was restarted does not know the window.
            _ => Step::Pause,
        }
    }

    /// Forgets the windows; what has been verified and written stays.
    pub fn reset(&mut self, operations: &mut Operations) {
        self.asking = false;
        self.hash = self.verified.clone();
        let early = self.open.drain(..).flat_map(|fetching| fetching.early.into_values());
        early.for_each(|(bytes, _)| operations.keep_spare(bytes));
    }

    fn on_window(
        &mut self,
        whose: &Whose<'_>,
        window: Window,
        context: &mut JobContext<'_, '_, impl WindowMemory>,
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
                context.close(whose.server, window.id);
            }
            // Another content: what the sink has is of no use. The windows are closed by our owner.
            (self.offset, self.verified, self.content) = (0, Hash::new(), None);
            self.changes += u32::from(other);
            if self.changes > MAX_CHANGES {
                return Step::Fail(JobError::Changes);
            }
            return Step::Pause;
        }
        self.content = content;
        if empty {
            return if self.open.is_empty() { Step::Done } else { Step::On };
        }
        self.open.push_back(Fetching::new(window));
        Step::On
    }

    /// A chunk is there: the sink gets it if it is the next, else it is kept.
    fn take_over(
        &mut self,
        id: u32,
        chunk: u32,
        buffer: &Buffer,
        sink: &mut dyn Sink,
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> io::Result<()> {
        let Some(place) = self.open.iter().position(|fetching| fetching.window.id == id) else {
            return Ok(());
        };
        let Some(fetching) = self.open.get_mut(place) else { return Ok(()) };
        let bytes = context.at.memory.bytes(buffer.address(), buffer.length());
        if place > 0 || fetching.wanted != chunk {
            let mut kept = context.operations.take_spare(bytes.len());
            bytes.copy_to(0, &mut kept);
            fetching.early.insert(chunk, (kept, bytes.len()));
            return Ok(());
        }
        fetching.wanted += 1;
        let piece = &mut context.operations.piece;
        for start in (0..bytes.len()).step_by(piece.len().max(1)) {
            let length = bytes.copy_to(start, piece);
            self.write(sink, &piece[..length])?;
        }
        Ok(())
    }

    /// The next bytes of the first window, for the sink.
    fn write(&mut self, sink: &mut dyn Sink, bytes: &[u8]) -> io::Result<()> {
        let Some(first) = self.open.front_mut() else { return Ok(()) };
        first.hash.update(bytes);
        self.hash.update(bytes);
        sink.write(self.offset + u64::from(first.written), bytes)?;
        // No longer than the window, whose length is 32 bits.
        first.written += bytes.len() as u32;
        Ok(())
    }

    /// Verifies the windows that are complete, and passes on what was kept of the next.
    fn go_on(
        &mut self,
        whose: &Whose<'_>,
        sink: &mut dyn Sink,
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> Step {
        while let Some(first) = self.open.front_mut() {
            if let Some((bytes, length)) = first.early.remove(&first.wanted) {
                first.wanted += 1;
                let written = self.write(sink, &bytes[..length]);
                context.operations.keep_spare(bytes);
                if let Err(error) = written {
                    return Step::Fail(JobError::Sink(error.kind()));
                }
                continue;
            }
            let window = first.window;
            if first.written < window.length {
                break;
            }
            if first.hash.finish() != window.checksum {
                context.operations.records.stats.mismatches += 1;
                return Step::Pause;
            }
            self.offset += u64::from(window.length);
            self.verified = self.hash.clone();
            context.close(whose.server, window.id);
            self.open.pop_front();
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
    fn new(window: Window) -> Self {
        let early = BTreeMap::new();
        Self { window, next: 0, wanted: 0, written: 0, hash: Hash::new(), early }
    }

    fn has_next(&self, chunk: u32) -> bool {
        u64::from(self.next) * u64::from(chunk) < u64::from(self.window.length)
    }

    fn begin_next(
        &mut self,
        whose: &Whose<'_>,
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> Progress {
        let offset = u64::from(self.next) * u64::from(whose.chunk);
        let left = u64::from(self.window.length).saturating_sub(offset);
        let length = left.min(u64::from(whose.chunk)) as u32;
        let buffer = match context.take(whose.server, length) {
            Ok(buffer) => buffer,
            Err(progress) => return progress,
        };
        let bits = window_bits(self.window.id, self.next);
        // Within the window, whose length is 32 bits.
        context.fetch(whose.job, whose.server, bits, offset as u32, buffer);
        self.next += 1;
        Progress::Begun
    }
}
