// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fabric file: a header and tables that another process, or none, has written.

use std::ptr::NonNull;

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::fragment::Fragment;
use lnd_core::id::LinkId;
use lnd_core::message::Lane;
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_soft::region::ALIGN;
use lnd_soft::{Inbox, Join, Lease, Outbox, Shape, SharedRegion, SoftFabric};

/// Bytes of the file: room for two nodes with little in them, since windows begin at 2 MiB.
const BYTES: usize = (2 << 20) + 64 * 1024;
/// Where the header's words lie: magic 0 and 4, version 8, check 12, shape from 16 on.
const SHAPE: usize = 4;
const SHAPE_WORDS: usize = 11;
const DIGEST: usize = 3;

#[derive(Arbitrary, Debug)]
enum Op {
    /// Any word of the header's page.
    Header { word: u8, value: u32 },
    /// The header's check is made to fit its numbers.
    Repair,
    /// A word of the tables behind the header; `near` keeps to the first words of each page, where
    /// registers and mailbox headers are.
    Word { page: u16, word: u16, near: bool, value: u32 },
    /// A process attaches and does what a node does.
    Use { node: u8, link: u8, message: u8 },
}

/// H16, R77: a file that makes no sense is refused; one that is spoiled while it is in use harms
/// no process outside of it.
pub fn fabric_file(data: &[u8]) {
    let mut input = Unstructured::new(data);
    // Bytes, not lines: fresh zeros cost nothing.
    let mut bytes = vec![0_u8; BYTES + ALIGN];
    let lost = bytes.as_ptr().align_offset(ALIGN);
    let base = NonNull::from(&mut bytes[lost..lost + BYTES]).cast::<u8>();
    // SAFETY: the bytes outlive everything that is made of the region.
    let region = unsafe { SharedRegion::new(base, BYTES) }.expect("just aligned");
    let mut shape = Shape::new(2, 1 + u32::from(input.arbitrary().unwrap_or(false)), 4, 8192);
    shape.requests = (2, 128);
    shape.control = (4, 192);
    let fabric = SoftFabric::format(region, shape).expect("it fits");
    assert_eq!(SoftFabric::attach(region).map(|found| *found.shape()), Ok(*fabric.shape()));
    // One node is there before anything is spoiled.
    let member = fabric.claim(0, &Join::new(1)).ok().and_then(|joining| joining.finish().ok());
    let member = member.expect("an empty fabric has room");
    member.announce();
    while let Ok(op) = Op::arbitrary(&mut input) {
        match op {
            Op::Header { word, value } => set(region, usize::from(word), value),
            Op::Repair => set(region, DIGEST, digest(region)),
            Op::Word { page, word, near, value } => {
                let word = usize::from(word) % if near { 80 } else { 1024 };
                set(region, usize::from(page) % (BYTES / 4096) * 1024 + word, value);
            }
            Op::Use { node, link, message } => {
                if let Ok(fabric) = SoftFabric::attach(region) {
                    use_it(&fabric, u32::from(node % 3), usize::from(link % 3), message);
                }
            }
        }
        if input.is_empty() {
            break;
        }
    }
}

fn word(region: SharedRegion<'_>, at: usize) -> &AtomicU32 {
    region.word(at * 4 % BYTES).expect("within the region")
}

fn set(region: SharedRegion<'_>, at: usize, value: u32) {
    word(region, at).store(value, Ordering::Relaxed);
}

/// The header's check over its numbers, as `docs/fabric.md` gives it: FNV-1a.
fn digest(region: SharedRegion<'_>) -> u32 {
    let words = (SHAPE..SHAPE + SHAPE_WORDS).map(|at| word(region, at).load(Ordering::Relaxed));
    words
        .flat_map(u32::to_le_bytes)
        .fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// What a program does with a fabric, short of running engines.
fn use_it(fabric: &SoftFabric<'_>, node: u32, link: usize, message: u8) {
    let Some(link) = LinkId::new(link) else { return };
    let shape = *fabric.shape();
    assert!(fabric.offsets().end <= BYTES, "attached to more than there is");
    if let Ok(memory) = fabric.link_memory(node, link) {
        assert!(node < shape.nodes && link.index() < shape.links as usize);
        assert_eq!(memory.geometry(), shape.geometry());
    }
    let fragment = [Fragment::new(u64::from(message) << 6, 5000)];
    fabric.oracle().lend(node, &fragment, Lease::Read);
    let _ = fabric.oracle().check(node, fragment[0].address, 5000, Lease::Read);
    let _ = (fabric.node(node), fabric.oracle().outstanding(node), fabric.window(node));

    let Ok(joining) = fabric.claim(node, &Join::new(u32::from(message))) else { return };
    let member = match joining.finish() {
        Ok(member) => member,
        Err((_, joining)) => return joining.abandon(),
    };
    member.announce();
    let boxes = shape.mailboxes();
    let mut consumers: Vec<_> = (0..boxes).map(|_| None).collect();
    let mut producers: Vec<_> = (0..boxes).map(|_| None).collect();
    // SAFETY: this is the only inbox of this incarnation; those of former incarnations are gone.
    let mut inbox = unsafe { Inbox::new(&member, consumers.as_mut_slice()) };
    let mut frame = vec![0; shape.frame_max().min(1 << 17)];
    for _ in 0..20 {
        let Some(arrival) = inbox.next(4, &mut frame) else { break };
        assert!(arrival.from < shape.nodes && arrival.length <= frame.len());
        inbox.release();
    }
    // SAFETY: as for the inbox.
    let mut outbox = unsafe { Outbox::new(&member, producers.as_mut_slice()) };
    for to in 0..shape.nodes.min(4) {
        let bytes = vec![message; usize::from(message)];
        let _ = outbox.send(link, to, Lane::Request, &bytes);
        let _ = outbox.ready(link, to, Lane::Control);
    }
    member.leave();
}
