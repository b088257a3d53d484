#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Checks licences and sources of all dependencies, from cargo's own metadata.

    tests/parts/licences.py [--self-test]

The list of licences is that of deny.toml. Dependencies of the shipped crates are linked into
kernels, so they must offer one that goes with GPL-2.0-only.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHIPPED = {"lnd-core", "lnd-dma", "lnd-shortmsg", "lnd-health", "lnd-ffi"}
WITH_GPL2 = {
    "0BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "Unlicense", "Zlib",
}
OURS = "MIT OR GPL-2.0-only"
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def allowed(expression, allow):
    """Whether an SPDX expression can be satisfied with the licences in `allow`."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def either():
        value = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            value = both() or value
        return value

    def both():
        value = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            value = one() and value
        return value

    def one():
        name = tokens.pop(0)
        if name == "(":
            value = either()
            tokens.pop(0)
            return value
        if tokens and tokens[0] == "WITH":
            name = f"{name} {tokens.pop(0)} {tokens.pop(0)}"
        return name in allow

    return either() and not tokens


def shipped_closure(metadata):
    """Ids of everything that a shipped crate links on any of its targets (loom aside)."""
    names = {p["id"]: p["name"] for p in metadata["packages"]}
    nodes = {n["id"]: n for n in metadata["resolve"]["nodes"]}
    queue = [i for i in metadata["workspace_members"] if names[i] in SHIPPED]
    seen = set(queue)
    while queue:
        for dep in nodes[queue.pop()]["deps"]:
            linked = any(
                k["kind"] is None and "loom" not in (k["target"] or "") for k in dep["dep_kinds"]
            )
            if linked and dep["pkg"] not in seen:
                seen.add(dep["pkg"])
                queue.append(dep["pkg"])
    return seen


def faults(metadata, allow):
    """What is wrong, one line each."""
    shipped = shipped_closure(metadata)
    for package in metadata["packages"]:
        name, licence = f"{package['name']} {package['version']}", package["license"] or "none"
        if package["source"] is None:
            if licence != OURS:
                yield f"{name}: our crates are under '{OURS}', not '{licence}'"
            continue
        if package["source"] != REGISTRY:
            yield f"{name}: comes from {package['source']}"
        if not allowed(licence, allow):
            yield f"{name}: licence '{licence}' is not allowed"
        elif package["id"] in shipped and not allowed(licence, WITH_GPL2):
            yield f"{name}: is linked into kernels, and '{licence}' does not go with GPL-2.0-only"


def self_test():
    """Expressions are understood and every seeded fault is found."""
    good = ("MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR X) AND Zlib")
    assert all(allowed(e, {"MIT", "Zlib"}) for e in good)
    assert not any(allowed(e, {"MIT"}) for e in ("X", "MIT AND X", "none"))

    def package(name, licence, source=REGISTRY):
        return {"id": name, "name": name, "version": "1", "license": licence, "source": source}

    def dep(name, target=None, kind=None):
        return {"pkg": name, "dep_kinds": [{"kind": kind, "target": target}]}

    metadata = {
        "packages": [
            package("lnd-core", OURS, None), package("lnd-sim", "MIT", None),
            package("a", "Apache-2.0"), package("b", "MIT OR Apache-2.0"),
            package("c", "Apache-2.0"), package("d", "SSPL-1.0"),
            package("e", "MIT", "git+https://example.org/e"), package("f", None),
        ],
        "workspace_members": ["lnd-core", "lnd-sim"],
        "resolve": {
            "nodes": [
                {"id": "lnd-core", "deps": [dep("b"), dep("c", "cfg(loom)")]},
                {"id": "b", "deps": [dep("a")]}, {"id": "a", "deps": []}, {"id": "c", "deps": []},
                {"id": "lnd-sim", "deps": [dep("d")]},
            ]
        },
    }
    found = sorted(line.split(" ")[0] for line in faults(metadata, {"MIT", "Apache-2.0"}))
    assert found == ["a", "d", "e", "f", "lnd-sim"], found
    print("tests/parts/licences.py: seeded faults are found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    allow = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    command = ["cargo", "metadata", "--all-features", "--format-version", "1"]
    metadata = json.loads(
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    )
    for package in metadata["packages"]:
        print(f"{package['name']:28}{package['version']:12}{package['license']}")
    wrong = list(faults(metadata, allow))
    others = sum(p["source"] is not None for p in metadata["packages"])
    linked = len(shipped_closure(metadata)) - len(SHIPPED)
    summary = f"{others} dependencies, {linked} of them linked into kernels"
    print("\n".join([*wrong, summary]))
    if "LND_NOTE" in os.environ:
        pathlib.Path(os.environ["LND_NOTE"]).write_text(summary + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
