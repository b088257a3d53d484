// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of what is known of a transfer.

use core::ffi::c_char;

use lnd_core::transfer::HealthClass;

use super::{name_of, text_of};
use crate::abi::{
    lnd_cause, lnd_delivery, lnd_health_class, lnd_kind, lnd_nak_reason, lnd_place, lnd_policy,
    lnd_request_kind, lnd_role, lnd_sent_how,
};

/// lnd_role_name() - The name of a constant of enum lnd_role.
/// @value: enum lnd_role, or any number.
///
/// Context: any.
/// Return: text such as "LND_ROLE_IMMEDIATE", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_role_name(value: u32) -> *const c_char {
    name_of!(value, lnd_role: LND_ROLE_IMMEDIATE LND_ROLE_PUT_SOURCE LND_ROLE_GET_SINK
        LND_ROLE_GET_PULL LND_ROLE_INLINE_SINK LND_ROLE_PUT_SINK LND_ROLE_GET_SOURCE
        LND_ROLE_PUSH_SINK LND_ROLE_PUSH_SOURCE)
}

/// lnd_health_class_name() - The name of a constant of enum lnd_health_class.
/// @value: enum lnd_health_class, or any number.
///
/// Context: any.
/// Return: text such as "LND_HEALTH_OK", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_health_class_name(value: u32) -> *const c_char {
    health_class(value).as_ptr().cast()
}

fn health_class(value: u32) -> &'static str {
    text_of!(value, lnd_health_class: LND_HEALTH_OK LND_HEALTH_LOCAL_INTERRUPT
        LND_HEALTH_LOCAL_DROPPED LND_HEALTH_LOCAL_ABORTED LND_HEALTH_LOCAL_NO_ROUTE
        LND_HEALTH_LOCAL_ERROR LND_HEALTH_LOCAL_TIMEOUT LND_HEALTH_REMOTE_ERROR
        LND_HEALTH_REMOTE_DROPPED LND_HEALTH_REMOTE_TIMEOUT LND_HEALTH_NETWORK_TIMEOUT)
}

/// What a health class is called in upper case, without the part that all have: `LOCAL_DROPPED`.
pub(crate) fn class_name(class: HealthClass) -> &'static str {
    let name = health_class(class as u32);
    name.strip_prefix("LND_HEALTH_").and_then(|name| name.strip_suffix('\0')).unwrap_or(name)
}

/// lnd_delivery_name() - The name of a constant of enum lnd_delivery.
/// @value: enum lnd_delivery, or any number.
///
/// Context: any.
/// Return: text such as "LND_DELIVERED", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_delivery_name(value: u32) -> *const c_char {
    name_of!(value, lnd_delivery: LND_DELIVERED LND_NOT_DELIVERED LND_DELIVERY_UNKNOWN
        LND_DELIVERY_SENT)
}

/// lnd_cause_name() - The name of a constant of enum lnd_cause.
/// @value: enum lnd_cause, or any number.
///
/// Context: any.
/// Return: text such as "LND_CAUSE_NONE", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_cause_name(value: u32) -> *const c_char {
    name_of!(value, lnd_cause: LND_CAUSE_NONE LND_CAUSE_PEER_DOWN LND_CAUSE_PEER_RESTARTED
        LND_CAUSE_LINK_DOWN LND_CAUSE_DEADLINE LND_CAUSE_SHUTDOWN LND_CAUSE_WITHDRAWN
        LND_CAUSE_REFUSED LND_CAUSE_CHANNEL LND_CAUSE_DEVICE LND_CAUSE_LOCAL LND_CAUSE_PROTOCOL
        LND_CAUSE_CONNECTION_DOWN)
}

/// lnd_place_name() - The name of a constant of enum lnd_place.
/// @value: enum lnd_place, or any number.
///
/// Context: any.
/// Return: text such as "LND_PLACE_NONE", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_place_name(value: u32) -> *const c_char {
    name_of!(value, lnd_place: LND_PLACE_NONE LND_PLACE_QUEUE LND_PLACE_MESSAGE LND_PLACE_ANSWER
        LND_PLACE_STAGED LND_PLACE_MOVING)
}

/// lnd_kind_name() - The name of a constant of enum lnd_kind.
/// @value: enum lnd_kind, or any number.
///
/// Context: any.
/// Return: text such as "LND_PUT", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_kind_name(value: u32) -> *const c_char {
    name_of!(value, lnd_kind: LND_PUT LND_ACK LND_GET LND_REPLY)
}

/// lnd_request_kind_name() - The name of a constant of enum lnd_request_kind.
/// @value: enum lnd_request_kind, or any number.
///
/// Context: any.
/// Return: text such as "LND_REQUEST_IMMEDIATE", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_request_kind_name(value: u32) -> *const c_char {
    name_of!(value, lnd_request_kind: LND_REQUEST_IMMEDIATE LND_REQUEST_PUT LND_REQUEST_GET)
}

/// lnd_nak_reason_name() - The name of a constant of enum lnd_nak_reason.
/// @value: enum lnd_nak_reason, or any number.
///
/// Context: any.
/// Return: text such as "LND_NAK_NO_MATCH", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_nak_reason_name(value: u32) -> *const c_char {
    name_of!(value, lnd_nak_reason: LND_NAK_NO_MATCH LND_NAK_NO_RESOURCES LND_NAK_SHUTTING_DOWN
        LND_NAK_BAD_REQUEST LND_NAK_FAILED)
}

/// lnd_sent_how_name() - The name of a constant of enum lnd_sent_how.
/// @value: enum lnd_sent_how, or any number.
///
/// Context: any.
/// Return: text such as "LND_SENT_OK", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_sent_how_name(value: u32) -> *const c_char {
    name_of!(value, lnd_sent_how: LND_SENT_OK LND_SENT_NOT_DELIVERED LND_SENT_UNKNOWN)
}

/// lnd_policy_name() - The name of a constant of enum lnd_policy.
/// @value: enum lnd_policy, or any number.
///
/// Context: any.
/// Return: text such as "LND_POLICY_SEED", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_policy_name(value: u32) -> *const c_char {
    name_of!(value, lnd_policy: LND_POLICY_SEED LND_POLICY_O2IB)
}
