// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Streams: one side sends and the other takes, and how many go by.

use std::sync::atomic::Ordering;
use std::time::Instant;

use lnd_bench::probe::Patience;
use lnd_shortmsg::mailbox::Consumer;

use super::{Item, Side, RECEIVE, STREAM};

impl Side {
    /// Nanoseconds of each of `many` messages that the partner takes while `send` sends them, which
    /// returns whether there was room.
    pub(super) fn stream(
        &mut self,
        mode: u32,
        many: u32,
        mut send: impl FnMut(&mut Self) -> bool,
    ) -> f64 {
        self.words.reached.store(0, Ordering::Relaxed);
        self.words.goal.store(many, Ordering::Relaxed);
        self.probe.set_mode(mode);
        let (mut sent, mut patience) = (0, Patience::default());
        let begin = Instant::now();
        // Acquire: partner is the Release in `stream_taken`.
        while self.words.reached.load(Ordering::Acquire) == 0 {
            if sent < many && send(self) {
                sent += 1;
                continue;
            }
            // What waits for credits is sent behind the last one, too.
            if mode == RECEIVE {
                self.node.poll_messages();
            }
            patience.look();
        }
        begin.elapsed().as_nanos() as f64 / f64::from(many)
    }

    /// The partner's side of a stream: `take` returns how many messages it took.
    pub(super) fn stream_taken(&mut self, mode: u32, mut take: impl FnMut(&mut Self) -> u32) {
        let goal = self.words.goal.load(Ordering::Relaxed);
        let (mut taken, mut patience) = (0, Patience::default());
        while self.probe.mode() == mode {
            let more = take(self);
            if more == 0 {
                patience.look();
                continue;
            }
            taken += more;
            if taken == goal {
                self.words.reached.store(1, Ordering::Release);
            }
        }
    }
}

pub(super) fn take(from: &mut Consumer<'static>, frame: &mut [u8]) -> u32 {
    u32::from(from.recv(frame).unwrap().is_some_and(|message| message[0] != 0))
}

/// The bytes of an item of a queue, which a mailbox sends.
pub(super) fn bytes_of(item: &Item) -> &[u8] {
    const { assert!(size_of::<Item>() == STREAM) };
    // SAFETY: words are bytes, and the length is theirs.
    unsafe { std::slice::from_raw_parts(item.as_ptr().cast(), STREAM) }
}
