// SPDX-License-Identifier: BSD-3-Clause
// An algorithm ⟨m,k,n;R⟩: exact U (mk×R), V (kn×R), W (mn×R) with M_r = (Σ u_ir A_i)(Σ v_jr B_j), C_p = Σ w_pr M_r
// over row-major block indices, and an additions program for each (Huang 2018, §4.1).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/algorithm/additions_program.hpp"
#include "src/algorithm/rational.hpp"

namespace heptad {

struct coefficient_matrix {
  int rows = 0, cols = 0;
  std::vector<rational> entries;  // row-major

  [[nodiscard]] rational const& operator()(int i, int r) const {
    return entries[static_cast<std::size_t>(i) * cols + r];
  }
  [[nodiscard]] rational& operator()(int i, int r) { return entries[static_cast<std::size_t>(i) * cols + r]; }
};

struct algorithm {
  std::string name;
  std::string source;       // where it comes from: paper and section, or how it was found
  int m = 1, k = 1, n = 1;  // blocks of A: m×k, of B: k×n, of C: m×n
  coefficient_matrix U, V, W;
  additions_program sums_A;  // mk inputs, R outputs: the columns of U
  additions_program sums_B;  // kn inputs, R outputs: the columns of V
  additions_program sums_C;  // R inputs, mn outputs: the rows of W

  [[nodiscard]] int rank() const noexcept { return U.cols; }
};

/// Throws heptad::error that names the first Brent equation that fails (i, i', j, j', p, p' and both sides),
/// or the additions program that does not form its matrix.
void verify(algorithm const& x);

/// The Kronecker product: `outer` applied to blocks, `inner` within them. Plain additions programs.
algorithm kronecker(algorithm const& outer, algorithm const& inner);

/// ⟨m,k,n⟩ → ⟨k,n,m⟩, by the cyclic symmetry of the trilinear form.
algorithm rotate(algorithm const& x);
/// ⟨m,k,n⟩ → ⟨n,k,m⟩, by (AB)ᵀ = BᵀAᵀ.
algorithm transpose(algorithm const& x);

/// Measures of stability (Higham 2002, §23.2; Bini & Lotti 1980): e = max over outputs of the largest
/// amplification of one level, used by the bound.
double stability_factor(algorithm const& x);

/// The text form, and back; parse throws heptad::error with the line number, and verifies.
std::string to_text(algorithm const& x);
algorithm parse_algorithm(std::string const& text, std::string const& file_name);

/// Built in: "classical" ⟨1,1,1;1⟩, "strassen", "winograd", "huang323" ⟨3,2,3;15⟩ and its symmetries.
/// nullptr when there is none of that name.
std::shared_ptr<algorithm const> find_algorithm(std::string const& name);
std::vector<std::shared_ptr<algorithm const>> const& algorithms();

}  // namespace heptad
