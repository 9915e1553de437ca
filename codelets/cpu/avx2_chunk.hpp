// SPDX-License-Identifier: BSD-3-Clause
// The k-steps of a whole AVX2 tile in assembly: 12 registers of sums, three of A, one of B, and 19 instructions a step.
// What the compiler makes of the loop in simd_kernels.hpp has 26, and on a core that shares its issue slots with a
// second thread that is a third more time. Included by avx2.cpp alone.
#pragma once

// clang-format off
#define HEPTAD_COLUMN(STEP, J, TYPE, BYTES)                                  \
  "vbroadcasts" TYPE " (4*" #STEP "+" #J ")*" #BYTES "(%[b]), %%ymm15\n\t"   \
  "vfmadd231p" TYPE " %%ymm15, %%ymm12, %[c" #J "0]\n\t"                     \
  "vfmadd231p" TYPE " %%ymm15, %%ymm13, %[c" #J "1]\n\t"                     \
  "vfmadd231p" TYPE " %%ymm15, %%ymm14, %[c" #J "2]\n\t"
#define HEPTAD_STEP(STEP, TYPE, BYTES)                                       \
  "vmovup" TYPE " 96*" #STEP "(%[a]), %%ymm12\n\t"                           \
  "vmovup" TYPE " 96*" #STEP "+32(%[a]), %%ymm13\n\t"                        \
  "vmovup" TYPE " 96*" #STEP "+64(%[a]), %%ymm14\n\t"                        \
  HEPTAD_COLUMN(STEP, 0, TYPE, BYTES) HEPTAD_COLUMN(STEP, 1, TYPE, BYTES)    \
  HEPTAD_COLUMN(STEP, 2, TYPE, BYTES) HEPTAD_COLUMN(STEP, 3, TYPE, BYTES)
#define HEPTAD_FOUR_STEPS(P, Q, R, S, TYPE, BYTES)                           \
  HEPTAD_STEP(P, TYPE, BYTES) HEPTAD_STEP(Q, TYPE, BYTES)                    \
  HEPTAD_STEP(R, TYPE, BYTES) HEPTAD_STEP(S, TYPE, BYTES)

/// c[j][i] += vector i of A times element j of B, for 16 steps of a panel of A (3 vectors each) and one of B (4 elements
/// each). TYPE "d" or "s", BYTES of an element.
#define HEPTAD_CHUNK(A, B, C, TYPE, BYTES)                                                       \
  asm(HEPTAD_FOUR_STEPS(0, 1, 2, 3, TYPE, BYTES) HEPTAD_FOUR_STEPS(4, 5, 6, 7, TYPE, BYTES)      \
      HEPTAD_FOUR_STEPS(8, 9, 10, 11, TYPE, BYTES) HEPTAD_FOUR_STEPS(12, 13, 14, 15, TYPE, BYTES) \
      : [c00] "+x"(C[0][0]), [c01] "+x"(C[0][1]), [c02] "+x"(C[0][2]),                           \
        [c10] "+x"(C[1][0]), [c11] "+x"(C[1][1]), [c12] "+x"(C[1][2]),                           \
        [c20] "+x"(C[2][0]), [c21] "+x"(C[2][1]), [c22] "+x"(C[2][2]),                           \
        [c30] "+x"(C[3][0]), [c31] "+x"(C[3][1]), [c32] "+x"(C[3][2])                            \
      : [a] "r"(A), [b] "r"(B)                                                                   \
      : "ymm12", "ymm13", "ymm14", "ymm15", "memory")
// clang-format on
