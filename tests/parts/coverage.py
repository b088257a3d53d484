#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sums up cargo-llvm-cov's JSON report by crate, and fails below a bound.

    tests/parts/coverage.py REPORT.json PERCENT
    tests/parts/coverage.py --self-test
"""

import collections
import json
import sys

CRATES = ["lnd-core", "lnd-dma", "lnd-shortmsg"]


def by_file(report):
    """(crate, path, covered lines, lines) of every shipped source file."""
    for data in report["data"]:
        for file in data["files"]:
            for crate in CRATES:
                mark = f"/{crate}/src/"
                if mark in file["filename"]:
                    lines = file["summary"]["lines"]
                    path = file["filename"].split(mark, 1)[1]
                    yield crate, path, lines["covered"], lines["count"]


def judge(report, bound):
    """The report's lines, and whether every crate reaches the bound."""
    sums = collections.defaultdict(lambda: [0, 0])
    out = []
    for crate, path, covered, count in sorted(by_file(report)):
        sums[crate][0] += covered
        sums[crate][1] += count
        if covered < count:
            out.append(f"{crate}/src/{path}: {covered} of {count}")
    shares = {crate: 100 * sums[crate][0] / max(sums[crate][1], 1) for crate in CRATES}
    out.append(", ".join(f"{crate} {share:.1f} %" for crate, share in shares.items()) + " of lines")
    return out, all(share >= bound for share in shares.values())


def self_test():
    """A bound is kept or not, and a crate without lines does not pass."""
    file = lambda crate, covered: {
        "filename": f"x/{crate}/src/lib.rs",
        "summary": {"lines": {"covered": covered, "count": 100}},
    }
    full = {"data": [{"files": [file(crate, 96) for crate in CRATES]}]}
    poor = {"data": [{"files": [file(crate, 94) for crate in CRATES]}]}
    assert judge(full, 95)[1] and not judge(poor, 95)[1]
    assert not judge({"data": [{"files": [file("lnd-core", 100)]}]}, 95)[1]
    print("coverage.py: self-test passed")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    with open(sys.argv[1], encoding="utf-8") as file:
        out, good = judge(json.load(file), float(sys.argv[2]))
    print("\n".join(out))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
