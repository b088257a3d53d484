# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the LND part of an image takes, and how deep its stack goes."""

import re

import images

TABLE = images.HERE / "sizes.txt"
# Of the figures in the table; a new compiler moves a few bytes.
TOLERANCE = 0.02
# For 4 peers, 16 transfers and one link on Cortex-M.
FLASH, RAM = 48 * 1024, 9 * 1024
THUMB, RISCV = "thumbv7em-none-eabihf", "riscv32imac-unknown-none-elf"
CONFIGURATIONS = [("small", "4 peers, 16 transfers, 1 link"),
                  ("medium", "16 peers, 64 transfers, 2 links"),
                  ("large", "64 peers, 256 transfers, 4 links")]
ROWS = [(THUMB, "small", False), (THUMB, "small", True), (THUMB, "medium", False),
        (THUMB, "large", False), (RISCV, "small", False)]
SECTION = re.compile(r"^(\.\S+)\s+(\d+)\s+\d+$", re.M)
FLASHED = (".text", ".rodata", ".data", ".ARM.exidx")
HEAD = re.compile(r"^[0-9a-f]+ <(.+)>:$")
BRANCH = re.compile(
    r"\t(?:bl|b|b\.w|bl\.w|blx|cbz|cbnz|jalr|jal|jr|j|call|tail|beqz|bnez|beq|bne)(?:\.\w)?"
    r"\t.*<([^>+]+)>"
)
# Bytes that an instruction takes from the stack.
PUSH = re.compile(r"\t(?:push|stmdb\s+sp!,)(?:\.w)?\s*\{([^}]*)\}")
STORE = re.compile(r"\tstr(?:d|\.w)?\t.*\[sp, #-(0x[0-9a-f]+|\d+)\]!")
SUB = re.compile(r"\tsub(?:w|\.w|s)?\tsp, (?:sp, )?#(0x[0-9a-f]+|\d+)")
ADDI = re.compile(r"\t(?:addi|c\.addi16sp|c\.addi)\tsp, (?:sp, )?-(0x[0-9a-f]+|\d+)")


def link(archive, roots, ports=()):
    """What is left of an archive with these roots. What can panic does not link: see the panic
    handlers of its packages."""
    elf = archive.with_suffix(".elf")
    elf.unlink(missing_ok=True)
    images.must(images.bare.tool("rust-lld"), "-flavor", "gnu", "--gc-sections", "--no-undefined",
                "-e", roots[0], "-o", elf, *(f"--undefined={root}" for root in roots),
                *(f"--defsym={port}=0" for port in ports), archive)
    return elf


def link_crates(target, configuration, trace):
    """The LND part alone over the Rust crates: every verb of lnd-fw-sizes is a root."""
    features = ([configuration] if configuration != "small" else []) + (["trace"] if trace else [])
    out = images.cargo(images.ROOT, images.target_dir(), target, "lnd-fw-sizes", features)
    archive = out / "liblnd_fw_sizes.a"
    defined, undefined = images.bare.symbols(archive)
    roots = sorted(name for name in defined if name.startswith("lnd_fw_"))
    ports = sorted(name for name in undefined - defined if name.startswith("lnd_port_"))
    return link(archive, roots, ports), roots


def link_c_abi():
    """The LND part alone over the C ABI: the calls that the image in C makes are the roots."""
    image = images.build("cortex-m")
    defined, undefined = set(), set()
    for name in ("node", "main"):
        undefined |= images.bare.symbols(image.with_name(f"{name}.o"))[1]
    archive = images.target_dir() / THUMB / "release/liblnd_fw_archive.a"
    defined, _ = images.bare.symbols(archive)
    roots = sorted(name for name in undefined & defined if name.startswith("lnd_"))
    return link(archive, roots), roots, image


def row_of_c_abi():
    """Its figures. The memory is what lnd_ni_size() and lnd_ring_size() say when asked on board."""
    elf, roots, image = link_c_abi()
    _, output = images.boot("cortex-m", image)
    said = re.search(r"^memory ni (\d+) ring (\d+)$", output, re.M)
    if not said:
        raise images.Broken("the image in C does not say what memory it needs")
    deep = depths(elf, roots)
    interrupt, create = deep.pop("lnd_interrupt"), deep.pop("lnd_ni_create")
    flash, statics = measure(elf)
    memory = statics + int(said[1]) + int(said[2])
    return flash, memory, max(deep.values()), interrupt, create


def measure(elf):
    """(flash, RAM) in bytes: text and read-only data; statics."""
    found = {}
    for name, size in SECTION.findall(images.must(images.bare.tool("llvm-size"), "-A", elf)):
        found[name] = found.get(name, 0) + int(size)
    flash = sum(found.get(name, 0) for name in FLASHED)
    return flash, found.get(".bss", 0) + found.get(".data", 0)


def frame(line):
    """Bytes that one instruction takes from the stack."""
    if match := PUSH.search(line):
        return sum(count(part) for part in match[1].split(","))
    for pattern in (SUB, STORE, ADDI):
        if match := pattern.search(line):
            return int(match[1], 0)
    return 0


def count(registers):
    """Bytes of 'r4' or 'r4-r7'."""
    first, _, last = registers.strip().partition("-")
    return 4 if not last else 4 * (int(last.strip()[1:]) - int(first.strip()[1:]) + 1)


def depths(elf, roots):
    """The deepest stack of each root in bytes, by its calls: there is no recursion, and no call
    through a pointer but in `memcpy` and its like, which have none either."""
    own, calls, function = {}, {}, None
    text = images.must(images.bare.tool("llvm-objdump"), "-d", "--no-show-raw-insn", elf)
    for line in text.splitlines():
        if head := HEAD.match(line):
            function = head[1]
            own.setdefault(function, 0)
            calls.setdefault(function, set())
        elif function:
            own[function] += frame(line)
            if (branch := BRANCH.search(line)) and branch[1] != function:
                calls[function].add(branch[1])
    known = {}

    def depth(name):
        if name not in known:
            known[name] = own.get(name, 0)  # ends a circle; recursion is refused elsewhere
            known[name] += max((depth(called) for called in calls.get(name, ())), default=0)
        return known[name]

    return {root: depth(root) for root in roots}


def rows():
    """The table's rows as they are now: name, flash, RAM, stack of a thread and of an interrupt."""
    for target, configuration, trace in ROWS:
        elf, roots = link_crates(target, configuration, trace)
        wrong = list(images.bare.recursions(elf))
        if wrong:
            raise images.Broken(f"recursion: {wrong[0]}")
        deep = depths(elf, roots)
        interrupt = deep.pop("lnd_fw_interrupt")
        # Creation happens once, before there is anything else on the stack.
        create = deep.pop("lnd_fw_create")
        sizes = measure(elf)
        name = f"{target.split('-')[0]} {configuration}{' trace' if trace else ''}"
        yield name, (*sizes, max(deep.values()), interrupt, create)
    yield "thumbv7em small C ABI", row_of_c_abi()


def committed():
    table = {}
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            name, *figures = line.rsplit(None, 5)
            table[name.strip()] = tuple(map(int, figures))
    return table


HEADER = """\
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What the LND part of an image takes, in bytes: lnd-core, the engine's driver, the wire format and
# a host's glue, as ffi/firmware/sizes links them, with opt-level "s". Written by
# `tests/firmware/check sizes --write`, compared by `tests/run firmware`.
#
#   flash      .text and .rodata, with compiler_builtins' memcpy and divisions
#   RAM        every static: driver, tables, interrupt's half, engine's rings, frame buffer
#   thread     deepest stack of a verb, by its calls; without what the host's own functions take
#   interrupt  the same of the interrupt
#   create     the same of creation
#
# The row of the C ABI is the same over lnd.h: the functions that ffi/firmware/cortex-m calls, with
# their checks of arguments and contexts, and the trace operation; RAM as lnd_ni_size() and
# lnd_ring_size() tell it.
#
# small: 4 peers, 16 transfers, 1 link. medium: 16, 64, 2. large: 64, 256, 4. trace: with two logs
# of 2 KiB each. No fragment lists; 64 bytes travel inside of a message.
#
#                              flash      RAM   thread interrupt  create
"""


def write(now):
    lines = [f"{name:<26}" + "".join(f"{n:>9}" for n in figures) for name, figures in now.items()]
    TABLE.write_text(HEADER + "\n".join(lines) + "\n")


def compare(now):
    """What is wrong with the sizes, one line each."""
    small = now["thumbv7em small"]
    if small[0] > FLASH or small[1] > RAM:
        yield (f"Cortex-M, small: {small[0]} bytes of flash, {small[1]} of RAM; "
               f"{FLASH} and {RAM} are allowed")
    table = committed()
    text = (images.ROOT / "docs/firmware.md").read_text()
    for name, figures in table.items():
        if any(f"{figure:,}" not in text for figure in figures[:4]):
            yield f"docs/firmware.md has other figures than the table for {name}"
    if table.keys() != now.keys():
        yield f"the table has {sorted(table)}, measured were {sorted(now)}"
        return
    for name, figures in now.items():
        for what, old, new in zip(
            ("flash", "RAM", "thread", "interrupt", "create"), table[name], figures
        ):
            # The stack goes by the compiler's inlining: more leeway there.
            allowed = TOLERANCE if what in ("flash", "RAM") else 0.25
            if abs(new - old) > allowed * old:
                yield f"{name}: {what} is {new} bytes, the table says {old}"
