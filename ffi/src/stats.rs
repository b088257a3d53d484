// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Counters and gauges. Interrupts count in words of their own, 32 bits wide; the thread adds up
//! how far they have come since it looked last.

use core::ffi::c_char;
use core::mem::size_of;

use lnd_core::counters::{Count, Counter, Counters};
use lnd_core::sync::{AtomicU32, Ordering};

use crate::abi::{lnd_error, lnd_stats, LND_MAX_LINKS};
use crate::errors::outcome;
use crate::input::{output, place, put};
use crate::ni::{lnd_ni, Thread};
use crate::shutdown::run_state;

/// What contexts without the lock have counted, modulo 2^32.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub interrupts: AtomicU32,
    pub completions: AtomicU32,
    stale: AtomicU32,
    late: AtomicU32,
    foreign: AtomicU32,
}

impl Tally {
    /// Shows what the one who alone counts here has counted in all. Context: the link's interrupt.
    pub fn show(&self, counters: &Counters) {
        for (word, counter) in self.words() {
            word.store(counters.value(counter) as u32, Ordering::Relaxed);
        }
    }

    fn words(&self) -> [(&AtomicU32, Counter); 3] {
        [
            (&self.stale, Counter::StaleCompletion),
            (&self.late, Counter::LateEvent),
            (&self.foreign, Counter::ForeignCompletion),
        ]
    }
}

/// Counting where others count too. Context: any.
impl Count for &Tally {
    fn count(&mut self, counter: Counter) {
        for (word, counted) in self.words() {
            if counted == counter {
                // Relaxed: a count.
                word.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// How far the thread has followed one tally.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    interrupts: u32,
    completions: u32,
    counted: [u32; 3],
}

/// What the thread has added up, in 64 bits.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    seen: [Seen; LND_MAX_LINKS + 1],
    interrupts: u64,
    completions: u64,
    misuses: u64,
    misuses_seen: u32,
    counters: Counters,
}

/// By how much a word has grown since it was seen; it is seen now.
fn growth(word: u32, seen: &mut u32) -> u64 {
    u64::from(word.wrapping_sub(core::mem::replace(seen, word)))
}

impl Totals {
    /// Follows every tally. To be called before any of them wraps.
    pub fn follow(&mut self, ni: &lnd_ni) {
        let tallies = core::iter::once(ni.tally).chain(ni.irqs.iter().map(|irq| &irq.tally));
        for (tally, seen) in tallies.zip(self.seen.iter_mut()) {
            let now = tally.interrupts.load(Ordering::Relaxed);
            self.interrupts = self.interrupts.wrapping_add(growth(now, &mut seen.interrupts));
            let now = tally.completions.load(Ordering::Relaxed);
            self.completions = self.completions.wrapping_add(growth(now, &mut seen.completions));
            for ((word, counter), seen) in tally.words().into_iter().zip(seen.counted.iter_mut()) {
                self.counters.add(counter, growth(word.load(Ordering::Relaxed), seen));
            }
        }
        let grown = growth(ni.misuses(), &mut self.misuses_seen);
        self.misuses = self.misuses.wrapping_add(grown);
    }
}

impl Thread {
    /// One counter, of all sources.
    pub(crate) fn counter(&self, counter: Counter) -> u64 {
        self.driver.counters().value(counter).wrapping_add(self.totals.counters.value(counter))
    }
}

/// lnd_stats_get() - How the NI stands.
/// @ni: the NI.
/// @stats: filled in; its size is set.
///
/// Context: thread.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
/// LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_stats_get(ni: *const lnd_ni, stats: *mut lnd_stats) -> lnd_error {
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_ni::of(ni) }.and_then(|ni| {
        // SAFETY: by the contract of the ABI.
        let stats = unsafe { output(stats)? };
        let mut inside = ni.enter()?;
        let thread = inside.thread();
        thread.totals.follow(ni);
        *stats = thread.stats();
        Ok(())
    }))
}

impl Thread {
    fn stats(&self) -> lnd_stats {
        let (active, passive) = self.driver.in_use();
        lnd_stats {
            size: size_of::<lnd_stats>() as u32,
            run_state: run_state(self.driver.run_state()) as u32,
            active,
            passive,
            peers: self.driver.peers_known(),
            counters: Counter::ALL.len() as u32,
            frames_control: self.receiver.control(),
            frames_lnd: self.receiver.lnd(),
            frames_bad: self.receiver.errors().total(),
            completions: self.totals.completions,
            interrupts: self.totals.interrupts,
            misuses: self.totals.misuses,
        }
    }
}

/// lnd_audit() - Checks the NI's own books, as a whole: for tests and debug builds.
/// @ni: the NI.
///
/// Takes time linear in slots and peers. A mistake is told to bug() too.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_BOOKS, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
/// LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_audit(ni: *const lnd_ni) -> lnd_error {
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_ni::of(ni) }.and_then(|ni| {
        let audit = ni.enter()?.thread().driver.audit();
        audit.map_err(|_| {
            ni.platform.bug(c"the books do not add up");
            lnd_error::LND_E_BOOKS
        })
    }))
}

/// lnd_counter_count() - Number of counters that have a name.
///
/// Context: any.
/// Return: the number; counters are numbered from 0. Later versions append.
#[no_mangle]
pub extern "C" fn lnd_counter_count() -> u32 {
    Counter::ALL.len() as u32
}

/// lnd_counter_name() - A counter's name: lower case, underscores.
/// @counter: its number.
///
/// Context: any.
/// Return: the name, or NULL if there is no such counter.
#[no_mangle]
pub extern "C" fn lnd_counter_name(counter: u32) -> *const c_char {
    match NAMES.get(counter as usize) {
        Some(name) => name.as_ptr().cast(),
        None => core::ptr::null(),
    }
}

/// lnd_counter() - The value of a counter.
/// @ni: the NI.
/// @counter: its number.
/// @value: where the value is written.
///
/// Context: thread.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_ARGUMENT, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
/// LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_counter(
    ni: *const lnd_ni,
    counter: u32,
    value: *mut u64,
) -> lnd_error {
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_ni::of(ni) }.and_then(|ni| {
        place(value)?;
        let counter = Counter::ALL.get(counter as usize).ok_or(lnd_error::LND_E_ARGUMENT)?;
        let mut inside = ni.enter()?;
        let thread = inside.thread();
        thread.totals.follow(ni);
        // SAFETY: checked above; writable by the contract of the ABI.
        unsafe { put(value, thread.counter(*counter)) }
    }))
}

/// Longest name of a counter, with the zero that ends it.
const NAME: usize = 32;

/// The counters' names, each ended by a zero.
static NAMES: [[u8; NAME]; Counter::ALL.len()] = {
    let mut names = [[0; NAME]; Counter::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        let name = Counter::ALL[at].name().as_bytes();
        // At compile time: a longer name does not compile.
        assert!(name.len() < NAME);
        let mut byte = 0;
        while byte < name.len() {
            names[at][byte] = name[byte];
            byte += 1;
        }
        at += 1;
    }
    names
};
