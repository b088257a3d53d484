# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The project's own programs: built, run, and what they printed."""

import json
import re
import resource

from machine import ROOT, TARGET, Broken, quietly, run


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

    def simulator(self, seeds):
        """Steps of the simulator a second of processor time, over some seeds."""
        steps = 0
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for seed in range(1, seeds + 1):
            found = re.search(r"(\d+) steps", run([self.lnd, "sim", "--seed", seed], 300))
            if not found:
                raise Broken("lnd sim: its output has changed")
            steps += int(found.group(1))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return steps / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def commit():
    """The commit that is measured, and whether there are changes beside it."""
    head = quietly(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"]).strip()
    changed = quietly(["git", "-C", ROOT, "status", "--porcelain", "-uno"]).strip()
    return head + (" with changes" if changed else "")
