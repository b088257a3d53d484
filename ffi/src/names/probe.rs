// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of what the prober finds.

use core::ffi::c_char;

use super::name_of;
use crate::abi::{lnd_finding, lnd_probe_end, lnd_probe_kind, lnd_tracker_state};

/// lnd_probe_kind_name() - The name of a constant of enum lnd_probe_kind.
/// @value: enum lnd_probe_kind, or any number.
///
/// Context: any.
/// Return: text such as "LND_PROBE_ZERO_READ", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_probe_kind_name(value: u32) -> *const c_char {
    name_of!(value, lnd_probe_kind: LND_PROBE_ZERO_READ LND_PROBE_ILLEGAL_READ
        LND_PROBE_PUBLISHED_WORD LND_PROBE_NOOP)
}

/// lnd_probe_end_name() - The name of a constant of enum lnd_probe_end.
/// @value: enum lnd_probe_end, or any number.
///
/// Context: any.
/// Return: text such as "LND_PROBE_SUCCESS", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_probe_end_name(value: u32) -> *const c_char {
    name_of!(value, lnd_probe_end: LND_PROBE_SUCCESS LND_PROBE_ACCESS_ERROR
        LND_PROBE_RETRY_EXCEEDED LND_PROBE_OTHER)
}

/// lnd_finding_name() - The name of a constant of enum lnd_finding.
/// @value: enum lnd_finding, or any number.
///
/// Context: any.
/// Return: text such as "LND_FINDING_NOTHING", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_finding_name(value: u32) -> *const c_char {
    name_of!(value, lnd_finding: LND_FINDING_NOTHING LND_FINDING_ALIVE LND_FINDING_DOWN
        LND_FINDING_CLEAN_UP)
}

/// lnd_tracker_state_name() - The name of a constant of enum lnd_tracker_state.
/// @value: enum lnd_tracker_state, or any number.
///
/// Context: any.
/// Return: text such as "LND_TRACKER_OFF", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_tracker_state_name(value: u32) -> *const c_char {
    name_of!(value, lnd_tracker_state: LND_TRACKER_OFF LND_TRACKER_WAITING LND_TRACKER_ENDED)
}
