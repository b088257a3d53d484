// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd fabric`: makes a fabric file, shows one, declares deaths, pulls cables.

use std::path::Path;

use lnd_core::id::{Incarnation, LinkId};
use lnd_dma::regs::{LinkBits, Register, RegisterAccess, Status};

use super::Broken;
use crate::fabric::{nid_of, Fabric, Mapping, NodeFlags, Shape};

/// Makes a fabric file. Its size is a power of two, as a virtual machine wants it of a shared BAR;
/// what lies behind the fabric is never touched.
///
/// # Errors
/// There is such a file already, or there can be no such fabric.
pub fn format(file: &Path, shape: Shape) -> Result<(), Broken> {
    let needed = shape.offsets().map_err(lnd_soft::AttachError::Shape)?.end as u64;
    let bytes = needed.next_power_of_two();
    Mapping::create(file, shape, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    crate::say!("{}: {bytes} bytes, {needed} used", file.display());
    Ok(())
}

fn with<T>(file: &Path, act: impl FnOnce(&Fabric<'_>) -> Result<T, Broken>) -> Result<T, Broken> {
    let open = || Mapping::open(file).map_err(|error| format!("{}: {error}", file.display()));
    let mapping = open()?;
    let fabric = Fabric::attach(&mapping)?;
    act(&fabric)
}

/// Shows a fabric: its numbers, and where each node and link stands. Changes nothing.
///
/// # Errors
/// The file is no fabric.
pub fn show(file: &Path) -> Result<(), Broken> {
    with(file, |fabric| {
        let (shape, at) = (fabric.shape(), fabric.offsets());
        crate::say!(
            "{} nodes, {} links, {} descriptors and {} lists a link, windows of {} MiB",
            shape.nodes,
            shape.links,
            shape.descriptors,
            shape.lists,
            shape.window >> 20
        );
        crate::say!(
            "node table {:#x}, leases {:#x}, links {:#x}, mailboxes {:#x}, windows {:#x}, end {:#x}",
            at.nodes, at.leases, at.links, at.boxes, at.windows, at.end
        );
        (0..shape.nodes).for_each(|node| show_node(fabric, node));
        Ok(())
    })
}

fn show_node(fabric: &Fabric<'_>, node: u32) {
    let found = fabric.node(node);
    let life = found.life.map_or("-".into(), |life| format!("{:016x}", life.raw()));
    let locked = if found.flags.contains(NodeFlags::LOCKED) { ", held by a lock" } else { "" };
    let state = format!("{:?}", found.state).to_lowercase();
    crate::say!("node {node} ({}): {state}, life {life}{locked}", nid_of(node));
    for link in (0..fabric.shape().links as usize).filter_map(LinkId::new) {
        let Ok(memory) = fabric.link_memory(node, link) else { continue };
        let up = LinkBits(memory.read(Register::Link)).contains(LinkBits::UP);
        let status = Status(memory.read(Register::Status));
        let engine = if status.contains(Status::STOPPED) {
            "stopped"
        } else if status.contains(Status::RUNNING) {
            "running"
        } else {
            "not running"
        };
        let clock = if up { "up" } else { "down" };
        crate::say!("  link {}: {clock}, engine {engine}", link.index());
    }
}

/// Declares a node dead, whose machine is gone.
///
/// # Errors
/// The file is no fabric, or the node is not there, or lives another life.
pub fn dead(file: &Path, node: u32, life: Option<u64>) -> Result<(), Broken> {
    let life = match life {
        Some(raw) => Some(Incarnation::from_raw(raw).ok_or("no life is zero")?),
        None => None,
    };
    with(file, |fabric| {
        let soft: &lnd_soft::Fabric<'_> = fabric;
        soft.declare_dead(node, life).map_err(|error| format!("node {node}: {error}"))?;
        crate::say!("node {node} is dead");
        Ok(())
    })
}

/// Pulls a link's cable, or puts it back.
///
/// # Errors
/// The file is no fabric, or there is no such link, or its node has never been there.
pub fn link(file: &Path, node: u32, link: usize, up: bool) -> Result<(), Broken> {
    with(file, |fabric| {
        let id = LinkId::new(link).ok_or("a node has 8 links at most")?;
        if !fabric.set_link(node, id, up) {
            return Err(format!("node {node} has no link {link} yet").into());
        }
        crate::say!("node {node} link {link}: {}", if up { "up" } else { "down" });
        Ok(())
    })
}

/// Reads a life as `show` prints it.
///
/// # Errors
/// It is no hexadecimal number.
pub fn parse_life(text: &str) -> Result<u64, String> {
    let digits = text.trim_start_matches("0x");
    u64::from_str_radix(digits, 16).map_err(|_| format!("'{text}' is no life"))
}
