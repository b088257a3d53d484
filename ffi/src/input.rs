// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Checks callers' pointers before reading or writing through them.

use core::ffi::c_char;
use core::mem::{align_of, offset_of, size_of, MaybeUninit};

use lnd_core::fragment::Fragment;
use lnd_core::message::MAX_HEADER;
use static_assertions::{const_assert, const_assert_eq};

use crate::abi::{
    lnd_account, lnd_action, lnd_arrival, lnd_blocker, lnd_bound, lnd_config, lnd_decision,
    lnd_error, lnd_frag, lnd_frame, lnd_health_change, lnd_health_config, lnd_health_info,
    lnd_histogram, lnd_metric_info, lnd_ops, lnd_outcome, lnd_path, lnd_peer_info, lnd_report,
    lnd_rule, lnd_send_request, lnd_stats, lnd_trace, lnd_tracker, LND_MAX_FRAGMENTS,
};

/// Reads or writes through the pointers of a C caller: `given!(input(config))`.
///
/// Only for exported functions, and for functions of this crate that check null, alignment and size
/// before they use a pointer.
macro_rules! given {
    ($($call:ident)::+ ($($argument:expr),* $(,)?)) => {
        given!(@ [$($call)::+] [a b c d e f g h] [] $($argument,)*)
    };
    // The arguments are evaluated first, outside of the unsafe block, and each is bound to a name.
    (@ $call:tt [$name:ident $($names:ident)*] [$($bound:tt)*] $first:expr, $($rest:expr,)*) => {
        given!(@ $call [$($names)*] [$($bound)* ($name $first)] $($rest,)*)
    };
    (@ [$($call:ident)::+] $names:tt [$(($bound:ident $value:expr))*]) => {
        match ($($value,)*) {
            // SAFETY: the contract of every exported call (lnd.h). A pointer that passes the
            // checks points to what the call's comment requires and stays valid during the call,
            // and nothing else writes to what the call reads, or reads what it writes. A fabric's
            // region, which other processes write, is read and written as shared memory only.
            // Memory that an object keeps stays until the object is destroyed.
            ($($bound,)*) => unsafe { $($call)::+($($bound),*) },
        }
    };
}
pub(crate) use given;

/// Structs of the ABI that begin with their own size.
///
/// # Safety
/// The struct is `repr(C)`, its first field is a `u32` of its size, and every bit pattern of every
/// field is valid.
pub(crate) unsafe trait Sized32: Sized {}

macro_rules! sized {
    ($($name:ident),*) => {
        $(
            // SAFETY: `repr(C)`; made of integers, pointers and optional function pointers.
            unsafe impl Sized32 for $name {}
            const_assert_eq!(offset_of!($name, size), 0);
        )*
    };
}
sized!(lnd_config, lnd_ops, lnd_send_request, lnd_decision, lnd_arrival);
sized!(lnd_blocker, lnd_peer_info, lnd_stats, lnd_report);
sized!(lnd_health_config, lnd_health_info, lnd_path, lnd_action, lnd_outcome);
sized!(lnd_health_change, lnd_rule, lnd_tracker, lnd_metric_info);
sized!(lnd_account, lnd_histogram, lnd_trace, lnd_bound, lnd_frame);

fn check<T>(pointer: *const T) -> Result<(), lnd_error> {
    if pointer.is_null() {
        Err(lnd_error::LND_E_NULL)
    } else if pointer as usize % align_of::<T>() != 0 {
        Err(lnd_error::LND_E_ALIGN)
    } else {
        Ok(())
    }
}

/// A struct that the caller has filled.
///
/// # Safety
/// The pointer is null, or at least four bytes at it are readable. If those bytes hold the size of
/// the struct, that many are readable. Nothing writes to them during `'a`.
pub(crate) unsafe fn input<'a, T: Sized32>(pointer: *const T) -> Result<&'a T, lnd_error> {
    check(pointer)?;
    // SAFETY: aligned and readable; the size comes first.
    let size = unsafe { pointer.cast::<u32>().read() };
    if size as usize != size_of::<T>() {
        return Err(lnd_error::LND_E_SIZE);
    }
    // SAFETY: the caller guarantees that many bytes; every bit pattern is valid.
    Ok(unsafe { &*pointer })
}

/// An array of structs that the caller has filled.
///
/// # Safety
/// `count` structs at the pointer can be read during `'a`, unless it is null.
pub(crate) unsafe fn inputs<'a, T: Sized32>(
    pointer: *const T,
    count: u32,
) -> Result<&'a [T], lnd_error> {
    for at in 0..count as usize {
        // SAFETY: by the caller's promise; what is wrong with the pointer shows at the first one.
        unsafe { input(pointer.wrapping_add(at))? };
    }
    // SAFETY: the same promise; each struct was just checked.
    unsafe { values(pointer, count) }
}

/// An array of plain values that the caller has filled.
///
/// # Safety
/// `count` values at the pointer, of which every bit pattern is valid, can be read during `'a`,
/// unless it is null.
pub(crate) unsafe fn values<'a, T>(pointer: *const T, count: u32) -> Result<&'a [T], lnd_error> {
    if count == 0 {
        return Ok(&[]);
    }
    check(pointer)?;
    // SAFETY: aligned and readable by the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(pointer, count as usize) })
}

/// A struct for the caller to receive; its size is set.
///
/// # Safety
/// As for [`input`], and the bytes can be written.
pub(crate) unsafe fn output<'a, T: Sized32>(pointer: *mut T) -> Result<&'a mut T, lnd_error> {
    // SAFETY: the same promise.
    unsafe { input::<T>(pointer)? };
    // SAFETY: just checked, and nothing else uses it by the caller's promise.
    Ok(unsafe { &mut *pointer })
}

/// As [`output`], where null is allowed.
///
/// # Safety
/// As for [`output`].
pub(crate) unsafe fn output_if<'a, T: Sized32>(
    pointer: *mut T,
) -> Result<Option<&'a mut T>, lnd_error> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the same promise.
    unsafe { output(pointer) }.map(Some)
}

/// A plain value that the caller has filled.
///
/// # Safety
/// The pointer is null, or to a `T` that can be read, of which every bit pattern is valid.
pub(crate) unsafe fn value<T: Copy>(pointer: *const T) -> Result<T, lnd_error> {
    check(pointer)?;
    // SAFETY: aligned, and readable by the caller's promise.
    Ok(unsafe { pointer.read() })
}

/// Writes a plain value for the caller.
///
/// # Safety
/// The pointer is null, or to memory for a `T` that can be written.
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T) -> Result<(), lnd_error> {
    check(pointer)?;
    // SAFETY: aligned, and writable by the caller's promise.
    unsafe { pointer.write(value) };
    Ok(())
}

/// As [`put`], where null is allowed.
///
/// # Safety
/// As for [`put`].
pub(crate) unsafe fn put_if<T>(pointer: *mut T, value: T) -> Result<(), lnd_error> {
    if pointer.is_null() {
        return Ok(());
    }
    // SAFETY: the same promise.
    unsafe { put(pointer, value) }
}

/// Checks a place for a later [`put`] without writing.
pub(crate) fn place<T>(pointer: *mut T) -> Result<(), lnd_error> {
    check(pointer.cast_const())
}

/// As [`place`], where null is allowed.
pub(crate) fn place_if<T>(pointer: *mut T) -> Result<(), lnd_error> {
    if pointer.is_null() {
        return Ok(());
    }
    place(pointer)
}

/// Bytes.
///
/// # Safety
/// `len` bytes at the pointer can be read during `'a`, unless it is null.
pub(crate) unsafe fn bytes<'a>(pointer: *const u8, len: usize) -> Result<&'a [u8], lnd_error> {
    if len == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(lnd_error::LND_E_NULL);
    }
    if len > isize::MAX as usize {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    // SAFETY: by the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(pointer, len) })
}

/// Memory that the caller lends for text.
///
/// # Safety
/// `len` bytes at the pointer can be written during `'a`, and nothing else uses them, unless it is
/// null.
pub(crate) unsafe fn room<'a>(
    pointer: *mut c_char,
    len: usize,
) -> Result<&'a mut [MaybeUninit<u8>], lnd_error> {
    place(pointer)?;
    if len > isize::MAX as usize {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    // SAFETY: by the caller's promise; bytes need not have a value.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer.cast(), len) })
}

/// An upper-layer header.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn header<'a>(pointer: *const u8, len: u32) -> Result<&'a [u8], lnd_error> {
    if len as usize > MAX_HEADER {
        return Err(lnd_error::LND_E_HEADER);
    }
    // SAFETY: the same promise.
    unsafe { bytes(pointer, len as usize) }
}

// The two are one layout.
const_assert_eq!(size_of::<lnd_frag>(), size_of::<Fragment>());
const_assert!(align_of::<lnd_frag>() == align_of::<Fragment>());
const_assert_eq!(offset_of!(lnd_frag, addr), offset_of!(Fragment, address));
const_assert_eq!(offset_of!(lnd_frag, len), offset_of!(Fragment, length));
const_assert_eq!(offset_of!(lnd_frag, reserved), offset_of!(Fragment, reserved));
const_assert_eq!(LND_MAX_FRAGMENTS, lnd_core::fragment::MAX_FRAGMENTS);

/// A fragment vector, for C.
pub(crate) const fn frags(fragments: &[Fragment]) -> *const lnd_frag {
    // One layout, see above.
    fragments.as_ptr().cast()
}

/// A fragment vector.
///
/// # Safety
/// `count` fragments at the pointer can be read during `'a`, unless it is null.
pub(crate) unsafe fn fragments<'a>(
    pointer: *const lnd_frag,
    count: u32,
) -> Result<&'a [Fragment], lnd_error> {
    if count == 0 {
        return Ok(&[]);
    }
    check(pointer)?;
    if count as usize > LND_MAX_FRAGMENTS {
        return Err(lnd_error::LND_E_FRAGMENTS);
    }
    // SAFETY: aligned, readable by the caller's promise, and of the same layout, see above.
    let all = unsafe { core::slice::from_raw_parts(pointer.cast::<Fragment>(), count as usize) };
    if all.iter().any(|f| f.reserved != 0) {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    Ok(all)
}
