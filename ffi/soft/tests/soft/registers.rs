// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Registers by offset.

use lnd_core::id::LinkId;
use lnd_dma::regs::{ControlBits, LinkBits, MAGIC};
use lnd_soft::registers::{read, write};
use lnd_soft::{Join, SoftFabric};

use crate::land::{join, land, shape};

#[test]
fn every_offset_has_an_answer() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let _member = join(&fabric, 0, &Join::new(0)).unwrap();
    let memory = fabric.link_memory(0, LinkId::new(0).unwrap()).unwrap();
    assert_eq!(read(&memory, 0), Some(MAGIC));
    assert_eq!(read(&memory, 12), Some(4), "descriptors");
    assert_eq!(read(&memory, 192), Some(LinkBits::UP.bits()));
    let readable = (0..300).filter(|&offset| read(&memory, offset).is_some()).count();
    assert_eq!(readable, 38, "8 constants, 17 of the driver's, 12 of the device's, the link");
    // What is not the driver's to write stays as it is.
    for offset in (0..68).chain(128..140).chain(144..196).chain(220..300) {
        let before = read(&memory, offset);
        assert_eq!(write(&memory, offset, 0xdead_beef), None, "{offset}");
        assert_eq!(read(&memory, offset), before, "{offset}");
    }
    assert_eq!(write(&memory, 196, ControlBits::ENABLE.bits()), Some(true));
    assert_eq!(write(&memory, 84, 3), Some(true), "what was posted before is to be told now");
    assert_eq!(write(&memory, 112, 3), Some(false));
    assert_eq!([208, 212, 216].map(|at| write(&memory, at, 0)), [false, false, true].map(Some));
    assert_eq!((read(&memory, 196), read(&memory, 84)), (Some(1), Some(3)));
    assert_eq!(write(&memory, u32::MAX, 0), None);
}
