// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sides that sleep: how they are woken, and what that takes.

use std::sync::atomic::{fence, AtomicU32, Ordering};

use lnd_bench::probe::{Patience, LINE};
use lnd_bench::Column;

use super::{Side, Words, AWAKE, FUTEX, SLEEP};

/// Nanoseconds for which a side that says it sleeps is left alone before it is woken.
const ASLEEP: u64 = 20_000;

fn futex(word: &AtomicU32, operation: i32, value: u32) {
    let time = std::ptr::null::<libc::timespec>();
    // SAFETY: the word is memory of both sides, and no time is given.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, time) };
}

fn sleep_while(word: &AtomicU32, value: u32) {
    futex(word, libc::FUTEX_WAIT, value);
}

pub(super) fn wake(word: &AtomicU32) {
    futex(word, libc::FUTEX_WAKE, 1);
}

/// The clock of both sides, in nanoseconds.
pub(super) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Side {
    /// Sends the smallest message, and wakes the other side if it sleeps.
    pub(super) fn put_and_wake(&mut self) {
        self.node.put(&self.payloads[0]);
        let bell = &self.words.asleep[1 - self.me];
        // SeqCst: partner is the fence in `receive_or_sleep`. Either we see the other side asleep,
        // or it sees the message.
        fence(Ordering::SeqCst);
        if bell.load(Ordering::Relaxed) == 1 && bell.swap(0, Ordering::Relaxed) == 1 {
            self.words.woken.fetch_add(1, Ordering::Relaxed);
            wake(bell);
        }
    }

    /// Waits for a message: looks once and then sleeps until it is woken, or looks for ever.
    pub(super) fn receive_or_sleep(&mut self, mode: u32) {
        let came = self.node.done.1;
        let bell = &self.words.asleep[self.me];
        let mut patience = Patience::default();
        loop {
            loop {
                self.node.poll_messages();
                if self.node.done.1 != came || self.probe.mode() != mode {
                    return;
                }
                if mode == SLEEP {
                    break;
                }
                patience.look();
            }
            bell.store(1, Ordering::Relaxed);
            // SeqCst: partner is the fence in `put_and_wake`.
            fence(Ordering::SeqCst);
            self.node.poll_messages();
            if self.node.done.1 != came || self.probe.mode() != mode {
                bell.store(0, Ordering::Relaxed);
                return;
            }
            sleep_while(bell, 1);
            bell.store(0, Ordering::Relaxed);
        }
    }

    /// Calls of the kernel during whole messages between sides that would wake each other, and are
    /// awake.
    pub(super) fn awake(&mut self, trips: u32) -> f64 {
        let before = self.words.woken.load(Ordering::Relaxed);
        self.probe.set_mode(AWAKE);
        for _ in 0..trips {
            self.put_and_wake();
            self.receive_or_sleep(AWAKE);
        }
        f64::from(self.words.woken.load(Ordering::Relaxed) - before)
    }

    /// Nanoseconds from `act` here until the partner, which sleeps on `bell`, is awake and has seen
    /// what came: the median.
    pub(super) fn woken_by(
        &mut self,
        mode: u32,
        times: u32,
        bell: fn(&'static Words) -> &'static AtomicU32,
        act: fn(&mut Self),
    ) -> f64 {
        let words = self.words;
        // The partner has answered on the line, so nothing it left before counts.
        bell(words).store(0, Ordering::SeqCst);
        self.probe.set_mode(mode);
        let mut column = Column::default();
        for _ in 0..times {
            let mut patience = Patience::default();
            while bell(words).load(Ordering::Acquire) != 1 {
                patience.look();
            }
            // It has said so, and needs some time to be. Credits come back meanwhile.
            let asleep = now();
            while now() - asleep < ASLEEP {
                self.node.poll_messages();
            }
            words.awake_at.store(0, Ordering::Relaxed);
            let begin = now();
            act(self);
            loop {
                // Acquire: partner is the Release in `partner`.
                let end = words.awake_at.load(Ordering::Acquire);
                if end != 0 {
                    column.push(end.saturating_sub(begin) as f64);
                    break;
                }
                patience.look();
            }
        }
        self.probe.set_mode(LINE);
        // The partner may sleep, and shall see the new mode.
        bell(words).store(0, Ordering::SeqCst);
        wake(bell(words));
        column.median()
    }

    /// The partner's side of a bare futex: sleeps until it is woken.
    pub(super) fn sleep_bare(&self) {
        let bell = &self.words.bare;
        bell.store(1, Ordering::SeqCst);
        if self.probe.mode() != FUTEX {
            return;
        }
        while bell.load(Ordering::SeqCst) == 1 {
            sleep_while(bell, 1);
        }
    }
}
