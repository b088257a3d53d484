// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Only the driver makes a handle: it then knows that other contexts may change its words, and
//! changes them by exchanges itself (INV-1).
use lnd_core::driver::{Driver, IrqHandle};
use lnd_core::ports::Ports;
use lnd_core::shared::Shared;

fn of_the_words<'m>(shared: &'m Shared<'m>) -> IrqHandle<'m> {
    IrqHandle::new(shared)
}

fn of_the_driver<'m, P: Ports>(driver: &Driver<'m, P>) -> (IrqHandle<'m>, &'m Shared<'m>) {
    (driver.own_handle(), driver.shared)
}

fn main() {}
