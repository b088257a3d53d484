# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The rows of the table: what each is, what it is held against, and what it is to reach.

A row's figures are nanoseconds unless it says otherwise. Every comparison is a ratio of two figures
of one round in one placement of the two processors; the median over the rounds counts.
"""

import statistics
from dataclasses import dataclass, field

# Placements that differ more than this are not the same.
SAME = 1.3

BOTH = ("threads", "processes")
ONE = ("one thread",)
# In place of these in a peer's records.
PEER = "peer"
# What runs between threads only, in the program that measures the project.
THREADS_ONLY = ("ArrayQueue",)
# The least programs of a row, in small pages and in huge ones.
LEAST = ("least", "least, huge pages")


# Kinds of aims whose figure is to be at most the bound.
MOST = ("time", "growth", "limit")


@dataclass(frozen=True)
class Aim:
    """What a row is to reach.

    time: at most `bound` times what `against` takes. rate: at least `bound` times its rate.
    growth: at most `bound` times what the row `against` takes. limit: at most `bound` of the row's
    unit. least: at least.
    """

    kind: str
    against: str
    bound: float

    def is_met_by(self, value):
        return value <= self.bound if self.kind in MOST else value >= self.bound

    def is_better(self, one, other):
        return one < other if self.kind in MOST else one > other

    def words(self, unit):
        bound = f"{self.bound:,.0f}" if self.bound >= 100 else f"{self.bound:g}"
        return {
            "time": f"≤ {bound} × {self.against}",
            "rate": f"≥ {bound} × {self.against}'s rate",
            "growth": f"≤ {bound} × the row `{self.against}`",
            "limit": f"≤ {bound} {unit}",
            "least": f"≥ {bound} {unit}",
        }[self.kind]


@dataclass
class Row:
    """One row of the table."""

    name: str
    group: str
    what: str
    aims: tuple
    between: tuple = BOTH
    unit: str = "ns"
    # What the floor of this row is.
    floor: str = ""
    # What the least program of this row is, by which an aim is shown to be beyond the limit.
    # Without one it is the floor.
    least: str = ""
    # The row whose floor and peers, between processes, are this row's, too.
    like: str = ""
    # Bytes that each figure moves, for GB/s.
    size: int = 0
    # Peers that are shown without an aim.
    beside: tuple = field(default=())


LEAST_PUT = ("that message with a request's name, deadline, ledger and report at both ends, as "
             "bare instructions")


def _rows():
    line = "bare cache line"
    for size in (8, 56):
        yield Row(
            f"channel-lat-{size}", "short", f"channel alone, {size} bytes, one way",
            (Aim("time", "floor", 1.15), Aim("time", "uct am", 0.9)), floor=line,
            beside=("rte_ring",) if size == 8 else (),
        )
    yield Row(
        "channel-rate-1", "short", "channel, 56 bytes, one producer, each message",
        (Aim("time", "uct am", 0.45),), beside=("ArrayQueue", "rte_ring"),
    )
    yield Row(
        "channel-rate-2", "short",
        "channel, 56 bytes, two producers (a mailbox each; the second is the consumer's own "
        "thread), each message",
        (Aim("time", "ArrayQueue", 1.0),), between=("threads",), beside=("rte_ring",),
    )
    frame = "bare mailbox message of the frame's bytes"
    for size, bound in ((8, 1.3), (64, 1.0), (128, 0.7)):
        yield Row(
            f"put-lat-{size}", "short", f"whole small PUT, {size} bytes, one way",
            (Aim("time", "floor", 1.5), Aim("time", "ucp tag", bound),
             Aim("time", "libfabric", 0.5), Aim("time", "iceoryx2", 0.5)),
            floor=frame, least=LEAST_PUT,
        )
        yield Row(
            f"fabric-lat-{size}", "fabric",
            f"small PUT, {size} bytes, over the fabric's file (`lnd node`, `lnd perf`), half of "
            "the median until its ACK",
            (Aim("time", "floor", 1.5), Aim("time", "ucp tag", bound)),
            between=("processes",), floor=frame, least=LEAST_PUT, like=f"put-lat-{size}",
        )
    yield Row(
        "put-rate-8", "short", "small PUT, 8 bytes, each of a stream; both sides poll, and "
        "one waits for credits at most",
        (Aim("time", "ucp tag", 0.8),), floor=frame,
    )
    yield Row(
        "put-inline-4096", "short", "one PUT of 4 KiB inside of its message, one way", (),
        floor=frame, least=LEAST_PUT, beside=("ucp tag",), size=4096,
    )
    floor = "message, copy by the partner, message"
    yield Row(
        "put-4-w1", "bulk", "one PUT of 4 KiB, pulled: submitted to reported",
        (Aim("time", "floor", 1.25),), floor=floor, beside=("ucp tag",), size=4096,
    )
    yield Row(
        "put-4k-better", "derived", "one PUT of 4 KiB, the better of the two ways",
        (Aim("time", "ucp tag", 0.75),), floor="that of this way",
    )
    sizes = ((4, 2.0, 0.8), (64, 2.2, 0.9), (1024, 1.15, 0.9), (4096, 1.3, 0.9))
    for kind in ("put", "get"):
        for kib, peer, least in sizes:
            yield Row(
                f"{kind}-{kib}-w8", "bulk", f"{kind.upper()}, 8 outstanding, {kib} KiB, untouched",
                (Aim("rate", "ucp tag", peer), Aim("rate", "floor", least)), floor=floor,
                size=kib << 10,
            )
    for kind in ("put", "get"):
        for kib, peer, least in sizes[:3]:
            yield Row(
                f"fabric-{kind}-{kib}-w8", "fabric",
                f"{kind.upper()}, 8 outstanding, {kib} KiB, over the fabric's file (`lnd node`, "
                "`lnd perf`), to the ACK or the data",
                (Aim("rate", "ucp tag", peer), Aim("rate", "floor", least)),
                between=("processes",), floor=floor, size=kib << 10, like=f"{kind}-{kib}-w8",
            )
    for kib, _, _ in sizes:
        yield Row(
            f"touched-{kib}-w8", "bulk",
            f"PUT, 8 outstanding, {kib} KiB, written before and read behind each",
            (Aim("rate", "floor", 0.9),), floor=floor, size=kib << 10,
        )
    for kib, _, _ in sizes:
        yield Row(
            f"copy-{kib}-w8", "bulk",
            f"that floor, {kib} KiB, by the string instruction (not the engine's way)", (),
            floor="by the library's copy, the engine's way", size=kib << 10,
        )
    for outstanding in (1, 8):
        yield Row(
            f"claimed-4-w{outstanding}", "bulk",
            f"that floor, 4 KiB, {outstanding} outstanding, with a PUT_REQ's bytes and a descriptor"
            " that is written, claimed, settled and taken back", (), floor=floor, size=4096,
        )
    for order, words, bound in (("order", "in order", 1.2), ("random", "at random", 8.0)):
        peer = (Aim("time", "posted", 0.015),) if order == "random" else ()
        bare = {"floor": "bare transfer, four locked operations"} if order == "order" else {}
        bare["least"] = ("loads and stores of the same number of lines in tables as long: name, "
                         "slot, timer and its neighbours")
        yield Row(f"outstanding-{order}-1", "tables",
                  f"a PUT, driver alone, 1 outstanding, {words}", (), between=ONE,
                  beside=("posted",), **bare)
        yield Row(f"outstanding-{order}-1000", "tables", f"the same, 1,000 outstanding, {words}",
                  (), between=ONE, **bare)
        yield Row(f"outstanding-{order}-1m", "tables", f"the same, 1,048,575 outstanding, {words}",
                  (Aim("growth", f"outstanding-{order}-1", bound), *peer), between=ONE,
                  beside=("posted",), **bare)
    least = "loads and stores of the same number of lines in tables as long: index, peer"
    yield Row("peers-1", "tables", "a PUT, driver alone, each with its credit; 1 peer", (),
              between=ONE, least=least)
    yield Row("peers-1000", "tables", "the same, a random one of 1,000 peers",
              (Aim("growth", "peers-1", 1.1),), between=ONE, least=least)
    yield Row("peers-1m", "tables", "the same, a random one of 1,000,000 peers",
              (Aim("growth", "peers-1", 3.0),), between=ONE, least=least)
    wheel = "hashed wheel without an exact next one"
    for order in ("order", "random"):
        for count, words in (("1000", "1,000"), ("1m", "1,048,575")):
            yield Row(
                f"deadline-{order}-{count}", "tables",
                f"deadline: cancel, arm and exact next one, {words} armed, "
                f"{'in order' if order == 'order' else 'at random'}",
                (Aim("time", "floor", 1.3),), between=ONE, floor=wheel,
                least="one sorted list, whose head is the exact next one: a single delay, no index "
                "checked",
            )
    yield Row("drain", "driver", "a dead peer's drain, each of 1,000,000", (), between=ONE,
              floor="bare sweep: compare-and-swap, back to the pool", beside=("close",))
    yield Row("drain-other-peer-p99", "driver", "another peer's PUT meanwhile, 99th percentile",
              (Aim("time", "floor", 2.0),), between=ONE, floor="the same with nothing to drain")
    yield Row("drain-longest-step", "driver", "the longest bounded step of that drain", (),
              between=ONE)
    yield Row("link-failure", "driver",
              "a link fails: 10,000 descriptors reclaimed and reported, without the engine's time",
              (Aim("limit", "", 1000.0),), between=ONE, unit="us")
    yield Row("submitters", "driver", "4 threads on 2 processors, one driver behind a lock",
              (Aim("rate", "floor", 0.9),), between=("threads",), floor="one such thread")
    yield Row("sleeping", "short", "small PUT to a side that sleeps, until it has it",
              (Aim("time", "floor", 1.1),), floor="bare futex")
    yield Row("polling-calls", "short", "system calls to wake a side that polls",
              (Aim("limit", "", 0.0),), unit="calls")
    for kind in ("put", "get"):
        yield Row(f"files-{kind}", "files", f"`lnd {kind}` of a file in memory, beside `cp`",
                  (Aim("rate", "floor", 1.0),), between=("processes",), unit="s", floor="`cp`")
    yield Row("simulator", "simulator", "steps of the simulator, a second of one processor",
              (Aim("least", "", 1e6),), between=ONE, unit="steps/s")


ROWS = tuple(_rows())
NAMES = tuple(row.name for row in ROWS)
LIKE = {row.name: row.like for row in ROWS if row.like}

NOT_MEASURED = {
    "kernel": "instructions, wake-ups and context switches a message of the kernel module: "
              "`tests/run kernel` counts them in a virtual machine, and the page "
              "[costs](costs.md#kernel) has them",
    "simulator-scale": "1,000 nodes with 4 links each: `lnd sim` has up to 64 nodes, and "
                       "`tests/sim/tests/scale.rs` counts what a node of them costs",
    "far": "both placements in one run: the host decides where the processors are",
}


def agree(one, other):
    """Whether two probes saw the same placement."""
    return max(one, other) <= SAME * min(one, other)


def is_settled(record):
    """Whether the placement stayed while this was measured."""
    return "before" not in record or agree(record["before"], record["after"])


class Figures:
    """All records of a run, and what they say. Where only the command itself is tried, those that
    the placement has spoilt count, too, and pairs of two placements: a machine at work would leave
    rows without a figure."""

    def __init__(self, records, tried=False):
        self.records = records
        self.tried = tried
        self.moved = 0
        self.by = {}
        for record in records:
            if tried or is_settled(record):
                key = (record["row"], record["between"], record["who"])
                self.by.setdefault(key, []).append(record)
            else:
                self.moved += 1
        self._derive()

    def _derive(self):
        """The better way of a PUT of 4 KiB, by the medians."""
        for between in BOTH:
            ways = [("put-inline-4096", between), ("put-4-w1", between)]
            if not all(self.values(*way, "project") for way in ways):
                continue
            best = min(ways, key=lambda way: statistics.median(self.values(*way, "project")))
            for who in ("project", "ucp tag", "floor"):
                if (found := self.of(*best, who)):
                    self.by["put-4k-better", between, who] = found

    def of(self, row, between, who):
        """The records of a figure. A peer's are the same beside threads and processes."""
        found = self.by.get((row, between, who)) or self.by.get((row, PEER, who), [])
        if not found and who != "project" and row in LIKE:
            return self.of(LIKE[row], between, who)
        return found

    def who(self, row, between):
        """All that have figures in a row: the project first, then its floor."""
        found = {who for (name, place, who) in self.by if place in (between, PEER)
                 and (name == row or (name == LIKE.get(row) and who != "project"))}
        return sorted(found, key=lambda who: (who != "project", who != "floor", who))

    def values(self, row, between, who):
        return [record["value"] for record in self.of(row, between, who)]

    def figure(self, row, between, who):
        """Median and number of a figure; None if there is none."""
        values = self.values(row, between, who)
        return (statistics.median(values), len(values)) if values else None

    def ratios(self, row, between, other_row, who, whose="project"):
        """The project, or `whose`, over `who`, round by round, where both saw one placement."""
        theirs = {}
        for record in self.of(other_row, between, who):
            theirs.setdefault(record["outer"], []).append(record)
        found = []
        for record in self.of(row, between, whose):
            others = theirs.get(record["outer"], ())
            exact = [one for one in others if one["round"] == record["round"]] or others
            exact = [one for one in exact
                     if self.tried or "before" not in one or "before" not in record
                     or agree(one["after"], record["before"])]
            if exact:
                other = statistics.median(one["value"] for one in exact)
                if other:
                    found.append(record["value"] / other)
        return found

    def judge(self, row, between, aim):
        """An aim's figure, and over how many pairs. None: no figure."""
        if aim.kind in ("limit", "least"):
            return self.figure(row.name, between, "project")
        other = (aim.against, "project") if aim.kind == "growth" else (row.name, aim.against)
        pairs = self.ratios(row.name, between, *other)
        if not pairs:
            return None
        ratio = statistics.median(pairs)
        return (1 / ratio if aim.kind == "rate" else ratio), len(pairs)

    def limit(self, row, between, aim):
        """The same figure of the least program, which an aim beyond the limit exceeds. None: there
        is no such program."""
        least = "least" if row.least else "floor"
        if aim.kind == "growth":
            return self._least_growth(row, between, aim.against)
        if aim.kind in ("limit", "least") or least == aim.against:
            return None
        pairs = self.ratios(row.name, between, row.name, aim.against, least)
        if not pairs:
            return None
        ratio = statistics.median(pairs)
        return 1 / ratio if aim.kind == "rate" else ratio

    def _least_growth(self, row, between, base):
        """What the project's time at the base grows to by the least program's growth alone, in
        pages of the better size."""
        ours = self.figure(base, between, "project")
        grown = [here[0] - there[0] for who in LEAST
                 if (here := self.figure(row.name, between, who))
                 and (there := self.figure(base, between, who))]
        return 1 + min(grown) / ours[0] if ours and grown else None


def results(figures, missing):
    """Everything that is written to the JSON file about the rows."""
    found = []
    for row in ROWS:
        for between in row.between:
            against = [aim.against for aim in row.aims if aim.kind in ("time", "rate")]
            peers = [who for who in (*against, *row.beside)
                     if who != "floor" and not (between == "processes" and who in THREADS_ONLY)]
            absent = [who for who in peers if not figures.values(row.name, between, who)]
            found.append({
                "row": row.name,
                "what": row.what,
                "between": between,
                "unit": row.unit,
                "floor": row.floor,
                "least": row.least,
                "figures": {
                    who: {"median": round(median, 3), "rounds": rounds}
                    for who in figures.who(row.name, between)
                    for median, rounds in [figures.figure(row.name, between, who)]
                },
                "absent": absent,
                "aims": [judged(figures, row, between, aim) for aim in row.aims],
            })
    measured = [one for one in found if "project" in one["figures"]]
    return {
        "rows": found,
        "not measured": {
            **NOT_MEASURED,
            **{f"{one['row']}, {one['between']}": "no figure: its placement did not settle, or its "
               "program failed" for one in found if "project" not in one["figures"]},
        },
        "missing peers": missing,
        "figures dropped because the placement moved": figures.moved,
        "summary": {
            "rows": len(measured),
            "aims": sum(len(one["aims"]) for one in found),
            "met": sum(aim["met"] is True for one in found for aim in one["aims"]),
            "not met": sum(aim["met"] is False for one in found for aim in one["aims"]),
            "beyond the limit": sum(aim["beyond the limit"] for one in found
                                    for aim in one["aims"]),
            "not judged": sum(aim["met"] is None for one in found for aim in one["aims"]),
        },
    }


def judged(figures, row, between, aim):
    value, pairs = figures.judge(row, between, aim) or (None, 0)
    limit = figures.limit(row, between, aim)
    met = None if value is None else aim.is_met_by(value)
    # A program that the project outdoes is no limit of it.
    beyond = (met is False and limit is not None and not aim.is_met_by(limit)
              and aim.is_better(limit, value))
    return {
        "kind": aim.kind,
        "against": aim.against,
        "bound": aim.bound,
        "value": None if value is None else round(value, 4),
        "pairs": pairs,
        "met": met,
        "least program": None if limit is None else round(limit, 4),
        "beyond the limit": beyond,
    }
