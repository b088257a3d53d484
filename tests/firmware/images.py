# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The firmware images: how each is built and booted. Used by ./check."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORTEX_M = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
C_FLAGS = [*CORTEX_M, "-std=gnu11", "-Os", "-g0", "-Wall", "-Wextra", "-Werror", "-ffreestanding",
           "-ffunction-sections", "-fdata-sections", "-fstack-usage", "-c"]
# Virtual time goes by instructions and jumps while every processor sleeps: a run is the same each
# time.
CLOCK = ["-icount", "shift=3,sleep=off", "-nographic", "-monitor", "none"]
SEMIHOSTING = ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
QEMU = {
    "riscv": [
        "qemu-system-riscv32", "-M", "virt", "-smp", "2", "-m", "16M", "-bios", "none", "-serial",
        "stdio",
    ],
    "aarch64": [
        "qemu-system-aarch64", "-M", "xlnx-zcu102", "-smp", "1", "-m", "128M", *SEMIHOSTING,
    ],
    "cortex-m": ["qemu-system-arm", "-M", "mps2-an386", *SEMIHOSTING],
}
TARGETS = {
    "riscv": "riscv32imac-unknown-none-elf",
    "aarch64": "aarch64-unknown-none-softfloat",
    "cortex-m": "thumbv7em-none-eabihf",
}
# An image that hangs is one that fails.
BOUND = 120


class Broken(Exception):
    """The check could not run, or an image is not what it should be."""


def load(name, path):
    """A Python program as a module, whatever its name."""
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
# What may not be in an image is listed once, for all bare metal.
bare = load("bare", ROOT / "tests/bare/check")


def must(*command, cwd=None, env=None):
    done = subprocess.run(
        [str(c) for c in command], text=True, capture_output=True, cwd=cwd, env=env
    )
    if done.returncode:
        raise Broken(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def target_dir():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "firmware"


def cargo(root, into, target, package, features=()):
    """Builds one package of ffi/firmware; the folder of what came out."""
    command = ["cargo", "build", "--quiet", "--release", "--package", package,
               "--target", target, "--target-dir", into]
    # From its own folder, whose .cargo/config.toml makes images reproducible.
    must(
        *command, *(["--features", ",".join(features)] if features else []),
        cwd=root / "ffi/firmware",
    )
    return into / target / "release"


def build(image, seed=None, root=ROOT, into=None, sizes=None):
    """An image's path. Of the one in C also with other (slots, peers)."""
    into = into or target_dir()
    features = [f"seed-{seed}"] if seed else []
    if image != "cortex-m":
        package = f"lnd-fw-{image}"
        return cargo(root, into, TARGETS[image], package, features) / package
    out = cargo(root, into, TARGETS[image], "lnd-fw-archive", features)
    name = f"cortex-m{'-' + seed if seed else ''}"
    flags = []
    if sizes:
        name += f"-{sizes[0]}-{sizes[1]}"
        flags = [f"-DSLOTS={sizes[0]}U", f"-DPEERS={sizes[1]}U"]
    return link_c(root, out / "liblnd_fw_archive.a", into / name, flags)


def link_c(root, archive, out, flags):
    """The image in C: compiled, linked with the archive."""
    out.mkdir(parents=True, exist_ok=True)
    sources = root / "ffi/firmware/cortex-m"
    objects = []
    for name in ("start", "board", "platform", "node", "main"):
        objects.append(out / f"{name}.o")
        must("arm-none-eabi-gcc", *C_FLAGS, *flags, "-I", root / "ffi/include", "-o", objects[-1],
             sources / f"{name}.c")
    image = out / "image.elf"
    # In which a panic is possible does not link: see the archive's panic handler.
    must("arm-none-eabi-gcc", *CORTEX_M, "-nostdlib", "-Wl,--gc-sections,--build-id=none",
         "-Wl,-z,noexecstack", "-T", sources / "memory.ld", "-o", image, *objects, archive)
    return image


def boot(image, elf):
    """(exit status, output) of an image; QEMU's own status, or None after the bound."""
    command = [*QEMU[image], *CLOCK, "-kernel", str(elf)]
    env = dict(os.environ, QEMU_AUDIO_DRV="none")
    process = subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env=env)
    try:
        output, _ = process.communicate(timeout=BOUND)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        process.kill()
        return None, process.communicate()[0]
