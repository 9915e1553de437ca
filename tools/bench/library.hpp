// SPDX-License-Identifier: BSD-3-Clause
// One library under test, seen by the worker that holds it: C := op(A) op(B) + beta C, column-major, on a fixed number
// of threads.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "tools/bench/operands.hpp"

namespace heptad::bench {

/// How a library introduces itself.
struct library_info {
  std::string name;     ///< "heptad", "mkl", "openblas" or "blis"
  std::string version;  ///< in its own words
  std::string core;     ///< the processor type whose kernels it chose, in its own words
  std::string path;     ///< of the shared object; empty for Heptad itself

  NLOHMANN_DEFINE_TYPE_INTRUSIVE(library_info, name, version, core, path)
};

class library {
public:
  virtual ~library() = default;
  [[nodiscard]] virtual library_info info() const = 0;
  virtual void multiply(operands<double>& on) = 0;
  virtual void multiply(operands<float>& on) = 0;
  /// What the last call did beyond multiplying: plan, workspace, idle time. Null when the library does not say.
  [[nodiscard]] virtual nlohmann::json last_call() const { return nullptr; }
  /// Of that, the idle time alone: asked for after every call, where the rest would take the caches from the next one.
  [[nodiscard]] virtual std::optional<double> idle_fraction() const { return std::nullopt; }
  /// f of the last call's ‖C − Ĉ‖max ≤ f·u·‖A‖max‖B‖max.
  [[nodiscard]] virtual double error_bound(gemm_case const& what) const { return classical_bound(what.k); }
};

/// What the measurement lets Heptad choose; the peers have no such choice.
struct own_options {
  int max_levels = -1;                       ///< negative: as many as pay
  std::optional<std::size_t> max_workspace;  ///< bytes; none: the default cap
  std::string algorithm = "auto";
};

void to_json(nlohmann::json& to, own_options const& from);
void from_json(nlohmann::json const& from, own_options& to);

std::unique_ptr<library> make_own(int threads, own_options const& wishes);

/// Loads a BLAS. path: a shared object, or empty for the usual place. Throws std::runtime_error when it is not there.
std::unique_ptr<library> load_blas(std::string const& name, std::string const& path, int threads);

}  // namespace heptad::bench
