// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file copies payload that travels inline: from fragments into a frame, and out of one.

use crate::base::fragment::Fragment;
use crate::ports::{BadAddress, Memory};

/// Copies fragments into `into`, in their order.
#[inline]
pub(crate) fn gather(
    memory: &impl Memory,
    fragments: &[Fragment],
    into: &mut [u8],
) -> Result<(), BadAddress> {
    // The usual list has one fragment, and needs no loop.
    #[cfg(not(feature = "compact"))]
    if let [only] = fragments {
        let part = into.get_mut(..only.length as usize).ok_or(BadAddress)?;
        return memory.read(only.address, part);
    }
    let mut rest = into;
    for fragment in fragments {
        let (part, after) =
            rest.split_at_mut_checked(fragment.length as usize).ok_or(BadAddress)?;
        memory.read(fragment.address, part)?;
        rest = after;
    }
    Ok(())
}

/// Copies `from` into fragments, in their order, as far as they go.
#[inline]
pub(crate) fn scatter(
    memory: &mut impl Memory,
    from: &[u8],
    fragments: &[Fragment],
) -> Result<(), BadAddress> {
    // The usual list has one fragment that is long enough, and needs no loop.
    #[cfg(not(feature = "compact"))]
    if let [only] = fragments {
        if !from.is_empty() && from.len() <= only.length as usize {
            return memory.write(only.address, from);
        }
    }
    let mut rest = from;
    for fragment in fragments {
        let (part, after) = rest.split_at(rest.len().min(fragment.length as usize));
        // The sender decides the length, and the fragments may be longer. What is left of them
        // stays as it is.
        if part.is_empty() {
            break;
        }
        memory.write(fragment.address, part)?;
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;
    use crate::host::LinearMemory;

    const END: u64 = 8;

    #[test]
    fn fragments_are_gathered_in_their_order() {
        let mut bytes = *b"abcdefgh";
        let memory = LinearMemory::new(Cell::from_mut(&mut bytes[..]).as_slice_of_cells());
        let mut into = [0; 4];
        assert_eq!(gather(&memory, &[Fragment::new(2, 4)], &mut into), Ok(()));
        assert_eq!(&into, b"cdef");
        let two = [Fragment::new(6, 1), Fragment::new(0, 3)];
        assert_eq!(gather(&memory, &two, &mut into), Ok(()));
        assert_eq!(&into, b"gabc");
        // More than there is room for, and what is no memory.
        assert_eq!(gather(&memory, &[Fragment::new(0, 5)], &mut into), Err(BadAddress));
        let beyond = [Fragment::new(0, 1), Fragment::new(END, 1)];
        assert_eq!(gather(&memory, &beyond, &mut into), Err(BadAddress));
    }

    #[test]
    fn a_payload_is_scattered_as_far_as_it_and_the_fragments_go() {
        let mut bytes = [b'.'; END as usize];
        let cells = Cell::from_mut(&mut bytes[..]).as_slice_of_cells();
        let mut memory = LinearMemory::new(cells);
        let mut now = |from: &[u8], fragments: &[Fragment]| {
            let written = scatter(&mut memory, from, fragments);
            (written, core::array::from_fn(|at| cells[at].replace(b'.')))
        };
        let one = [Fragment::new(1, 3)];
        assert_eq!(now(b"ab", &one), (Ok(()), *b".ab....."));
        assert_eq!(now(b"abcd", &one), (Ok(()), *b".abc...."));
        assert_eq!(now(b"", &one), (Ok(()), *b"........"));
        let two = [Fragment::new(4, 2), Fragment::new(0, 3)];
        assert_eq!(now(b"abc", &two), (Ok(()), *b"c...ab.."));
        let beyond = [Fragment::new(0, 1), Fragment::new(END, 1)];
        assert_eq!(now(b"ab", &beyond), (Err(BadAddress), *b"a......."));
    }
}
