// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The side that answers what is measured.

use std::sync::atomic::Ordering;

use crossbeam_queue::ArrayQueue;
use lnd_bench::probe::{Patience, LINE, QUIT};
use lnd_shortmsg::mailbox::{Consumer, Outlet};

use super::sleep::now;
use super::stream::{bytes_of, take};
use super::{
    Ends, Item, Side, AWAKE, ECHO, FRAMES, FUTEX, LEAST, LENGTHS, QUEUE, QUEUE_BOTH, RECEIVE,
    SLEEP, TAKE, TAKE_BOTH, TAKE_FRAMES, WHOLE,
};

/// The far ends of the streams, and a stream of the partner's own.
pub(super) struct Streams {
    pub taken: Consumer<'static>,
    pub own: Ends,
    pub queue: Option<&'static ArrayQueue<Item>>,
}

impl Side {
    pub(super) fn partner(&mut self, streams: &mut Streams) {
        let item = [0x5a5a_u64; 7];
        let mut frame = [0; LENGTHS[FRAMES]];
        let mut patience = Patience::default();
        loop {
            match self.probe.mode() {
                QUIT => return,
                LINE => self.probe.answer(),
                mode @ (SLEEP | AWAKE) => {
                    let came = self.node.done.1;
                    self.receive_or_sleep(mode);
                    if self.node.done.1 == came {
                        continue;
                    }
                    if mode == SLEEP {
                        self.words.awake_at.store(now(), Ordering::Release);
                    } else {
                        self.put_and_wake();
                    }
                }
                FUTEX => {
                    self.sleep_bare();
                    self.words.awake_at.store(now(), Ordering::Release);
                }
                RECEIVE => self.stream_taken(RECEIVE, |side| {
                    let came = side.node.done.1;
                    side.node.poll_messages();
                    (side.node.done.1 - came) as u32
                }),
                TAKE => self.stream_taken(TAKE, |_| take(&mut streams.taken, &mut frame)),
                TAKE_BOTH => {
                    let mut left = self.words.goal.load(Ordering::Relaxed) / 2;
                    self.stream_taken(TAKE_BOTH, |_| {
                        let (own, back) = &mut streams.own;
                        if left > 0 && own.send(bytes_of(&item)).is_ok() {
                            left -= 1;
                        }
                        take(&mut streams.taken, &mut frame) + take(back, &mut frame)
                    });
                }
                QUEUE | QUEUE_BOTH => {
                    let mode = self.probe.mode();
                    let queue = streams.queue.expect("between threads");
                    let own = mode == QUEUE_BOTH;
                    let mut left = self.words.goal.load(Ordering::Relaxed) / 2;
                    self.stream_taken(mode, |_| {
                        if own && left > 0 && queue.push(item).is_ok() {
                            left -= 1;
                        }
                        u32::from(queue.pop().is_some_and(|got| got[0] != 0))
                    });
                }
                TAKE_FRAMES => self
                    .stream_taken(TAKE_FRAMES, |side| take(&mut side.boxes[FRAMES].1, &mut frame)),
                mode if mode >= LEAST => {
                    let at = (mode - LEAST) as usize;
                    while self.probe.mode() == mode {
                        patience.look();
                        if self.receive_least(at) {
                            self.send_least(at);
                        }
                    }
                }
                mode if mode >= WHOLE => self.answer((mode - WHOLE) as usize, mode),
                mode => {
                    while self.probe.mode() == mode {
                        patience.look();
                        self.echo((mode - ECHO) as usize);
                    }
                }
            }
        }
    }
}
