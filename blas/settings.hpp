// SPDX-License-Identifier: BSD-3-Clause
// What the user asks of the drop-in: the HEPTAD_BLAS_* variables, and those that say how many threads a BLAS may use.
// The variables of the library itself (HEPTAD_MAX_ERROR, HEPTAD_FORCE_LEVELS, …) are read by the library.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace heptad::blas {

/// The routines that Heptad can carry.
enum class routine_id { gemm, symm, syrk, syr2k, trmm, trsm, getrf, potrf, gesv };
inline constexpr int routine_count = 9;
char const* name_of(routine_id routine) noexcept;

/// A value that its variable cannot have; what() names both and the rule.
class bad_setting : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct settings {
  bool disabled = false;         ///< HEPTAD_BLAS_DISABLE=1: every call goes to the backend
  double min_size = 1024;        ///< HEPTAD_BLAS_MIN_SIZE: calls with less than min_size³ multiplications go there too
  std::string backend;           ///< HEPTAD_BLAS_BACKEND: openblas, blis, mkl, reference, a path; "": found
  std::uint32_t routines = ~0u;  ///< HEPTAD_BLAS_ROUTINES: two bits a routine, for double and for float
  bool own_threads = false;      ///< HEPTAD_NUM_THREADS is set: the backend's threads do not matter
  int threads = 0;               ///< OPENBLAS_NUM_THREADS, else OMP_NUM_THREADS; 0: neither says
  bool forced_levels = false;    ///< HEPTAD_FORCE_LEVELS is set: Heptad carries all that it may, pay or not
  bool verbose = false;          ///< HEPTAD_VERBOSE=1: a line a call, a summary at exit

  template <typename T>
  [[nodiscard]] bool allows(routine_id routine) const noexcept {
    return (routines >> (2 * static_cast<int>(routine) + (sizeof(T) == sizeof(float))) & 1) != 0;
  }
};

/// Pure. `get` gives the value of a variable, or null; an empty one is as good as null. Throws bad_setting.
settings parse_settings(std::function<char const*(char const*)> const& get);

}  // namespace heptad::blas
