// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Windows of files: parts that lie in memory, ready to be fetched by GET.

use std::collections::BTreeMap;

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_sim::lnet::{Lnet, Match, Md, MeHandle};

use crate::files::hash::{hash, Hash};
use crate::files::pages::{Buffer, Pages, WindowMemory, PAGE};
use crate::files::rpc::{Answer, Refusal, Window};
use crate::files::store::Store;
use crate::files::words::{word, Role};
use crate::files::{window_bits, At, PORTAL_WINDOW};

use super::{is_over, FileServer};

/// All windows, by id.
#[derive(Debug, Default)]
pub(super) struct Reads {
    open: BTreeMap<u32, Read>,
}

#[derive(Debug)]
struct Read {
    /// Who opened it, and with which call: the same call again gets the same window.
    opened_by: (Nid, u64),
    window: Window,
    me: MeHandle,
    buffer: Buffer,
    touched: Instant,
    /// Unlinked, but perhaps still being sent.
    closing: bool,
}

impl Reads {
    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn contains(&self, id: u32) -> bool {
        self.open.contains_key(&id)
    }

    pub fn oldest(&self) -> Option<Instant> {
        self.open.values().filter(|read| !read.closing).map(|read| read.touched).min()
    }

    pub fn touch(&mut self, number: u64, now: Instant) {
        if let Some(read) = u32::try_from(number).ok().and_then(|id| self.open.get_mut(&id)) {
            read.touched = now;
        }
    }

    pub fn close(&mut self, from: Nid, id: u32, lnet: &mut Lnet) {
        if let Some(read) = self.open.get_mut(&id).filter(|read| read.opened_by.0 == from) {
            read.close(lnet);
        }
    }

    /// Closes what this client has opened, but for what it has opened in the incarnation `kept`.
    pub fn close_of(&mut self, client: Nid, kept: Option<u32>, lnet: &mut Lnet) {
        let over = |read: &&mut Read| is_over(read.opened_by, client, kept);
        self.open.values_mut().filter(over).for_each(|read| read.close(lnet));
    }

    pub fn close_all(&mut self, lnet: &mut Lnet) {
        self.open.values_mut().for_each(|read| read.close(lnet));
    }

    /// Forgets what was not touched for so long. Returns how many.
    pub fn expire(&mut self, now: Instant, idle: Span, lnet: &mut Lnet) -> u64 {
        let old = |read: &&mut Read| !read.closing && now >= read.touched.after(idle);
        self.open.values_mut().filter(old).map(|read| read.close(lnet)).count() as u64
    }

    /// No message uses the memory any more.
    pub fn on_unlinked(&mut self, pages: &mut Pages, number: u64) {
        if let Some(read) = u32::try_from(number).ok().and_then(|id| self.open.remove(&id)) {
            pages.free(read.buffer);
        }
    }
}

impl Read {
    fn close(&mut self, lnet: &mut Lnet) {
        if !self.closing {
            self.closing = true;
            lnet.unlink(self.me);
        }
    }
}

impl<S: Store> FileServer<S> {
    pub(super) fn open_read(
        &mut self,
        at: &mut At<'_, impl WindowMemory>,
        opened_by: (Nid, u64),
        name: &str,
        offset: u64,
    ) -> Result<Answer, Refusal> {
        let mut open = self.reads.open.values_mut().filter(|read| !read.closing);
        if let Some(same) = open.find(|read| read.opened_by == opened_by) {
            same.touched = at.now;
            return Ok(Answer::Reading(same.window));
        }
        let info = self.store.look_up(name);
        let info = info.map_err(|error| self.refuse(opened_by.0, name, error))?;
        let left = info.size.saturating_sub(offset);
        let nothing = Window { size: info.size, version: info.version, ..Window::default() };
        if left == 0 {
            return Ok(Answer::Reading(Window { checksum: hash(&[]), ..nothing }));
        }
        if self.reads.len() >= self.config.max_reads {
            return Err(Refusal::Busy);
        }
        let longest = left.min(u64::from(self.config.max_window)) as u32;
        let (buffer, length) = self.window_buffer(longest).ok_or(Refusal::Busy)?;
        let (mut sum, mut to) = (Hash::new(), buffer.address());
        let read = self.store.read_pieces(name, offset, length, &mut |piece| {
            sum.update(piece);
            at.memory.write(to, piece);
            to += piece.len() as u64;
        });
        let wrong = match (read, self.store.look_up(name)) {
            (Ok(()), Ok(again)) if again == info => None,
            // Changed meanwhile: the next call sees the new file.
            (Ok(()), _) => Some(Refusal::Busy),
            (Err(error), _) => Some(self.refuse(opened_by.0, name, error)),
        };
        if let Some(why) = wrong {
            self.pages.free(buffer);
            return Err(why);
        }
        let checksum = sum.finish();
        let id = self.issue_id();
        let window = Window { id, length, checksum, ..nothing };
        let (portal, bits) = (PORTAL_WINDOW, window_bits(id, 0));
        // The low half of the bits is the number of the chunk, which the offset says again.
        let criteria = Match { portal, bits, ignore: u32::MAX.into(), from: Some(opened_by.0) };
        let md = Md {
            memory: buffer.memory(length),
            get: true,
            manage_remote: true,
            user: word(Role::Window, id.into()),
            ..Md::default()
        };
        let Ok(me) = at.lnet.attach(criteria, md) else {
            self.pages.free(buffer);
            return Err(Refusal::Failed);
        };
        let read = Read { opened_by, window, me, buffer, touched: at.now, closing: false };
        self.reads.open.insert(id, read);
        self.stats.windows += 1;
        Ok(Answer::Reading(window))
    }

    /// Memory for a window: as long as wanted, or half of it, and so on down to a page.
    fn window_buffer(&mut self, longest: u32) -> Option<(Buffer, u32)> {
        let mut length = longest;
        loop {
            match self.pages.alloc(length) {
                Some(buffer) => return Some((buffer, length)),
                None if u64::from(length) <= PAGE => return None,
                None => length /= 2,
            }
        }
    }
}
