// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The reading back of what was stored, and the end of commits.

use std::ops::Bound;

use lnd_core::time::{Instant, Span};

use super::{Commit, Write, Writes, PIECE};
use crate::files::hash::Hash;
use crate::files::pages::WindowMemory;
use crate::files::rpc::{Answer, Refusal};
use crate::files::server::FileServer;
use crate::files::store::{ReadBack, Store, StoreError};
use crate::files::At;

/// Bytes that are read back and verified before the node looks at its messages again.
const VERIFIED_AT_A_TIME: u32 = 4 * PIECE;
/// Most bytes of a file that are read back aside in one order: the commit waits for the last.
const ASIDE_AT_A_TIME: u64 = 4 << 20;
/// So often a commit looks whether the last part has been read.
const LOOK: Span = Span::from_micros(20);
/// Commits that are remembered, for clients whose answer was lost.
const REMEMBERED: usize = 256;

impl<D> Writes<D> {
    /// When something has to be read back, or looked for that is read aside; the origin means at
    /// once.
    pub fn next_read(&self) -> Option<Instant> {
        let due = |write: &Write<D>| match (write.verifies(), write.reading) {
            (true, 0) => Some(Instant::ORIGIN),
            // Without a commit there is time until the next chunk.
            (true, _) if write.commit.is_some() => Some(self.looked.after(LOOK)),
            _ => None,
        };
        self.open.values().filter_map(due).min()
    }

    /// The files of which a part is being read back aside.
    fn read_aside(&self) -> Vec<u32> {
        let reading = self.open.iter().filter(|(_, write)| write.reading > 0);
        reading.map(|(&id, _)| id).collect()
    }

    /// The next file to verify, in turn.
    fn next_to_verify(&mut self) -> Option<u32> {
        let behind = (Bound::Excluded(self.verified), Bound::Unbounded);
        let mut turn = self.open.range(behind).chain(self.open.range(..=self.verified));
        let waits = |write: &Write<D>| write.verifies() && write.reading == 0;
        self.verified = turn.find(|(_, write)| waits(write)).map(|(&id, _)| id)?;
        Some(self.verified)
    }
}

impl<D> Write<D> {
    /// Begins to read back so many bytes behind those that have been verified, unless some are
    /// being read already.
    pub(super) fn verify(
        &mut self,
        store: &mut impl Store<Draft = D>,
        length: u32,
    ) -> Result<(), StoreError> {
        let Some(hash) = self.hash.take() else { return Ok(()) };
        self.reading = length.into();
        let read = store.start_hash_back(&mut self.draft, self.verified, length as usize, hash);
        self.on_read(read)
    }

    /// Looks how far the store is with what it reads aside.
    fn poll_read(&mut self, store: &mut impl Store<Draft = D>) -> Result<(), StoreError> {
        if self.reading == 0 {
            return Ok(());
        }
        let read = store.poll_hash_back(&mut self.draft);
        self.on_read(read)
    }

    fn on_read(&mut self, read: ReadBack) -> Result<(), StoreError> {
        let ReadBack::Done(read) = read else { return Ok(()) };
        let length = std::mem::take(&mut self.reading);
        self.hash = Some(read?);
        self.verified += length;
        Ok(())
    }

    /// The checksum of what has been read back; `None` while the store reads the next part.
    fn checksum(&self) -> Option<u64> {
        self.hash.as_ref().map(Hash::finish)
    }

    /// Whether there is something to read back.
    fn verifies(&self) -> bool {
        self.broken.is_none() && self.verified < self.stored()
    }

    /// Begins to read the next part aside if the one before has ended.
    pub(super) fn go_on_aside(
        &mut self,
        store: &mut impl Store<Draft = D>,
    ) -> Result<(), StoreError> {
        self.poll_read(store)?;
        if !self.verifies() {
            return Ok(());
        }
        self.verify(store, self.next_read(ASIDE_AT_A_TIME))
    }

    /// Bytes to read back next.
    fn next_read(&self, most: u64) -> u32 {
        (self.stored() - self.verified).min(most) as u32
    }
}

impl<S: Store> FileServer<S> {
    /// Reads back what has been stored, a piece of each file in turn, and ends the commits that are
    /// complete by that.
    pub(in crate::files::server) fn verify_some(&mut self, at: &mut At<'_, impl WindowMemory>) {
        self.writes.looked = at.now;
        for id in self.writes.read_aside() {
            let Some(write) = self.writes.open.get_mut(&id) else { continue };
            let read = write.go_on_aside(&mut self.store);
            self.on_verified(at, id, read);
        }
        let mut left = VERIFIED_AT_A_TIME;
        while left > 0 {
            let Some(id) = self.writes.next_to_verify() else { return };
            let Some(write) = self.writes.open.get_mut(&id) else { return };
            let piece = write.next_read(PIECE.into());
            left = left.saturating_sub(piece);
            let read = write.verify(&mut self.store, piece);
            self.on_verified(at, id, read);
        }
    }

    /// A part of a file has been read back, or not.
    fn on_verified(
        &mut self,
        at: &mut At<'_, impl WindowMemory>,
        id: u32,
        read: Result<(), StoreError>,
    ) {
        let Some(write) = self.writes.open.get(&id) else { return };
        let (client, commits) = (write.opened_by.0, write.commit.is_some());
        let notified = read.err().and_then(|error| self.fail_write(id, error));
        if let (Some(why), false) = (notified, commits) {
            self.reply(at, client, 0, Answer::Broken { id, why });
        }
        self.conclude(at, id);
    }

    /// Ends the commit of a file, if there is one and nothing is left to verify.
    pub(super) fn conclude(&mut self, at: &mut At<'_, impl WindowMemory>, id: u32) {
        let Some(write) = self.writes.open.get_mut(&id) else { return };
        let Some(Commit { xid, checksum }) = write.commit else { return };
        write.touched = at.now;
        if write.verifies() {
            return;
        }
        let (client, _) = write.opened_by;
        let Some(write) = self.writes.open.remove(&id) else { return };
        let answer = if let Some(why) = write.broken {
            Answer::Refused(why)
        } else if write.verified != write.size || write.checksum() != Some(checksum) {
            self.stats.mismatches += 1;
            Answer::Refused(Refusal::Mismatch)
        } else if let Err(error) = self.store.commit(write.draft) {
            Answer::Refused(self.refuse(client, &write.name, error))
        } else {
            self.stats.commits += 1;
            if self.writes.committed.len() == REMEMBERED {
                self.writes.committed.pop_front();
            }
            self.writes.committed.push_back((client, id, checksum));
            Answer::Committed
        };
        self.reply(at, client, xid, answer);
    }
}
