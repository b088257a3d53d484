// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two nodes over a channel that loses nothing. Nodes pause, restart and shut down; upper layers
//! keep requests; links go down and up; registers read all ones; engines repeat completions. What a
//! sender is told was delivered is seen by the upper layer of the incarnation that it was sent to.

mod absence;
mod between;
mod book;
mod boot;
mod world;

use arbitrary::{Arbitrary, Unstructured};

use boot::Engines;
use world::World;

/// What an upper layer does with a request.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Decision {
    Take,
    Nak,
    Keep,
}

#[derive(Arbitrary, Debug)]
enum Op {
    Submit {
        node: bool,
        kind: u8,
        length: u16,
        millis: u8,
    },
    /// The oldest frame of a lane is offered.
    Deliver {
        from: bool,
        link: bool,
        control: bool,
        decision: Decision,
    },
    /// A request that was kept is decided.
    Decide {
        node: bool,
        pick: u8,
        decision: Decision,
    },
    /// An engine returns a descriptor.
    Engine {
        node: bool,
        pick: u8,
        how: u8,
    },
    Interrupt(bool),
    /// The end of a short message is reported.
    Sent {
        node: bool,
        pick: u8,
        how: u8,
    },
    /// Milliseconds pass; each node that runs looks at the clock.
    Pass(u8),
    /// Everything goes on as it should for some rounds, for the nodes that run.
    Work {
        rounds: u8,
        decision: Decision,
    },
    /// A node does not run for some milliseconds, while the other one does.
    Absence {
        node: bool,
        millis: u8,
    },
    Pause {
        node: bool,
        paused: bool,
    },
    Trouble {
        node: bool,
        what: Trouble,
    },
}

/// What is rare.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Trouble {
    /// A completion ring names a transfer that the engine does not have.
    Scribble {
        pick: u8,
        older: u8,
        how: u8,
    },
    /// The cable of a link.
    Link {
        link: bool,
        up: bool,
    },
    /// The registers of a link read all ones.
    Gone {
        link: bool,
        gone: bool,
    },
    /// The node's platform says that the other node is down, perhaps wrongly, or up.
    Peer {
        up: bool,
    },
    /// Its channel has no room.
    Full(bool),
    Shutdown {
        millis: u8,
    },
    Restart,
}

/// S0-18, R41, INV-1, INV-2, INV-6, INV-9, INV-12, LU-16214, LU-16303, LU-17505: a run of any
/// operations, after which everything is allowed to settle.
pub fn pair(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let bits = u8::arbitrary(&mut input).unwrap_or(0);
    let engines = Engines { signals: bits & 1 != 0, pushes: bits & 2 != 0 };
    let mut memory = boot::memory();
    let mut world = World::new(&mut memory, engines);
    while let Ok(op) = Op::arbitrary(&mut input) {
        world.apply(&op);
        world.check();
        if input.is_empty() {
            break;
        }
    }
    world.settle();
}
