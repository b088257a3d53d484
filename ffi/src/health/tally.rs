// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Health's counters.

use core::ffi::c_char;

use ::lnd_health::node::HealthCounter;

use super::{lnd_health, Whole};
use crate::abi::lnd_error;
use crate::errors::outcome;
use crate::input::{given, place, put};

/// lnd_health_counter_name() - The name of a counter of a health object.
/// @counter: its number, from 0.
///
/// Context: any.
/// Return: text such as "stale_names", or NULL: there is no such counter.
#[no_mangle]
pub extern "C" fn lnd_health_counter_name(counter: u32) -> *const c_char {
    match NAMES.get(counter as usize) {
        Some(name) => name.as_ptr().cast(),
        None => core::ptr::null(),
    }
}

/// lnd_health_counter() - The value of a counter.
/// @health: the object.
/// @counter: its number.
/// @value: where the value is written.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_counter(
    health: *const lnd_health,
    counter: u32,
    value: *mut u64,
) -> lnd_error {
    let read = |_, whole: &mut Whole| {
        place(value)?;
        let counter = HealthCounter::ALL.get(counter as usize).ok_or(lnd_error::LND_E_ARGUMENT)?;
        given!(put(value, whole.health.tally().value(*counter)))
    };
    outcome(given!(lnd_health::with(health, read)))
}

/// Longest name of a counter, with its terminating zero.
const NAME: usize = 32;

/// The counters' names, each terminated by a zero.
static NAMES: [[u8; NAME]; HealthCounter::ALL.len()] = {
    let mut names = [[0; NAME]; HealthCounter::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        let name = HealthCounter::ALL[at].name().as_bytes();
        // Checked at compile time: a longer name does not compile.
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
