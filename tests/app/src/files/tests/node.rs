// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One node of the tests: a layer, its memory, a server and a client.

use super::*;

pub(super) struct Ram(pub Vec<u8>);

impl Ram {
    fn place(address: u64, length: usize) -> std::ops::Range<usize> {
        let start = (address - BASE) as usize;
        start..start + length
    }
}

impl WindowMemory for Ram {
    fn bytes(&self, address: u64, length: u32) -> Bytes<'_> {
        Bytes::from(&self.0[Self::place(address, length as usize)])
    }

    fn read(&self, address: u64, into: &mut [u8]) {
        into.copy_from_slice(&self.0[Self::place(address, into.len())]);
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        self.0[Self::place(address, from.len())].copy_from_slice(from);
    }
}

/// How nodes are made.
#[derive(Clone)]
pub(super) struct Setup {
    pub acks: AckPolicy,
    pub routes: Routes,
    pub server: ServerConfig,
    pub client: ClientConfig,
    /// Bytes of the window for the server, and for the client.
    pub memory: (u64, u64),
}

impl Setup {
    /// As a user would have it.
    pub fn roomy() -> Self {
        let (server, client) = (ServerConfig::new(0), ClientConfig::new(0));
        let memory = (server.memory(), client.memory(4 << 20));
        Self { acks: AckPolicy::Auto, routes: Routes::default(), server, client, memory }
    }

    /// Everything is scarce: chunks of up to 16 KiB, windows of up to 40 KiB.
    pub fn small() -> Self {
        let small = Room { buffers: 2, bytes: 8 << 10 };
        let server = ServerConfig {
            max_chunk: 16 << 10,
            calls: small,
            chunks: Room { buffers: 2, bytes: 40 << 10 },
            max_answers: 4,
            max_writes: 3,
            max_reads: 3,
            max_window: 40 << 10,
            ..ServerConfig::new(0)
        };
        let client = ClientConfig {
            answers: small,
            max_outstanding: 6,
            timeout: Span::from_millis(50),
            longest_pause: Span::from_millis(20),
            ..ClientConfig::new(0)
        };
        let memory = (server.least_memory() + (64 << 10), client.memory(10 << 10));
        Self { server, client, memory, ..Self::roomy() }
    }
}

pub(super) struct Node {
    pub lnet: Lnet,
    pub ram: Ram,
    pub server: FileServer<Disk>,
    pub client: FileClient,
    /// Events that are not about files.
    pub others: Vec<Event>,
}

impl Node {
    pub fn new(config: Config, incarnation: u64, store: Disk, setup: &Setup) -> Self {
        let mut lnet =
            Lnet::new(Config { first_generation: incarnation as u32, ..config }).unwrap();
        let server = ServerConfig { incarnation, ..setup.server.clone() };
        let client = ClientConfig { seed: incarnation, ..setup.client.clone() };
        let (first, second) = setup.memory;
        let pages = Pages::new(BASE, first);
        let server = FileServer::new(server, pages, store, &mut lnet).unwrap();
        let pages = Pages::new(BASE + first, second);
        let client = FileClient::new(client, pages, &mut lnet).unwrap();
        let ram = Ram(vec![0; (first + second) as usize]);
        Self { lnet, ram, server, client, others: Vec::new() }
    }

    /// Passes events on until there are no more; returns whether there were any.
    pub fn dispatch(&mut self, now: Instant) -> bool {
        let mut any = false;
        loop {
            self.server.poll(now, &mut self.lnet, &mut self.ram);
            self.client.poll(now, &mut self.lnet, &mut self.ram);
            self.lnet.audit().unwrap();
            let mut none = true;
            while let Some(event) = self.lnet.next_event() {
                none = false;
                let event = self.server.on_event(now, &mut self.lnet, &mut self.ram, event);
                let event =
                    event.and_then(|e| self.client.on_event(now, &mut self.lnet, &mut self.ram, e));
                self.others.extend(event);
            }
            if none {
                return any;
            }
            any = true;
        }
    }

    pub fn next_deadline(&self) -> Option<Instant> {
        let deadlines = [self.server.next_deadline(), self.client.next_deadline()];
        deadlines.into_iter().flatten().min()
    }

    pub fn gather(&self, fragments: &[Fragment]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for fragment in fragments {
            let mut part = vec![0; fragment.length as usize];
            self.ram.read(fragment.address, &mut part);
            bytes.append(&mut part);
        }
        bytes
    }

    pub fn scatter(&mut self, fragments: &[Fragment], mut bytes: &[u8]) {
        for fragment in fragments {
            let (now, later) = bytes.split_at(fragment.length as usize);
            self.ram.write(fragment.address, now);
            bytes = later;
        }
        assert!(bytes.is_empty(), "the sink is as long as what is put into it");
    }
}
