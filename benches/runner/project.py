# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The project's own programs: built, run, and what they printed."""

import json
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import time

from machine import ROOT, TARGET, Broken, begin, end, quietly, run


# Bytes, how many are under way, and the rows by operation.
FABRIC = (
    *((size, 1, {"put": f"fabric-lat-{size}"}) for size in (8, 64, 128)),
    *((kib << 10, 8, {kind: f"fabric-{kind}-{kib}-w8" for kind in ("put", "get")})
      for kib in (4, 64, 1024)),
)


class Project:
    """The benchmark that measures project and floors, and the command-line tool."""

    def __init__(self, profile):
        self.profile = profile
        out = quietly(["cargo", "bench", "-p", "lnd-bench", "--bench", "compare", "--no-run",
                       "--profile", profile, "--message-format=json"])
        built = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        found = [one["executable"] for one in built
                 if one.get("target", {}).get("name") == "compare" and one.get("executable")]
        if not found:
            raise Broken("cargo bench built no program `compare`")
        self.compare = found[-1]
        quietly(["cargo", "build", "-p", "lnd-app", "--profile", profile])
        self.lnd = TARGET / ("release" if profile == "bench" else profile) / "lnd"

    def group(self, name, rounds, processes=False, smoke=False):
        """The figures of a group: dictionaries with row, who, value, before, after."""
        command = [self.compare, "--phase", name, "--rounds", rounds]
        command += ["--processes"] * processes + ["--smoke"] * smoke
        out = run(command, 300)
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def placement(self):
        """Nanoseconds one way of a bare cache line now."""
        return self.group("probe", 1)[0]["value"]

    def files(self, mib, rounds):
        """Seconds of `cp`, `lnd put` and `lnd get` of one file, round by round."""
        out = run([self.lnd, "bench", "--size", mib, "--runs", rounds], 600)
        line = re.compile(r"\d+ of \d+: cp ([\d.]+) ([\d.]+) ([\d.]+), put ([\d.]+) \([\d.]+\), "
                          r"get ([\d.]+) ")
        found = [[float(word) for word in match.groups()] for match in line.finditer(out)]
        if len(found) != rounds:
            raise Broken("lnd bench: its output has changed")
        for before, middle, after, put, get in found:
            yield "files-put", put, (before + middle) / 2
            yield "files-get", get, (middle + after) / 2

    def fabric(self, milliseconds):
        """Nanoseconds of PUTs and GETs between two processes over a fabric's file: the shipped tool
        on a processor each. A generator, which measures the rows of one size at a time."""
        memory = pathlib.Path("/dev/shm")
        place = pathlib.Path(tempfile.mkdtemp(
            prefix="lnd-fabric-", dir=memory if memory.is_dir() else None))
        file = ["--fabric", place / "fabric"]
        node = begin(["taskset", "-c", 1, self.lnd, "node", "--me", "1@soft", "--dir",
                      place / "store", *file], stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)
        try:
            self._await_node(node, file)
            for size, depth, names in FABRIC:
                out = run(["taskset", "-c", 0, self.lnd, "perf", "1@soft", "--json", "--from",
                           size, "--to", size, "--depth", depth, "--time", milliseconds, *file],
                          120)
                # One at a time: the median of a way there and a way back. Others: of a stream.
                each = {one["operation"]: one["latency_us"]["p50"] * 1e3 / 2 if depth == 1
                        else 1e9 / max(1e-9, one["messages_per_s"])
                        for one in json.loads(out)["results"] if one["depth"] == depth}
                if not all(each.get(name) for name in names):
                    raise Broken(f"lnd perf: no figure of {size} bytes")
                yield [(row, each[name]) for name, row in names.items()]
        finally:
            end(node)
            shutil.rmtree(place, ignore_errors=True)

    def _await_node(self, node, file):
        """Waits until the node answers. A busy machine takes long to start it."""
        for _ in range(100):
            try:
                run([self.lnd, "ping", "1@soft", "--timeout", 5, *file], 30)
                return
            except Broken as why:
                if node.poll() is not None:
                    raise Broken(f"lnd node: exit {node.returncode}") from why
                time.sleep(0.1)
        raise Broken("lnd node: it does not answer")

    def simulator(self, seeds):
        """Steps of the simulator a second of processor time, over some seeds in one process."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = re.search(r"(\d+) steps", run([self.lnd, "sim", "--seeds", seeds], 300))
        if not found:
            raise Broken("lnd sim: its output has changed")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return int(found.group(1)) / used


def commit():
    """The commit that is measured, and whether there are changes beside it."""
    head = quietly(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"]).strip()
    changed = quietly(["git", "-C", ROOT, "status", "--porcelain", "-uno"]).strip()
    return head + (" with changes" if changed else "")
