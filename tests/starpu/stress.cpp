// SPDX-License-Identifier: BSD-3-Clause
// Random programs of the caller's tasks and our products on shared handles, under every policy, against the same
// program run by plain loops one statement after the other.
#include <array>
#include <heptad/starpu.hpp>
#include <memory>

#include "tests/starpu/runtime.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

constexpr std::int64_t n = 48;

void shrunk(double& x) { x = static_cast<double>(static_cast<long long>(x) % 5); }  // keeps everything exact
void raised(double& x) { x = x + 1; }
void unchanged(double&) {}

/// The same statements on handles and on plain matrices.
class program {
public:
  explicit program(unsigned seed) : random_(seed) {
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      shared_[i] = std::make_unique<handled_matrix<double>>(n, n, random_);
      plain_[i] = std::make_unique<handled_matrix<double>>(*shared_[i]);
      shared_[i]->share();
      starpu_data_filter f{};
      f.filter_func = i % 2 == 0 ? starpu_matrix_filter_vertical_block : starpu_matrix_filter_block;
      f.nchildren = 3;
      starpu_data_partition_plan(shared_[i]->handle, &f, parts_[i].data());
    }
  }

  void statement() {
    std::size_t const c = below(shared_.size()), a = (c + 1 + below(shared_.size() - 1)) % shared_.size();
    std::size_t b = below(shared_.size());
    if (b == c) b = a;
    switch (below(4)) {
      case 0:
        submit(each_element<double, raised>(), shared_[c]->handle);
        on_plain(c, raised, 0, n);
        break;
      case 1:
        part(c, below(3));
        break;
      default:
        product(a, b, c);
    }
  }

  /// Waits for all, and compares.
  bool agrees() {
    bool same = true;
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      starpu_data_partition_clean(shared_[i]->handle, 3, parts_[i].data());
      shared_[i]->release();
      same = same && shared_[i]->data == plain_[i]->data;
    }
    return same;
  }

private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

  /// On a third of a matrix, which the caller has partitioned; explicitly or left to StarPU.
  void part(std::size_t c, std::size_t third) {
    bool const explicitly = below(2) == 0;
    if (explicitly) {
      submit(each_element<double, unchanged>(), shared_[c]->handle);  // ends what StarPU left open
      starpu_data_partition_submit(shared_[c]->handle, 3, parts_[c].data());
    }
    submit(each_element<double, raised>(), parts_[c][third]);
    if (explicitly) starpu_data_unpartition_submit(shared_[c]->handle, 3, parts_[c].data(), -1);
    on_plain(c, raised, static_cast<std::int64_t>(third) * n / 3, n / 3, c % 2 == 0);
  }

  void product(std::size_t a, std::size_t b, std::size_t c) {
    starpu::submit_options how;
    how.wishes.force_levels = static_cast<int>(below(3));
    how.wishes.deterministic = below(2) == 0;
    how.transpose_a = below(2) == 0;
    how.transpose_b = below(2) == 0;
    double const beta = static_cast<double>(below(3)) - 1;
    (void)starpu::submit_gemm(1.0, shared_[a]->handle, shared_[b]->handle, beta, shared_[c]->handle, how);
    submit(each_element<double, shrunk>(), shared_[c]->handle);
    classical(1.0, *plain_[a], how.transpose_a, *plain_[b], how.transpose_b, beta, *plain_[c]);
    on_plain(c, shrunk, 0, n);
  }

  void on_plain(std::size_t c, void (*change)(double&), std::int64_t first, std::int64_t count, bool columns = true) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        if (std::int64_t const x = columns ? j : i; x >= first && x < first + count) change((*plain_[c])(i, j));
  }

  std::mt19937 random_;
  std::array<std::unique_ptr<handled_matrix<double>>, 5> shared_, plain_;
  std::array<std::array<starpu_data_handle_t, 3>, 5> parts_{};
};

}  // namespace

TEST_CASE("random programs of tasks and products agree with plain loops under every policy") {
  char const* const policy = GENERATE("eager", "lws", "prio", "dmda", "dmdas");
  own_starpu const runtime(policy);
  for (unsigned seed = 0; seed < 4; ++seed) {
    INFO(policy << ", seed " << seed);
    program p(seed);
    for (int i = 0; i < 40; ++i) p.statement();
    CHECK(p.agrees());
  }
}
