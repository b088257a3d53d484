# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Whether an image has done its work: by its exit status, its output, its trace, its symbols."""

import re
import subprocess

import images

CHAPTERS = {
    "riscv": ["traffic", "burst", "link failure", "stopped halfway", "peer death", "shutdown"],
    "aarch64": ["traffic", "burst", "link failure", "stopped halfway", "peer death", "shutdown"],
    "cortex-m": [
        "creation", "traffic", "burst", "in time", "link failure", "peer death", "shutdown",
    ],
}
# 16 sizes as PUT and GET both ways, a burst, and what follows the failures.
ARRIVALS = 2 * 2 * 16 + 4 * 6 + 4
# An image's own stack may be full to so much of it.
STACK = 0.9


def fields(line):
    """'name 1 other 2' as a dictionary."""
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", line)}


def lines(output, word):
    return [fields(line[len(word):]) for line in output.splitlines() if line.startswith(word + " ")]


def of_run(image, status, output):
    """What is wrong with a run, one line each."""
    if status != 0:
        yield f"exit status {status}"
    wrong = [line for line in output.splitlines() if line.startswith("wrong:")]
    yield from wrong
    if "end: good" not in output.splitlines():
        yield "no good end"
    told = re.findall(r"^done: (.+)$", output, re.M)
    if told != CHAPTERS[image]:
        yield f"told {told}, not {CHAPTERS[image]}"
    ledgers = lines(output, "ledger")
    if [ledger.get("node") for ledger in ledgers] != [0, 1]:
        yield "not two ledgers"
        return
    for ledger in ledgers:
        yield from of_ledger(ledger)
    if sum(ledger["arrived"] for ledger in ledgers) < ARRIVALS:
        yield f"fewer than {ARRIVALS} payloads arrived"
    if ledgers[0]["open"]:
        yield "the node that lives on has transfers left"
    stacks = lines(output, "stack")
    if not stacks:
        yield "no stack was measured"
    for stack in stacks:
        if not 0 < stack["used"] < STACK * stack["of"]:
            yield f"a stack: {stack['used']} of {stack['of']} bytes"


def of_ledger(ledger):
    node = ledger["node"]
    if ledger["accepted"] != ledger["ok"] + ledger["failed"] + ledger["open"]:
        yield f"node {node}: {ledger['accepted']} accepted, but not as many reported"
    for bad in ("corrupt", "violations"):
        if ledger[bad]:
            yield f"node {node}: {bad} {ledger[bad]}"
    for good in ("accepted", "ok", "failed", "interrupts"):
        if not ledger[good]:
            yield f"node {node}: {good} is 0: it has not been tried"


def decoder():
    """The tool that reads an image's trace."""
    into = images.target_dir()
    images.must("cargo", "build", "--quiet", "--manifest-path",
                images.HERE / "decode/Cargo.toml", "--target-dir", into)
    return into / "debug/lnd-decode"


def of_trace(output):
    """What is wrong with the trace: read by the host, it must tell the same as the ledgers."""
    done = subprocess.run([decoder()], input=output, text=True, capture_output=True)
    if done.returncode:
        yield done.stderr.strip()
        return
    count = {}
    for line in done.stdout.splitlines():
        log, _, name = line.split(" ", 3)[:3]
        count[int(log), name] = count.get((int(log), name), 0) + 1
    if re.findall(r"^trace end lost (\d+)$", output, re.M) != ["0"] * 3:
        yield "not three logs of which nothing was lost"
    for ledger, counters in zip(lines(output, "ledger"), lines(output, "counters")):
        node = ledger["node"]
        # Of ours and of the peer's, some of which had no decision before the node died.
        accepted = counters["accepted"] + counters["requests"]
        for name, expected in (("Accepted", accepted),
                               ("Finalized", ledger["ok"] + ledger["failed"])):
            if count.get((node, name)) != expected:
                yield (f"node {node}: {expected} {name} in the ledger, "
                       f"{count.get((node, name))} traced")
        for name in ("Step", "Posted", "Sent", "Received", "Peer", "Link", "Invalidated"):
            if not count.get((node, name)):
                yield f"node {node}: no {name} was traced"
    # Interrupts decide, threads report.
    if count.get((2, "Finalized")) or not count.get((2, "Step")):
        yield "something was finalized in an interrupt, or nothing was decided there"


def of_symbols(image, elf):
    """What is in an image and may not be: panics, an allocator, floats, wide atomics, recursion."""
    bare = images.bare
    defined, undefined = bare.symbols(elf, "--demangle")
    for what, pattern in bare.FORBIDDEN:
        found = sorted(filter(pattern.search, defined | undefined))
        if found:
            yield f"the image {what}: {', '.join(found)}"
    family = images.TARGETS[image].split("-")[0]
    floats = [line for line in bare.disassembly(elf) if bare.INSTRUCTIONS[family].search(line)]
    if floats:
        yield f"the image uses floating point: {floats[0].strip()}"
    for circle in bare.recursions(elf):
        yield f"the image recurses: {' -> '.join(circle)}"
