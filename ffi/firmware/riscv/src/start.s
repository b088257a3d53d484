# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Both harts begin here. Hart 0 prepares memory and wakes hart 1 when there is work for it.
    .option push
    .option arch, +zicsr
    .section .start, "ax"
    .globl _start
_start:
    csrw    mie, zero
    csrr    a0, mhartid
    bnez    a0, 4f

    la      t0, bss_begin           # statics are zero
    la      t1, bss_end
1:  bgeu    t0, t1, 2f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       1b
2:  la      t0, stack0_end          # both stacks are painted
    la      t1, stack1_start
    li      t2, 0x5ac45ac4
3:  sw      t2, 0(t0)
    addi    t0, t0, 4
    bltu    t0, t1, 3b
    la      sp, stack0_start
    la      t0, trap_entry
    csrw    mtvec, t0
    call    processor
    j       .

4:  li      t0, 1
    bne     a0, t0, 6f
    csrw    mie, 8                  # the software interrupt wakes, and is never taken
5:  wfi
    csrr    t0, mip
    andi    t0, t0, 8
    beqz    t0, 5b
    la      sp, stack1_start
    call    device
6:  wfi                             # boards with more harts
    j       6b

    .balign 4
trap_entry:                         # what a call may change is kept
    addi    sp, sp, -64
    sw      ra, 0(sp)
    sw      t0, 4(sp)
    sw      t1, 8(sp)
    sw      t2, 12(sp)
    sw      a0, 16(sp)
    sw      a1, 20(sp)
    sw      a2, 24(sp)
    sw      a3, 28(sp)
    sw      a4, 32(sp)
    sw      a5, 36(sp)
    sw      a6, 40(sp)
    sw      a7, 44(sp)
    sw      t3, 48(sp)
    sw      t4, 52(sp)
    sw      t5, 56(sp)
    sw      t6, 60(sp)
    csrr    a0, mcause
    call    trap
    lw      ra, 0(sp)
    lw      t0, 4(sp)
    lw      t1, 8(sp)
    lw      t2, 12(sp)
    lw      a0, 16(sp)
    lw      a1, 20(sp)
    lw      a2, 24(sp)
    lw      a3, 28(sp)
    lw      a4, 32(sp)
    lw      a5, 36(sp)
    lw      a6, 40(sp)
    lw      a7, 44(sp)
    lw      t3, 48(sp)
    lw      t4, 52(sp)
    lw      t5, 56(sp)
    lw      t6, 60(sp)
    addi    sp, sp, 64
    mret
    .option pop
