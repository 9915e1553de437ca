// SPDX-License-Identifier: BSD-3-Clause
// Kernel set "avx2": tiles of 12×4 doubles and 24×4 floats in 12 of the 16 vector registers; beside an A in place the
// last columns may take 8×5 and 8×6, 16×5 and 16×6.
#include <immintrin.h>

#include "codelets/cpu/kernel_sets_builtin.hpp"
#include "codelets/cpu/simd_dots.hpp"
#include "codelets/cpu/simd_kernels.hpp"
#include "codelets/cpu/simd_slabs.hpp"

namespace heptad::cpu {
namespace {

// The first lanes of a vector. They are stored in pieces: a masked store takes 12 cycles on a Zen 4, the pieces 3
// (a masked load 1).
struct first_lanes {
  __m256i mask;
  int count;
};

struct avx2_f64 {
  using element = double;
  using vector = __m256d;
  using mask = first_lanes;
  static constexpr int lanes = 4, nr = 4, tile = 4, most_columns = 6, wide_vectors = 2, narrow = 0, chunk = 16,
                       registers = 16, chunks_ahead = 0;
  static constexpr bool halves = false;
  static mask first(int count) {
    return {_mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0)), count};
  }
  static vector zero() { return _mm256_setzero_pd(); }
  static vector load(double const* p) { return _mm256_loadu_pd(p); }
  static vector load(double const* p, mask m) { return _mm256_maskload_pd(p, m.mask); }
  static void store(double* p, vector x) { _mm256_storeu_pd(p, x); }
  static void store(double* p, vector x, mask m) {
    if (m.count == lanes) return store(p, x);
    __m128d pair = _mm256_castpd256_pd128(x);
    if (m.count & 2) {
      _mm_storeu_pd(p, pair);
      p += 2, pair = _mm256_extractf128_pd(x, 1);
    }
    if (m.count & 1) _mm_store_sd(p, pair);
  }
  static vector broadcast(double x) { return _mm256_set1_pd(x); }
  static vector add(vector a, vector b) { return _mm256_add_pd(a, b); }
  static vector mul(vector a, vector b) { return _mm256_mul_pd(a, b); }
  static vector fma(vector a, vector b, vector c) { return _mm256_fmadd_pd(a, b, c); }
  // Of the lanes of each.
  [[gnu::always_inline]] static void sums(vector const (&x)[4], double* to) {
    vector const a = _mm256_hadd_pd(x[0], x[1]), b = _mm256_hadd_pd(x[2], x[3]);
    store(to, add(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31)));
  }

  // r[c] holds 4 steps of column c; row p of the result (4 columns) goes to packed + p·stride.
  [[gnu::always_inline]] static void store_transposed(vector (&r)[4], double* packed, std::int64_t stride) {
    vector const a = _mm256_unpacklo_pd(r[0], r[1]), b = _mm256_unpackhi_pd(r[0], r[1]);
    vector const c = _mm256_unpacklo_pd(r[2], r[3]), d = _mm256_unpackhi_pd(r[2], r[3]);
    store(packed, _mm256_permute2f128_pd(a, c, 0x20));
    store(packed + stride, _mm256_permute2f128_pd(b, d, 0x20));
    store(packed + 2 * stride, _mm256_permute2f128_pd(a, c, 0x31));
    store(packed + 3 * stride, _mm256_permute2f128_pd(b, d, 0x31));
  }
};

struct avx2_f32 {
  using element = float;
  using vector = __m256;
  using mask = first_lanes;
  static constexpr int lanes = 8, nr = 4, tile = 4, most_columns = 6, wide_vectors = 2, narrow = 0, chunk = 16,
                       registers = 16, chunks_ahead = 0;
  static constexpr bool halves = false;
  static mask first(int count) {
    return {_mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0)), count};
  }
  static vector zero() { return _mm256_setzero_ps(); }
  static vector load(float const* p) { return _mm256_loadu_ps(p); }
  static vector load(float const* p, mask m) { return _mm256_maskload_ps(p, m.mask); }
  static void store(float* p, vector x) { _mm256_storeu_ps(p, x); }
  static void store(float* p, vector x, mask m) {
    if (m.count == lanes) return store(p, x);
    __m128 four = _mm256_castps256_ps128(x);
    if (m.count & 4) {
      _mm_storeu_ps(p, four);
      p += 4, four = _mm256_extractf128_ps(x, 1);
    }
    if (m.count & 2) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), four);
      p += 2, four = _mm_movehl_ps(four, four);
    }
    if (m.count & 1) _mm_store_ss(p, four);
  }
  static vector load_half(float const* p) { return _mm256_zextps128_ps256(_mm_loadu_ps(p)); }
  static void store_half(float* p, vector x) { _mm_storeu_ps(p, _mm256_castps256_ps128(x)); }
  static vector broadcast(float x) { return _mm256_set1_ps(x); }
  static vector add(vector a, vector b) { return _mm256_add_ps(a, b); }
  static vector mul(vector a, vector b) { return _mm256_mul_ps(a, b); }
  static vector fma(vector a, vector b, vector c) { return _mm256_fmadd_ps(a, b, c); }
  // Of the lanes of each.
  [[gnu::always_inline]] static void sums(vector const (&x)[4], float* to) {
    vector const halves = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1)));
  }

  // r[c] holds 8 steps of column c; row p of the result (4 columns) goes to packed + p·stride.
  [[gnu::always_inline]] static void store_transposed(vector (&r)[4], float* packed, std::int64_t stride) {
    __m256d const a = _mm256_castps_pd(_mm256_unpacklo_ps(r[0], r[1])),
                  b = _mm256_castps_pd(_mm256_unpackhi_ps(r[0], r[1]));
    __m256d const c = _mm256_castps_pd(_mm256_unpacklo_ps(r[2], r[3])),
                  d = _mm256_castps_pd(_mm256_unpackhi_ps(r[2], r[3]));
    vector const steps[4] = {_mm256_castpd_ps(_mm256_unpacklo_pd(a, c)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, c)),
                             _mm256_castpd_ps(_mm256_unpacklo_pd(b, d)),
                             _mm256_castpd_ps(_mm256_unpackhi_pd(b, d))};  // s and 4 + s
    for (int s = 0; s < 4; ++s) {
      _mm_storeu_ps(packed + s * stride, _mm256_castps256_ps128(steps[s]));
      _mm_storeu_ps(packed + (4 + s) * stride, _mm256_extractf128_ps(steps[s], 1));
    }
  }
};

bool available() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

}  // namespace

kernel_set<double> const avx2_kernels_f64{"avx2",
                                          available,
                                          simd_kernels<avx2_f64>::blocks,
                                          simd_packing<avx2_f64>::pack_a,
                                          simd_packing<avx2_f64>::pack_b,
                                          simd_kernels<avx2_f64>::macro,
                                          avx2_f64::lanes,
                                          simd_kernels<avx2_f64>::asks_below,
                                          first_tile<avx2_f64>,
                                          simd_dots<avx2_f64>::dots,
                                          avx2_f64::lanes,
                                          3 * avx2_f64::lanes / 2,
                                          simd_slabs<avx2_f64>::pack_b,
                                          simd_slabs<avx2_f64>::macro,
                                          simd_slabs<avx2_f64>::rows};
kernel_set<float> const avx2_kernels_f32{"avx2",
                                         available,
                                         simd_kernels<avx2_f32>::blocks,
                                         simd_packing<avx2_f32>::pack_a,
                                         simd_packing<avx2_f32>::pack_b,
                                         simd_kernels<avx2_f32>::macro,
                                         avx2_f32::lanes,
                                         simd_kernels<avx2_f32>::asks_below,
                                         first_tile<avx2_f32>,
                                         simd_dots<avx2_f32>::dots,
                                         avx2_f32::lanes / 2,
                                         3 * avx2_f32::lanes / 2,
                                         simd_slabs<avx2_f32>::pack_b,
                                         simd_slabs<avx2_f32>::macro,
                                         simd_slabs<avx2_f32>::rows};

}  // namespace heptad::cpu
