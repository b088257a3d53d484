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
