// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of what health decides.

use core::ffi::c_char;

use super::name_of;
use crate::abi::{
    lnd_action_kind, lnd_connected, lnd_connection, lnd_evidence, lnd_next, lnd_object,
    lnd_profile, lnd_rule_kind, lnd_why_ended, lnd_window_check,
};

/// lnd_profile_name() - The name of a constant of enum lnd_profile.
/// @value: enum lnd_profile, or any number.
///
/// Context: any.
/// Return: text such as "LND_PROFILE_SEED", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_profile_name(value: u32) -> *const c_char {
    name_of!(value, lnd_profile: LND_PROFILE_SEED LND_PROFILE_LNET)
}

/// lnd_next_name() - The name of a constant of enum lnd_next.
/// @value: enum lnd_next, or any number.
///
/// Context: any.
/// Return: text such as "LND_NEXT_ENDED", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_next_name(value: u32) -> *const c_char {
    name_of!(value, lnd_next: LND_NEXT_ENDED LND_NEXT_AGAIN LND_NEXT_LATER)
}

/// lnd_why_ended_name() - The name of a constant of enum lnd_why_ended.
/// @value: enum lnd_why_ended, or any number.
///
/// Context: any.
/// Return: text such as "LND_WHY_NOT_ENDED", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_why_ended_name(value: u32) -> *const c_char {
    name_of!(value, lnd_why_ended: LND_WHY_NOT_ENDED LND_WHY_DELIVERED LND_WHY_NOT_RESENDABLE
        LND_WHY_MAY_HAVE_ARRIVED LND_WHY_TRIES LND_WHY_DEADLINE LND_WHY_NO_PATH)
}

/// lnd_object_name() - The name of a constant of enum lnd_object.
/// @value: enum lnd_object, or any number.
///
/// Context: any.
/// Return: text such as "LND_OBJECT_LOCAL", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_object_name(value: u32) -> *const c_char {
    name_of!(value, lnd_object: LND_OBJECT_LOCAL LND_OBJECT_PEER_NI)
}

/// lnd_action_kind_name() - The name of a constant of enum lnd_action_kind.
/// @value: enum lnd_action_kind, or any number.
///
/// Context: any.
/// Return: text such as "LND_ACTION_PING", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_action_kind_name(value: u32) -> *const c_char {
    name_of!(value, lnd_action_kind: LND_ACTION_PING LND_ACTION_PROBE LND_ACTION_CONNECT)
}

/// lnd_connected_name() - The name of a constant of enum lnd_connected.
/// @value: enum lnd_connected, or any number.
///
/// Context: any.
/// Return: text such as "LND_CONNECTED", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_connected_name(value: u32) -> *const c_char {
    name_of!(value, lnd_connected: LND_CONNECTED LND_CONNECT_FAILED LND_CONNECT_REFUSED)
}

/// lnd_connection_name() - The name of a constant of enum lnd_connection.
/// @value: enum lnd_connection, or any number.
///
/// Context: any.
/// Return: text such as "LND_CONNECTION_UP", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_connection_name(value: u32) -> *const c_char {
    name_of!(value, lnd_connection: LND_CONNECTION_UP LND_CONNECTION_TRYING
        LND_CONNECTION_REFUSED)
}

/// lnd_window_check_name() - The name of a constant of enum lnd_window_check.
/// @value: enum lnd_window_check, or any number.
///
/// Context: any.
/// Return: text such as "LND_WINDOW_FIRST", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_window_check_name(value: u32) -> *const c_char {
    name_of!(value, lnd_window_check: LND_WINDOW_FIRST LND_WINDOW_COMING LND_WINDOW_SECOND
        LND_WINDOW_OUTSIDE LND_WINDOW_STALE)
}

/// lnd_rule_kind_name() - The name of a constant of enum lnd_rule_kind.
/// @value: enum lnd_rule_kind, or any number.
///
/// Context: any.
/// Return: text such as "LND_RULE_NETWORK", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_rule_kind_name(value: u32) -> *const c_char {
    name_of!(value, lnd_rule_kind: LND_RULE_NETWORK LND_RULE_NID LND_RULE_PAIR LND_RULE_GATEWAY)
}

/// lnd_evidence_name() - The name of a constant of enum lnd_evidence.
/// @value: enum lnd_evidence, or any number.
///
/// Context: any.
/// Return: text such as "LND_EVIDENCE_MESSAGE", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_evidence_name(value: u32) -> *const c_char {
    name_of!(value, lnd_evidence: LND_EVIDENCE_MESSAGE LND_EVIDENCE_REFUSAL LND_EVIDENCE_PING
        LND_EVIDENCE_HEARD LND_EVIDENCE_NO_RESPONSE LND_EVIDENCE_PROBE LND_EVIDENCE_FABRIC
        LND_EVIDENCE_OPERATOR)
}
