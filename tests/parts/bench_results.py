#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Checks what benches/run wrote: that nothing is missing without a word.

    tests/parts/bench_results.py DIR          the files of a run
    tests/parts/bench_results.py --self-test DIR    that defects sown into them are found

Times are not judged. Every row has figures above zero of the project, its floor and its peers, or
it is told who is absent and why; every verdict follows from its figures; the sums are right.
"""

import copy
import json
import pathlib
import sys
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benches" / "runner"))
import rows  # noqa: E402

# Who brings which figures, by the name under which a missing one is told.
BRINGS = {
    "UCX 1.22": ("uct am", "ucp tag", "posted", "close"),
    "libfabric shm": ("libfabric",),
    "iceoryx2 0.10": ("iceoryx2",),
    "DPDK 22.11": ("rte_ring",),
}
# A count that may be zero.
COUNTS = ("polling-calls",)


def row_faults(found, row, between, missing):
    """What is wrong with one row."""
    name, figures = f"{row.name}, {between}", found["figures"]
    wanted = ["project", *["floor"] * bool(row.floor), *["least"] * bool(row.least)]
    peers = [aim.against for aim in row.aims if aim.kind in ("time", "rate")]
    peers = [who for who in (*peers, *row.beside) if who != "floor"]
    if between == "processes":
        peers = [who for who in peers if who not in rows.THREADS_ONLY]
    gone = {who for peer in missing for who in BRINGS.get(peer, ())}
    for who in (*wanted, *peers):
        median = figures.get(who, {}).get("median")
        if median is None and who in peers:
            if who not in found["absent"]:
                yield f"{name}: {who} has no figure, and is not told to be absent"
            elif who not in gone:
                yield f"{name}: {who} is absent, and no missing peer explains it"
        elif median is None:
            yield f"{name}: {who} has no figure"
        elif median < 0 or (median == 0 and row.name not in COUNTS):
            yield f"{name}: the figure of {who} is {median}"
    if len(found["aims"]) != len(row.aims):
        yield f"{name}: {len(found['aims'])} aims are judged of {len(row.aims)}"
    for aim, verdict in zip(row.aims, found["aims"]):
        value, met = verdict["value"], verdict["met"]
        if verdict["bound"] != aim.bound or verdict["against"] != aim.against:
            yield f"{name}: an aim is judged by another bound"
        elif value is None:
            if met is not None or (aim.against not in found["absent"]):
                yield f"{name}: an aim against {aim.against} is not judged, without a reason"
        elif abs(value - aim.bound) > 1e-4:
            most = aim.kind in ("time", "growth", "limit")
            if met != (value < aim.bound if most else value > aim.bound):
                yield f"{name}: {value} was judged wrong"
        yield from excuse_faults(name, aim, verdict)


def excuse_faults(name, aim, verdict):
    """Whether an aim is called beyond the limit although the least program meets it."""
    least, bound = verdict["least program"], aim.bound
    if not verdict["beyond the limit"]:
        return
    if verdict["met"] is not False:
        yield f"{name}: an aim is beyond the limit, and is not missed"
    elif least is None:
        yield f"{name}: an aim is beyond the limit, and no least program shows it"
    elif least > bound + 1e-4 if aim.kind in ("rate", "least") else least < bound - 1e-4:
        yield f"{name}: an aim is beyond the limit, and the least program meets it: {least}"
    elif (least - verdict["value"]) * (-1 if aim.kind in ("rate", "least") else 1) > 1e-4:
        yield f"{name}: an aim is beyond the limit, and the project outdoes it: {least}"


def faults(results, page):
    """What is wrong with the results and their page, one line each."""
    by = {(one["row"], one["between"]): one for one in results["rows"]}
    missing = results["missing peers"]
    for row in rows.ROWS:
        for between in row.between:
            if (row.name, between) in by:
                yield from row_faults(by[row.name, between], row, between, missing)
            else:
                yield f"{row.name}, {between}: there is no such row"
    verdicts = [aim["met"] for one in results["rows"] for aim in one["aims"]]
    summary = results["summary"]
    for name, count in (("aims", len(verdicts)), ("met", verdicts.count(True)),
                        ("not met", verdicts.count(False)), ("not judged", verdicts.count(None)),
                        ("beyond the limit", sum(aim["beyond the limit"] for one in results["rows"]
                                                 for aim in one["aims"]))):
        if summary[name] != count:
            yield f"the summary says {summary[name]} {name}, there are {count}"
    for failed in results["run"]["failed"]:
        yield f"a program failed: {failed}"
    if "Generated by benches/run" not in page:
        yield "the page does not say that it is generated"
    if results["run"]["busy"] and "busy machine" not in page:
        yield "the page does not say that the machine was busy"
    for peer in missing:
        if f"**{peer}:**" not in page:
            yield f"the page does not say that {peer} is missing"
    for name in rows.NOT_MEASURED:
        if f"* {name}:" not in page:
            yield f"the page does not say that {name} is not measured"


def read(out):
    """The results of a run, its page, and whether its pictures are well-formed."""
    for picture in out.glob("*.svg"):
        xml.parse(picture)
    if len(list(out.glob("*.svg"))) != 2:
        raise SystemExit("there are not two pictures")
    results = json.loads((out / "performance.json").read_text(encoding="utf-8"))
    return results, (out / "performance.md").read_text(encoding="utf-8")


def self_test(results, page):
    """Sows defects one by one; each must be found."""

    def row(name):
        return next(one for one in sown["rows"] if one["row"] == name)

    def zero():
        row("put-lat-8")["figures"]["project"]["median"] = 0

    def no_floor():
        del row("put-64-w8")["figures"]["floor"]

    def silent_peer():
        row("put-lat-64")["figures"].pop("ucp tag", None)
        row("put-lat-64")["absent"] = []

    def unexplained_peer():
        row("put-lat-64")["figures"].pop("ucp tag", None)
        row("put-lat-64")["absent"] = ["ucp tag"]
        sown["missing peers"].pop("UCX 1.22", None)

    def no_row():
        sown["rows"].remove(row("simulator"))

    def wrong_verdict():
        # Of a figure of its own: what this run found may be none, or its bound.
        verdict = row("outstanding-order-1m")["aims"][0]
        verdict["value"], verdict["met"] = 2 * verdict["bound"], True

    def excuse(least):
        verdict = row("outstanding-order-1m")["aims"][0]
        verdict["value"], verdict["met"] = 2 * verdict["bound"], False
        # The sum is right all the same.
        sown["summary"]["beyond the limit"] += not verdict["beyond the limit"]
        verdict["beyond the limit"], verdict["least program"] = True, least
        met = [aim["met"] for one in sown["rows"] for aim in one["aims"]]
        sown["summary"].update({"met": met.count(True), "not met": met.count(False),
                                "not judged": met.count(None)})

    def false_excuse():
        excuse(row("outstanding-order-1m")["aims"][0]["bound"] / 2)

    def excuse_that_is_outdone():
        excuse(row("outstanding-order-1m")["aims"][0]["bound"] * 3)

    def excuse_without_a_program():
        excuse(None)

    def softer_bound():
        row("put-lat-8")["aims"][0]["bound"] = 100.0

    def wrong_sum():
        sown["summary"]["met"] += 1

    def failed():
        sown["run"]["failed"].append("short: it did not end")

    defects = (
        (zero, "the figure of project is 0"), (no_floor, "floor has no figure"),
        (silent_peer, "is not told to be absent"), (unexplained_peer, "no missing peer explains"),
        (no_row, "there is no such row"), (wrong_verdict, "was judged wrong"),
        (false_excuse, "the least program meets it"),
        (excuse_that_is_outdone, "the project outdoes it"),
        (excuse_without_a_program, "no least program shows it"),
        (softer_bound, "judged by another bound"), (wrong_sum, "the summary says"),
        (failed, "a program failed"),
    )
    for sow, words in defects:
        sown = copy.deepcopy(results)
        sow()
        if not any(words in fault for fault in faults(sown, page)):
            raise SystemExit(f"a sown defect was not found: {sow.__name__}")
    if not list(faults(results, page.replace("Generated by", ""))):
        raise SystemExit("a page that does not say that it is generated was not found")
    print(f"{len(defects) + 1} sown defects are found")


def main():
    words = sys.argv[1:]
    out = pathlib.Path(words[-1])
    results, page = read(out)
    found = list(faults(results, page))
    print("\n".join(found) or f"{len(results['rows'])} rows are whole")
    if found:
        return 1
    if words[0] == "--self-test":
        self_test(results, page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
