// SPDX-License-Identifier: BSD-3-Clause
// A routine of the backend that may be called with the caller's own pointers, or with values of 64 bits: then it is
// the one with 32-bit integers where they suffice, and the one with 64-bit integers where the backend has it.
// Every CHARACTER argument is followed, after all others, by its length, as Fortran compilers expect.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "blas/backend.hpp"
#include "blas/say.hpp"

namespace heptad::blas {

/// An argument of type X as Fortran takes it: arrays as they are, all else by address; integers as Int.
template <typename Int, typename X>
using held_as = std::conditional_t<std::is_same_v<X, std::int64_t>, Int, X>;
template <typename Int, typename X>
using passed_as = std::conditional_t<std::is_pointer_v<X>, X, held_as<Int, X> const*>;

/// Args: char, std::int64_t, a scalar, or a pointer to elements.
template <typename... Args>
class routine {
public:
  /// Symbols end in _, or in _64_ where integers have 64 bits.
  routine(backend const& real, char type, char const* name) : name_(fmt::format("{}{}", type, name)) {
    lp64_ = reinterpret_cast<function<std::int32_t>*>(real.find(fmt::format("{}_", name_).c_str()));
    // Arrays of integers are of 32 bits here.
    if constexpr ((std::is_same_v<Args, std::int32_t*> || ...)) return;
    ilp64_ = reinterpret_cast<function<std::int64_t>*>(real.find(fmt::format("{}_64_", name_).c_str()));
  }

  [[nodiscard]] bool exists() const noexcept { return lp64_ != nullptr || ilp64_ != nullptr; }

  void operator()(Args... args) const {
    if (lp64_ != nullptr && (fits(args) && ...)) call<std::int32_t>(lp64_, args...);
    else if (ilp64_ != nullptr) call<std::int64_t>(ilp64_, args...);
    else missing();
  }

  /// The caller's own call.
  template <typename Int>
  void pass(passed_as<Int, Args>... args) const {
    if constexpr (sizeof(Int) == sizeof(std::int32_t)) {
      if (lp64_ != nullptr) return with_lengths(lp64_, args...);
    } else {
      if (ilp64_ != nullptr) return with_lengths(ilp64_, args...);
    }
    (*this)(value<Args>(args)...);
  }

private:
  static constexpr std::size_t characters = (std::size_t{std::is_same_v<Args, char>} + ... + 0);
  template <std::size_t>
  using length = std::size_t;
  template <typename Int, typename Lengths = std::make_index_sequence<characters>>
  struct with;
  template <typename Int, std::size_t... I>
  struct with<Int, std::index_sequence<I...>> {
    using function = void(passed_as<Int, Args>..., length<I>...);
  };
  template <typename Int>
  using function = typename with<Int>::function;

  template <typename X>
  static bool fits(X x) noexcept {
    if constexpr (std::is_same_v<X, std::int64_t>) return x == static_cast<std::int32_t>(x);
    else return true;
  }
  template <typename X, typename P>
  static X value(P passed) noexcept {
    if constexpr (std::is_pointer_v<X>) return passed;
    else return static_cast<X>(*passed);
  }
  template <typename P, typename X>
  static P address(X const& x) noexcept {
    if constexpr (std::is_pointer_v<X>) return x;
    else return &x;
  }

  template <typename F, typename... P>
  static void with_lengths(F* f, P... passed) {
    if constexpr (characters == 0) f(passed...);
    else if constexpr (characters == 1) f(passed..., 1);
    else if constexpr (characters == 2) f(passed..., 1, 1);
    else f(passed..., 1, 1, 1, 1);
    static_assert(characters <= 2 || characters == 4);
  }

  template <typename Int>
  static void call(function<Int>* f, Args... args) {
    std::tuple<held_as<Int, Args>...> const held(static_cast<held_as<Int, Args>>(args)...);
    std::apply([f](auto const&... x) { with_lengths(f, address<passed_as<Int, Args>>(x)...); }, held);
  }

  void missing() const {
    say("the backend has no {} for such sizes", name_);
    std::abort();
  }

  std::string name_;
  function<std::int32_t>* lp64_ = nullptr;
  function<std::int64_t>* ilp64_ = nullptr;
};

template <typename T>
inline constexpr char type_letter = sizeof(T) == sizeof(double) ? 'd' : 's';

/// The routines of level 3 that the drop-in carries, as the backend has them.
template <typename T>
struct level3 {
  using size = std::int64_t;
  using rank_k = routine<char, char, size, size, T, T const*, size, T, T*, size>;
  using rank_2k = routine<char, char, size, size, T, T const*, size, T const*, size, T, T*, size>;
  using triangular = routine<char, char, char, char, size, size, T, T const*, size, T*, size>;

  explicit level3(backend const& real)
      : gemm(real, type_letter<T>, "gemm"),
        symm(real, type_letter<T>, "symm"),
        syrk(real, type_letter<T>, "syrk"),
        syr2k(real, type_letter<T>, "syr2k"),
        trmm(real, type_letter<T>, "trmm"),
        trsm(real, type_letter<T>, "trsm") {}

  routine<char, char, size, size, size, T, T const*, size, T const*, size, T, T*, size> gemm;
  rank_2k symm;
  rank_k syrk;
  rank_2k syr2k;
  triangular trmm, trsm;
};

/// The factorizations.
template <typename T>
struct factorizations {
  using size = std::int64_t;
  using pivots = std::int32_t*;

  explicit factorizations(backend const& real)
      : getrf(real, type_letter<T>, "getrf"),
        potrf(real, type_letter<T>, "potrf"),
        gesv(real, type_letter<T>, "gesv") {}

  routine<size, size, T*, size, pivots, std::int32_t*> getrf;
  routine<char, size, T*, size, std::int32_t*> potrf;
  routine<size, size, T*, size, pivots, T*, size, std::int32_t*> gesv;
};

}  // namespace heptad::blas
