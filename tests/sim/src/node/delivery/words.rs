// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A message in words.

use std::fmt;

use super::Tracked;
use crate::node::words::status_words;
use crate::simulator::fail::Seconds;

impl fmt::Display for Tracked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a message from node {} to node {}", self.from, self.to)?;
        if let Some(tag) = self.tag {
            write!(f, ", transfer {}/{}", tag.index, tag.generation)?;
        }
        write!(
            f,
            ", submitted at {}, due at {}; ",
            Seconds(self.submitted),
            Seconds(self.deadline)
        )?;
        match (self.refused, self.sent, self.sent_to) {
            (true, ..) => f.write_str("the driver refused it")?,
            (_, false, _) => f.write_str("no frame of it has left")?,
            (_, true, Some(to)) => write!(f, "sent to incarnation {:016x}", to.raw())?,
            (_, true, None) => f.write_str("sent")?,
        }
        match self.seen {
            0 => f.write_str(", not seen there")?,
            1 => f.write_str(", seen there")?,
            times => write!(f, ", seen there {times} times")?,
        }
        match &self.end {
            Some(end) => write!(f, "; ended: {}", status_words(end)),
            None => f.write_str("; not ended"),
        }
    }
}
