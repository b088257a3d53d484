#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Instructions of each phase of a message, beside those that are recorded.

    tests/parts/instructions.py INSTRUCTIONS PEERDOWN OBSERVED    the three programs
    tests/parts/instructions.py --record INSTRUCTIONS PEERDOWN OBSERVED

OBSERVED is INSTRUCTIONS with an observer; a short message may take 5 % more with it.

A phase that takes more than 3 % above its record fails, and the function whose inclusive count grew
most is named. One that takes as much less is told: the record is out of date.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).with_name("instructions.txt")
MESSAGES = 500
PHASES = ("send", "send-by-id", "sent", "receive", "receive-counted", "received", "credits", "idle",
          "stage", "pull", "staged", "pulled", "idle-engine")
DOWN = ("interrupt", "polls")
# The phases of a short message, and the share that an observer may add to them.
SHORT, OBSERVED = ("send", "sent", "receive", "received"), 0.05
# Transfers of a peer that goes down: the difference of two counts leaves the beginning out.
FEW, MANY = 2000, 4000
# What is the measurement's own, or has no name.
OURS = re.compile(r"lnd_measured|^\(below main\)|^0x|^__libc_start|^\w+::main$|^main$"
                  r"|__rust_begin_short_backtrace|^(?:instructions|peerdown)::.*closure|std::rt::")
# Share of a record that a count may differ, and what is too small for a share.
SHARE, SMALL = 0.03, 3
HEAD = """\
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Instructions of one message or transfer: each phase, and its functions with what they call.
# Written by `tests/parts/counts --record`.
"""


def counted(program, count, phase):
    """Instructions of all messages of a phase, and those of each function with what it calls."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
             "--toggle-collect=*lnd_measured*", program, "--count", str(count), "--phase", phase],
            check=True, capture_output=True,
        )
        text = subprocess.run(
            ["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--show-percs=no",
             "--auto=no", out],
            check=True, capture_output=True, text=True,
        ).stdout
    total = re.search(r"^\s*([\d,]+)\s+PROGRAM TOTALS", text, re.M)
    functions = {}
    for match in re.finditer(r"^\s*([\d,]+)\s+\S*?:(\S.*?)(?: \[.*\])?$", text, re.M):
        # The name without its file and its hash; recursion's number is none of its name.
        name = re.sub(r"::h[0-9a-f]{16}$|'\d+$", "", match.group(2))
        number = int(match.group(1).replace(",", ""))
        if not OURS.search(name):
            functions[name] = max(functions.get(name, 0), number)
    return int(total.group(1).replace(",", "")) if total else 0, functions


def each(many, few, times):
    """The difference of two counts, for one of so many."""
    (all_of, functions), (before, others) = many, few
    per = {name: round((number - others.get(name, 0)) / times)
           for name, number in functions.items()}
    return round((all_of - before) / times), per


def measure_phases(instructions, phases):
    """Total and functions of each of these phases."""
    if counted(instructions, MESSAGES, "none")[0]:
        raise SystemExit("the counter counts what it shall not")
    # What the measurement adds: the call of a closure that does nothing.
    empty = counted(instructions, MESSAGES, "empty")[0]
    return {phase: each(counted(instructions, MESSAGES, phase), (empty, {}), MESSAGES)
            for phase in phases}


def measure(instructions, peerdown):
    """Total and functions of each phase."""
    found = measure_phases(instructions, PHASES)
    for phase in DOWN:
        many, few = (counted(peerdown, count, phase) for count in (MANY, FEW))
        found[f"down-{phase}"] = each(many, few, MANY - FEW)
    return found


def read():
    """What is recorded."""
    recorded = {}
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            phase, number, *name = line.split(" ", 2)
            total, functions = recorded.setdefault(phase, [0, {}])
            if name:
                functions[name[0]] = int(number)
            else:
                recorded[phase] = [int(number), functions]
    return recorded


def write(found):
    lines = []
    for phase, (total, functions) in found.items():
        lines.append(f"{phase} {total}")
        shown = sorted(functions.items(), key=lambda one: (-one[1], one[0]))
        lines += [f"{phase} {number} {name}" for name, number in shown if number > SMALL]
    RECORD.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def grown(functions, recorded):
    """The function whose count grew most, in words."""
    growth = {name: number - recorded.get(name, 0) for name, number in functions.items()}
    most = max(growth.values(), default=0)
    if most <= 0:
        return "no function by itself has grown"
    # What calls it has grown as much: the innermost of these.
    name = min((name for name in growth if growth[name] >= 0.9 * most), key=functions.get)
    before = recorded.get(name)
    was = f"{before}" if before is not None else "not called, or not by itself,"
    return f"{name} grew most: {was} before, {functions[name]} now"


def faults(found, recorded):
    """What differs from the record, one line each."""
    for phase, (total, functions) in found.items():
        if phase not in recorded:
            yield f"{phase}: nothing is recorded"
            continue
        before, known = recorded[phase]
        room = max(SMALL, before * SHARE)
        if total <= 0:
            yield f"nothing was counted in {phase}"
        elif total > before + room:
            yield f"{phase} takes {total} instructions, {before} are recorded; " \
                  f"{grown(functions, known)}"
        elif total < before - room:
            print(f"{phase} takes {total} instructions, {before} are recorded: record it "
                  "(tests/parts/counts --record)")


def dear(without, observed):
    """What an observer costs too much, one line; and its price in words."""
    off, on = (sum(it[phase][0] for phase in SHORT) for it in (without, observed))
    print(f"observer: a short message takes {off} instructions, {on} with it "
          f"({(on - off) / off:+.1%})")
    if on <= off:
        yield "the program with an observer has none: it counts no more than the other"
    elif on > off * (1 + OBSERVED):
        yield f"an observer makes {on} of the {off} instructions of a short message"


def main():
    instructions, peerdown, observed = (word for word in sys.argv[1:] if word != "--record")
    found = measure(instructions, peerdown)
    if "--record" in sys.argv:
        write(found)
    wrong = list(faults(found, read()))
    wrong += dear(found, measure_phases(observed, SHORT))
    for line in wrong:
        print(f"FAILED: {line}", file=sys.stderr)
    print("instructions:", " ".join(f"{phase} {total}" for phase, (total, _) in found.items()))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
