// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A message that was released is the producer's (LU-5678: a receive descriptor was used after it
//! had been posted; LU-14733: cleared after it had been put back).
use lnd_shortmsg::mailbox::Mail;

fn after(mail: Mail<'_, '_, '_>) -> usize {
    let _ = mail.release();
    mail.bytes().len()
}

fn main() {}
