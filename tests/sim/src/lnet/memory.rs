// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fragment lists: made from a range, cut to a part.

use lnd_core::fragment::{Fragment, MAX_FRAGMENT};

/// `length` bytes at `base`, in fragments no longer than the driver takes.
pub fn span(base: u64, length: u32) -> Vec<Fragment> {
    let mut fragments = Vec::new();
    let mut done = 0;
    while done < length {
        let piece = MAX_FRAGMENT.min(length - done);
        fragments.push(Fragment::new(base.wrapping_add(u64::from(done)), piece));
        done += piece;
    }
    fragments
}

/// The `length` bytes from `offset` on; fewer if the list ends before.
pub fn slice(fragments: &[Fragment], offset: u32, length: u32) -> Vec<Fragment> {
    let (mut skip, mut left) = (offset, length);
    let mut part = Vec::new();
    for fragment in fragments {
        let skipped = skip.min(fragment.length);
        let taken = left.min(fragment.length - skipped);
        skip -= skipped;
        left -= taken;
        if taken > 0 {
            part.push(Fragment::new(fragment.address + u64::from(skipped), taken));
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_split_at_the_drivers_limit() {
        assert_eq!(span(64, 0), []);
        assert_eq!(span(64, MAX_FRAGMENT), [Fragment::new(64, MAX_FRAGMENT)]);
        let next = 64 + u64::from(MAX_FRAGMENT);
        let expected = [Fragment::new(64, MAX_FRAGMENT), Fragment::new(next, 1)];
        assert_eq!(span(64, MAX_FRAGMENT + 1), expected);
    }

    #[test]
    fn every_part_of_a_list_names_the_right_bytes() {
        let whole = [Fragment::new(100, 3), Fragment::new(200, 1), Fragment::new(300, 4)];
        let bytes = |list: &[Fragment]| -> Vec<u64> {
            list.iter().flat_map(|f| f.address..f.address + u64::from(f.length)).collect()
        };
        let all = bytes(&whole);
        for offset in 0..=9_u32 {
            for length in 0..=9_u32 {
                let from = all.len().min(offset as usize);
                let to = all.len().min((offset + length) as usize);
                let part = slice(&whole, offset, length);
                assert_eq!(bytes(&part), all[from..to], "{offset}+{length}");
                assert!(part.iter().all(|f| f.length > 0), "{offset}+{length}");
            }
        }
    }
}
