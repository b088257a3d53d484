// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file names what a transfer waits for, the points of its way, and the classes of its size.

use crate::machines::transfer::{Debts, Phase, Word};

macro_rules! named {
    ($(#[$about:meta])* $type:ident, $count:ident { $($(#[doc = $doc:literal])+ $name:ident
        => $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $type { $($(#[doc = $doc])+ $name,)+ }

        impl $type {
            /// All of them, in order.
            pub const ALL: [Self; $count] = [$(Self::$name,)+];

            /// Its name: lower case, underscores.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }

        /// How many there are.
        pub const $count: usize = [$($text,)+].len();
    };
}

named! {
    /// What a transfer waits for. At any time it is one of these: the times of all of them add up
    /// to the time from acceptance to report.
    Wait, WAITS {
        /// In a queue: for a handshake, a credit, a link, or its turn to pull.
        Queue => "queue",
        /// For this thread, which builds and posts it.
        Post => "post",
        /// For the channel, which has its message.
        Send => "send",
        /// For the peer's answer.
        Answer => "answer",
        /// For the engine, which has its descriptor: its own pull, or the pull of the peer.
        Engine => "engine",
        /// It was given up, or the peer has confirmed its data: for the engine, the channel or the
        /// peer to let it go.
        Drain => "drain",
        /// Everything has ended: for the thread that reports it.
        Report => "report",
    }
}

impl Wait {
    /// What a transfer in this state waits for. Where it waits for several things, the one that
    /// comes first on its way.
    #[inline]
    pub const fn of(word: Word) -> Self {
        // Debts, loss, invalidation; the rest of what decides is the phase.
        let low = (word.bits() & 0x3f) as usize;
        match word.phase() {
            Phase::Live if low < LIVE.len() => LIVE[low],
            Phase::Queued => Self::Queue,
            Phase::Live | Phase::Free | Phase::Done => Self::Report,
        }
    }

    const fn of_live(word: Word) -> Self {
        if word.debts().0 == 0 {
            Self::Report
        } else if word.invalidating() {
            Self::Drain
        } else if word.owes(Debts::CPU) {
            Self::Post
        } else if word.owes(Debts::MSG) {
            Self::Send
        } else if word.owes(Debts::PEER) {
            Self::Answer
        } else {
            Self::Engine
        }
    }
}

/// The wait of a live word, by its low six bits.
const LIVE: [Wait; 64] = {
    let mut table = [Wait::Report; 64];
    let mut bits = 0;
    while bits < table.len() {
        table[bits] = Wait::of_live(Word::from_bits(bits as u32));
        bits += 1;
    }
    table
};

named! {
    /// A point on the way of a transfer. Each means the same on every transport. A transfer passes
    /// those that apply to its role.
    Point, POINTS {
        /// The driver accepted it: a message of the upper layer, or the receipt of a request.
        Queued => "queued",
        /// The engine accepted its (first) descriptor.
        Posted => "posted",
        /// Its message was handed to the channel, irrevocably.
        Sent => "sent",
        /// The channel has done its part: the message has left this node. Not known where the
        /// channel ends messages within the call.
        Left => "left",
        /// The peer's first answer arrived. A PUT whose data the peer just pulls has none.
        Answered => "answered",
        /// The last debt was settled: no device reads or writes its memory any more.
        Completed => "completed",
        /// It was reported to the upper layer.
        Reported => "reported",
    }
}

named! {
    /// A class of payload sizes.
    SizeClass, SIZES {
        /// No payload.
        Empty => "0",
        /// 1 to 64 bytes.
        To64 => "64",
        /// 65 to 512 bytes.
        To512 => "512",
        /// 513 to 4,096 bytes.
        To4K => "4096",
        /// 4,097 to 32,768 bytes.
        To32K => "32768",
        /// 32,769 to 262,144 bytes.
        To256K => "262144",
        /// 262,145 to 1,048,576 bytes.
        To1M => "1048576",
        /// More than 1,048,576 bytes.
        Larger => "larger",
    }
}

impl SizeClass {
    /// The class of a payload of `bytes` bytes.
    #[inline]
    pub const fn of(bytes: u32) -> Self {
        // One bit length decides: no class has a bound between two powers of two. Twice the bytes
        // less one is odd, has one bit more behind each power of two, and all bits for no payload.
        let odd = ((bytes as u64) << 1).wrapping_sub(1) | 1;
        OF_LENGTH[(odd.ilog2() & 63) as usize]
    }

    const fn of_bytes(bytes: u64) -> Self {
        match bytes {
            0 => Self::Empty,
            1..=64 => Self::To64,
            65..=512 => Self::To512,
            513..=4_096 => Self::To4K,
            4_097..=32_768 => Self::To32K,
            32_769..=262_144 => Self::To256K,
            262_145..=1_048_576 => Self::To1M,
            _ => Self::Larger,
        }
    }
}

/// The class of a payload, by the highest bit of twice its bytes less one.
const OF_LENGTH: [SizeClass; 64] = {
    let mut table = [SizeClass::Empty; 64];
    let mut bit = 0;
    // Bit 63 is that of no payload.
    while bit < 63 {
        // The longest payload with this bit.
        table[bit] = SizeClass::of_bytes(1 << bit);
        bit += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::transfer::{step, Cause, Event};

    #[test]
    fn a_put_waits_for_one_thing_after_the_other() {
        let all = Debts(Debts::HW.0 | Debts::MSG.0 | Debts::PEER.0);
        let mut word = Word::queued(1);
        let mut waits = std::vec![Wait::of(word)];
        let events = [Event::Arm(all), Event::PayCpu, Event::MsgOk, Event::Done, Event::HwOk];
        for event in events {
            word = step(word, event).word;
            waits.push(Wait::of(word));
        }
        use Wait::{Answer, Drain, Post, Queue, Report, Send};
        // DONE asks for the descriptor back: from then on it is on its way back.
        assert_eq!(waits, [Queue, Post, Send, Answer, Drain, Report]);
        let word = step(Word::live(1, all), Event::PayCpu).word;
        let word = step(word, Event::Cancel(Cause::Deadline)).word;
        assert_eq!(Wait::of(word), Drain);
        assert_eq!(Wait::of(Word::live(1, Debts::HW)), Post);
        let word = step(Word::live(1, Debts::HW), Event::PayCpu).word;
        assert_eq!(Wait::of(word), Wait::Engine);
    }

    #[test]
    fn sizes_are_in_the_class_that_names_their_bound() {
        for (at, class) in SizeClass::ALL.into_iter().enumerate() {
            let Ok(bound) = class.name().parse::<u32>() else {
                assert_eq!(class, SizeClass::of(u32::MAX));
                continue;
            };
            assert_eq!(SizeClass::of(bound), class);
            assert_eq!(SizeClass::of(bound + 1), SizeClass::ALL[at + 1]);
            // What the table was made of, too.
            assert_eq!(SizeClass::of_bytes(u64::from(bound)), class);
            assert_eq!(SizeClass::of_bytes(u64::from(bound) + 1), SizeClass::ALL[at + 1]);
        }
    }
}
