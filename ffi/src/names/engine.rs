// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of what a platform's engine and channel return.

use core::ffi::c_char;

use super::name_of;
use crate::abi::{lnd_about, lnd_motion, lnd_post, lnd_returned, lnd_send};

/// lnd_about_name() - The name of a constant of enum lnd_about.
/// @value: enum lnd_about, or any number.
///
/// Context: any.
/// Return: text such as "LND_ABOUT_STAGED", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_about_name(value: u32) -> *const c_char {
    name_of!(value, lnd_about: LND_ABOUT_NOTHING LND_ABOUT_STAGED LND_ABOUT_PULLED)
}

/// lnd_motion_name() - The name of a constant of enum lnd_motion.
/// @value: enum lnd_motion, or any number.
///
/// Context: any.
/// Return: text such as "LND_MOTION_STAGE", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_motion_name(value: u32) -> *const c_char {
    name_of!(value, lnd_motion: LND_MOTION_STAGE LND_MOTION_PULL LND_MOTION_EXPOSE
        LND_MOTION_PUSH)
}

/// lnd_post_name() - The name of a constant of enum lnd_post.
/// @value: enum lnd_post, or any number.
///
/// Context: any.
/// Return: text such as "LND_POST_DONE", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_post_name(value: u32) -> *const c_char {
    name_of!(value, lnd_post: LND_POST_DONE LND_POST_INVALID LND_POST_FULL LND_POST_GONE)
}

/// lnd_returned_name() - The name of a constant of enum lnd_returned.
/// @value: enum lnd_returned, or any number.
///
/// Context: any.
/// Return: text such as "LND_RETURNED_OK", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_returned_name(value: u32) -> *const c_char {
    name_of!(value, lnd_returned: LND_RETURNED_OK LND_RETURNED_UNTOUCHED LND_RETURNED_TOUCHED
        LND_RETURNED_UNKNOWN)
}

/// lnd_send_name() - The name of a constant of enum lnd_send.
/// @value: enum lnd_send, or any number.
///
/// Context: any.
/// Return: text such as "LND_SEND_DONE", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_send_name(value: u32) -> *const c_char {
    name_of!(value, lnd_send: LND_SEND_DONE LND_SEND_PENDING LND_SEND_FAILED LND_SEND_FULL
        LND_SEND_TOO_LONG)
}
