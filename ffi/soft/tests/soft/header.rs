// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Headers that lie.

use lnd_soft::{AttachError, Join, Shape, ShapeError, SoftFabric};

use crate::land::{land, shape, Land};

/// What a liar who knows the layout writes as the check.
fn sign(land: &Land) {
    let sum = (16..60).fold(0x811c_9dc5_u32, |sum, at| {
        let byte = land.get(at / 4 * 4).to_le_bytes()[at % 4];
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    land.set(12, sum);
}

fn formatted() -> Land {
    let land = land();
    SoftFabric::format(land.region(), shape()).unwrap();
    land
}

#[test]
fn what_was_formatted_is_found_again() {
    let land = formatted();
    let fabric = SoftFabric::attach(land.region()).unwrap();
    assert_eq!(*fabric.shape(), shape());
    let before = land.get(12);
    sign(&land);
    assert_eq!(land.get(12), before, "the liar's sum is ours");
}

#[test]
fn foreign_and_foreign_versions_are_told_apart() {
    let land = land();
    assert_eq!(SoftFabric::attach(land.region()).unwrap_err(), AttachError::Foreign);
    for at in [0, 4] {
        let land = formatted();
        land.set(at, land.get(at) ^ 1);
        assert_eq!(SoftFabric::attach(land.region()).unwrap_err(), AttachError::Foreign);
    }
    for version in [0, 3, 5, u32::MAX] {
        let land = formatted();
        land.set(8, version);
        assert_eq!(SoftFabric::attach(land.region()).unwrap_err(), AttachError::Version(version));
    }
}

#[test]
fn every_damaged_number_is_seen() {
    for at in (12..60).step_by(4) {
        for bit in 0..32 {
            let land = formatted();
            land.set(at, land.get(at) ^ 1 << bit);
            assert_eq!(
                SoftFabric::attach(land.region()).unwrap_err(),
                AttachError::Damaged,
                "{at}"
            );
        }
    }
}

/// R61, trust: numbers that are signed and hostile are impossible, or too large, or lead to offsets
/// within the region.
#[test]
fn every_number_may_be_hostile() {
    let hostile = [
        0,
        1,
        2,
        3,
        63,
        64,
        65,
        255,
        4096,
        65_536,
        65_537,
        1 << 20,
        1 << 31,
        u32::MAX - 1,
        u32::MAX,
    ];
    let mut fits = 0;
    for at in (16..56).step_by(4) {
        for value in hostile {
            let land = formatted();
            land.set(at, value);
            sign(&land);
            match SoftFabric::attach(land.region()) {
                Ok(fabric) => {
                    fits += 1;
                    assert!(fabric.offsets().end <= land.len());
                    use_all(&fabric);
                }
                Err(AttachError::Shape(_) | AttachError::TooSmall { .. }) => {}
                Err(other) => panic!("word {at} = {value:#x}: {other}"),
            }
        }
    }
    assert!(fits > 10, "some of them are possible: {fits}");
}

/// Reaches for everything that the numbers name; Miri and the sanitizers would see a miss.
fn use_all(fabric: &SoftFabric<'_>) {
    for node in 0..=fabric.shape().nodes {
        let _ = fabric.node(node);
        for link in fabric.links() {
            assert!(fabric.link_memory(node, link).is_err(), "no node has joined");
            assert_eq!(fabric.link_place(node, link).is_some(), node < fabric.shape().nodes);
        }
        assert_eq!(fabric.window(node).is_some(), node < fabric.shape().nodes);
        assert_eq!(fabric.oracle().outstanding(node), 0);
    }
}

#[test]
fn a_region_is_never_too_short() {
    let land = formatted();
    let need = shape().bytes_needed();
    for len in [0, 4, 64, 4095] {
        assert_eq!(SoftFabric::attach(land.part(len)).unwrap_err(), AttachError::Foreign);
    }
    for have in [4096, 8192, need / 2, need - 1] {
        let short = AttachError::TooSmall { have, need };
        assert_eq!(SoftFabric::attach(land.part(have)).unwrap_err(), short);
        assert_eq!(SoftFabric::format(land.part(have), shape()).unwrap_err(), short);
    }
    assert!(SoftFabric::attach(land.part(need)).is_ok());
}

#[test]
fn a_fabric_without_mailboxes_has_everything_else() {
    let (with, without) = (shape(), shape().without_mailboxes());
    let (all, few) = (with.offsets().unwrap(), without.offsets().unwrap());
    assert_eq!((few.nodes, few.leases, few.links), (all.nodes, all.leases, all.links));
    assert_eq!(few.windows, few.boxes.next_multiple_of(2 << 20), "none lies between");
    let land = Land::new(few.end);
    let fabric = SoftFabric::format(land.part(few.end), without).unwrap();
    assert_eq!(SoftFabric::attach(land.part(few.end)).unwrap().shape(), &without);
    let joining = fabric.claim(0, &Join::new(1)).unwrap();
    assert!(joining.finish().is_ok_and(|member| member.announce()));
}

#[test]
fn impossible_shapes_are_refused_by_name() {
    let wrong = |change: fn(&mut Shape), error: ShapeError| {
        let mut shape = shape();
        change(&mut shape);
        assert_eq!(shape.offsets(), Err(error));
        assert_eq!(shape.bytes_needed(), usize::MAX);
    };
    wrong(|s| s.nodes = 1, ShapeError::Nodes);
    wrong(|s| s.nodes = 65, ShapeError::Nodes);
    wrong(|s| s.links = 0, ShapeError::Links);
    wrong(|s| s.links = 9, ShapeError::Links);
    wrong(|s| s.descriptors = 0, ShapeError::Tables);
    wrong(|s| s.lists = 65_537, ShapeError::Tables);
    wrong(|s| s.window = 0, ShapeError::Window);
    wrong(|s| s.window = 4097, ShapeError::Window);
    wrong(|s| s.window = (1 << 40) + 4096, ShapeError::Window);
    wrong(|s| s.requests = (3, 256), ShapeError::Mailbox);
    wrong(|s| s.control = (4, 100), ShapeError::Mailbox);
    wrong(|s| s.requests = (0, 0), ShapeError::Mailbox);
    wrong(|s| s.control = (0, 0), ShapeError::Mailbox);
    let largest = Shape {
        nodes: 64,
        links: 8,
        descriptors: 65_536,
        lists: 65_536,
        window: 1 << 40,
        requests: (65_536, 65_600),
        control: (65_536, 65_600),
    };
    assert!(largest.offsets().is_ok_and(|o| o.end < 1 << 60), "nothing overflows");
}
