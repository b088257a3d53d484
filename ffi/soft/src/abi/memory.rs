// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Callers' pointers, and objects in callers' memory.

use core::ffi::c_void;
use core::mem::{align_of, size_of, MaybeUninit};

use lnd_core::arena::Arena;
use lnd_core::sync::{AtomicU32, Ordering};
use spin::{Mutex, MutexGuard};

use super::error::lnd_error;
use super::types::{
    lnd_soft_arrival, lnd_soft_join_args, lnd_soft_link, lnd_soft_node_info, lnd_soft_progress,
    lnd_soft_shape,
};

/// Reads or writes through the pointers of a C caller: `given!(input(config))`.
///
/// Only for exported functions, and for functions of this folder that check null, alignment and
/// size before they use a pointer.
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
            // SAFETY: the contract of every exported call (lnd_soft.h). A pointer that passes the
            // checks points to what the call's comment requires and stays valid during the call,
            // and nothing else writes to what the call reads, or reads what it writes. A fabric's
            // region, which other processes write, is read and written as shared memory only.
            // Memory that an object keeps stays until the object is destroyed.
            ($($bound,)*) => unsafe { $($call)::+($($bound),*) },
        }
    };
}
pub(super) use given;

/// Structs that begin with their own size.
///
/// # Safety
/// `repr(C)`, the first field is a `u32` of its size, every bit pattern of every field is valid.
pub(super) unsafe trait Sized32: Sized {}

macro_rules! sized {
    ($($name:ident),*) => {
        $(
            // SAFETY: `repr(C)`, made of integers and pointers, the size first.
            unsafe impl Sized32 for $name {}
            const _: () = assert!(core::mem::offset_of!($name, size) == 0);
        )*
    };
}
sized!(lnd_soft_shape, lnd_soft_join_args, lnd_soft_node_info, lnd_soft_link);
sized!(lnd_soft_arrival, lnd_soft_progress);

fn check<T>(pointer: *const T) -> Result<(), lnd_error> {
    if pointer.is_null() {
        Err(lnd_error::LND_E_NULL)
    } else if pointer.addr() % align_of::<T>() != 0 {
        Err(lnd_error::LND_E_ALIGN)
    } else {
        Ok(())
    }
}

/// A struct whose size the caller has set, read as a whole.
///
/// # Safety
/// The pointer is null, or to at least four readable bytes, and to as many as they say if that is
/// the size of the struct.
pub(super) unsafe fn input<T: Sized32>(pointer: *const T) -> Result<T, lnd_error> {
    check(pointer)?;
    // SAFETY: aligned and readable; the size comes first.
    let size = unsafe { pointer.cast::<u32>().read() };
    if size as usize != size_of::<T>() {
        return Err(lnd_error::LND_E_SIZE);
    }
    // SAFETY: the caller guarantees that many bytes; every bit pattern is valid.
    Ok(unsafe { pointer.read() })
}

/// Fills a struct whose size the caller has set.
///
/// # Safety
/// As for [`input`], and the bytes can be written.
pub(super) unsafe fn fill<T: Sized32>(pointer: *mut T, value: T) -> Result<(), lnd_error> {
    // SAFETY: the same promise.
    unsafe { input(pointer.cast_const())? };
    // SAFETY: aligned, and writable by the caller's promise.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Writes a value.
///
/// # Safety
/// The pointer is null, or to memory for a `T` that can be written.
pub(super) unsafe fn put<T>(pointer: *mut T, value: T) -> Result<(), lnd_error> {
    check(pointer.cast_const())?;
    // SAFETY: aligned, and writable by the caller's promise.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Writes a value, unless the pointer is null.
///
/// # Safety
/// As for [`put`].
pub(super) unsafe fn put_if<T>(pointer: *mut T, value: T) -> Result<(), lnd_error> {
    if pointer.is_null() {
        return Ok(());
    }
    // SAFETY: the same promise.
    unsafe { put(pointer, value) }
}

/// Bytes to be read.
///
/// # Safety
/// `len` bytes can be read at the pointer during `'a`, unless it is null.
pub(super) unsafe fn bytes<'a>(pointer: *const c_void, len: usize) -> Result<&'a [u8], lnd_error> {
    if len == 0 {
        return Ok(&[]);
    }
    check(pointer.cast::<u8>())?;
    if len > isize::MAX as usize {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    // SAFETY: by the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(pointer.cast(), len) })
}

/// Initialised bytes to be written.
///
/// # Safety
/// Unless the pointer is null, `len` initialised bytes at it can be read and written during `'a`,
/// and nothing else accesses them.
pub(super) unsafe fn bytes_mut<'a>(
    pointer: *mut c_void,
    len: usize,
) -> Result<&'a mut [u8], lnd_error> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(pointer.cast::<u8>().cast_const())?;
    if len > isize::MAX as usize {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    // SAFETY: by the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer.cast(), len) })
}

/// The caller's memory for an object.
///
/// # Safety
/// `len` bytes at the pointer are the object's until it is destroyed, unless it is null.
pub(super) unsafe fn arena(pointer: *mut c_void, len: usize) -> Result<Arena<'static>, lnd_error> {
    check(pointer.cast::<u8>().cast_const())?;
    if len > isize::MAX as usize {
        return Err(lnd_error::LND_E_MEMORY);
    }
    // SAFETY: by the caller's promise; until the object is destroyed is what `'static` means here.
    let memory = unsafe { core::slice::from_raw_parts_mut(pointer.cast::<MaybeUninit<u8>>(), len) };
    Ok(Arena::new(memory))
}

/// Objects that begin with a word that identifies their type.
///
/// # Safety
/// `repr(C)`, the first field is a [`Kind`].
pub(super) unsafe trait Object: Sized {
    /// The word; each type has its own.
    const KIND: u32;
}

/// The word at the beginning of an object.
#[derive(Debug)]
#[repr(transparent)]
pub(super) struct Kind(AtomicU32);

impl Kind {
    pub const fn of<T: Object>() -> Self {
        Self(AtomicU32::new(T::KIND))
    }

    /// Ends the object. Returns whether it was not ended before.
    pub fn end(&self) -> bool {
        // AcqRel: of two concurrent calls, one sees the other's swap.
        self.0.swap(0, Ordering::AcqRel) != 0
    }
}

/// The object at a pointer.
///
/// # Safety
/// The pointer is null, or to memory that holds, has held, or could hold a `T`.
pub(super) unsafe fn object<T: Object>(pointer: *mut T) -> Result<&'static T, lnd_error> {
    check(pointer.cast_const())?;
    // SAFETY: aligned and readable; any word is a valid atomic.
    let kind = unsafe { &*pointer.cast::<Kind>() };
    // Acquire: partner is the swap in `end`.
    if kind.0.load(Ordering::Acquire) != T::KIND {
        return Err(lnd_error::LND_E_NI);
    }
    // SAFETY: only a constructor writes that word, in an object of this type, whose memory is the
    // object's until it is destroyed.
    Ok(unsafe { &*pointer })
}

/// A part of an object for one context at a time: a second one is refused. It never waits, so that
/// an interrupt may enter as well as a thread.
#[derive(Debug)]
pub(super) struct Part<T>(Mutex<T>);

impl<T> Part<T> {
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Enters; dropping the guard frees the part.
    pub fn enter(&self) -> Result<MutexGuard<'_, T>, lnd_error> {
        self.0.try_lock().ok_or(lnd_error::LND_E_BUSY)
    }
}
