#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sums up the lines of llvm-cov's lcov reports by crate, and fails below a bound. What is compiled
for tests does not count. A line is covered if one of the reports, each of one test program, says
so.

    tests/parts/coverage.py PERCENT REPORT.lcov…
    tests/parts/coverage.py --self-test
"""

import collections
import sys

sys.dont_write_bytecode = True  # Nothing is left beside the sources.
from branches import Sources, shipped

CRATES = ["lnd-core", "lnd-dma", "lnd-shortmsg", "lnd-health", "ffi"]


def by_file(report, sources):
    """Whether each line of every shipped source file is covered: {path: {line: covered}}."""
    files = collections.defaultdict(dict)
    path = None
    for entry in report.splitlines():
        if entry.startswith("SF:"):
            path = shipped(entry[3:], CRATES)
        elif entry.startswith("DA:") and path:
            line, count = map(int, entry[3:].split(",")[:2])
            if line <= sources(path).shipped_lines:
                files[path][line] = count > 0 or files[path].get(line, False)
    return files


def judge(report, bound, sources):
    """The report's lines, and whether every crate reaches the bound."""
    sums = collections.defaultdict(lambda: [0, 0])
    out = []
    for path, lines in sorted(by_file(report, sources).items()):
        crate, covered, count = path.split("/", 1)[0], sum(lines.values()), len(lines)
        sums[crate][0] += covered
        sums[crate][1] += count
        if covered < count:
            out.append(f"{path}: {covered} of {count}")
    shares = {crate: 100 * sums[crate][0] / max(sums[crate][1], 1) for crate in CRATES}
    out.append(", ".join(f"{crate} {share:.1f} %" for crate, share in shares.items()) + " of lines")
    return out, all(share >= bound for share in shares.values())


def self_test():
    """A bound is kept or not, a crate without lines does not pass, and tests do not count."""
    sources = Sources(lambda _: "\n" * 100 + "#[cfg(test)]\nmod tests {\n" + "\n" * 100)

    def report(covered, crates=CRATES):
        lines = [f"DA:{line},{int(line <= covered or line > 100)}" for line in range(1, 200)]
        return "\n".join(f"SF:x/{crate}/src/lib.rs\n" + "\n".join(lines) for crate in crates)

    assert judge(report(95), 95, sources)[1] and not judge(report(94), 95, sources)[1]
    for missing in CRATES:
        others = [crate for crate in CRATES if crate != missing]
        assert not judge(report(100, others), 95, sources)[1]
        assert not judge(report(100, others) + "\n" + report(94, [missing]), 95, sources)[1]
    assert judge(report(95) + "\n" + report(0), 95, sources)[1]
    # The fabric in software and files of tests are no part of what is measured.
    others = report(0, ["ffi/soft"]) + "\n" + report(0).replace("lib.rs", "ni_tests.rs")
    assert judge(report(95) + "\n" + others, 95, sources)[1]
    print("coverage.py: self-test passed")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    reports = []
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            reports.append(file.read())
    out, good = judge("\n".join(reports), float(sys.argv[1]), Sources())
    print("\n".join(out))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
