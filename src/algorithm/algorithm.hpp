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

/// Sets the three additions programs to plain ones: a sum for each column of U and V and each row of W.
void set_plain_programs(algorithm& x);

/// Throws heptad::error that names the first Brent equation that fails, as blocks A(i,i'), B(j,j'), C(p,p') counted
/// from 1, with both sides; or the additions program that does not form its matrix; or the shape that does not fit.
void verify(algorithm const& x);

/// The Kronecker product: `outer` applied to blocks, `inner` within them (Huang 2018, §4.1 and appendix D), with plain
/// additions programs. Block (i1,i2),(j1,j2) is row i1·m2 + i2, column j1·n2 + j2; product (r1,r2) is r1·R2 + r2.
algorithm kronecker(algorithm const& outer, algorithm const& inner);

/// ⟨m,k,n⟩ → ⟨k,n,m⟩, by the cyclic symmetry of the trilinear form. The additions programs are transposed where
/// sums trade places: mn − mk additions more than before.
algorithm rotate(algorithm const& x);
/// ⟨m,k,n⟩ → ⟨n,k,m⟩, by (AB)ᵀ = BᵀAᵀ. Keeps the additions programs, with the blocks renumbered.
algorithm transpose(algorithm const& x);

/// The amplification of one level: e = max over p of Σ_r |w_pr| (Σ_i |u_ir|) (Σ_j |v_jr|). A level turns a product
/// whose error is bounded by f ‖A‖max ‖B‖max into one bounded by e·f (plus what its own additions round): 12 for
/// Strassen and 18 for Winograd as in Higham (2002, §23.2.2), for any algorithm by Bini & Lotti (1980). Classical: the
/// inner dimension k. Levels multiply.
double stability_factor(algorithm const& x);

/// The text form (see algorithms/README.md), and back; parse throws heptad::error with the file, the line number and
/// the rule that was broken, and verifies. Sizes above 16 × 16 × 16 blocks are refused.
/// to_text throws when the name or the source cannot be written on its line.
std::string to_text(algorithm const& x);
algorithm parse_algorithm(std::string const& text, std::string const& file_name);

/// Built in: the files under algorithms/ ("classical" ⟨1,1,1;1⟩, "strassen", "winograd", "huang323" ⟨3,2,3;15⟩) and the
/// symmetries of those whose sides differ ("huang233", "huang332"). Parsed and verified once, at the first use.
/// Thread-safe. nullptr when there is none of that name.
std::shared_ptr<algorithm const> find_algorithm(std::string const& name);
std::vector<std::shared_ptr<algorithm const>> const& algorithms();

}  // namespace heptad
