// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the driver writes to its registers, and what it refuses.

use lnd_core::fragment::{Fragment, MAX_FRAGMENT};
use lnd_core::id::Tag;
use lnd_core::ports::{Bd, Engine, Features, Motion, PostError, Returned};
use lnd_dma::regs::{Control, Register, RegisterAccess};

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
        let motion = Motion::Pull { from: nid(0), source: tag(n) };
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
    let motion = Motion::Pull { from: nid(0), source: tag(0) };
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
        ("a node that nobody knows", bad(0, Motion::Stage { to: nid(1000) }, 8, &many[..1], None)),
        ("a node beyond 255", bad(0, Motion::Stage { to: nid(256) }, 8, &many[..1], None)),
    ] {
        assert_eq!(world.port(A).driver.post(&bd), Err(PostError::Invalid), "{what}");
    }
    let [out, into] = world.transfer(A, B, tag(0), tag(0), 8);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
    assert_eq!(world.bytes(&out), world.bytes(&into));
}

/// A head of the post ring that makes no sense: nothing is overwritten.
#[test]
fn a_full_post_ring_refuses() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let into = world.filled(1, 8);
    let motion = Motion::Pull { from: nid(0), source: tag(0) };
    for nonsense in [1, 1000, u32::MAX - 16] {
        world.memory(B).registers().post_head.store(nonsense, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(world.post(B, tag(0), motion, &into, 8), Err(PostError::Full), "{nonsense}");
    }
    // Stale entries fill it too: recalled before they were fetched, and posted again.
    world.memory(B).registers().post_head.store(0, std::sync::atomic::Ordering::Relaxed);
    world.link(A, false);
    let mut posted = 0;
    for generation in 1..100 {
        let tag = Tag { index: 15, generation };
        match world.post(B, tag, motion, &into, 8) {
            Ok(()) => posted += 1,
            Err(why) => {
                assert_eq!(why, PostError::Full);
                break;
            }
        }
        world.port(B).memory.descriptor(15).unwrap().free();
        world.plant.bus.revoke(1, &into.fragments);
    }
    assert_eq!(posted, 16);
}

/// R20: registers by name, apart from policy.

#[test]
fn unknown_bits_survive() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let unknown = 0x80;
    let memory = world.memory(A);
    memory.write(Register::Control, unknown | Control::ENABLE.bits());
    world.port(A).driver.stop();
    assert_ne!(memory.read(Register::Control) & unknown, 0);
    let proof = world.proof(A);
    world.port(A).driver.reset(proof);
    assert_ne!(memory.read(Register::Control) & unknown, 0);
    let features = memory.registers();
    features.features.store(0xffff_0000, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(world.port(A).driver.features(), Features(0xffff_0000));
}
