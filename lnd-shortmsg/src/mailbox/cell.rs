// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The payload of a slot: raw bytes, or, in the models, a cell in which loom sees every access and
//! detects overlapping ones.
//!
//! All functions take the address of a payload and have the same contract:
//!
//! # Safety
//! The address is that of the payload of a slot whose mailbox was formatted (before: for `init`)
//! for at least `length` bytes, rounded up to the end of a line. Within this process nothing else
//! accesses the payload during the call; the sequence word grants that.

#[cfg(not(loom))]
pub(super) use bytes::{copy_out, fill, footprint, init, write};
#[cfg(loom)]
pub(super) use model::{copy_out, fill, footprint, init, write};

#[cfg(not(loom))]
mod bytes {
    use crate::mailbox::{Line, FIRST_LINE};
    use core::mem::size_of;
    use core::ptr::{self, NonNull};
    use core::slice;

    /// What a copy of whole lines reads at once. A target without vector registers, as a kernel's,
    /// has no wider access than a word.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    type Wide = core::arch::x86_64::__m128i;
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    type Wide = u64;

    const WORD: usize = size_of::<u64>();
    const LINE: usize = size_of::<Line>();

    /// Bytes that a payload of this capacity takes.
    pub(in crate::mailbox) const fn footprint(capacity: usize) -> usize {
        capacity
    }

    /// Any bytes are a valid payload: nothing to initialise.
    pub(in crate::mailbox) unsafe fn init(_payload: NonNull<u8>) {}

    /// Writes a message. Reads nothing.
    #[inline]
    pub(in crate::mailbox) unsafe fn write(payload: NonNull<u8>, message: &[u8]) {
        if message.len() <= FIRST_LINE {
            // SAFETY: the payload has room for the message in whole words (contract).
            unsafe { put_words(payload.cast(), message) };
        } else {
            // SAFETY: the payload has room for the message, is ours (contract), and cannot overlap
            // with memory that the caller has borrowed.
            unsafe { ptr::copy_nonoverlapping(message.as_ptr(), payload.as_ptr(), message.len()) };
        }
    }

    /// Writes bytes in words; the last one is padded with zeros. For one line this is faster than a
    /// call of `memcpy`; the writes are volatile because a plain loop would be compiled to that
    /// call.
    ///
    /// # Safety
    /// `words` is aligned and valid for writing `from.len()` bytes, rounded up to whole words.
    #[inline(always)]
    unsafe fn put_words(words: NonNull<u64>, from: &[u8]) {
        let mut to = words;
        let mut chunks = from.chunks_exact(8);
        for word in (&mut chunks).filter_map(<[u8]>::first_chunk) {
            // SAFETY: within the words that the caller guarantees.
            unsafe { to.write_volatile(u64::from_ne_bytes(*word)) };
            // SAFETY: at most one past the end of these words.
            to = unsafe { to.add(1) };
        }
        let tail = chunks.remainder();
        if !tail.is_empty() {
            let mut word = [0; 8];
            for (to, byte) in word.iter_mut().zip(tail) {
                *to = *byte;
            }
            // SAFETY: the last word, which the caller guarantees as a whole.
            unsafe { to.write_volatile(u64::from_ne_bytes(word)) };
        }
    }

    /// Calls `f` to write a message in place.
    #[inline]
    pub(in crate::mailbox) unsafe fn fill<R>(
        payload: NonNull<u8>,
        length: usize,
        f: impl FnOnce(&mut [u8]) -> R,
    ) -> R {
        // SAFETY: `length` initialised bytes, which in this process are ours alone (contract). A
        // hostile process may still overwrite them. It gains nothing: any bytes are valid, and they
        // are on their way to that process. `f` must not rely on reading back what it wrote; the
        // encoder only sums it up.
        let bytes = unsafe { slice::from_raw_parts_mut(payload.as_ptr(), length) };
        f(bytes)
    }

    /// Copies a message, and returns the copy; `None` if it does not fit.
    ///
    /// The reads are volatile: if a hostile process writes concurrently, each word has *some*
    /// value, read once, and the compiler assumes nothing about it.
    #[inline]
    pub(in crate::mailbox) unsafe fn copy_out(
        payload: NonNull<u8>,
        length: usize,
        into: &mut [u8],
    ) -> Option<&[u8]> {
        let words = payload.cast::<u64>();
        // A slot is whole lines. If `into` has room, whole lines are copied: no second loop and no
        // tail. The length is at most a slot's, so nothing wraps.
        let lines = (length + (LINE - FIRST_LINE)).div_ceil(LINE);
        let whole = into.get_mut(..lines * LINE - (LINE - FIRST_LINE));
        match whole.and_then(<[u8]>::split_first_chunk_mut::<FIRST_LINE>) {
            // SAFETY: the lines in which `length` bytes lie are the payload's (contract).
            Some((first, rest)) => unsafe { copy_lines(words, first, rest) },
            // SAFETY: `length`, rounded up to whole words, lies within the payload (contract).
            None => unsafe { copy_words(words, into.get_mut(..length)?) },
        }
        into.get(..length)
    }

    /// Fills the part of the first line, and the whole lines after it.
    ///
    /// # Safety
    /// `from` is the payload of a slot, valid for reading all filled bytes.
    #[inline(always)]
    unsafe fn copy_lines(from: NonNull<u64>, first: &mut [u8; FIRST_LINE], rest: &mut [u8]) {
        // SAFETY: the slot's head and this word are the two halves of a wide word.
        let mut at = unsafe { copy_all::<u64>(from, &mut first[..WORD]) };
        // SAFETY: three wide words, which end the line. Its beginning is aligned, as is each wide
        // word in it.
        at = unsafe { copy_all::<Wide>(at.cast(), &mut first[WORD..]) }.cast();
        for line in rest.chunks_exact_mut(LINE).filter_map(<[u8]>::first_chunk_mut::<LINE>) {
            // SAFETY: the next line of the slot, which the caller guarantees.
            at = unsafe { copy_all::<Wide>(at.cast(), line) }.cast();
        }
    }

    /// Fills `into` word by word.
    ///
    /// # Safety
    /// `words` is aligned and valid for reading `into.len()` bytes, rounded up to whole words.
    #[inline(never)]
    unsafe fn copy_words(words: NonNull<u64>, into: &mut [u8]) {
        let mut at = words;
        for part in into.chunks_mut(WORD) {
            let mut word = [0; WORD];
            // SAFETY: the words that the caller guarantees, the last one as a whole.
            at = unsafe { copy_all::<u64>(at, &mut word) };
            for (to, byte) in part.iter_mut().zip(word) {
                *to = byte;
            }
        }
    }

    /// Fills `into`, whose length is a multiple of the size of `W`. Each `W` is read once. Returns
    /// the address after them.
    ///
    /// # Safety
    /// `from` is aligned and valid for reading `into.len()` bytes. Any bytes are a valid `W`.
    #[inline(always)]
    unsafe fn copy_all<W: Copy>(from: NonNull<W>, into: &mut [u8]) -> NonNull<W> {
        let mut from = from;
        for part in into.chunks_exact_mut(size_of::<W>()) {
            // SAFETY: within the bytes that the caller guarantees.
            let word = unsafe { from.read_volatile() };
            // SAFETY: `part` is as long as `W`, and ours alone.
            unsafe { part.as_mut_ptr().cast::<W>().write_unaligned(word) };
            // SAFETY: at most one past the end of these bytes.
            from = unsafe { from.add(1) };
        }
        from
    }
}

#[cfg(loom)]
mod model {
    use crate::mailbox::FIRST_LINE;
    use core::ptr::NonNull;
    use loom::cell::UnsafeCell;

    /// The models' slots have one line.
    type Cell = UnsafeCell<[u8; FIRST_LINE]>;

    pub(in crate::mailbox) const fn footprint(_capacity: usize) -> usize {
        core::mem::size_of::<Cell>()
    }

    pub(in crate::mailbox) unsafe fn init(payload: NonNull<u8>) {
        // SAFETY: there is room for a cell, aligned as a slot's head is (contract).
        unsafe { payload.cast::<Cell>().write(Cell::new([0; FIRST_LINE])) };
    }

    pub(in crate::mailbox) unsafe fn write(payload: NonNull<u8>, message: &[u8]) {
        // SAFETY: the same contract as this function's.
        unsafe { fill(payload, message.len(), |bytes| bytes.copy_from_slice(message)) };
    }

    pub(in crate::mailbox) unsafe fn fill<R>(
        payload: NonNull<u8>,
        length: usize,
        f: impl FnOnce(&mut [u8]) -> R,
    ) -> R {
        // SAFETY: `init` has put a cell here (contract).
        let cell = unsafe { payload.cast::<Cell>().as_ref() };
        cell.with_mut(|bytes| {
            // SAFETY: loom has just checked that nothing else accesses the cell.
            f(&mut unsafe { &mut *bytes }[..length])
        })
    }

    pub(in crate::mailbox) unsafe fn copy_out(
        payload: NonNull<u8>,
        length: usize,
        into: &mut [u8],
    ) -> Option<&[u8]> {
        // SAFETY: `init` has put a cell here (contract).
        let cell = unsafe { payload.cast::<Cell>().as_ref() };
        let bytes = cell.with(|bytes| {
            // SAFETY: loom has just checked that nothing writes the cell.
            unsafe { *bytes }
        });
        let into = into.get_mut(..length)?;
        into.copy_from_slice(bytes.get(..length)?);
        Some(into)
    }
}
