// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory: statics that are taken once, payload windows, and a painted stack.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use lnd_core::fragment::Fragment;
use lnd_core::ports::{BadAddress, Memory};
use lnd_core::sync::{AtomicU32, Ordering};

/// Static memory with one owner: its first taker. Aligned for every table.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Static<T> {
    content: UnsafeCell<T>,
    taken: AtomicU32,
}

// SAFETY: only the one taker, which `taken` determines, accesses the content.
unsafe impl<T: Send> Sync for Static<T> {}

impl<T> Static<T> {
    /// Memory without an owner.
    pub const fn new(content: T) -> Self {
        Self { content: UnsafeCell::new(content), taken: AtomicU32::new(0) }
    }

    /// The memory, for ever; `None` the second time.
    #[allow(clippy::mut_from_ref)]
    pub fn take(&'static self) -> Option<&'static mut T> {
        // AcqRel: partner is itself; of two takers one sees the other.
        if self.taken.swap(1, Ordering::AcqRel) != 0 {
            return None;
        }
        // SAFETY: taken once, so this is the only reference ever.
        Some(unsafe { &mut *self.content.get() })
    }
}

/// A value that one context stores once, and that every context reads afterwards.
#[derive(Debug)]
pub struct Shared<T> {
    content: UnsafeCell<MaybeUninit<T>>,
    /// 0: empty; 1: being written; 2: stored.
    state: AtomicU32,
}

// SAFETY: written once, before the first reference exists, and only read afterwards.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T: Sync> Shared<T> {
    /// Empty.
    pub const fn new() -> Self {
        Self { content: UnsafeCell::new(MaybeUninit::uninit()), state: AtomicU32::new(0) }
    }

    /// Stores `value`. Returns whether it was the first.
    pub fn put(&self, value: T) -> bool {
        // Relaxed: only decides which caller writes; the Release below publishes.
        if self.state.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return false;
        }
        // SAFETY: only the first caller comes here, and readers wait for state 2.
        unsafe { (*self.content.get()).write(value) };
        // Release: partner is the Acquire in `get`.
        self.state.store(2, Ordering::Release);
        true
    }

    /// The value, if it is stored. Context: any.
    pub fn get(&self) -> Option<&T> {
        // Acquire: partner is the Release in `put`.
        if self.state.load(Ordering::Acquire) != 2 {
            return None;
        }
        // SAFETY: from now on there are only shared references.
        let content = unsafe { &*self.content.get() };
        // SAFETY: written, and never again.
        Some(unsafe { content.assume_init_ref() })
    }
}

impl<T: Sync> Default for Shared<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes for tables; the size is a multiple of their alignment.
pub type Bytes<const N: usize> = [MaybeUninit<u8>; N];

/// Bytes without a value.
pub const fn bytes<const N: usize>() -> Bytes<N> {
    [MaybeUninit::uninit(); N]
}

/// One node's payload memory. Addresses are the processor's, which are the bus's on these boards.
///
/// Never referenced, only copied by address: an engine may be writing at the same time.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: plain bytes that are only copied, each by its current owner.
unsafe impl Send for Window {}
// SAFETY: no field changes, and the bytes are only copied, each by its current owner.
unsafe impl Sync for Window {}

impl Window {
    /// A window over memory that is used for nothing else.
    pub fn new<const N: usize>(memory: &'static mut Bytes<N>) -> Self {
        let base = NonNull::from(&mut *memory).cast::<u8>();
        // SAFETY: the memory is ours for ever; from now on every byte has a value.
        unsafe { base.write_bytes(0, N) };
        Self { base, length: N }
    }

    /// A window over memory with another owner.
    ///
    /// # Safety
    /// `length` bytes at `base` are initialised and stay for ever.
    pub const unsafe fn over(base: NonNull<u8>, length: usize) -> Self {
        Self { base, length }
    }

    /// The address of the first byte.
    pub fn base(&self) -> u64 {
        self.base.as_ptr() as usize as u64
    }

    /// The place of `length` bytes at `address`, if they are in the window.
    pub fn place(&self, address: u64, length: u32) -> Option<NonNull<u8>> {
        let offset = usize::try_from(address.checked_sub(self.base())?).ok()?;
        let end = offset.checked_add(usize::try_from(length).ok()?)?;
        if end > self.length {
            return None;
        }
        // SAFETY: the offset is within the window.
        Some(unsafe { self.base.add(offset) })
    }

    /// Writes one byte; an address outside is ignored.
    pub fn poke(&self, address: u64, value: u8) {
        if let Some(place) = self.place(address, 1) {
            // SAFETY: within the window. Volatile: engines read concurrently.
            unsafe { place.write_volatile(value) };
        }
    }

    /// Reads one byte; `None` outside.
    pub fn peek(&self, address: u64) -> Option<u8> {
        let place = self.place(address, 1)?;
        // SAFETY: within the window, and every byte is initialised. Volatile: engines write
        // concurrently.
        Some(unsafe { place.read_volatile() })
    }
}

impl Memory for Window {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        let length = u32::try_from(into.len()).map_err(|_| BadAddress)?;
        let from = self.place(address, length).ok_or(BadAddress)?;
        // SAFETY: the range is in the window; `into` is memory of the caller's own.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
        let length = u32::try_from(from.len()).map_err(|_| BadAddress)?;
        let to = self.place(address, length).ok_or(BadAddress)?;
        // SAFETY: the range is in the window; `from` is memory of the caller's own.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), from.len()) };
        Ok(())
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        self.place(fragment.address, fragment.length).is_some()
    }
}

/// The word with which the start-up code fills the stack.
pub const PAINT: u32 = 0x5ac4_5ac4;

/// Bytes of a painted stack that were ever used: everything above the first word, from the end,
/// that has lost its paint.
///
/// # Safety
/// The words from `end` up to `start` (a stack grows down, from `start`) are readable.
pub unsafe fn stack_used(end: *const u32, start: *const u32) -> u32 {
    let mut at = end;
    while at < start {
        // SAFETY: between the two ends (contract). Volatile: the stack is in use.
        let word = unsafe { at.read_volatile() };
        if word != PAINT {
            break;
        }
        at = at.wrapping_add(1);
    }
    (start as usize).wrapping_sub(at as usize) as u32
}
