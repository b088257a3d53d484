// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the key that an engine needs beside a tag to pull what another engine has
//! staged.

/// Longest key in bytes.
pub const MAX_KEY: usize = 32;

/// A remote key, an address, or anything else that names staged memory to the engine that pulls it.
/// It is opaque: engines make and check keys, and the driver carries them from one to the other
/// (decision 0028). At most [`MAX_KEY`] bytes. An empty key is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    length: u8,
    /// Zero behind `length`, so that equal keys are equal.
    bytes: [u8; MAX_KEY],
}

impl Key {
    /// No key, for engines that pull by tag alone.
    pub const NONE: Self = Self { length: 0, bytes: [0; MAX_KEY] };

    /// The key of these bytes. `None`: there are more than [`MAX_KEY`].
    #[inline]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut key = Self::NONE;
        // Keys come from peers. One that does not fit is refused, never cut: a part of a key names
        // other memory.
        let place = key.bytes.get_mut(..bytes.len())?;
        for (to, from) in place.iter_mut().zip(bytes) {
            *to = *from;
        }
        // At most `MAX_KEY` bytes, so the cast loses nothing.
        key.length = bytes.len() as u8;
        Some(key)
    }

    /// Its bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len()).unwrap_or(&[])
    }

    /// Number of bytes.
    #[inline]
    pub const fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether it is empty, which means no key.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_key_is_its_bytes_up_to_the_bound() {
        let bytes: Vec<u8> = (1..=MAX_KEY as u8 + 1).collect();
        for length in 0..=MAX_KEY {
            let key = Key::new(&bytes[..length]).unwrap();
            assert_eq!((key.as_bytes(), key.len()), (&bytes[..length], length));
            assert_eq!(key.is_empty(), length == 0);
        }
        assert_eq!(Key::new(&bytes), None, "one byte too many");
        assert_eq!(Key::new(&[]), Some(Key::NONE));
        // One that is longer by zeros is another one.
        assert_ne!(Key::new(&[7]), Key::new(&[7, 0]));
    }
}
