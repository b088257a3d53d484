#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Opens reports of simulated runs in a browser and uses them as a reader does.

    report.py PAGE PRINTED             a page, and what the run has printed
    report.py --rails PAGE PRINTED     the same for nodes with several interfaces
    report.py --failed PAGE RULE       the page of a run that broke a rule
    report.py --picture PAGE FILE      the page as a picture, to look at
"""

import pathlib
import re
import sys

# No folder of compiled modules beside the parts.
sys.dont_write_bytecode = True

from browser import Browser  # noqa: E402

NUMBERS = {
    "world": r"seed (?P<seed>\d+) ok: (?P<nodes>\d+) nodes, (?P<links>\d+) links, "
    r"(?P<steps>\d+) steps, (?P<requests>\d+) requests, (?P<ok>\d+) of (?P<ends>\d+) transfers OK, "
    r"(?P<faults>\d+) faults, hash (?P<hash>[0-9a-f]+)",
    "rails": r"seed (?P<seed>\d+) ok: (?P<nodes>\d+) nodes, (?P<interfaces>\d+) interfaces, "
    r"(?P<steps>\d+) steps, (?P<requests>\d+) requests, (?P<answered>\d+) answered; "
    r"(?P<messages>\d+) messages, (?P<resends>\d+) resends \((?P<resent_ok>\d+) ended OK, "
    r"\d+ failed\), hash (?P<hash>[0-9a-f]+)",
}
CHARTS = ("throughput", "latency", "states", "faults", "health")
COUNTS = r"(\d+) of (\d+) transfers: (\d+) OK, (\d+) failed, (\d+) refusals, (\d+) without an end"
done = []


def check(holds, what):
    """Demands something of a page."""
    if not holds:
        sys.exit(f"FAILED: {what}")
    done.append(what)


def url_of(path):
    return pathlib.Path(path).resolve().as_uri()


def counts(page):
    """What the page says of the transfers that its table has: shown, all, and by end."""
    found = re.fullmatch(COUNTS, page.run("document.getElementById('counts').textContent"))
    check(found, "the table says what it has")
    return [int(number) for number in found.groups()]


def rows(page):
    return page.run("document.querySelectorAll('#table tbody tr').length")


def figures(page, printed, kind):
    """The head has the figures of the run's own summary."""
    found = re.search(NUMBERS[kind], printed)
    check(found, "the run's summary is read")
    shown = page.run(
        "Object.fromEntries([...document.querySelectorAll('[data-figure]')]"
        ".map(it => [it.dataset.figure, it.textContent]))"
    )
    for name, value in found.groupdict().items():
        name = name.replace("_", "-")
        check(shown.get(name) == value, f"{name}: the page has {shown.get(name)}, the run {value}")
    text = page.run("document.getElementById('printed').textContent")
    check(text.strip() == printed.strip(), "the page has all that the run has printed")
    for chart in CHARTS:
        label = page.run(f"document.querySelector('#{chart} svg')?.getAttribute('aria-label')")
        check(label, f"{chart} is drawn, with a text for those who cannot see it")
        marks = f"#{chart} svg :is(rect, circle)"
        check(page.run(f"document.querySelectorAll('{marks}').length") > 5, f"{chart} has content")
    return found.groupdict()


def table(page, known):
    """Searching, filtering and sorting show what they should."""
    shown, total, ok, failed, refused, still = counts(page)
    check(shown == total and total > 0, "all transfers are there")
    if "ok" in known:
        check(ok == int(known["ok"]), f"the table has {ok} OK, the run {known['ok']}")
        check(ok + failed == int(known["ends"]), f"{ok + failed} ended, of {known['ends']}")
    check(rows(page) == min(shown, 25), "one page of the table is there")

    page.run("document.getElementById('search').focus()")
    page.write("put source")
    some, *_ = counts(page)
    check(0 < some < total, f"a search leaves {some} of {total}")
    roles = "[...document.querySelectorAll('#table tbody tr')].map(it => it.cells[2].textContent)"
    check(set(page.run(roles)) == {"PUT, source"}, "a search leaves what has its words")
    clear = "const it = document.getElementById('search'); it.value = ''; "
    page.run(f"(() => {{ {clear} it.dispatchEvent(new Event('input')); }})()")

    choose = (
        "(() => {{ const it = document.getElementById('{0}'); it.value = '{1}';"
        " it.dispatchEvent(new Event('change')); }})()"
    )
    page.run(choose.format("end", "failed"))
    shown, _, ok, of_failed, *_ = counts(page)
    check((shown, ok, of_failed) == (failed, 0, failed), "a filter leaves what failed")
    page.run(choose.format("end", "refused"))
    check(counts(page)[0] == refused, "a filter leaves refusals")
    page.run(choose.format("end", "open"))
    check(counts(page)[0] == still, "a filter leaves what has no end")
    page.run(choose.format("end", ""))
    check(counts(page)[0] == total, "without a filter all are back")

    # Sorted by bytes, most first, by two clicks.
    head = "document.querySelectorAll('#table thead button')[5]"
    page.run(f"{head}.click(), {head}.click()")
    lengths = "[...document.querySelectorAll('#table tbody tr')].map(it => it.cells[5].textContent)"
    lengths = [int(text.replace(",", "")) for text in page.run(lengths)]
    check(lengths == sorted(lengths, reverse=True) and lengths[0] > 0, "a click sorts")
    page.run("document.getElementById('after').click()")
    check(page.run("document.getElementById('page').textContent").startswith("Page 2 "), "pages")

    # Part of the run.
    page.run("document.getElementById('to').value = 100, document.getElementById('range')"
             ".requestSubmit()")
    check(0 < counts(page)[0] < total, "a part of the run has some of the transfers")
    page.run("document.getElementById('whole').click()")
    check(counts(page)[0] == total, "the whole run has all")


def lanes(page):
    """The keyboard alone leads from the search to a transfer's swim-lane."""
    choose = "document.getElementById('role').value = '{}', document.getElementById('role')"
    event = ".dispatchEvent(new Event('change'))"
    for role, kinds in (("PUT, source", ("PUT_REQ",)), ("GET, sink", ("GET_REQ", "PULL_READY"))):
        page.run(choose.format(role) + event)
        page.run("document.querySelector('#search').value = 'ok'")
        page.run("document.querySelector('#search').dispatchEvent(new Event('input'))")
        page.run("document.querySelectorAll('#table thead button')[9].focus()")
        page.press("Tab")
        name = page.run("document.activeElement.getAttribute('aria-label')")
        check(name and name.startswith("Swim-lane"), "the tabulator reaches a transfer")
        page.press("Enter")
        check(page.run("document.activeElement.id") == "h-swim", "the swim-lane gets the focus")
        steps = page.run("[...document.querySelectorAll('#steps li')].map(it => it.textContent)")
        text = "\n".join(steps)
        for kind in kinds:
            check(f"sends {kind}" in text and f"{kind} arrives" in text, f"{role}: {kind} crosses")
        ends = [step for step in steps if step.endswith("finalized, OK")]
        nodes = {re.search(r"ms, (.*?):", step)[1] for step in ends}
        check(len(nodes) == 2, f"{role}: it is finalized on both nodes")
        check(sum("accepted" in step for step in steps) == 2, f"{role}: accepted on both nodes")
        drawn = page.run("document.querySelectorAll('#lanes svg circle').length")
        check(drawn == len(steps), "what is listed is drawn")
    number = page.run("location.hash")
    page.run("document.getElementById('swim-after').click()")
    check(page.run("location.hash") != number, "the next transfer follows")


def surroundings(page, path):
    """Printing, colours, names for screen readers, no network."""
    nameless = [role for role, name in page.names() if not name.strip()]
    check(not nameless, f"every control has a name: {nameless}")
    colours = []
    for scheme in ("light", "dark"):
        page.media(scheme)
        colours.append(page.run("getComputedStyle(document.body).backgroundColor"))
    check(colours[0] != colours[1], f"dark and light differ: {colours}")
    page.run("document.getElementById('theme').click()")
    other = page.run("getComputedStyle(document.body).backgroundColor")
    check(other == colours[0], "the button changes from dark to light")
    paper = page.pdf()
    check(paper.startswith(b"%PDF-") and len(paper) > 20_000, "it prints")
    check(len(re.findall(rb"/Type\s*/Page\b", paper)) > 1, "on more than one sheet")
    check(page.loaded == [url_of(path)], f"nothing else is loaded: {page.loaded}")
    check(not page.complaints, f"the browser complains: {page.complaints}")


def use(path, printed_path, kind):
    printed = pathlib.Path(printed_path).read_text(encoding="utf-8")
    with Browser() as page:
        page.open(url_of(path))
        known = figures(page, printed, kind)
        table(page, known)
        lanes(page)
        surroundings(page, path)
    print(f"{len(done)} checks")


def failed(path, rule):
    with Browser() as page:
        page.open(url_of(path))
        check(page.run("document.getElementById('outcome').textContent") == "FAILED", "it says so")
        text = page.run("document.getElementById('broken').textContent")
        check(text.startswith(rule), f"the rule is {rule}: {text}")
        check(not page.run("document.getElementById('broken').hidden"), "the rule is shown")
        check(counts(page)[0] > 0, "it has transfers")
        text = page.run("document.getElementById('printed').textContent")
        check("again: lnd sim" in text, "it says how to see it again")
        check(not page.complaints, f"the browser complains: {page.complaints}")
    print(f"{len(done)} checks")


def main(arguments):
    if arguments[0] == "--failed":
        failed(*arguments[1:])
    elif arguments[0] == "--picture":
        with Browser() as page:
            page.open(url_of(arguments[1]))
            page.picture(arguments[2])
    elif arguments[0] == "--rails":
        use(*arguments[1:], "rails")
    else:
        use(*arguments, "world")


if __name__ == "__main__":
    main(sys.argv[1:])
