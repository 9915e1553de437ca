// SPDX-License-Identifier: BSD-3-Clause
// Devices that are none: threads that compute their parts of a shared product by the definition, or fail as devices
// do, before or after they have changed C. Small integers: the results are exact.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "src/api/arguments.hpp"
#include "src/api/hybrid.hpp"

namespace heptad::test {

enum class fault { none, at_once, touched, strange };

/// Devices of the tests. Set up before a call; found by a function without arguments, as the real ones are.
class paper_devices final : public device_backend {
public:
  std::vector<found_device> there{{0, "paper", ""}};
  double seconds_of_element = 1e-15;  // predicted: next to nothing, so that devices get all they may
  fault broken = fault::none;
  int broken_logical = -1;  // how many calls succeed before one is broken; −1: every one is
  bool cannot_predict = false;
  bool no_driver = false;
  bool device_memory = false;
  int calls = 0;
  std::vector<device_share> shares;

  [[nodiscard]] char const* version() const noexcept override { return heptad::version(); }
  std::vector<found_device> devices() override {
    if (no_driver) throw error(status::invalid_argument, "no usable CUDA device: no driver");
    return there;
  }
  bool is_pinned(char const* name, void const*, void const*) override {
    if (device_memory) throw error(status::invalid_argument, std::string(name) + ".data is memory of device 0");
    return true;
  }
  device_forecast predict(device_share const& who, element_type, problem const& shape, bool pinned) override {
    if (cannot_predict) throw error(status::out_of_memory, "100 bytes of device memory are too few");
    if (!pinned) throw error(status::internal_error, "they were said to be pinned");
    return {who.sharers * seconds_of_element * double(shape.m) * double(shape.n), "by the definition"};
  }
  device_work multiply(device_share const& who, any_device_product const& any, std::atomic<bool>& touched) override {
    return std::visit([&](auto const& x) { return run(who, x, touched); }, any);
  }

private:
  template <typename T>
  device_work run(device_share const& who, device_product<T> const& x, std::atomic<bool>& touched) {
    bool fails = false;
    {
      std::lock_guard const lock(mutex_);
      fails = broken != fault::none && (broken_logical < 0 || calls == broken_logical);
      ++calls;
      shares.push_back(who);
    }
    if (fails && broken == fault::at_once) throw error(status::out_of_memory, "device memory for the blocks");
    if (fails && broken == fault::strange) throw 7;
    touched = true;
    for (std::int64_t j = 0; j < x.C.cols; ++j)
      for (std::int64_t i = 0; i < x.C.rows; ++i) {
        T sum = 0;
        for (std::int64_t l = 0; l < x.A.cols; ++l)
          sum += x.A.data[i * x.A.row_stride + l * x.A.col_stride] * x.B.data[l * x.B.row_stride + j * x.B.col_stride];
        T& c = x.C.data[i * x.C.row_stride + j * x.C.col_stride];
        c = x.alpha * sum + (x.beta == T(0) ? T(0) : x.beta * c);
        if (fails) throw error(status::internal_error, "a product: the device was lost");
      }
    return {"by the definition", 8, 4, 0.5};
  }
  std::mutex mutex_;
};

inline paper_devices* present_devices = nullptr;
inline device_backend& find_paper_devices() { return *present_devices; }
inline device_backend& find_nothing() {
  throw error(status::invalid_argument, "a CUDA device needs libheptad_cuda: not found");
}

template <typename T>
struct exact_product {
  std::int64_t m, n, k;
  bool by_rows;
  std::vector<T> a, b, c, before, expected;
  T alpha = 2, beta;

  exact_product(std::int64_t rows, std::int64_t cols, std::int64_t depth, T beta_, bool by_rows_ = false)
      : m(rows), n(cols), k(depth), by_rows(by_rows_), beta(beta_) {
    std::mt19937 random(11);
    std::uniform_int_distribution<int> digit(-4, 4);
    auto const fill = [&](std::vector<T>& x, std::int64_t count) {
      x.resize(static_cast<std::size_t>(count));
      for (T& v : x) v = static_cast<T>(digit(random));
    };
    fill(a, m * k), fill(b, k * n), fill(c, m * n);
    expected = c;
    auto const at = [&](std::vector<T>& x, std::int64_t i, std::int64_t j, std::int64_t r, std::int64_t s) -> T& {
      return x[static_cast<std::size_t>(by_rows ? i * s + j : i + j * r)];
    };
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += at(a, i, l, m, k) * at(b, l, j, k, n);
        T& e = at(expected, i, j, m, n);
        e = alpha * sum + beta * e;
      }
    if (beta == T(0)) std::ranges::fill(c, std::numeric_limits<T>::quiet_NaN());
    before = c;
  }
  template <typename U>
  matrix_view<U> view(U* data, std::int64_t r, std::int64_t s) const {
    return by_rows ? row_major(data, r, s, s) : column_major(data, r, s, r);
  }
  operands<T> call() {
    T const *from_a = a.data(), *from_b = b.data();
    return {alpha, view(from_a, m, k), view(from_b, k, n), beta, view(c.data(), m, n)};
  }
  hybrid::report run(context& workers, paper_devices& devices, hybrid::options const& wishes = {}) {
    present_devices = &devices;
    return hybrid::multiply(workers, find_paper_devices, call(), wishes);
  }
};

/// Of C; every element must be covered once.
inline double covered(hybrid::report const& r, std::int64_t m, std::int64_t n) {
  std::vector<int> count(static_cast<std::size_t>(m * n));
  double shares = 0;
  for (hybrid::part const& p : r.parts) {
    for (std::int64_t i = p.row; i < p.row + p.rows; ++i)
      for (std::int64_t j = p.col; j < p.col + p.cols; ++j) ++count.at(static_cast<std::size_t>(i * n + j));
    shares += p.share;
  }
  CHECK(std::ranges::all_of(count, [](int c) { return c == 1; }));
  return shares;
}

inline hybrid::options half_by_cpu(int logical = 1) {
  hybrid::options wishes;
  wishes.cpu_share = 0.5;
  wishes.logical_devices = logical;
  wishes.learn = false;  // what these devices take is chance
  return wishes;
}

}  // namespace heptad::test
