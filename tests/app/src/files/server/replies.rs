// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Answers on their way. Their memory is set aside, so that no other use can hold them up (INV-11).

use std::collections::BTreeMap;

use lnd_core::id::Nid;
use lnd_sim::lnet::{Put, Target};

use crate::files::pages::{Buffer, Pages, WindowMemory};
use crate::files::rpc::{Answer, MAX_MESSAGE};
use crate::files::words::{word, Role};
use crate::files::{At, PORTAL_ANSWER};

#[derive(Debug)]
pub(super) struct Replies {
    free: Vec<Buffer>,
    /// Memory that the layer has, by the number of the answer.
    busy: BTreeMap<u64, Buffer>,
    next: u64,
    stopped: bool,
}

impl Replies {
    pub fn new(pages: &mut Pages, count: usize) -> Self {
        let free = (0..count).map_while(|_| pages.alloc(MAX_MESSAGE as u32)).collect();
        Self { free, busy: BTreeMap::new(), next: 0, stopped: false }
    }

    /// Sends an answer, or drops it: the client will ask again.
    pub fn send(
        &mut self,
        at: &mut At<'_, impl WindowMemory>,
        to: Nid,
        xid: u64,
        answer: &Answer,
    ) -> bool {
        let bytes = answer.encode(xid);
        let Some(buffer) = self.free.pop() else { return false };
        at.memory.write(buffer.address(), &bytes);
        self.next += 1;
        let put = Put {
            to,
            target: Target { portal: PORTAL_ANSWER, match_bits: xid, ..Target::default() },
            memory: buffer.memory(bytes.len() as u32),
            ack: false,
            user: word(Role::Reply, self.next),
        };
        let sent = at.lnet.put(put).is_ok();
        if sent {
            self.busy.insert(self.next, buffer);
        } else {
            self.free.push(buffer);
        }
        sent
    }

    /// The layer has given the memory of an answer back.
    pub fn on_done(&mut self, pages: &mut Pages, number: u64) {
        let Some(buffer) = self.busy.remove(&number) else { return };
        if self.stopped {
            pages.free(buffer);
        } else {
            self.free.push(buffer);
        }
    }

    /// Sends no more, and gives the memory back when the layer does.
    pub fn stop(&mut self, pages: &mut Pages) {
        self.stopped = true;
        self.free.drain(..).for_each(|buffer| pages.free(buffer));
    }
}
