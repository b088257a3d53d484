// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files being written: from OpenWrite over chunks in any order to a verified commit.

use std::collections::{BTreeMap, VecDeque};

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};

use crate::files::hash::Hash;
use crate::files::pages::WindowMemory;
use crate::files::rpc::{Answer, Refusal};
use crate::files::store::Store;
use crate::files::At;
use crate::lnet::Event;

use super::FileServer;

/// Bytes that are verified in one step.
const STEP: u64 = 4 << 20;
/// Commits that are remembered, for clients whose answer was lost.
const REMEMBERED: usize = 256;

/// All files being written.
#[derive(Debug)]
pub(super) struct Writes<D> {
    open: BTreeMap<u32, Write<D>>,
    /// The last commits: client, id, checksum.
    committed: VecDeque<(Nid, u32, u64)>,
}

#[derive(Debug)]
struct Write<D> {
    /// Who opened it, and with which call: the same call again gets the same file.
    opened_by: (Nid, u64),
    name: String,
    draft: D,
    size: u64,
    chunk: u32,
    chunks: Chunks,
    touched: Instant,
    /// The store has failed it: what the client is told.
    broken: Option<Refusal>,
    verify: Option<Verify>,
}

/// A commit under way.
#[derive(Debug)]
struct Verify {
    xid: u64,
    checksum: u64,
    done: u64,
    hash: Hash,
}

/// Which chunks have come.
#[derive(Debug)]
struct Chunks {
    words: Vec<u64>,
    missing: u64,
}

impl Chunks {
    fn new(count: u64) -> Self {
        Self { words: vec![0; count.div_ceil(64) as usize], missing: count }
    }

    fn bit(index: u32) -> (usize, u64) {
        (index as usize / 64, 1 << (index % 64))
    }

    fn contains(&self, index: u32) -> bool {
        let (word, bit) = Self::bit(index);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    fn insert(&mut self, index: u32) {
        let (word, bit) = Self::bit(index);
        if let Some(word) = self.words.get_mut(word).filter(|word| **word & bit == 0) {
            *word |= bit;
            self.missing -= 1;
        }
    }
}

/// A chunk as it came.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    pub from: Nid,
    pub id: u32,
    pub index: u32,
}

/// What became of a chunk.
enum Fate {
    Stored,
    Duplicate,
    /// The store refuses it for good.
    Refused(Refusal),
    /// Sent for another file, or for a former life.
    Stale,
    Bad,
}

impl<D> Default for Writes<D> {
    fn default() -> Self {
        Self { open: BTreeMap::new(), committed: VecDeque::new() }
    }
}

impl<D> Writes<D> {
    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn contains(&self, id: u32) -> bool {
        self.open.contains_key(&id)
    }

    pub fn oldest(&self) -> Option<Instant> {
        self.open.values().map(|write| write.touched).min()
    }

    /// The files whose commit is under way.
    pub fn verifying(&self) -> Vec<u32> {
        self.open.iter().filter(|(_, write)| write.verify.is_some()).map(|(&id, _)| id).collect()
    }

    pub fn close(&mut self, from: Nid, id: u32) {
        if self.open.get(&id).is_some_and(|write| write.opened_by.0 == from) {
            self.open.remove(&id);
        }
    }

    /// Forgets what nobody has touched for so long. Returns how many.
    pub fn expire(&mut self, now: Instant, idle: Span) -> u64 {
        let before = self.open.len();
        self.open.retain(|_, write| now < write.touched.after(idle) || write.verify.is_some());
        (before - self.open.len()) as u64
    }
}

impl<S: Store> FileServer<S> {
    pub(super) fn open_write(
        &mut self,
        now: Instant,
        opened_by: (Nid, u64),
        name: &str,
        size: u64,
        chunk: u32,
    ) -> Result<Answer, Refusal> {
        let life = self.config.life;
        let same = self.writes.open.iter_mut().find(|(_, write)| write.opened_by == opened_by);
        if let Some((&id, write)) = same {
            write.touched = now;
            return Ok(Answer::Writing { id, life });
        }
        let count = size.div_ceil(u64::from(chunk.max(1)));
        if chunk == 0
            || chunk > self.config.max_chunk
            || size > self.config.max_file
            || count > u64::from(self.config.max_chunks)
        {
            return Err(Refusal::TooLarge);
        }
        if self.writes.len() >= self.config.max_writes {
            return Err(Refusal::Busy);
        }
        let draft = self.store.create(name, size);
        let draft = draft.map_err(|error| self.refuse(opened_by.0, name, error))?;
        let id = self.issue_id();
        let chunks = Chunks::new(count);
        let write = Write {
            opened_by,
            name: name.to_owned(),
            draft,
            size,
            chunk,
            chunks,
            touched: now,
            broken: None,
            verify: None,
        };
        self.writes.open.insert(id, write);
        Ok(Answer::Writing { id, life })
    }

    pub(super) fn on_chunk(&mut self, at: &mut At<'_, impl WindowMemory>, slot: u64, event: Event) {
        let Event::PutReceived { from, match_bits, data, offset, length, status, ack, .. } = event
        else {
            return;
        };
        if self.stopping {
            return;
        }
        if status.errno != 0 {
            self.stats.bad_chunks += 1;
            return;
        }
        let chunk = Chunk { from, id: (match_bits >> 32) as u32, index: match_bits as u32 };
        let mut bytes = std::mem::take(&mut self.scratch);
        self.chunks.copy_out(at.memory, slot, offset, length, &mut bytes);
        let fate = self.store_chunk(at.now, chunk, data, &bytes);
        self.scratch = bytes;
        match fate {
            Fate::Stored | Fate::Duplicate => {
                if let Some(due) = ack {
                    self.send_ack(at.lnet, due);
                }
            }
            // The client learns now what it would else learn with its commit.
            Fate::Refused(why) => self.reply(at, from, 0, Answer::Broken { id: chunk.id, why }),
            Fate::Stale => self.reply(at, from, 0, Answer::Lost { id: chunk.id }),
            Fate::Bad => {}
        }
        match fate {
            Fate::Stored => {
                self.stats.chunks += 1;
                self.stats.chunk_bytes += u64::from(length);
            }
            Fate::Duplicate => self.stats.duplicate_chunks += 1,
            Fate::Stale => self.stats.stale_chunks += 1,
            Fate::Refused(_) | Fate::Bad => self.stats.bad_chunks += 1,
        }
    }

    fn store_chunk(&mut self, now: Instant, chunk: Chunk, life: u64, bytes: &[u8]) -> Fate {
        let write = self.writes.open.get_mut(&chunk.id);
        let write = write.filter(|w| w.opened_by.0 == chunk.from && life == self.config.life);
        let Some(write) = write else { return Fate::Stale };
        let start = u64::from(chunk.index) * u64::from(write.chunk);
        let left = write.size.saturating_sub(start);
        if left == 0 || bytes.len() as u64 != left.min(u64::from(write.chunk)) {
            return Fate::Bad;
        }
        write.touched = now;
        if let Some(why) = write.broken.filter(|why| why.is_final()) {
            return Fate::Refused(why);
        }
        if write.chunks.contains(chunk.index) || write.verify.is_some() {
            return Fate::Duplicate;
        }
        match self.store.write(&mut write.draft, start, bytes) {
            Ok(()) => {
                write.chunks.insert(chunk.index);
                Fate::Stored
            }
            Err(error) => {
                let name = write.name.clone();
                let why = self.refuse(chunk.from, &name, error);
                if let Some(write) = self.writes.open.get_mut(&chunk.id) {
                    write.broken = Some(why);
                }
                // What may pass is said with the commit: an ACK has no room for it.
                if why.is_final() {
                    Fate::Refused(why)
                } else {
                    Fate::Stored
                }
            }
        }
    }

    pub(super) fn commit(
        &mut self,
        at: &mut At<'_, impl WindowMemory>,
        from: Nid,
        xid: u64,
        id: u32,
        checksum: u64,
    ) -> Option<Answer> {
        if self.writes.committed.contains(&(from, id, checksum)) {
            return Some(Answer::Committed);
        }
        let write = self.writes.open.get_mut(&id).filter(|write| write.opened_by.0 == from);
        let Some(write) = write else { return Some(Answer::Refused(Refusal::Unknown)) };
        write.touched = at.now;
        if let Some(verify) = &mut write.verify {
            verify.xid = xid;
            return None;
        }
        let wrong = match (write.broken, write.chunks.missing) {
            (Some(why), _) => why,
            (None, 0) => {
                write.verify = Some(Verify { xid, checksum, done: 0, hash: Hash::new() });
                self.verify(at, id);
                return None;
            }
            (None, _) => Refusal::Incomplete,
        };
        self.writes.open.remove(&id);
        Some(Answer::Refused(wrong))
    }

    /// Verifies the next step of a file; at its end commits and answers.
    pub(super) fn verify(&mut self, at: &mut At<'_, impl WindowMemory>, id: u32) {
        let Some(write) = self.writes.open.get_mut(&id) else { return };
        let Some(verify) = &mut write.verify else { return };
        write.touched = at.now;
        let step = (write.size - verify.done).min(STEP);
        self.scratch.resize(step as usize, 0);
        let read = self.store.read_back(&mut write.draft, verify.done, &mut self.scratch);
        verify.hash.update(&self.scratch);
        verify.done += step;
        if read.is_ok() && verify.done < write.size {
            return;
        }
        let (client, _) = write.opened_by;
        let (xid, wanted, found) = (verify.xid, verify.checksum, verify.hash.finish());
        let Some(write) = self.writes.open.remove(&id) else { return };
        let result = match read {
            Ok(()) if found != wanted => {
                self.stats.mismatches += 1;
                self.reply(at, client, xid, Answer::Refused(Refusal::Mismatch));
                return;
            }
            Ok(()) => self.store.commit(write.draft),
            Err(error) => Err(error),
        };
        let answer = match result {
            Ok(()) => {
                self.stats.commits += 1;
                if self.writes.committed.len() == REMEMBERED {
                    self.writes.committed.pop_front();
                }
                self.writes.committed.push_back((client, id, wanted));
                Answer::Committed
            }
            Err(error) => Answer::Refused(self.refuse(client, &write.name, error)),
        };
        self.reply(at, client, xid, answer);
    }
}
