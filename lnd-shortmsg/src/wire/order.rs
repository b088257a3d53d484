// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Numbers in the sender's byte order.
//!
//! The code is generated twice, for frames in our own order and for swapped ones; the magic decides
//! once per frame.

use super::error::{DecodeError, EncodeError};

/// A byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Order {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Little, Self::Big];
    /// That of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };
}

/// Reads numbers at offsets of a frame. Cannot reach beyond it.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a, const SWAPPED: bool>(pub(super) &'a [u8]);

impl<'a, const SWAPPED: bool> Reader<'a, SWAPPED> {
    /// The first `N` bytes only. One check for all of them: the compiler then sees that fields at
    /// fixed offsets are there.
    #[inline(always)]
    pub(super) fn first<const N: usize>(self) -> Result<Self, DecodeError> {
        self.0.first_chunk::<N>().map(|first| Self(first)).ok_or(DecodeError::Truncated)
    }

    #[inline(always)]
    fn array<const N: usize>(self, at: usize) -> Result<[u8; N], DecodeError> {
        let found = self.0.get(at..).and_then(<[u8]>::first_chunk::<N>);
        found.copied().ok_or(DecodeError::Truncated)
    }

    #[inline(always)]
    pub(super) fn u8(self, at: usize) -> Result<u8, DecodeError> {
        self.0.get(at).copied().ok_or(DecodeError::Truncated)
    }

    #[inline(always)]
    pub(super) fn u16(self, at: usize) -> Result<u16, DecodeError> {
        let number = u16::from_ne_bytes(self.array(at)?);
        Ok(if SWAPPED { number.swap_bytes() } else { number })
    }

    #[inline(always)]
    pub(super) fn u32(self, at: usize) -> Result<u32, DecodeError> {
        let number = u32::from_ne_bytes(self.array(at)?);
        Ok(if SWAPPED { number.swap_bytes() } else { number })
    }

    #[inline(always)]
    pub(super) fn u64(self, at: usize) -> Result<u64, DecodeError> {
        let number = u64::from_ne_bytes(self.array(at)?);
        Ok(if SWAPPED { number.swap_bytes() } else { number })
    }

    #[inline(always)]
    pub(super) fn bytes(self, at: usize, length: usize) -> Result<&'a [u8], DecodeError> {
        let found = self.0.get(at..).and_then(|rest| rest.get(..length));
        found.ok_or(DecodeError::Truncated)
    }

    /// Demands that `N` reserved bytes are zero.
    #[inline(always)]
    pub(super) fn reserved<const N: usize>(self, at: usize) -> Result<(), DecodeError> {
        if self.array(at)? == [0; N] {
            Ok(())
        } else {
            Err(DecodeError::Reserved)
        }
    }
}

/// Writes numbers at offsets of a frame. Cannot reach beyond it.
pub(super) struct Writer<'a, const SWAPPED: bool>(pub(super) &'a mut [u8]);

impl<const SWAPPED: bool> Writer<'_, SWAPPED> {
    /// The first `N` bytes only. One check for all of them: the compiler then sees that there is
    /// room for fields at fixed offsets.
    #[inline(always)]
    pub(super) fn first<const N: usize>(&mut self) -> Result<Writer<'_, SWAPPED>, EncodeError> {
        self.0.first_chunk_mut::<N>().map(|first| Writer(first)).ok_or(EncodeError::NoRoom)
    }

    #[inline(always)]
    pub(super) fn array<const N: usize>(
        &mut self,
        at: usize,
        value: [u8; N],
    ) -> Result<(), EncodeError> {
        let place = self.0.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<N>);
        *place.ok_or(EncodeError::NoRoom)? = value;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn u16(&mut self, at: usize, value: u16) -> Result<(), EncodeError> {
        self.array(at, if SWAPPED { value.swap_bytes() } else { value }.to_ne_bytes())
    }

    #[inline(always)]
    pub(super) fn u32(&mut self, at: usize, value: u32) -> Result<(), EncodeError> {
        self.array(at, if SWAPPED { value.swap_bytes() } else { value }.to_ne_bytes())
    }

    #[inline(always)]
    pub(super) fn u64(&mut self, at: usize, value: u64) -> Result<(), EncodeError> {
        self.array(at, if SWAPPED { value.swap_bytes() } else { value }.to_ne_bytes())
    }

    #[inline(always)]
    pub(super) fn bytes(&mut self, at: usize, value: &[u8]) -> Result<(), EncodeError> {
        let place = self.0.get_mut(at..).and_then(|rest| rest.get_mut(..value.len()));
        let place = place.ok_or(EncodeError::NoRoom)?;
        // Both have the length of `value`; the compiler sees it and drops the check.
        place.copy_from_slice(value);
        Ok(())
    }
}
