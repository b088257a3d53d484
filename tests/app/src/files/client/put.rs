// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a file is sent.
//!
//! ```text
//!   Closed ──OpenWrite──▶ Opening ──Writing──▶ Sending ──all acknowledged──▶ Committing ──▶ done
//!     ▲                      │                   │ lost                          │ refused
//!     └──────────────────────┴───────────────────┴───────────────────────────────┘ pause
//! ```
//!
//! A source that may have changed since the first byte was read is read once more before the
//! commit. What grows at its end alone has the same bytes again; else the job fails.

use lnd_core::id::Nid;

use crate::files::hash::Hash;
use crate::files::local::Source;
use crate::files::pages::{Buffer, Pages, WindowMemory};
use crate::files::rpc::{Answer, Call};
use crate::files::window_bits;

use super::job::JobError;
use super::job_context::{JobContext, Progress, Step};
use super::operations::{End, Part};

/// A file on its way to a server.
#[derive(Debug)]
pub(super) struct PutPlan {
    stage: Stage,
    /// Of the chunks begun so far: they are begun in order.
    hash: Hash,
    /// The source's, before its first byte was read.
    version: u64,
}

#[derive(Debug)]
enum Stage {
    Closed,
    Opening,
    Sending(Sending),
    Rereading(Rereading),
    Committing { id: u32 },
}

#[derive(Debug)]
struct Sending {
    id: u32,
    incarnation: u64,
    /// The next chunk to begin.
    next: u32,
    /// Bytes acknowledged.
    moved: u64,
    /// The next chunk, as far as it has been read: its memory and its bytes there.
    filling: Option<(Buffer, u32)>,
}

/// All has been acknowledged, and the source may have changed meanwhile.
#[derive(Debug)]
struct Rereading {
    id: u32,
    /// Bytes that were read once more, and their checksum.
    done: u64,
    hash: Hash,
}

/// The part of the job that does not change.
pub(super) struct Whose<'a> {
    pub job: u64,
    pub server: Nid,
    pub name: &'a str,
    pub chunk: u32,
}

impl PutPlan {
    pub fn new() -> Self {
        Self { stage: Stage::Closed, hash: Hash::new(), version: 0 }
    }

    /// Bytes that the server has acknowledged.
    pub fn bytes(&self, size: u64) -> u64 {
        match &self.stage {
            Stage::Closed | Stage::Opening => 0,
            Stage::Sending(sending) => sending.moved,
            Stage::Rereading(_) | Stage::Committing { .. } => size,
        }
    }

    pub fn checksum(&self) -> u64 {
        self.hash.finish()
    }

    /// The id that the server knows the file by.
    pub fn id(&self) -> Option<u32> {
        match &self.stage {
            Stage::Closed | Stage::Opening => None,
            Stage::Sending(Sending { id, .. })
            | Stage::Rereading(Rereading { id, .. })
            | Stage::Committing { id } => Some(*id),
        }
    }

    /// Begins the next operation.
    pub fn advance(
        &mut self,
        whose: &Whose<'_>,
        source: &mut dyn Source,
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> Result<Progress, JobError> {
        let size = source.size();
        let (call, stage) = match &mut self.stage {
            Stage::Closed => {
                self.version = version(source)?;
                let call =
                    Call::OpenWrite { name: whose.name.to_owned(), size, chunk: whose.chunk };
                (call, Stage::Opening)
            }
            Stage::Opening | Stage::Committing { .. } => return Ok(Progress::Waits),
            Stage::Sending(sending) => {
                let offset = u64::from(sending.next) * u64::from(whose.chunk);
                if offset < size {
                    return sending.begin_next(whose, source, &mut self.hash, context);
                }
                if sending.moved < size {
                    return Ok(Progress::Waits);
                }
                let id = sending.id;
                if version(source)? != self.version {
                    self.stage = Stage::Rereading(Rereading { id, done: 0, hash: Hash::new() });
                    return Ok(Progress::Begun);
                }
                (Call::Commit { id, checksum: self.hash.finish() }, Stage::Committing { id })
            }
            Stage::Rereading(rereading) if rereading.done < size => {
                return rereading.go_on(source, context);
            }
            Stage::Rereading(Rereading { id, hash, .. }) => {
                let (id, checksum) = (*id, self.hash.finish());
                if hash.finish() != checksum {
                    return Err(JobError::Changed);
                }
                (Call::Commit { id, checksum }, Stage::Committing { id })
            }
        };
        let progress = context.call(whose.job, whose.server, &call);
        if progress == Progress::Begun {
            self.stage = stage;
        }
        Ok(progress)
    }

    /// One of its operations has ended. It is [set back](Self::reset) by its owner before a pause.
    pub fn on_end(&mut self, part: Part, length: u32, end: End) -> Step {
        match (&mut self.stage, part, end) {
            (Stage::Opening, Part::Call, End::Answered(Answer::Writing { id, incarnation })) => {
                let filling = None;
                self.stage =
                    Stage::Sending(Sending { id, incarnation, next: 0, moved: 0, filling });
                Step::On
            }
            (Stage::Sending(sending), Part::Send, End::Moved) => {
                sending.moved += u64::from(length);
                Step::On
            }
            (Stage::Committing { .. }, Part::Call, End::Answered(Answer::Committed)) => Step::Done,
            (_, _, End::Answered(Answer::Refused(why))) if why.is_final() => {
                Step::Fail(JobError::Refused(why))
            }
            (_, _, End::Impossible(error)) => Step::Fail(JobError::Unreachable(error)),
            // The server has forgotten the file, or has never had all of it.
            _ => Step::Pause,
        }
    }

    /// Gives back the memory of a chunk that has not been sent. To be [reset](Self::reset) before
    /// it goes on.
    pub fn release(&mut self, pages: &mut Pages) {
        if let Stage::Sending(sending) = &mut self.stage {
            sending.filling.take().into_iter().for_each(|(buffer, _)| pages.free(buffer));
        }
    }

    /// Forgets the file as the server knows it.
    pub fn reset(&mut self) {
        *self = Self::new();
    }
}

fn version(source: &dyn Source) -> Result<u64, JobError> {
    source.version().map_err(|error| JobError::Source(error.kind()))
}

impl Rereading {
    /// Reads the next piece.
    fn go_on(
        &mut self,
        source: &mut dyn Source,
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> Result<Progress, JobError> {
        let bytes = &mut *context.operations.piece;
        let count = (source.size() - self.done).min(bytes.len() as u64) as usize;
        let read = source.read(self.done, &mut bytes[..count]);
        read.map_err(|error| JobError::Source(error.kind()))?;
        self.hash.update(&bytes[..count]);
        self.done += count as u64;
        context.spend(count as u32);
        Ok(Progress::Begun)
    }
}

impl Sending {
    /// Reads a piece of the next chunk; sends the chunk when that was the last.
    fn begin_next(
        &mut self,
        whose: &Whose<'_>,
        source: &mut dyn Source,
        hash: &mut Hash,
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> Result<Progress, JobError> {
        let offset = u64::from(self.next) * u64::from(whose.chunk);
        let length = (source.size() - offset).min(u64::from(whose.chunk)) as u32;
        let (buffer, done) = match self.filling.take() {
            Some(filling) => filling,
            None => match context.take(whose.server, length) {
                Ok(buffer) => (buffer, 0),
                Err(progress) => return Ok(progress),
            },
        };
        let operations = &mut *context.operations;
        let piece = (length - done).min(operations.piece.len() as u32);
        let bytes = &mut operations.piece[..piece as usize];
        if let Err(error) = source.read(offset + u64::from(done), bytes) {
            operations.pages.free(buffer);
            return Err(JobError::Source(error.kind()));
        }
        hash.update(bytes);
        context.at.memory.write(buffer.address() + u64::from(done), bytes);
        context.spend(piece);
        if done + piece < length {
            self.filling = Some((buffer, done + piece));
            return Ok(Progress::Begun);
        }
        let bits = window_bits(self.id, self.next);
        context.send(whose.job, whose.server, bits, self.incarnation, buffer);
        self.next += 1;
        Ok(Progress::Begun)
    }
}
