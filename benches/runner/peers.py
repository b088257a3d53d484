# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The peers: how each is installed, what it measures, and what it leaves out."""

import pathlib
import re
import shutil
import subprocess
import sys

from machine import (PEERS, ROOT, Broken, await_server, begin, end, free_port, quietly, run)

UCX = "libucx-cu12==1.22.0"
SIZES = (4 << 10, 64 << 10, 1 << 20, 4 << 20)


# A peer's program that fails is run again so often. What it said goes to the results.
TRIES = 3
FAILED_ONCE = []


def insist(what, act):
    """Does what a peer's program may fail in once: two of 6,000 runs of UCX did not start."""
    for left in reversed(range(TRIES)):
        try:
            return act()
        except Broken as why:
            if not left:
                raise
            FAILED_ONCE.append(f"{what}: {why}")
            print(f"AGAIN: {what}: {why}", file=sys.stderr, flush=True)
    raise AssertionError("the last try returns or raises")


def served(server, client, env=None, seconds=120):
    """What a client says of a server, both programs of a peer, which are given a free port."""
    port = free_port()
    null = subprocess.DEVNULL
    process = begin(server(port), env, stdout=null, stderr=null)
    try:
        await_server(process, port)
        return run(client(port), seconds, env)
    finally:
        end(process)


def apt(program, *packages):
    """Installs Debian packages if the program is missing."""
    if shutil.which(program):
        return
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    lock = ["-o", "DPkg::Lock::Timeout=300"]
    quietly(["apt-get", *lock, "update", "-qq"], env=env)
    quietly(["apt-get", *lock, "install", "-y", "-qq", "--no-install-recommends", *packages],
            env=env)


class Ucx:
    """UCX, over its transport for processes that share memory."""

    name = "UCX 1.22"
    leaves_out = {
        "uct am": "a transport below any protocol: no matching, no requests that wait, no ends "
                  "reported",
        "ucp tag": "no deadlines, no ledger of ends, no generations; ends are not counted once and "
                   "only once; ucx_perftest touches no data, and its buffers do not vary",
        "posted": "no deadlines, no generations",
        "close": "a request's end is its callback; memory is not asked back from an engine",
    }

    def __init__(self):
        self.home = PEERS / "ucx-1.22.0" / "libucx"
        self.posted = PEERS / "ucx-posted"

    def install(self):
        tool = self.home / "bin" / "ucx_perftest"
        if not tool.exists():
            wheels = PEERS / "wheels"
            quietly(["python3", "-m", "pip", "download", "-q", "--no-deps", "-d", wheels, UCX])
            wheel = next(wheels.glob("libucx_cu12-1.22.0-*.whl"))
            quietly(["python3", "-m", "zipfile", "-e", wheel, self.home.parent])
            tool.chmod(0o755)
        apt("gcc", "gcc", "libc6-dev")
        source = ROOT / "benches" / "peers" / "ucx.c"
        if not self.posted.exists() or self.posted.stat().st_mtime < source.stat().st_mtime:
            lib = self.home / "lib"
            quietly(["gcc", "-O2", "-w", "-I", self.home / "include", source, "-o", self.posted,
                     "-L", lib, "-lucp", "-lucs", f"-Wl,-rpath,{lib}"])

    def env(self, ucp):
        env = {"LD_LIBRARY_PATH": str(self.home / "lib"), "UCX_LOG_LEVEL": "error"}
        # The default takes another transport for large ones, which is slower here.
        return {**env, "UCX_TLS": "posix"} if ucp else env

    def perftest(self, test, size, times):
        """Nanoseconds of one message, one way or each of a stream."""
        ucp = test.startswith("tag")
        below = [] if ucp else ["-d", "memory", "-x", "posix", "-D", "short"]

        def tool(core, port):
            return [self.home / "bin" / "ucx_perftest", "-p", port, "-f", "-c", core, *below]

        def act():
            out = served(
                lambda port: tool(1, port),
                lambda port: [*tool(0, port), "-t", test, "-s", size, "-n", times,
                              "-w", max(10, times // 20), "127.0.0.1"],
                self.env(ucp))
            for line in reversed(out.splitlines()):
                words = line.split()
                if len(words) == 8 and all(re.fullmatch(r"[0-9.]+", word) for word in words):
                    # Of a latency the overall time; of a stream the messages a second.
                    lat = test.endswith("lat")
                    each = float(words[3]) * 1e3 if lat else 1e9 / float(words[7])
                    if each > 0:
                        return each
            raise Broken(f"ucx_perftest -t {test} -s {size}: no figures in its output")

        return insist(f"ucx_perftest -t {test} -s {size}", act)

    def short(self, scale):
        """Rows that belong beside the group of short messages."""
        yield "channel-lat-8", "uct am", self.perftest("am_lat", 8, scale(100_000))
        yield "channel-lat-56", "uct am", self.perftest("am_lat", 56, scale(100_000))
        yield "channel-rate-1", "uct am", self.perftest("am_bw", 56, scale(500_000))
        for size in (8, 64, 128):
            yield f"put-lat-{size}", "ucp tag", self.perftest("tag_lat", size, scale(50_000))
        yield "put-rate-8", "ucp tag", self.perftest("tag_bw", 8, scale(500_000))
        yield "put-inline-4096", "ucp tag", self.perftest("tag_lat", 4096, scale(30_000))

    def bulk(self, scale):
        for size, times in zip(SIZES, (40_000, 8000, 600, 150)):
            each = self.perftest("tag_bw", size, scale(times))
            for kind in ("put", "get"):
                yield f"{kind}-{size >> 10}-w8", "ucp tag", each
        yield "put-4-w1", "ucp tag", self.perftest("tag_lat", 4096, scale(30_000))

    def tables(self, _scale):
        for order, count, name in (("order", 1, "1"), ("order", 1_000_000, "1m"),
                                   ("random", 1, "1"), ("random", 1_000_000, "1m")):
            command = [self.posted, "posted", order, count]
            out = insist("ucx-posted", lambda it=command: run(it, 120, self.env(True)))
            yield f"outstanding-{order}-{name}", "posted", float(out)

    def driver(self, _scale):
        env = {**self.env(True), "UCX_POSIX_ERROR_HANDLING": "y"}
        command = [self.posted, "close", 100_000]
        yield "drain", "close", float(insist("ucx-posted", lambda: run(command, 120, env)))


class Libfabric:
    """libfabric of the distribution, over its provider for processes that share memory."""

    name = "libfabric shm"
    leaves_out = {
        "libfabric": "as UCX; and no peer that dies",
    }

    def install(self):
        apt("fi_pingpong", "libfabric-bin")

    def one_way(self, size, times):
        """Nanoseconds one way."""
        common = ["fi_pingpong", "-p", "shm", "-e", "rdm", "-I", times, "-S", size]

        def act():
            out = served(lambda port: ["taskset", "-c", 1, *common, "-B", port],
                         lambda port: ["taskset", "-c", 0, *common, "-P", port, "127.0.0.1"])
            for line in out.splitlines():
                words = line.split()
                if len(words) == 8 and words[0] != "bytes":
                    return float(words[6]) * 1e3
            raise Broken("fi_pingpong: no figures in its output")

        return insist(f"fi_pingpong -S {size}", act)

    def short(self, scale):
        for size in (8, 64, 128):
            yield f"put-lat-{size}", "libfabric", self.one_way(size, scale(20_000))


class Dpdk:
    """DPDK's rings, between threads."""

    name = "DPDK 22.11"
    leaves_out = {
        "rte_ring": "its items are pointers of 8 bytes in memory of one process: no bytes are "
                    "copied, no frames, no wake-up; eight items share a cache line",
    }
    program = PEERS / "dpdk"

    def install(self):
        apt("gcc", "gcc", "libc6-dev")
        if not pathlib.Path("/usr/include/dpdk/rte_ring.h").exists():
            apt("a program that is not there", "libdpdk-dev", "pkg-config")
        apt("pkg-config", "pkg-config")
        source = ROOT / "benches" / "peers" / "dpdk.c"
        if not self.program.exists() or self.program.stat().st_mtime < source.stat().st_mtime:
            flags = quietly(["pkg-config", "--cflags", "libdpdk"]).split()
            quietly(["gcc", "-O2", "-w", *flags, source, "-o", self.program, "-lrte_eal",
                     "-lrte_ring"])

    def short(self, scale):
        for row, what, times in (("channel-lat-8", "lat", 100_000),
                                 ("channel-rate-1", "rate", 1_000_000),
                                 ("channel-rate-2", "rate2", 1_000_000)):
            command = [self.program, what, scale(times)]
            out = insist(f"dpdk {what}", lambda it=command: run(it, 120))
            yield row, "rte_ring", float(out)


class Iceoryx2:
    """iceoryx2, publish and subscribe, between threads."""

    name = "iceoryx2 0.10"
    leaves_out = {
        "iceoryx2": "no credits, no ends reported, no answer; a slow receiver loses messages; the "
                    "payload is written in place",
    }
    program = PEERS / "iceoryx2" / "release" / "peer-iceoryx2"

    def install(self):
        here = ROOT / "benches" / "peers" / "iceoryx2"
        if not self.program.exists():
            # Its bindings are made by libclang.
            if not any(pathlib.Path("/usr/lib").glob("llvm-*/lib/libclang*.so*")):
                apt("a program that is not there", "libclang-14-dev")
            quietly(["cargo", "build", "--release", "--locked", "-q"], cwd=here,
                    env={"CARGO_TARGET_DIR": str(PEERS / "iceoryx2")})

    def short(self, _scale):
        sizes = (8, 64, 128)
        out = insist("peer-iceoryx2", lambda: run([self.program, *sizes], 60))
        for size, each in zip(sizes, out.split(), strict=True):
            yield f"put-lat-{size}", "iceoryx2", float(each)


ALL = (Ucx, Libfabric, Iceoryx2, Dpdk)


def installed(tiny):
    """The peers that could be installed, and for each other one why not."""
    there, missing = [], {}
    PEERS.mkdir(parents=True, exist_ok=True)
    for peer in (of() for of in ALL):
        try:
            if tiny and isinstance(peer, (Iceoryx2, Dpdk)) and not peer.program.exists():
                raise Broken("it is not built in a tiny run")
            peer.install()
            there.append(peer)
        except (Broken, OSError, StopIteration) as why:
            missing[peer.name] = str(why)
    return there, missing
