// SPDX-License-Identifier: BSD-3-Clause
// One random call of a factorization of the drop-in's. As pivots may be others than the reference's, it is judged by
// its definition and by the residuals of LAPACK's own tests (LAWN 41, section 6), each below 30.
#pragma once

#include <string>

#include "tests/fuzz/stream.hpp"

namespace heptad::fuzz {

enum class factorization { getrf, potrf, gesv };

/// How a call differs from a plain one.
struct factor_kind {
  bool broken = false;   // one argument breaks its rule
  bool special = false;  // an element is NaN or infinite
};

/// "" or the call and what was wrong with it. `largest`: multiplications.
template <typename T>
std::string run_factorization(stream& r, factorization what, factor_kind kind, double largest);

}  // namespace heptad::fuzz
