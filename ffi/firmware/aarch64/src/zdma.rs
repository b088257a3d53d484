// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One channel of the ZynqMP's general-purpose DMA controller (Zynq UltraScale+ TRM, UG1085 chapter
//! 19, and register reference UG1087), in scatter-gather mode with linear descriptors.
//!
//! The device fetches a source descriptor, moves its bytes to the addresses of the destination
//! descriptors, and executes the descriptor's command: continue with the next, pause, or stop. It
//! cannot invalidate one descriptor of several.

use core::ptr::with_exposed_provenance_mut;

/// The first channel's registers (GDMA), the distance to the next, and its interrupt (SPI 124).
const GDMA: usize = 0xfd50_0000;
const STRIDE: usize = 0x1_0000;
const FIRST_INTERRUPT: u32 = 32 + 124;

const ISR: usize = 0x100;
const IEN: usize = 0x108;
const IDS: usize = 0x10c;
const CTRL0: usize = 0x110;
const STATUS: usize = 0x11c;
const SRC_START: usize = 0x158;
const DST_START: usize = 0x160;
const TOTAL_BYTE: usize = 0x188;
const CTRL2: usize = 0x200;

/// CTRL0: descriptors are in memory; continue after a pause.
const POINT_MEMORY: u32 = 1 << 6;
const CONTINUE: u32 = 1 << 1;
/// Interrupt bits: paused; done; everything that is an error.
const PAUSED: u32 = 1 << 11;
const DONE: u32 = 1 << 10;
const ERRORS: u32 = 0x3f8;

/// Commands of a source descriptor, and "snoop the other masters' caches".
const COHERENT: u32 = 1 << 0;
const PAUSE: u32 = 1 << 3;
const STOP: u32 = 2 << 3;

/// Most pieces of a transfer.
const PIECES: usize = 16;
/// Bytes of a piece, for transfers of at most that many pieces.
const PIECE: u32 = 4096;

/// The content of the status register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Stopped; nothing moves before it is enabled again.
    Disabled,
    /// Moving.
    Enabled,
    /// Between two descriptors, until it is resumed.
    Paused,
    /// Stopped by an error.
    Failed,
}

/// One descriptor in memory: address, size, attributes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Descriptor {
    address: [u32; 2],
    size: u32,
    control: u32,
}

impl Descriptor {
    const NONE: Self = Self { address: [0; 2], size: 0, control: 0 };

    const fn new(address: u64, size: u32, control: u32) -> Self {
        let address = [address as u32, (address >> 32) as u32];
        Self { address, size, control: control | COHERENT }
    }
}

/// The descriptors of one transfer: source pieces, and one destination.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Chain {
    sources: [Descriptor; PIECES],
    sink: [Descriptor; 2],
}

impl Chain {
    /// No transfer.
    pub const fn new() -> Self {
        Self { sources: [Descriptor::NONE; PIECES], sink: [Descriptor::NONE; 2] }
    }
}

/// A channel. Each number has one.
#[derive(Debug)]
pub struct Channel {
    base: usize,
    interrupt: u32,
    chain: &'static mut Chain,
}

impl Channel {
    /// Takes control of channel `number`, `0..8`: disabled, with interrupts for ends, pauses and
    /// errors only.
    pub fn new(number: u32, chain: &'static mut Chain) -> Self {
        let number = number & 7;
        let base = GDMA + number as usize * STRIDE;
        let this = Self { base, interrupt: FIRST_INTERRUPT + number, chain };
        this.write(CTRL2, 0);
        this.write(IDS, 0xfff);
        this.write(ISR, 0xfff);
        this.write(IEN, PAUSED | DONE | ERRORS);
        this
    }

    /// The number of its interrupt.
    pub const fn interrupt(&self) -> u32 {
        self.interrupt
    }

    fn read(&self, register: usize) -> u32 {
        let place = with_exposed_provenance_mut::<u32>(self.base + register);
        // SAFETY: a register of our channel; reading it changes no memory.
        unsafe { place.read_volatile() }
    }

    fn write(&self, register: usize, value: u32) {
        // Descriptors and payload are written before the device starts.
        barrier();
        let place = with_exposed_provenance_mut::<u32>(self.base + register);
        // SAFETY: a register of our channel. The memory that it makes the device access is in
        // `chain`, which the caller of `start` guarantees.
        unsafe { place.write_volatile(value) };
    }

    /// Moves `length` bytes, with a pause after each piece but the last.
    ///
    /// # Safety
    /// Both ranges are memory that the device may read and write until [`state`](Self::state) says
    /// `Disabled` or `Failed`. The channel is disabled now.
    pub unsafe fn start(&mut self, from: u64, to: u64, length: u32) {
        let piece = length.div_ceil(PIECES as u32).max(PIECE);
        let mut left = length;
        let mut address = from;
        for descriptor in &mut self.chain.sources {
            let size = left.min(piece);
            left -= size;
            let command = if left == 0 { STOP } else { PAUSE };
            *descriptor = Descriptor::new(address, size, command);
            address = address.wrapping_add(u64::from(size));
            if left == 0 {
                break;
            }
        }
        if let Some(sink) = self.chain.sink.first_mut() {
            *sink = Descriptor::new(to, length, 0);
        }
        let sources = self.chain.sources.as_ptr() as usize as u64;
        let sink = self.chain.sink.as_ptr() as usize as u64;
        self.write(TOTAL_BYTE, u32::MAX);
        self.write(CTRL0, POINT_MEMORY);
        self.write_address(SRC_START, sources);
        self.write_address(DST_START, sink);
        self.write(CTRL2, 1);
    }

    fn write_address(&self, register: usize, address: u64) {
        self.write(register, address as u32);
        self.write(register + 4, (address >> 32) as u32);
    }

    /// Continues after a pause.
    pub fn resume(&mut self) {
        self.write(CTRL0, POINT_MEMORY | CONTINUE);
    }

    /// Stops a paused channel. It is disabled when [`state`](Self::state) says so.
    pub fn stop(&mut self) {
        self.write(CTRL2, 0);
        self.write(CTRL0, POINT_MEMORY | CONTINUE);
    }

    /// The channel's state.
    pub fn state(&self) -> State {
        match self.read(STATUS) & 3 {
            0 => State::Disabled,
            1 => State::Enabled,
            2 => State::Paused,
            _ => State::Failed,
        }
    }

    /// Bytes moved since the start.
    pub fn moved(&self) -> u32 {
        self.read(TOTAL_BYTE)
    }

    /// Acknowledges its interrupts. Returns whether one of them was an error.
    pub fn acknowledge(&mut self) -> bool {
        let pending = self.read(ISR);
        self.write(ISR, pending);
        pending & ERRORS != 0
    }
}

/// Orders memory before the device register, and the register before memory.
fn barrier() {
    // SAFETY: a barrier.
    unsafe { core::arch::asm!("dsb sy") };
}
