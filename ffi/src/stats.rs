// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Counters and gauges for the platform.

use core::ffi::c_char;
use core::mem::size_of;

use lnd_core::counters::Counter;
use lnd_shortmsg::wire::DecodeError;

use crate::abi::{lnd_error, lnd_stats};
use crate::errors::outcome;
use crate::input::{given, output, place, put};
use crate::ni::{lnd_ni, Thread};
use crate::shutdown::run_state;

impl Thread {
    /// One counter, summed over all sources.
    pub(crate) fn counter(&self, counter: Counter) -> u64 {
        self.driver.counters().value(counter).wrapping_add(self.totals.value(counter))
    }
}

/// lnd_stats_get() - The gauges of an NI.
/// @ni: the NI.
/// @stats: filled in; the caller sets its size.
///
/// Context: thread.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
/// LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_stats_get(ni: *const lnd_ni, stats: *mut lnd_stats) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        let stats = given!(output(stats))?;
        let mut entered = ni.enter()?;
        let thread = entered.thread();
        thread.follow(ni);
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
            frames_forged: self.receiver.errors().of(DecodeError::Sender),
            completions: self.totals.completions(),
            interrupts: self.totals.interrupts(),
            misuses: self.totals.misuses(),
        }
    }
}

/// lnd_audit() - Checks the NI's internal accounting as a whole, for tests and debug builds.
/// @ni: the NI.
///
/// Takes time linear in slots and peers. An error is also reported to bug().
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_BOOKS, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
/// LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_audit(ni: *const lnd_ni) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
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
    let name = NAMES.split_inclusive(|byte| *byte == 0).nth(counter as usize);
    name.map_or(core::ptr::null(), |name| name.as_ptr().cast())
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
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        place(value)?;
        let counter = Counter::ALL.get(counter as usize).ok_or(lnd_error::LND_E_ARGUMENT)?;
        let mut entered = ni.enter()?;
        let thread = entered.thread();
        thread.follow(ni);
        given!(put(value, thread.counter(*counter)))
    }))
}

/// The bytes of all names, each with its terminating zero.
const LENGTH: usize = {
    let (mut length, mut at) = (0, 0);
    while at < Counter::ALL.len() {
        length += Counter::ALL[at].name().len() + 1;
        at += 1;
    }
    length
};

/// The counters' names one behind the other. A table of them would take three times the bytes of a
/// module's file.
static NAMES: [u8; LENGTH] = {
    let mut names = [0; LENGTH];
    let (mut next, mut at) = (0, 0);
    while at < Counter::ALL.len() {
        let name = Counter::ALL[at].name().as_bytes();
        let mut byte = 0;
        while byte < name.len() {
            names[next] = name[byte];
            next += 1;
            byte += 1;
        }
        next += 1;
        at += 1;
    }
    names
};
