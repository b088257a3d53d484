#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Holds what a dissector shows of a capture against what the library's decoder says of it.

    wire.py CAPTURE JSON [LUA]       each packet, field by field; prints what was compared
    wire.py --refused CAPTURE JSON   what was refused of the frames that came in, by reason
    wire.py --matched CAPTURE        that answers are shown with their requests

JSON is a list with an object for each packet: the fields and their values, or the reason for which
the decoder refuses it. The program `tshark` reads the capture.
"""

import collections
import json
import os
import re
import subprocess
import sys

SHOWN = 10
DISSECTOR = os.path.join(os.path.dirname(__file__), "../../docs/wireshark/lnd.lua")


def tshark(capture, lua, *arguments):
    command = ["tshark", "-X", f"lua_script:{lua}", "-r", capture, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    # What a root user is told is no error; what Lua says of a script that fails is.
    complaints = [line for line in run.stderr.splitlines() if re.search(r"[Ll]ua|rror", line)]
    if run.returncode != 0 or complaints:
        sys.exit(f"tshark {capture}: exit {run.returncode}\n{run.stderr}")
    return run.stdout


def columns(capture, lua, names):
    """Every packet's fields, as tshark prints them; empty: it has none of that name."""
    wanted = [part for name in names for part in ("-e", name)]
    rows = tshark(capture, lua, "-T", "fields", "-E", "occurrence=f", *wanted).splitlines()
    return [dict(zip(names, row.split("\t"))) for row in rows]


def value_of(text, like):
    """A printed value as one of the kind that is expected."""
    if isinstance(like, int):
        return int(text, 0) if text else None
    return text.replace(":", "")


def compare(capture, path, lua):
    with open(path, encoding="utf-8") as file:
        expected = json.load(file)
    names = sorted({name for packet in expected for name in packet})
    names = sorted({*names, "lnd.error", "_ws.lua.error", "_ws.malformed"})
    found = columns(capture, lua, names)
    if len(found) != len(expected):
        sys.exit(f"{capture}: {len(found)} packets, expected {len(expected)}")
    wrong, compared, refused = [], 0, 0
    for number, (shown, known) in enumerate(zip(found, expected), 1):
        known.setdefault("lnd.error", "")
        refused += known["lnd.error"] != ""
        # A refused frame is marked as malformed, too: that is its expert info's group.
        for broken in ("_ws.lua.error", "_ws.malformed")[: 1 if known["lnd.error"] else 2]:
            if shown[broken]:
                wrong.append(f"packet {number}: {broken}: {shown[broken]}")
        for name, value in known.items():
            compared += 1
            printed = shown[name] if name == "lnd.error" else value_of(shown[name], value)
            if printed != value:
                wrong.append(f"packet {number}: {name} is shown as {printed!r}, it is {value!r}")
    for line in wrong[:SHOWN]:
        print(line)
    if wrong:
        sys.exit(f"{capture}: {len(wrong)} differences")
    print(f"{len(expected)} packets, {refused} of them refused, {compared} values")


def refused_in(capture, path):
    with open(path, encoding="utf-8") as file:
        expected = json.load(file)
    names = ["lnd.error", "frame.packet_flags_direction"]
    rows = columns(capture, DISSECTOR, names)
    # 1: the packet came in.
    came = [row for row in rows if int(row["frame.packet_flags_direction"], 0) == 1]
    found = collections.Counter(row["lnd.error"] for row in came if row["lnd.error"])
    if found != expected:
        sys.exit(f"{capture}: the capture has {dict(found)}, the run has counted {expected}")
    print(f"{sum(found.values())} refusals, as the run has counted them")


ANSWERS = {
    "PUT_NAK": ("PUT_REQ", "lnd.source_cookie"),
    "PUT_DONE": ("PUT_REQ", "lnd.source_cookie"),
    "GET_NAK": ("GET_REQ", "lnd.sink_cookie"),
    "GET_DONE": ("GET_REQ", "lnd.sink_cookie"),
    "PULL_READY": ("GET_REQ", "lnd.sink_cookie"),
    "HELLO_ACK": ("HELLO", None),
}


def matched(capture):
    names = ["lnd.message", "lnd.error", "lnd.source", "lnd.destination", "lnd.source_cookie"]
    names += ["lnd.sink_cookie", "lnd.session", "lnd.ack.session", "lnd.request_in"]
    rows, pairs = columns(capture, DISSECTOR, names), collections.Counter()
    for number, row in enumerate(rows, 1):
        name = row["lnd.message"]
        if row["lnd.error"] or name not in ANSWERS:
            if row["lnd.request_in"]:
                sys.exit(f"{capture}: packet {number}, a {name}, answers something")
            continue
        if not row["lnd.request_in"]:
            pairs[f"{name} alone"] += 1
            continue
        request = rows[int(row["lnd.request_in"]) - 1]
        kind, cookie = ANSWERS[name]
        fits = request["lnd.message"] == kind and request["lnd.source"] == row["lnd.destination"]
        if cookie:
            fits = fits and request[cookie] == row[cookie]
        else:
            fits = fits and request["lnd.session"] == row["lnd.ack.session"]
        if not fits:
            sys.exit(f"{capture}: packet {number}, a {name}, is shown with {request}")
        pairs[name] += 1
    if not all(pairs[name] for name in ("PULL_READY", "PUT_NAK", "HELLO_ACK")):
        sys.exit(f"{capture}: hardly an answer has its request: {dict(pairs)}")
    print("answers with their requests:", ", ".join(f"{n} {c}" for n, c in sorted(pairs.items())))


def main(arguments):
    if arguments[0] == "--refused":
        refused_in(arguments[1], arguments[2])
    elif arguments[0] == "--matched":
        matched(arguments[1])
    else:
        compare(arguments[0], arguments[1], arguments[2] if len(arguments) > 2 else DISSECTOR)


if __name__ == "__main__":
    main(sys.argv[1:])
