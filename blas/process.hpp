// SPDX-License-Identifier: BSD-3-Clause
// The state of the drop-in in this process: what the user set, the backend, which shapes pay, and the audit. Made at
// the first call; a forked child gets fresh locks.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include <heptad/heptad.hpp>

#include "blas/backend.hpp"
#include "blas/routine.hpp"
#include "blas/settings.hpp"

namespace heptad::blas {

/// m, n and k of a call, 0 where the routine has none.
struct call_shape {
  std::int64_t m = 0, n = 0, k = 0;
};

/// A product is a call of its own, or one between calls of the backend.
enum class place { alone, between };

/// What Heptad promises of a piece of work, and what a classical product would take for it.
struct promise {
  double seconds = 0, classical_seconds = 0;
  int workers = 1;
};

/// The calls of one routine for one type, counted only when the user asked for the summary.
struct tally {
  std::atomic<std::uint64_t> calls{0}, carried{0}, nanoseconds{0};
};

/// Of a product, where their number may not fit an integer.
inline double multiplications(std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

class process {
public:
  explicit process(settings given);

  settings const how;
  backend const real;

  template <typename T>
  [[nodiscard]] level3<T> const& backend_of() const noexcept {
    if constexpr (sizeof(T) == sizeof(double)) return f64_;
    else return f32_;
  }

  template <typename T>
  [[nodiscard]] factorizations<T> const& lapack_of() const noexcept {
    if constexpr (sizeof(T) == sizeof(double)) return lapack_f64_;
    else return lapack_f32_;
  }

  /// The first test of every call, for the small ones' sake no more than a comparison: may Heptad carry it at all?
  template <typename T>
  [[nodiscard]] bool considers(routine_id routine, double multiplications) const noexcept {
    return multiplications >= least_work_ && multiplications > 0 && how.allows<T>(routine);
  }

  /// Does Heptad's plan promise enough over a classical product, which is the backend's business? Remembered.
  template <typename T>
  bool pays(problem const& shape, place where);
  /// The same of work that is several products.
  [[nodiscard]] bool pays(promise const& all, place where) const noexcept;
  /// What Heptad promises of a product, with levels where they pay; nothing when it cannot be planned.
  template <typename T>
  std::optional<promise> promise_of(problem const& shape);

  /// C := alpha A B + beta C by Heptad, with levels where they pay; false when it cannot (overlapping operands, no
  /// memory), with C untouched, or where beta is 0 perhaps overwritten.
  template <typename T>
  bool multiply(T alpha, matrix_view<T const> const& A, matrix_view<T const> const& B, T beta, matrix_view<T> const& C);
  /// The same by the backend.
  template <typename T>
  void multiply_by_backend(T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta, matrix_view<T> C) const;
  /// The same by Heptad, or by the backend when Heptad cannot.
  template <typename T>
  void multiply_in_any_case(T alpha, matrix_view<T const> const& A, matrix_view<T const> const& B, T beta,
                            matrix_view<T> const& C) {
    if (!multiply(alpha, A, B, beta, C)) multiply_by_backend(alpha, A, B, beta, C);
  }
  /// Of Heptad's, for work that is no product.
  [[nodiscard]] int workers() const noexcept;

  /// Runs `body`, which says whether Heptad carried the call; counts, times and tells it when the user asked for that.
  template <typename T, typename Body>
  bool carry(routine_id routine, call_shape const& shape, Body const& body) {
    if (!how.verbose) return body();
    std::uint64_t const before = fast_products_;
    auto const begin = std::chrono::steady_clock::now();
    bool const carried = body();
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - begin;
    note(routine, sizeof(T) == sizeof(float), shape, carried, elapsed.count(), fast_products_ - before);
    return carried;
  }
  /// Counts a call that is not even considered; false.
  template <typename T>
  bool pass_on(routine_id routine) noexcept {
    if (how.verbose) ++tallies_[static_cast<std::size_t>(routine)][sizeof(T) == sizeof(float)].calls;
    return false;
  }
  /// One line a routine on stderr.
  void print_summary() const noexcept;
  /// In the child: fresh locks, an empty audit.
  void after_fork() noexcept;

private:
  struct memo;
  /// Over the one before, which is not destroyed.
  static memo* fresh_memo() noexcept;
  void follow_threads();
  void note(routine_id routine, bool is_float, call_shape const& shape, bool carried, double seconds,
            std::uint64_t products) noexcept;

  level3<double> const f64_;
  level3<float> const f32_;
  factorizations<double> const lapack_f64_;
  factorizations<float> const lapack_f32_;
  double least_work_;  // multiplications; below, calls are passed on
  memo* memo_;
  std::array<std::array<tally, 2>, routine_count> tallies_;
  std::atomic<std::uint64_t> fast_products_{0};
  bool is_child_ = false;  // of a fork: it has no workers
};

/// That of this process, made at the first call.
process& this_process();

}  // namespace heptad::blas
