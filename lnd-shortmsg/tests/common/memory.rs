// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory of a mailbox in which a test can do what the process on the other side can.
#![allow(dead_code)]

use lnd_shortmsg::mailbox::{spsc, Consumer, Line, MailboxGeometry, MailboxRegion, RegionError};
use std::ptr::NonNull;

pub const SLOTS: u32 = 4;
pub const SLOT_SIZE: u32 = 128;

/// Memory of a mailbox that a test can also look at and spoil, as a process on the other side can.
pub struct Shared(pub Vec<Line>);

impl Shared {
    pub fn blank(geometry: MailboxGeometry) -> Self {
        Self(vec![Line::ZERO; geometry.bytes_needed() / 64])
    }

    pub fn formatted(start: u32) -> Self {
        Self::formatted_as(geometry(), start)
    }

    pub fn formatted_as(geometry: MailboxGeometry, start: u32) -> Self {
        let mut shared = Self::blank(geometry);
        // SAFETY: no side is attached yet.
        unsafe { shared.region().format(geometry, start) }.unwrap();
        shared
    }

    /// The lifetime is cut loose from the borrow: tests change the memory behind the back of
    /// those attached. They do so from one thread and by raw pointers only.
    pub fn region<'m>(&mut self) -> MailboxRegion<'m> {
        let base = NonNull::new(self.0.as_mut_ptr()).unwrap().cast();
        // SAFETY: the vector's memory, which every test keeps until its end.
        unsafe { MailboxRegion::new(base, self.0.len() * 64) }.unwrap()
    }

    /// A test that asks twice uses the last one only.
    pub fn producer<'m>(&mut self) -> Result<spsc::Producer<'m>, RegionError> {
        // SAFETY: no test lets two of them send at once.
        unsafe { spsc::Producer::attach(self.region()) }
    }

    /// A test that asks twice uses the last one only.
    pub fn consumer<'m>(&mut self) -> Result<Consumer<'m>, RegionError> {
        // SAFETY: no test lets two of them receive at once.
        unsafe { Consumer::attach(self.region()) }
    }

    pub fn word(&mut self, offset: usize) -> *mut u32 {
        assert!(offset % 4 == 0 && offset < self.0.len() * 64);
        self.0.as_mut_ptr().cast::<u32>().wrapping_add(offset / 4)
    }

    pub fn set(&mut self, offset: usize, value: u32) {
        // SAFETY: within the memory, and no other thread runs.
        unsafe { self.word(offset).write_volatile(value) };
    }

    pub fn get(&mut self, offset: usize) -> u32 {
        // SAFETY: within the memory, and no other thread runs.
        unsafe { self.word(offset).read_volatile() }
    }
}

pub fn geometry() -> MailboxGeometry {
    MailboxGeometry::new(SLOTS, SLOT_SIZE).unwrap()
}
