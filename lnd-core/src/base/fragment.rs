// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file describes memory as the engine reaches it.

/// Most fragments of one transfer (o2iblnd's limit is 256 plus one).
pub const MAX_FRAGMENTS: usize = 256;
/// Longest fragment in bytes: 1 MiB.
pub const MAX_FRAGMENT: u32 = 1 << 20;
/// Longest transfer in bytes.
pub const MAX_TRANSFER: u32 = MAX_FRAGMENTS as u32 * MAX_FRAGMENT;

/// A piece of memory by its bus address, which a DMA engine can reach.
///
/// The engine and the [`Memory`](crate::ports::Memory) port agree on the kind of address: a
/// physical address, an I/O virtual address, or an offset into a shared window.
///
/// ```
/// use lnd_core::fragment::Fragment;
///
/// // 6,000 bytes from the middle of one page to the end of another.
/// let payload = [Fragment::new(0x1_0800, 2048), Fragment::new(0x7_3000, 3952)];
/// assert_eq!(payload.iter().map(|it| it.length).sum::<u32>(), 6000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Fragment {
    /// Bus address of the first byte.
    pub address: u64,
    /// Length in bytes, `1..=MAX_FRAGMENT`.
    pub length: u32,
    /// Zero; reserved.
    pub reserved: u32,
}

impl Fragment {
    /// `length` bytes at `address`.
    pub const fn new(address: u64, length: u32) -> Self {
        Self { address, length, reserved: 0 }
    }

    /// Checks the rules for one fragment.
    #[inline]
    const fn check(&self) -> Result<(), FragmentError> {
        if self.length == 0 {
            return Err(FragmentError::Empty);
        }
        if self.length > MAX_FRAGMENT {
            return Err(FragmentError::TooLong);
        }
        // Such a fragment would wrap to the start of memory.
        if self.address.checked_add(self.length as u64).is_none() {
            return Err(FragmentError::Wraps);
        }
        Ok(())
    }
}

/// The reason for which a fragment list was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentError {
    /// More than [`MAX_FRAGMENTS`].
    TooMany,
    /// A fragment of zero bytes.
    Empty,
    /// A fragment longer than [`MAX_FRAGMENT`].
    TooLong,
    /// Address plus length passes the end of the address space.
    Wraps,
}

crate::sentences! { FragmentError {
    Self::TooMany => "the list has too many fragments",
    Self::Empty => "a fragment has no bytes",
    Self::TooLong => "a fragment is too long",
    Self::Wraps => "a fragment passes the end of the address space",
}}

/// Checks a fragment list and adds up its bytes. An empty list is a transfer of zero bytes.
///
/// # Errors
/// The first rule that a fragment breaks.
#[inline]
pub fn total(fragments: &[Fragment]) -> Result<u32, FragmentError> {
    total_of(fragments, |_| ())
}

/// As [`total`], in one pass that calls `look` with each valid fragment.
///
/// # Errors
/// As for [`total`].
#[inline]
pub(crate) fn total_of(
    fragments: &[Fragment],
    mut look: impl FnMut(&Fragment),
) -> Result<u32, FragmentError> {
    // The count comes first: it bounds the loop (R32, R64).
    if fragments.len() > MAX_FRAGMENTS {
        return Err(FragmentError::TooMany);
    }
    // A list of one needs no loop.
    #[cfg(not(feature = "compact"))]
    if let [only] = fragments {
        only.check()?;
        look(only);
        return Ok(only.length);
    }
    let mut sum: u32 = 0;
    for fragment in fragments {
        fragment.check()?;
        // 256 fragments of 1 MiB are 2^28 bytes, so the sum cannot overflow.
        sum += fragment.length;
        look(fragment);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_exact() {
        let full = [Fragment::new(0, MAX_FRAGMENT); MAX_FRAGMENTS];
        assert_eq!(total(&full), Ok(MAX_TRANSFER));
        let one_more = [Fragment::new(0, 1); MAX_FRAGMENTS + 1];
        assert_eq!(total(&one_more), Err(FragmentError::TooMany));
        assert_eq!(total(&[Fragment::new(0, 0)]), Err(FragmentError::Empty));
        assert_eq!(total(&[Fragment::new(0, MAX_FRAGMENT + 1)]), Err(FragmentError::TooLong));
        assert_eq!(total(&[Fragment::new(u64::MAX, 1)]), Err(FragmentError::Wraps));
        assert_eq!(total(&[]), Ok(0));
        // The rules are the same for each fragment of a longer list.
        let second = |it| total(&[Fragment::new(0, 1), it]);
        assert_eq!(second(Fragment::new(8, 2)), Ok(3));
        assert_eq!(second(Fragment::new(0, 0)), Err(FragmentError::Empty));
        assert_eq!(second(Fragment::new(u64::MAX, 1)), Err(FragmentError::Wraps));
    }
}
