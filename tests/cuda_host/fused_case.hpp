// SPDX-License-Identifier: BSD-3-Clause
// One product of integer matrices by fused products of the columns of U, V and W.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "codelets/cuda/fused.hpp"
#include "src/algorithm/algorithm.hpp"

namespace heptad::test {

struct fused_sizes {
  std::int64_t m, n, k;  // the algorithm divides them
};

template <typename T>
class fused_case {
public:
  std::vector<cuda::fused_product<T>> products;
  int launches = 1;  // the products are shared out to so many
  int tile = 0;

  /// `offset` elements come before each matrix: 1 spoils the alignment.
  fused_case(fused_sizes const& s, std::string const& name, int offset, unsigned seed)
      : size_(s), name_(name), offset_(offset), seed_(seed) {}

  void set_layouts(bool a_row_major, bool b_row_major) { a_rows_ = a_row_major, b_rows_ = b_row_major; }

  void run(cuda::accumulation how, T alpha, T beta) {
    std::mt19937 random(seed_);
    A_ = make(size_.m, size_.k, a_rows_, random), B_ = make(size_.k, size_.n, b_rows_, random);
    C_ = make(size_.m, size_.n, false, random);
    before_ = C_, alpha_ = alpha, beta_ = beta;
    if (beta == T(0))
      for (std::int64_t j = 0; j < size_.n; ++j)
        for (std::int64_t i = 0; i < size_.m; ++i) C_.at(i, j) = std::numeric_limits<T>::quiet_NaN();
    list_products(how);
    std::int64_t const m = size_.m / grid_m_, n = size_.n / grid_n_, k = size_.k / grid_k_;
    cuda::fused_tile const shape =
        cuda::fused_tiles(sizeof(T) == 8 ? element_type::f64 : element_type::f32)[static_cast<std::size_t>(tile)];
    std::vector<unsigned> counters(cuda::fused_counters(shape, grid_m_ * grid_n_, m, n));
    cuda::fused_call<T> call{
        {}, m, n, k, {A_.ld, order(a_rows_)}, {B_.ld, order(b_rows_)}, C_.ld, tile, how, counters.data()};
    std::size_t const all = products.size(),
                      share = how == cuda::accumulation::streams ? 1 : (all + launches - 1) / launches;
    for (std::size_t first = 0; first < all; first += share) {
      call.products = std::span(products).subspan(first, std::min(share, all - first));
      if (cuda::launch_fused<T>(nullptr, call) != cudaSuccess) throw std::runtime_error("the launch was refused");
      call.first_ticket += static_cast<unsigned>(static_cast<std::int64_t>(call.products.size()) * shape.count(m, n));
    }
  }

  /// Elements of C, and of the memory around it, that are not what the definition says.
  int errors() {
    int wrong = 0;
    auto expected = before_;
    for (std::int64_t j = 0; j < size_.n; ++j)
      for (std::int64_t i = 0; i < size_.m; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < size_.k; ++l) sum += double(A_.at(i, l)) * double(B_.at(l, j));
        T const before = before_.at(i, j);
        expected.at(i, j) = static_cast<T>(double(alpha_) * sum + (beta_ != T(0) ? double(beta_) * double(before) : 0));
      }
    for (std::size_t e = 0; e < expected.data.size(); ++e) wrong += !(C_.data[e] == expected.data[e]);
    return wrong;
  }

private:
  struct matrix {
    std::vector<T> data;
    std::int64_t ld;
    bool rows;
    int offset;
    T& at(std::int64_t i, std::int64_t j) {
      return data[static_cast<std::size_t>(offset + (rows ? i * ld + j : i + j * ld))];
    }
  };

  static orientation order(bool row_major) { return row_major ? orientation::row_major : orientation::column_major; }

  matrix make(std::int64_t rows, std::int64_t cols, bool row_major, std::mt19937& random) const {
    std::int64_t const line = row_major ? cols : rows, lines = row_major ? rows : cols, ld = line + 4 + offset_;
    matrix x{std::vector<T>(static_cast<std::size_t>(ld * lines + offset_)), ld, row_major, offset_};
    std::uniform_int_distribution<int> digit(-4, 4);
    for (T& v : x.data) v = static_cast<T>(digit(random));
    return x;
  }

  void list_products(cuda::accumulation how) {
    products.clear();
    if (name_ == "classical") {
      grid_m_ = grid_n_ = grid_k_ = 1;
      cuda::fused_product<T> p{};
      p.a[0] = {&A_.at(0, 0), 1}, p.b[0] = {&B_.at(0, 0), 1}, p.c[0] = {&C_.at(0, 0), alpha_, beta_, 0, 0};
      p.sources_a = p.sources_b = p.targets = 1;
      products.push_back(p);
    } else {
      list_columns(*find_algorithm(name_));
    }
    if (how != cuda::accumulation::atomic) return;
    for (std::int64_t j = 0; j < size_.n; ++j)  // atomic additions begin with what is there
      for (std::int64_t i = 0; i < size_.m; ++i) C_.at(i, j) = beta_ != T(0) ? beta_ * C_.at(i, j) : T(0);
  }

  void list_columns(algorithm const& x) {
    grid_m_ = x.m, grid_n_ = x.n, grid_k_ = x.k;
    std::int64_t const m = size_.m / x.m, n = size_.n / x.n, k = size_.k / x.k;
    std::vector<unsigned> turns(static_cast<std::size_t>(x.m * x.n));
    for (int r = 0; r < x.rank(); ++r) {
      cuda::fused_product<T> p{};
      T scale = alpha_;
      auto const sources = [&](coefficient_matrix const& U, int blocks_in_row, std::int64_t h, std::int64_t w,
                               matrix& X, cuda::fused_source<T>(&into)[most_fused_terms], int& count) {
        T first = 0;
        for (int i = 0; i < U.rows; ++i) {
          T const c = static_cast<T>(U(i, r).value());
          if (c == T(0)) continue;
          if (count == 0) first = c;
          into[count++] = {&X.at(i / blocks_in_row * h, i % blocks_in_row * w), c / first};
        }
        scale *= first;
      };
      sources(x.U, x.k, m, k, A_, p.a, p.sources_a);
      sources(x.V, x.n, k, n, B_, p.b, p.sources_b);
      for (int q = 0; q < x.W.rows; ++q)
        if (T const c = static_cast<T>(x.W(q, r).value()); c != T(0)) {
          unsigned const turn = turns[static_cast<std::size_t>(q)]++;
          p.c[p.targets++] = {&C_.at(q / x.n * m, q % x.n * n), scale * c, turn == 0 ? beta_ : T(1),
                              static_cast<unsigned>(q), turn};
        }
      products.push_back(p);
    }
  }

  fused_sizes size_;
  std::string name_;
  int offset_;
  unsigned seed_;
  bool a_rows_ = false, b_rows_ = false;
  int grid_m_ = 1, grid_n_ = 1, grid_k_ = 1;
  T alpha_ = 1, beta_ = 0;
  matrix A_, B_, C_, before_;
};

}  // namespace heptad::test
