// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds payload memory that is one piece.

use core::cell::Cell;

use crate::base::fragment::Fragment;
use crate::ports::{BadAddress, Memory};

/// Payload memory of one piece, in which an address is an offset from its start. Only for memory
/// that no device and no other thread reaches: for tests, simulations, and engines without
/// hardware.
///
/// ```
/// use core::cell::Cell;
/// use lnd_core::host::LinearMemory;
/// use lnd_core::ports::{BadAddress, Memory};
///
/// let mut bytes = [0; 16];
/// let mut memory = LinearMemory::new(Cell::from_mut(&mut bytes[..]).as_slice_of_cells());
/// memory.write(12, b"four").unwrap();
/// let mut read = [0; 4];
/// memory.read(12, &mut read).unwrap();
/// assert_eq!(&read, b"four");
/// assert_eq!(memory.write(13, b"four"), Err(BadAddress));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LinearMemory<'m> {
    bytes: &'m [Cell<u8>],
}

impl<'m> LinearMemory<'m> {
    /// The memory of these bytes.
    pub const fn new(bytes: &'m [Cell<u8>]) -> Self {
        Self { bytes }
    }

    fn at(&self, address: u64, length: usize) -> Result<&'m [Cell<u8>], BadAddress> {
        let start = usize::try_from(address).map_err(|_| BadAddress)?;
        let rest = self.bytes.get(start..).ok_or(BadAddress)?;
        rest.get(..length).ok_or(BadAddress)
    }
}

impl Memory for LinearMemory<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        let from = self.at(address, into.len())?;
        into.iter_mut().zip(from).for_each(|(to, from)| *to = from.get());
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
        let to = self.at(address, from.len())?;
        to.iter().zip(from).for_each(|(to, &from)| to.set(from));
        Ok(())
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        self.at(fragment.address, fragment.length as usize).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_the_end_is_refused_and_writes_nothing() {
        let mut bytes = [7; 4];
        let mut memory = LinearMemory::new(Cell::from_mut(&mut bytes[..]).as_slice_of_cells());
        let reaches = |memory: LinearMemory<'_>| {
            let fragments = [(0, 4), (4, 0), (3, 2), (5, 0), (u64::MAX, 1)];
            fragments.map(|(at, length)| memory.valid(&Fragment::new(at, length)))
        };
        assert_eq!(reaches(memory), [true, true, false, false, false]);
        assert_eq!(memory.write(3, &[1, 2]), Err(BadAddress));
        assert_eq!(memory.read(u64::MAX, &mut [0]), Err(BadAddress));
        assert_eq!(memory.write(2, &[1, 2]), Ok(()));
        assert_eq!(bytes, [7, 7, 1, 2]);
    }
}
