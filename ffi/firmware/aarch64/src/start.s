// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Core 0 begins here, in EL1. The others sleep.
    .section .start, "ax"
    .globl _start
_start:
    mrs     x0, mpidr_el1
    and     x0, x0, #0xff
    cbnz    x0, 9f

    // Memory: 2 GiB of DDR, cached; then devices. Four blocks of 1 GiB, address = address.
    adrp    x0, page_table
    mov     x1, #0x701              // normal, inner shareable, accessed
    mov     x2, #0x40000000
    stp     x1, xzr, [x0]
    add     x1, x1, x2
    str     x1, [x0, #8]
    mov     x1, #0x405              // device, accessed
    movk    x1, #0x60, lsl #48      // nothing is executed there
    add     x1, x1, x2, lsl #1
    str     x1, [x0, #16]
    add     x1, x1, x2
    str     x1, [x0, #24]
    mov     x1, #0x04ff             // attribute 0: write-back; 1: device
    msr     mair_el1, x1
    ldr     x1, =0x803520           // 4 GiB, 4 KiB granule, walks cached, no upper half
    msr     tcr_el1, x1
    msr     ttbr0_el1, x0
    dsb     sy
    isb
    mrs     x1, sctlr_el1
    mov     x2, #0x1005             // caches and translation
    orr     x1, x1, x2
    msr     sctlr_el1, x1
    isb

    ldr     x0, =bss_begin          // statics are zero
    ldr     x1, =bss_end
1:  cmp     x0, x1
    b.hs    2f
    str     xzr, [x0], #8
    b       1b
2:  ldr     x0, =stack_end          // the stack is painted
    ldr     x1, =stack_start
    ldr     w2, =0x5ac45ac4
3:  str     w2, [x0], #4
    cmp     x0, x1
    b.lo    3b
    mov     sp, x1
    ldr     x0, =vectors
    msr     vbar_el1, x0
    isb
    bl      processor
9:  wfi
    b       9b

    .balign 4096
page_table:
    .space  4096

    .balign 2048
vectors:
    .macro  unexpected number
    .balign 128
    mov     x0, #\number
    mrs     x1, esr_el1
    mrs     x2, elr_el1
    b       fault
    .endm
    unexpected 0
    unexpected 1
    unexpected 2
    unexpected 3
    unexpected 4
    .balign 128                     // an interrupt: what a call may change is kept
    sub     sp, sp, #176
    stp     x0, x1, [sp, #0]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x29, [sp, #144]
    str     x30, [sp, #160]
    bl      interrupt
    ldp     x0, x1, [sp, #0]
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x9, [sp, #64]
    b       4f
    unexpected 6
    unexpected 7
    unexpected 8
    unexpected 9
    unexpected 10
    unexpected 11
4:  ldp     x10, x11, [sp, #80]
    ldp     x12, x13, [sp, #96]
    ldp     x14, x15, [sp, #112]
    ldp     x16, x17, [sp, #128]
    ldp     x18, x29, [sp, #144]
    ldr     x30, [sp, #160]
    add     sp, sp, #176
    eret
