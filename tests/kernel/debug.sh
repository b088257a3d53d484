# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Sourced by kernel-debug after lib.sh: kernels built from Debian's sources to find bugs.
# shellcheck disable=SC2154 # set by lib.sh

# debug_tools: what building a kernel takes.
debug_tools() {
    need_apt flex
    need_apt bison
    need_apt bc
    need_apt lz4
    [ -e /usr/include/libelf.h ] || need_apt a-program-that-is-never-there libelf-dev
    [ -e /usr/include/openssl/ssl.h ] || need_apt a-program-that-is-never-there libssl-dev
}

# debug_source: Debian's kernel sources, unpacked into $work/source.
debug_source() {
    [ ! -e "$work/source/.done" ] || return 0
    mkdir -p "$work/source"
    (
        cd "$work/source"
        apt-get download -qq linux-source-6.1 || { apt-get update -qq && apt-get download -qq linux-source-6.1; }
        dpkg-deb --fsys-tarfile linux-source-6.1_*.deb | tar -xO ./usr/src/linux-source-6.1.tar.xz |
            tar -xJ --strip-components=1
        rm -f linux-source-6.1_*.deb
        touch .done
    ) || fail "linux-source-6.1 cannot be had"
}

# debug_kernel NAME FRAGMENT…: builds a kernel in $work/NAME; kept, if its configuration is the same.
debug_kernel() {
    local name=$1 out=$work/$1 fragments line
    shift
    fragments=("${@/#/$bench/config/}")
    mkdir -p "$out"
    if [ -e "$out/.done" ] && cmp -s "$out/.done" <(cat "${fragments[@]}"); then
        return
    fi
    rm -f "$out/.done"
    make -s -C "$work/source" O="$out" tinyconfig >/dev/null
    (cd "$out" && "$work/source/scripts/kconfig/merge_config.sh" -m -O . .config "${fragments[@]}") >/dev/null
    make -s -C "$out" olddefconfig
    # tinyconfig silently drops what its parents forbid.
    while IFS= read -r line; do
        grep -qx "$line" "$out/.config" || fail "$name: the configuration has dropped $line"
    done < <(grep -h '^CONFIG' "${fragments[@]}")
    # Modules, though there are none: that writes Module.symvers.
    make -s -C "$out" -j2 bzImage modules >"$work/logs/$name" 2>&1 || {
        tail "$work/logs/$name"
        fail "$name: the kernel does not build"
    }
    cat "${fragments[@]}" >"$out/.done"
}
