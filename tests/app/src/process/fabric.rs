// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd fabric`: makes a fabric file, shows one, declares deaths, pulls cables.

use std::io::ErrorKind;
use std::path::Path;

use lnd_core::id::{Incarnation, LinkId, Nid};
use lnd_dma::regs::{LinkBits, Register, RegisterAccess, StatusBits};
use lnd_sim::fabric::{
    nid_of, node_of, DeclareError, Fabric, JoinError, Mapping, NodeFlags, NodeState, OpenError,
    Shape,
};

use serde_json::{json, Value};

use super::Broken;

/// Makes a fabric file. Its size is a power of two, as a virtual machine wants it of a shared BAR;
/// what lies behind the fabric is never touched.
///
/// # Errors
/// There is such a file already, or there can be no such fabric.
pub fn format(file: &Path, shape: Shape, json: bool) -> Result<(), Broken> {
    let needed = shape.offsets().map_err(lnd_soft::AttachError::Shape)?.end as u64;
    let bytes = needed.next_power_of_two();
    Mapping::create(file, shape, bytes).map_err(|error| match error {
        OpenError::Io(error) if error.kind() == ErrorKind::AlreadyExists => {
            format!("{}: is there already, and is left alone", file.display())
        }
        error => format!("{}: {error}", file.display()),
    })?;
    let name = file.display();
    tell(
        json,
        || json!({ "fabric": name.to_string(), "bytes": bytes, "used": needed }),
        || format!("{name}: {bytes} bytes, {needed} used"),
    );
    Ok(())
}

/// Says what was done, as JSON or in words.
fn tell(json: bool, value: impl FnOnce() -> Value, words: impl FnOnce() -> String) {
    if json {
        crate::output::document(&value());
    } else {
        crate::say!("{}", words());
    }
}

fn with<T>(file: &Path, act: impl FnOnce(&Fabric<'_>) -> Result<T, Broken>) -> Result<T, Broken> {
    let mapping = Mapping::open(file).map_err(|error| match error {
        OpenError::Io(error) if error.kind() == ErrorKind::NotFound => {
            let how = "`lnd fabric format` or `lnd node` makes it";
            format!("{}: there is no such fabric; {how}", file.display())
        }
        error => format!("{}: {error}", file.display()),
    })?;
    super::guard(file, &mapping);
    let fabric = Fabric::attach(&mapping)?;
    act(&fabric)
}

/// Shows a fabric: its numbers, and where each node and link stands. Changes nothing.
///
/// # Errors
/// The file is no fabric.
pub fn show(file: &Path, json: bool) -> Result<(), Broken> {
    with(file, |fabric| {
        let (shape, at) = (fabric.shape(), fabric.offsets());
        let nodes: Vec<Value> = (0..shape.nodes).map(|node| node_shown(fabric, node)).collect();
        if json {
            crate::output::document(&json!({
                "fabric": file.display().to_string(),
                "links": shape.links, "descriptors": shape.descriptors, "lists": shape.lists,
                "window_mib": shape.window >> 20,
                "offsets": {
                    "nodes": at.nodes, "leases": at.leases, "links": at.links, "boxes": at.boxes,
                    "windows": at.windows, "end": at.end,
                },
                "nodes": nodes,
            }));
            return Ok(());
        }
        crate::say!(
            "{} nodes, {} links, {} descriptors and {} lists a link, windows of {} MiB",
            shape.nodes,
            shape.links,
            shape.descriptors,
            shape.lists,
            shape.window >> 20
        );
        crate::say!(
            "node table {:#x}, leases {:#x}, links {:#x}, mailboxes {:#x}, windows {:#x}, \
             end {:#x}",
            at.nodes,
            at.leases,
            at.links,
            at.boxes,
            at.windows,
            at.end
        );
        nodes.iter().for_each(tell_node);
        Ok(())
    })
}

fn node_shown(fabric: &Fabric<'_>, node: u32) -> Value {
    let found = fabric.node(node);
    // Of a node that has left, the flags are those of its former incarnation.
    let locked = found.flags.contains(NodeFlags::LOCKED) && found.state != NodeState::Absent;
    let link_shown = |link: LinkId| {
        let memory = fabric.link_memory(node, link).ok()?;
        let up = LinkBits(memory.read(Register::Link)).contains(LinkBits::UP);
        let status = StatusBits(memory.read(Register::Status));
        // Of a node that is gone the registers show what it did last.
        let is_gone = matches!(found.state, NodeState::Absent | NodeState::Dead);
        let engine = if is_gone {
            "gone"
        } else if status.contains(StatusBits::STOPPED) {
            "stopped"
        } else if status.contains(StatusBits::RUNNING) {
            "running"
        } else {
            "not running"
        };
        Some(json!({ "link": link.index(), "carrier": up, "engine": engine }))
    };
    let links = (0..fabric.shape().links as usize).filter_map(LinkId::new);
    json!({
        "nid": nid_of(node).to_string(),
        "state": format!("{:?}", found.state).to_lowercase(),
        "incarnation": found.incarnation.map(|it| format!("{:016x}", it.raw())),
        "locked": locked,
        "links": links.filter_map(link_shown).collect::<Vec<_>>(),
    })
}

fn tell_node(node: &Value) {
    let word = |it: &Value| it.as_str().unwrap_or("-").to_owned();
    let locked = if node["locked"] == true { ", held by a lock" } else { "" };
    let (nid, state, incarnation) =
        (word(&node["nid"]), word(&node["state"]), word(&node["incarnation"]));
    crate::say!("{nid}: {state}, incarnation {incarnation}{locked}");
    for link in node["links"].as_array().into_iter().flatten() {
        let carrier = if link["carrier"] == true { "up" } else { "down" };
        crate::say!("  link {}: {carrier}, engine {}", link["link"], word(&link["engine"]));
    }
}

/// The number of a node of this fabric.
fn within(fabric: &Fabric<'_>, nid: Nid) -> Result<u32, Broken> {
    let nodes = fabric.shape().nodes;
    let last = nid_of(nodes.saturating_sub(1));
    let node = node_of(nid).filter(|node| *node < nodes);
    let none = || format!("{nid}: this fabric has the nodes {} to {last}", nid_of(0));
    Ok(node.ok_or_else(none)?)
}

/// Declares a node dead, whose machine is gone.
///
/// # Errors
/// The file is no fabric, or the node is not there, is another incarnation, or is a process that
/// runs.
pub fn dead(
    file: &Path,
    nid: Nid,
    incarnation: Option<Incarnation>,
    json: bool,
) -> Result<(), Broken> {
    with(file, |fabric| {
        let node = within(fabric, nid)?;
        let declared = fabric.declare_ended(node, incarnation).map_err(|error| match error {
            JoinError::Taken => format!("{nid}: its process is running; stop it instead"),
            other => format!("{nid}: {other}"),
        })?;
        declared.map_err(|error| match error {
            DeclareError::NotThere => format!("{nid}: not present on this fabric"),
            DeclareError::OtherIncarnation => {
                let now = fabric
                    .node(node)
                    .incarnation
                    .map_or("-".into(), |l| format!("{:016x}", l.raw()));
                format!("{nid}: {error}: {now}")
            }
            DeclareError::NoSuchNode => format!("{nid}: {error}"),
        })?;
        let shown = || json!({ "nid": nid.to_string(), "state": "dead" });
        tell(json, shown, || format!("{nid} is dead"));
        Ok(())
    })
}

/// Pulls a link's cable, or puts it back.
///
/// # Errors
/// The file is no fabric, or there is no such link, or its node has never been there.
pub fn link(file: &Path, nid: Nid, link: usize, up: bool, json: bool) -> Result<(), Broken> {
    with(file, |fabric| {
        let node = within(fabric, nid)?;
        let links = fabric.shape().links as usize;
        let id = LinkId::new(link).filter(|_| link < links);
        let id = id.ok_or_else(|| format!("{nid}: has the links 0 to {}", links - 1))?;
        if !fabric.set_link(node, id, up) {
            let why = "it has never been on this fabric";
            return Err(format!("{nid} has no link {link} yet: {why}").into());
        }
        let shown = || json!({ "nid": nid.to_string(), "link": link, "carrier": up });
        tell(json, shown, || format!("{nid} link {link}: {}", if up { "up" } else { "down" }));
        Ok(())
    })
}

/// Reads an incarnation as `show` prints it.
///
/// # Errors
/// It is no hexadecimal number, or zero, which is none.
pub fn parse_incarnation(text: &str) -> Result<Incarnation, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let raw = u64::from_str_radix(digits, 16).ok().filter(|_| all_digits);
    raw.and_then(Incarnation::from_raw).ok_or_else(|| {
        "an incarnation is a hexadecimal number other than 0, as `show` prints it".into()
    })
}
