# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Sourced by the kernel parts after tests/parts/lib.sh: kernel image, initial RAM disk, virtual
# machines.
# shellcheck disable=SC2154 # $target is lib.sh's

bench=$PWD/tests/kernel
work=$target/kernel
mkdir -p "$work/logs"

# Modules are built by as many compilers as there are processors.
MAKEFLAGS=-j$(nproc)
export MAKEFLAGS

# The processes that this run has started and not yet seen the end of; they end with it.
declare -A started=() vm_name=() vm_begun=()
machines=()
fabrics=()
end_started() {
    local pid
    for pid in "${!started[@]}"; do
        kill -9 "$pid" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    for fabric in "${fabrics[@]}"; do
        rm -rf "$fabric"
    done
}
trap end_started EXIT

# The tools of every kernel part.
kernel_tools() {
    [ "$(uname -m)" = x86_64 ] || skip "virtual machines are x86-64 only, and this is $(uname -m)"
    need_apt qemu-system-x86_64 qemu-system-x86
    need_apt busybox busybox-static
    need_apt modinfo kmod
    need_apt cpio
    need_apt python3
    need_apt make
    need_component rust-src
    gcc -static -O2 -Wall -Werror -o "$work/leave" "$bench/leave.c"
}

# Debian's kernel: headers installed, image only unpacked. Sets kernel (release), headers, vmlinux.
stock_kernel() {
    local package
    if ! dpkg -s linux-headers-amd64 >/dev/null 2>&1; then
        need_apt a-program-that-is-never-there linux-headers-amd64
    fi
    # Image and headers must be of the same build, so the headers that are here decide.
    package=$(dpkg-query -W -f '${Depends}' linux-headers-amd64 | sed 's/ .*//')
    kernel=${package#linux-headers-}
    headers=/usr/src/$package
    local version
    version=$(dpkg-query -W -f '${Version}' "$package")
    vmlinux=$work/vmlinux-$kernel-$version
    [ -s "$vmlinux" ] && return
    image_files "$work" 2 "./boot/vmlinuz-$kernel"
    "$bench/extract-vmlinux" "$work/vmlinuz-$kernel" "$vmlinux.new"
    mv "$vmlinux.new" "$vmlinux"
    rm "$work/vmlinuz-$kernel"
}

# image_files DIRECTORY DEPTH PATTERN…: files of the kernel's package, without DEPTH folders of
# their paths.
image_files() {
    local image=linux-image-$kernel version from
    version=$(dpkg-query -W -f '${Version}' "linux-headers-$kernel")
    from=$(mktemp -d)
    (
        cd "$from"
        apt-get download -qq "$image=$version" 2>/dev/null ||
            { alone apt-get update -qq && apt-get download -qq "$image=$version"; }
        dpkg-deb --fsys-tarfile "$image"_*.deb |
            tar -x -C "$1" --strip-components="$2" --wildcards "${@:3}"
    ) || fail "apt-get download $image=$version"
    rm -rf "$from"
}

# kernel_modules DIRECTORY NAME…: some of the kernel's own modules.
kernel_modules() {
    local at names=("${@:2}")
    at=$(mktemp -d)
    names=("${names[@]/#/./lib/modules/*/}")
    image_files "$at" 0 "${names[@]/%/.ko}"
    find "$at" -name '*.ko' -exec strip --strip-debug {} + -exec mv -t "$1" {} +
    rm -rf "$at"
}

# build_library OUT [CARGO ARGUMENTS]: the Rust archive for the kernel.
build_library() {
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$target} \
        ffi/kernel/build-lib.sh "$@" >"$work/logs/library" 2>&1 || {
        cat "$work/logs/library"
        fail "the kernel's library does not build"
    }
}

# copy_sources DIRECTORY: the module's sources, without what builds have left beside them.
copy_sources() {
    local folder
    for folder in . host transport client; do
        mkdir -p "$1/$folder"
        find "ffi/kernel/$folder" -maxdepth 1 \( -name '*.[ch]' -o -name '*.sh' -o -name objects \
            -o -name Kbuild -o -name Makefile \) ! -name '*.mod.c' -exec cp -t "$1/$folder" {} +
    done
}

# build_module HEADERS LIBRARY [MAKE ARGUMENTS]: lnd_soft.ko, in a copy of the sources. What the
# compiler and the checkers say goes to logs/make.
build_module() {
    local headers=$1 library=$2
    rm -rf "$work/module"
    mkdir -p "$work/module/kernel"
    copy_sources "$work/module/kernel"
    cp -r ffi/include "$work/module/include"
    make -s -C "$work/module/kernel" KDIR="$headers" LND_LIB="$library" "${@:3}" \
        >"$work/logs/make" 2>&1 || {
        cat "$work/logs/make"
        fail "the module does not build"
    }
    # Debian's headers come without the kernel's own type information.
    sed -i '/Skipping BTF generation/d' "$work/logs/make"
}

# dkms_build FOLDER LIBRARY [MAKE ARGUMENTS]: the module of ffi/FOLDER by DKMS, in folders of its
# own, from what its "make dkms" lays out.
dkms_build() {
    local tree=$work/dkms/tree from=$work/dkms/source conf=$work/dkms/new/dkms.conf
    local name version module built
    need_apt dkms
    rm -rf "$work/dkms"
    mkdir -p "$tree" "$from"
    make -s -C "ffi/$1" dkms LND_LIB="$2" DKMS_SOURCE="$work/dkms/new" "${@:3}"
    name=$(sed -n 's/^PACKAGE_NAME="\(.*\)"/\1/p' "$conf")
    version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$conf")
    module=$(sed -n 's/^BUILT_MODULE_NAME\[0\]="\(.*\)"/\1/p' "$conf")
    mv "$work/dkms/new" "$from/$name-$version"
    (
        # Keys of its own, too; and no Rust.
        export mok_signing_key=$work/dkms/key mok_certificate=$work/dkms/certificate
        export PATH=/usr/sbin:/usr/bin:/sbin:/bin
        dkms add --dkmstree "$tree" --sourcetree "$from" -m "$name" -v "$version" &&
            dkms build --dkmstree "$tree" --sourcetree "$from" -m "$name" -v "$version" \
                -k "$kernel" --kernelsourcedir "$headers"
    ) >"$work/logs/dkms" 2>&1 || {
        cat "$work/logs/dkms" "$tree/$name"/*/build/make.log 2>/dev/null || true
        fail "DKMS does not build the module"
    }
    built=$tree/$name/$version/$kernel/$(uname -m)/module/$module.ko
    [[ $(modinfo -F vermagic "$built") == "$kernel "* ]] ||
        fail "DKMS has built no module for $kernel"
    note "DKMS builds $module.ko without Rust"
}

# build_host: the node in a process.
build_host() {
    (cd ffi/kernel/rust && CARGO_TARGET_DIR=$target/kernel-host cargo build --release)
    gcc -O2 -Wall -Wextra -Werror -Iffi/include -Iffi/kernel/client -o "$work/host" \
        "$bench/host.c" "$bench/upper.c" "$target/kernel-host/release/liblnd_kernel.a"
}

# find_checkpatch: prints where the kernel's style checker is; taken out of linux-source, and kept.
find_checkpatch() {
    local kept=$work/checkpatch
    if [ ! -e "$kept/scripts/checkpatch.pl" ]; then
        mkdir -p "$kept"
        (
            cd "$kept"
            apt-get download -qq linux-source-6.1 >/dev/null 2>&1
            dpkg-deb --fsys-tarfile linux-source-6.1_*.deb |
                tar -xO ./usr/src/linux-source-6.1.tar.xz |
                tar -xJ --strip-components=1 --wildcards 'linux-source-6.1/scripts/checkpatch.pl' \
                    'linux-source-6.1/scripts/spelling.txt' \
                    'linux-source-6.1/scripts/const_structs.checkpatch'
            rm -f linux-source-6.1_*.deb
        ) || return 1
    fi
    printf '%s\n' "$kept/scripts/checkpatch.pl"
}

# initrd OUT TEST FILE…: busybox, init, and in /t the test's script and files.
initrd() {
    local out=$1 test=$2 root
    shift 2
    root=$(mktemp -d)
    mkdir -p "$root/t"
    [ $# = 0 ] || cp "$@" "$root/t/"
    initrd_of "$root" "$out" "$test"
    rm -rf "$root"
}

# initrd_of ROOT OUT TEST: the same with what ROOT has already.
initrd_of() {
    mkdir -p "$1/bin" "$1/t"
    cp "$(command -v busybox)" "$1/bin/busybox"
    cp "$work/leave" "$1/bin/leave"
    cp "$bench/init" "$1/init"
    chmod +x "$1/init"
    cp "$3" "$1/t/test.sh"
    cp "$bench/complaints" "$bench/guest/lib.sh" "$1/t/"
    (cd "$1" && find . | cpio -o -H newc --quiet) >"$2"
}

# vm_start NAME KERNEL INITRD [QEMU ARGUMENTS]: boots; sets vm_pid. The console goes to logs/NAME.
vm_start() {
    local name=$1 kernel=$2 disk=$3 cpus=${VM_CPUS:-2}
    shift 3
    # Of a machine that can never have a second processor QEMU assumes that nothing else touches its
    # memory: it leaves the lock out of atomic instructions, and what another machine writes to the
    # fabric meanwhile is lost. No timer check: on a loaded host the guest's check of its timer may
    # fail for want of time.
    qemu-system-x86_64 -machine q35 -accel "tcg,thread=${VM_THREAD:-multi}" -cpu max \
        -smp "cpus=$cpus,maxcpus=$((cpus < 2 ? 2 : cpus))" -m "${VM_MEMORY:-512}" \
        -nodefaults -display none -no-reboot -serial stdio \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 -kernel "$kernel" -initrd "$disk" \
        -append "console=ttyS0 panic=-1 oops=panic loglevel=6 no_timer_check ${VM_APPEND-}" \
        "$@" >"$work/logs/$name" 2>&1 </dev/null &
    vm_pid=$!
    started[$vm_pid]=vm
    vm_name[$vm_pid]=$name
    vm_begun[$vm_pid]=$EPOCHREALTIME
}

# vm_wait PID: waits for a virtual machine, at most VM_LIMIT seconds (of one that does not hang:
# minutes), and sets vm_status: 0 well, 1 test failed, 2 the kernel complained, 99 it went down
# without a status (panic), 137 killed or hung. Sets vm_seconds: from its start to the last that its
# console said.
vm_wait() {
    local pid=$1 status=0 watchdog i
    # In short naps: the last one outlives it.
    {
        for ((i = 0; i < ${VM_LIMIT:-600}; i++)); do sleep 1; done
        kill -9 "$pid"
    } >/dev/null 2>&1 &
    watchdog=$!
    wait "$pid" 2>/dev/null || status=$?
    unset "started[$pid]"
    kill "$watchdog" 2>/dev/null || true
    wait "$watchdog" 2>/dev/null || true
    case $status in
    33) vm_status=0 ;;
    35) vm_status=1 ;;
    37) vm_status=2 ;;
    0) vm_status=99 ;;
    *) vm_status=$status ;;
    esac
    vm_seconds=$(awk -v a="${vm_begun[$pid]}" -v b="$(stat -c %.Y "$work/logs/${vm_name[$pid]}")" \
        'BEGIN { printf "%.1f", b - a }')
}

# vm NAME KERNEL INITRD [QEMU ARGUMENTS]: one machine from start to end. Sets vm_status, vm_seconds,
# and vm_cpu: the processor time that it took of the host.
# shellcheck disable=SC2034 # read by callers
vm() {
    local before
    before=$(children_seconds)
    vm_start "$@"
    vm_wait "$vm_pid"
    vm_cpu=$(awk -v a="$before" -v b="$(children_seconds)" 'BEGIN { printf "%.1f", b - a }')
}

# children_seconds: processor time of the processes that this shell has seen the end of.
children_seconds() {
    # Fields 16 and 17 of stat; the name before them has no blanks.
    awk -v hertz="$(getconf CLK_TCK)" '{ print ($16 + $17) / hertz }' "/proc/$$/stat"
}

# since TIME: seconds since then.
since() {
    awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'
}

# wait_for SECONDS COMMAND…: until the command succeeds.
wait_for() {
    local tries=$(($1 * 20))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}

# passed NAME: the machine ended well, and is listed in machines; else its console is shown.
passed() {
    if [ "$vm_status" != 0 ]; then
        tail -n 60 "$work/logs/$1"
        fail "virtual machine $1 ended with status $vm_status"
    fi
    machines+=("$1 $vm_seconds")
}

# fabric_start NODES SHARDS WINDOW_MIB: a fabric file and the doorbells of its machines. Sets
# fabric.
fabric_start() {
    fabric=$(mktemp -d /dev/shm/lnd-kernel.XXXXXX)
    fabrics+=("$fabric")
    "$work/host" format "$fabric/memory" "$1" 2 128 "$3"
    rm -f "$work/logs/doorbell"
    "$bench/doorbell" "$fabric/memory" "$fabric" "$2" >"$work/logs/doorbell" 2>&1 &
    started[$!]=doorbell
    wait_for 300 grep -qs ready "$work/logs/doorbell" || fail "the doorbell server did not start"
}

# on_fabric MACHINE [VECTORS [NAME]]: QEMU's arguments for a machine on the fabric, into on_fabric;
# a further device of one machine needs a name of its own.
on_fabric() {
    # Read by callers.
    # shellcheck disable=SC2034
    on_fabric=(-chardev "socket,path=$fabric/machine-$1,id=${3:-bell}"
        -device "ivshmem-doorbell,vectors=${2:-1},chardev=${3:-bell}")
}
