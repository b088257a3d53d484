// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory for a fabric, and words in it.

use std::ptr::NonNull;

use lnd_soft::{Join, JoinError, Membership, Shape, SharedRegion, SoftFabric};

#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct Page([u8; 4096]);

/// Fresh memory.
pub struct Land {
    pages: NonNull<[Page]>,
}

impl Land {
    pub fn new(bytes: usize) -> Self {
        let pages = vec![Page([0; 4096]); bytes.div_ceil(4096)].into_boxed_slice();
        Self { pages: NonNull::new(Box::into_raw(pages)).unwrap() }
    }

    pub fn base(&self) -> NonNull<u8> {
        self.pages.cast()
    }

    pub fn len(&self) -> usize {
        self.pages.len() * 4096
    }

    pub fn region(&self) -> SharedRegion<'_> {
        self.part(self.len())
    }

    /// The first `len` bytes.
    pub fn part(&self, len: usize) -> SharedRegion<'_> {
        assert!(len <= self.len());
        // SAFETY: the memory lives as long as `self`, is initialised, and only given out here.
        unsafe { SharedRegion::new(self.base(), len) }.unwrap()
    }

    pub fn get(&self, offset: usize) -> u32 {
        self.region().word(offset).unwrap().load(std::sync::atomic::Ordering::Relaxed)
    }

    pub fn set(&self, offset: usize, value: u32) {
        self.region().word(offset).unwrap().store(value, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Drop for Land {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw`, once.
        drop(unsafe { Box::from_raw(self.pages.as_ptr()) });
    }
}

/// A small fabric.
pub fn shape() -> Shape {
    Shape {
        nodes: 3,
        links: 2,
        descriptors: 4,
        lists: 2,
        window: 16_384,
        requests: (4, 256),
        control: (2, 128),
    }
}

pub fn land() -> Land {
    Land::new(shape().bytes_needed())
}

/// Joins and announces.
pub fn join<'m>(
    fabric: &SoftFabric<'m>,
    node: u32,
    join: &Join,
) -> Result<Membership<'m>, JoinError> {
    let membership = fabric.claim(node, join)?.finish().map_err(|(error, joining)| {
        joining.abandon();
        error
    })?;
    assert!(membership.announce());
    Ok(membership)
}

/// A node ends without leaving.
pub fn crash(member: Membership<'_>) {
    let _ = member;
}
