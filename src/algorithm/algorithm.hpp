// SPDX-License-Identifier: BSD-3-Clause
// An algorithm ⟨m,k,n;R⟩: exact U (mk×R), V (kn×R), W (mn×R) with M_r = (Σ u_ir A_i)(Σ v_jr B_j), C_p = Σ w_pr M_r
// over row-major block indices, and an additions program for each (Huang 2018, §4.1).
#pragma once

#include <cstddef>
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

/// Sets the three additions programs to ones that share subexpressions: the pair of terms that occurs most often
/// becomes a value of its own, again and again, on the sums and on their transpose, with ties broken in several ways;
/// the program with the fewest additions is kept. Deterministic.
void share_sums(algorithm& x);

/// Coefficients other than zero in a column: the terms of a sum of blocks, or the blocks that a product feeds.
int nonzeros(coefficient_matrix const& X, int column);
/// The most of them in a column.
int widest_column(coefficient_matrix const& X);
/// Coefficients other than zero in U, V and W.
int nonzeros(algorithm const& x);
/// Not so when a column of product r is empty.
bool adds_to_C(algorithm const& x, int r);
/// Additions of the three programs.
int all_additions(algorithm const& x);

/// Throws heptad::error that names the first Brent equation that fails, as blocks A(i,i'), B(j,j'), C(p,p') counted
/// from 1, with both sides; or the additions program that does not form its matrix; or the shape that does not fit.
void verify(algorithm const& x);

/// The Kronecker product: `outer` applied to blocks, `inner` within them (Huang 2018, §4.1 and appendix D). Its
/// additions programs are composed too, so that shared subexpressions stay shared. Block (i1,i2),(j1,j2) is row i1·m2 +
/// i2, column j1·n2 + j2; product (r1,r2) is r1·R2 + r2.
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
/// to_text throws when the name or the source cannot be written on its line: a name is one word.
bool is_one_word(std::string const& name);
std::string to_text(algorithm const& x);
algorithm parse_algorithm(std::string const& text, std::string const& file_name);

inline constexpr int largest_side = 16;                                      // blocks
inline constexpr std::size_t largest_algorithm_text = std::size_t{1} << 23;  // bytes

/// The first lines of a text: all that is known of an algorithm before its coefficients are read.
struct algorithm_header {
  std::string name, source;
  int m = 1, k = 1, n = 1, rank = 1;
};
algorithm_header parse_header(std::string const& text, std::string const& file_name);

/// parse_algorithm of a file, and of all files *.txt in a directory, by file name. Throw heptad::error also when
/// something cannot be read, or two files have the same name for their algorithm.
algorithm load_algorithm(std::string const& path);
std::vector<algorithm> load_directory(std::string const& directory);

/// The algorithms that have a name, by shape, the fewest products first: the files under algorithms/, the symmetries of
/// those whose sides differ ("huang233" and "huang332" of "huang323"), and ⟨4,4,4;49⟩. Cheap: no coefficients are read.
std::vector<algorithm_header> known_algorithms();

/// Makes known, with their symmetries, the algorithms of all files *.txt in a directory, read and verified now. Throws
/// heptad::error, and adds none, when the directory or a file cannot be read, a file is wrong or a name is taken.
void add_algorithms(std::string const& directory);

/// An algorithm by name; by shape, as "3x2x4", "<3,2,4>" or "<3,2,4;20>" (the fewest products, then the fewest
/// coefficients other than zero); composed, as "strassen*winograd", outermost first; or from a file, by a path that has
/// a '/' or ends in ".txt". Parsed and verified once, when it is first asked for. Thread-safe.
/// nullptr when there is none; throws heptad::error when there is one and it is wrong.
std::shared_ptr<algorithm const> find_algorithm(std::string const& name);

}  // namespace heptad
