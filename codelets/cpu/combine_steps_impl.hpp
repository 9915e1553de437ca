// SPDX-License-Identifier: BSD-3-Clause
// The steps for the instruction set that the including file is compiled for. Everything here has internal linkage, and
// nothing of the standard library is called, so that no function made of newer instructions can replace a shared one.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <type_traits>

#include "codelets/cpu/combine_steps.hpp"

namespace heptad::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <typename T>
struct vector_of {
  typedef T aligned __attribute__((vector_size(vector_bytes)));
  typedef T unaligned __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
};

template <typename V, typename T>
inline void stream(T* to, V const& x) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i const&>(x));
#elif defined(__AVX__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i const&>(x));
#elif defined(__SSE2__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i const&>(x));
#else
  *reinterpret_cast<V*>(to) = x;
#endif
}

/// The first elements of a vector, `count` of them; zeros behind them. Nothing else is read.
template <typename T>
inline typename vector_of<T>::aligned load_first(T const* from, std::int64_t count) {
  using vector = typename vector_of<T>::aligned;
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 8)
    return reinterpret_cast<vector>(_mm512_maskz_loadu_pd(static_cast<__mmask8>((1 << count) - 1), from));
  else return reinterpret_cast<vector>(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1 << count) - 1), from));
#else
  vector x = {};
  for (std::int64_t i = 0; i < count; ++i) x[i] = from[i];
  return x;
#endif
}

/// Writes nothing else.
template <typename T, typename V>
inline void store_first(T* to, V const& x, std::int64_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 8)
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1 << count) - 1), reinterpret_cast<__m512d>(x));
  else _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1 << count) - 1), reinterpret_cast<__m512>(x));
#else
  for (std::int64_t i = 0; i < count; ++i) to[i] = x[i];
#endif
}

/// For writing the line is fetched for ownership, where the instruction set has that.
inline void prefetch_lines(void const* first, std::int64_t bytes, request how) {
  auto const* const begin = static_cast<char const*>(first);
  auto const* const last = begin + bytes - 1;
  auto const* line = begin - reinterpret_cast<std::uintptr_t>(begin) % 64;
  switch (how) {
    case request::reading:
      for (; line <= last; line += 64) __builtin_prefetch(line, 0, 3);
      return;
    case request::writing:
      for (; line <= last; line += 64) __builtin_prefetch(line, 1, 3);
      return;
    case request::second_level:
      for (; line <= last; line += 64) __builtin_prefetch(line, 0, 2);
  }
}

inline void fence_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

enum class store { ordinary, streamed, streamed_and_kept };

template <typename T, int Terms, store How>
void run_step(chunk_step<T> const& step, T* const* places, std::int64_t count) {
  using vector = typename vector_of<T>::aligned;
  using loose = typename vector_of<T>::unaligned;
  constexpr std::int64_t lanes = vector_bytes / static_cast<int>(sizeof(T));
  constexpr int slots = Terms == 0 ? 1 : Terms;
  T const* from[slots] = {};
  T coefficient[slots] = {};
  for (int t = 0; t < Terms; ++t) {
    from[t] = places[step.from[t]];
    coefficient[t] = step.coefficient[t];
  }
  T* const to = places[step.to];
  T* const keep = How == store::streamed_and_kept ? places[step.keep] : nullptr;

  auto const sum_of = [&](auto const& load) __attribute__((always_inline)) {
    vector sum = {};
    if constexpr (Terms > 0) sum = coefficient[0] * load(from[0]);
#pragma GCC unroll 8
    for (int t = 1; t < Terms; ++t) sum = sum + coefficient[t] * load(from[t]);
    return sum;
  };
  std::int64_t e = 0;
  for (; e + lanes <= count; e += lanes) {
    vector const sum = sum_of([&](T const* x) { return *reinterpret_cast<loose const*>(x + e); });
    if constexpr (How == store::ordinary) *reinterpret_cast<loose*>(to + e) = sum;
    if constexpr (How != store::ordinary) stream(to + e, sum);
    if constexpr (How == store::streamed_and_kept) *reinterpret_cast<loose*>(keep + e) = sum;
  }
  // What is streamed ends with a line: one that is written in part has to be read.
  constexpr std::int64_t line = 64 / static_cast<int>(sizeof(T));
  std::int64_t const end = How == store::ordinary ? count : (count + line - 1) / line * line;
  for (; e < end; e += lanes) {
    std::int64_t const left = count - e < 0 ? 0 : count - e < lanes ? count - e : lanes;
    vector const sum = sum_of([&](T const* x) { return load_first(x + e, left); });
    if constexpr (How == store::ordinary) store_first(to + e, sum, left);
    if constexpr (How != store::ordinary) stream(to + e, sum);
    if constexpr (How == store::streamed_and_kept) *reinterpret_cast<loose*>(keep + e) = sum;
  }
}

template <typename T, store How>
void run_terms(chunk_step<T> const& step, T* const* places, std::int64_t count) {
  static_assert(max_step_terms == 7);
  switch (step.terms) {
    case 0:
      return run_step<T, 0, How>(step, places, count);
    case 1:
      return run_step<T, 1, How>(step, places, count);
    case 2:
      return run_step<T, 2, How>(step, places, count);
    case 3:
      return run_step<T, 3, How>(step, places, count);
    case 4:
      return run_step<T, 4, How>(step, places, count);
    case 5:
      return run_step<T, 5, How>(step, places, count);
    case 6:
      return run_step<T, 6, How>(step, places, count);
    default:
      return run_step<T, 7, How>(step, places, count);
  }
}

template <typename T>
void run_any(chunk_step<T> const& step, T* const* places, std::int64_t count) {
  if (!step.streaming) return run_terms<T, store::ordinary>(step, places, count);
  if (step.keep < 0) return run_terms<T, store::streamed>(step, places, count);
  run_terms<T, store::streamed_and_kept>(step, places, count);
}

// ---- scan: magnitudes compared as integers, which orders finite numbers, then infinity, then NaN

template <typename T>
struct bits_of {
  using scalar = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  typedef scalar aligned __attribute__((vector_size(vector_bytes)));
  typedef scalar unaligned __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
  typedef scalar alias __attribute__((may_alias));
  static constexpr scalar without_sign = sizeof(T) == 8 ? scalar(INT64_MAX) : scalar(INT32_MAX);
  static constexpr std::int64_t lanes = vector_bytes / static_cast<int>(sizeof(T));
};

template <typename V>
inline V larger(V const& x, V const& y) {
  return x > y ? x : y;
}

/// The elements of one line from e on, by themselves.
template <typename T>
void look_singly(T const* from, std::int64_t e, std::int64_t end, T* of_places, T* of_line) {
  using scalar = typename bits_of<T>::scalar;
  using alias = typename bits_of<T>::alias;
  auto const* const line = reinterpret_cast<alias const*>(from);
  auto* const places = reinterpret_cast<alias*>(of_places);
  alias& most = *reinterpret_cast<alias*>(of_line);
  for (; e < end; ++e) {
    scalar const x = line[e] & bits_of<T>::without_sign;
    most = larger<scalar>(most, x);
    places[e] = larger<scalar>(places[e], x);
  }
}

// Bytes from what is read to what is asked for: the lines are too many and too short for the hardware to keep ahead.
constexpr std::int64_t scan_ahead = 2048;

template <typename T, int Lines, request How>
void scan_some(T const* const* from, T const* const* next, std::int64_t length, T* of_places, T* of_lines) {
  using bits = bits_of<T>;
  using vector = typename bits::aligned;
  using loose = typename bits::unaligned;
  vector const mask = vector{} + bits::without_sign;
  vector along[Lines] = {};
  std::int64_t e = 0;
  auto const run_to = [&](std::int64_t end, T const* const* ahead, std::int64_t shift) {
    for (; e + bits::lanes <= end; e += bits::lanes) {
      auto* const place = reinterpret_cast<loose*>(of_places + e);
      vector across = *place;
#pragma GCC unroll 4
      for (int q = 0; q < Lines; ++q) {
        __builtin_prefetch(ahead[q] + (e + shift), 0, How == request::second_level ? 2 : 3);
        vector const x = *reinterpret_cast<loose const*>(from[q] + e) & mask;
        along[q] = larger(along[q], x);
        across = larger(across, x);
      }
      *place = across;
    }
  };
  constexpr std::int64_t distance = scan_ahead / static_cast<int>(sizeof(T));
  std::int64_t const near_end = length > distance ? (length - distance) / bits::lanes * bits::lanes : 0;
  run_to(near_end, from, distance);
  run_to(length, next, -near_end);
  for (int q = 0; q < Lines; ++q) {
    auto& known = *reinterpret_cast<typename bits::alias*>(of_lines + q);
    typename bits::scalar most = known;
    for (int i = 0; i < bits::lanes; ++i) most = larger<typename bits::scalar>(most, along[q][i]);
    known = most;
    look_singly(from[q], e, length, of_places, of_lines + q);
  }
}

template <typename T>
void look_at_chunk(T const* from, std::int64_t count, T* of_places, T* of_line) {
  using bits = bits_of<T>;
  using vector = typename bits::aligned;
  using loose = typename bits::unaligned;
  vector const mask = vector{} + bits::without_sign;
  auto* const known = reinterpret_cast<loose*>(of_line);
  vector along = *known;
  std::int64_t e = 0;
  for (; e + bits::lanes <= count; e += bits::lanes) {
    auto* const place = reinterpret_cast<loose*>(of_places + e);
    vector const x = *reinterpret_cast<loose const*>(from + e) & mask;
    vector const across = *place;  // a reference to it would count as aligned
    along = larger(along, x);
    *place = larger(across, x);
  }
  *known = along;
  look_singly(from, e, count, of_places, of_line);
}

template <typename T, request How>
void scan_lines_of(T const* const* from, T const* const* next, int lines, std::int64_t length, T* of_places,
                   T* of_lines) {
  static_assert(scan_lines == 4);
  if (lines == scan_lines) scan_some<T, scan_lines, How>(from, next, length, of_places, of_lines);
  else scan_some<T, 1, How>(from, next, length, of_places, of_lines);
}

template <typename T>
void scan_any(T const* const* from, T const* const* next, int lines, std::int64_t length, request how, T* of_places,
              T* of_lines) {
  if (how == request::second_level)
    scan_lines_of<T, request::second_level>(from, next, lines, length, of_places, of_lines);
  else scan_lines_of<T, request::reading>(from, next, lines, length, of_places, of_lines);
}

}  // namespace
}  // namespace heptad::cpu
