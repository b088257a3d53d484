// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the driver writes to its registers, and what it refuses.

use lnd_core::fragment::{Fragment, MAX_FRAGMENT};
use lnd_core::id::Tag;
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Engine, Features, Motion, PostError, Returned};
use lnd_dma::regs::{ControlBits, Register, RegisterAccess};

use crate::harness::{nid, tag, Plant, Shape, WINDOW};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

#[test]
fn any_number_of_posts_share_one_doorbell() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let buffers: Vec<_> = (0..10).map(|_| (world.filled(0, 64), world.filled(1, 64))).collect();
    for (n, (out, into)) in (0..).zip(&buffers) {
        world.post(A, tag(n), Motion::Stage { to: nid(1) }, out, 64).unwrap();
        let motion = Motion::Pull { from: nid(0), source: tag(n), key: Key::NONE };
        world.post(B, tag(n), motion, into, 64).unwrap();
    }
    assert_eq!(world.written(A, Register::StageBell), []);
    assert_eq!(world.written(B, Register::PostTail), []);
    world.port(A).driver.doorbell();
    world.port(B).driver.doorbell();
    assert_eq!(world.written(A, Register::StageBell).len(), 1);
    assert_eq!(world.written(B, Register::PostTail), [10]);
    // Nothing new: nothing written.
    world.port(A).driver.doorbell();
    world.port(B).driver.doorbell();
    assert_eq!(world.written(A, Register::StageBell), []);
    assert_eq!(world.written(B, Register::PostTail), []);
    world.settle();
    for n in 0..10 {
        world.both((A, tag(n)), (B, tag(n)), Returned::Ok);
    }
}

#[test]
fn a_pull_is_not_begun_before_its_doorbell() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let (out, into) = (world.filled(0, 64), world.filled(1, 64));
    world.stage(A, tag(0), &out, 1);
    let motion = Motion::Pull { from: nid(0), source: tag(0), key: Key::NONE };
    world.post(B, tag(0), motion, &into, 64).unwrap();
    world.settle();
    assert_eq!(world.ends(B, tag(0)), []);
    world.port(B).driver.doorbell();
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
}

/// R17: no double post, no early reuse.

#[test]
fn a_descriptor_that_is_out_is_busy() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let (out, into) = (world.filled(0, 64), world.filled(1, 64));
    let other = world.filled(0, 64);
    let stage = Motion::Stage { to: nid(1) };
    world.post(A, tag(0), stage, &out, 64).unwrap();
    let again = Tag { index: 0, generation: 2 };
    assert_eq!(world.post(A, again, stage, &other, 64), Err(PostError::Busy));
    // Being pulled.
    world.script(B).chunk = Some(16);
    world.pull(B, tag(1), &into, 0, tag(0), 64);
    world.step_all();
    assert_eq!(world.post(A, again, stage, &other, 64), Err(PostError::Busy));
    world.settle();
    assert_eq!(world.once(A, tag(0)), Returned::Ok);
    assert_eq!(world.post(A, again, stage, &other, 64), Ok(()));
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_posted() {
    let plant = Plant::new(Shape { descriptors: 4, lists: 2, ..Shape::default() });
    let mut world = plant.world();
    let (stage, many) = (Motion::Stage { to: nid(1) }, [Fragment::new(WINDOW, 8); 257]);
    let huge = [Fragment::new(WINDOW, MAX_FRAGMENT + 1)];
    // S3-11: the registers know no push.
    let push = Motion::Push { to: nid(1), sink: tag(1), key: Key::NONE };
    let bad = |index, motion, length, fragments, list| Bd {
        tag: tag(index),
        motion,
        length,
        fragments,
        list,
    };
    for (what, bd) in [
        ("an index beyond the table", bad(4, stage, 8, &many[..1], None)),
        ("more bytes than the fragments hold", bad(0, stage, 9, &many[..1], None)),
        ("bytes without a fragment", bad(0, stage, 1, &many[..0], None)),
        ("too many fragments", bad(0, stage, 8, &many[..], Some(0))),
        ("too long a fragment", bad(0, stage, 8, &huge[..], None)),
        ("fragments without a list", bad(0, stage, 8, &many[..2], None)),
        ("a list beyond the table", bad(0, stage, 8, &many[..2], Some(2))),
        ("a node that is not known", bad(0, Motion::Stage { to: nid(1000) }, 8, &many[..1], None)),
        ("a node beyond 255", bad(0, Motion::Stage { to: nid(256) }, 8, &many[..1], None)),
        ("memory to push into", bad(0, Motion::Expose { to: nid(1) }, 8, &many[..1], None)),
        ("a push", bad(0, push, 8, &many[..1], None)),
    ] {
        assert_eq!(world.port(A).driver.post(&bd), Err(PostError::Invalid), "{what}");
    }
    let [out, into] = world.transfer(A, B, tag(0), tag(0), 8);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
    assert_eq!(world.bytes(&out), world.bytes(&into));
}

/// A head of the post ring that shows a full ring: nothing is overwritten. One that no working
/// device shows is the device's end (INV-3).
#[test]
fn a_full_post_ring_refuses() {
    let into_ring = |head: u32| {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        world.step_all();
        assert!(world.port(B).driver.link_up());
        let into = world.filled(1, 8);
        let motion = Motion::Pull { from: nid(0), source: tag(0), key: Key::NONE };
        let register = &world.memory(B).registers().post_head;
        register.store(head, std::sync::atomic::Ordering::Relaxed);
        let posted = world.post(B, tag(0), motion, &into, 8);
        (posted, world.port(B).driver.is_gone())
    };
    assert_eq!(into_ring(0u32.wrapping_sub(15)), (Ok(()), false), "room for one");
    assert_eq!(into_ring(0u32.wrapping_sub(16)), (Err(PostError::Full), false));
    for nonsense in [1, 1000, u32::MAX - 16] {
        assert_eq!(into_ring(nonsense), (Err(PostError::Gone), true), "{nonsense}");
    }
}

/// LU-9943: entries of descriptors that came back before they were taken do not fill the ring: the
/// next use of such a descriptor has the same entry, and the engine finds it there.
#[test]
fn a_descriptor_has_one_entry() {
    let plant = Plant::new(Shape { start: u32::MAX - 3, ..Shape::default() });
    let mut world = plant.world();
    let tail = |world: &mut crate::harness::World<'_>| {
        world.port(B).driver.doorbell();
        world.read(B, Register::PostTail).wrapping_sub(plant.shape.start)
    };
    let into = world.filled(1, 8);
    let motion = Motion::Pull { from: nid(0), source: tag(0), key: Key::NONE };
    for generation in 1..100 {
        let again = Tag { index: 15, generation };
        assert_eq!(world.post(B, again, motion, &into, 8), Ok(()));
        assert_eq!(tail(&mut world), 1);
        world.port(B).memory.descriptor(15).unwrap().free();
        world.plant.bus.revoke(1, &into.fragments);
    }
    // Another one has its own; the last use of this one is begun by the entry of the first.
    let [out, other] = [world.filled(0, 8), world.filled(1, 8)];
    world.stage(A, tag(3), &out, 1);
    let (last, pull) = (
        Tag { index: 15, generation: 100 },
        Motion::Pull { from: nid(0), source: tag(3), key: Key::NONE },
    );
    world.post(B, tag(1), motion, &other, 8).unwrap();
    world.post(B, last, pull, &into, 8).unwrap();
    assert_eq!(tail(&mut world), 2);
    world.settle();
    assert_eq!(world.once(B, last), Returned::Ok);
    assert_eq!(world.once(B, tag(1)), Returned::Untouched);
    // That entry is taken: the next use needs a new one.
    world.stage(A, Tag { index: 3, generation: 2 }, &out, 1);
    let source = Tag { index: 3, generation: 2 };
    world.pull(B, Tag { index: 15, generation: 101 }, &into, 0, source, 8);
    assert_eq!(tail(&mut world), 3);
    world.settle();
    assert_eq!(world.once(B, Tag { index: 15, generation: 101 }), Returned::Ok);
}

/// R20: registers by name, apart from policy.

#[test]
fn unknown_bits_survive() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let unknown = 0x80;
    let memory = world.memory(A);
    memory.write(Register::Control, unknown | ControlBits::ENABLE.bits());
    world.port(A).driver.stop();
    assert_ne!(memory.read(Register::Control) & unknown, 0);
    let proof = world.proof(A);
    world.port(A).driver.reset(proof);
    assert_ne!(memory.read(Register::Control) & unknown, 0);
    let features = memory.registers();
    features.features.store(0xffff_0000, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(world.port(A).driver.features(), Features(0xffff_0000));
}
