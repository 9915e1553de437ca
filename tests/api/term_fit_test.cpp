// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/term_fit.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace heptad;

namespace {

double predicted(per_term const& s, term_sample const& x) {
  double sum = 0;
  for (std::size_t i = 0; i < s.size(); ++i) sum += s[i] * x.further[i];
  return sum;
}

double squares(per_term const& s, std::vector<term_sample> const& samples) {
  double sum = 0;
  for (term_sample const& x : samples) sum += (predicted(s, x) - x.seconds) * (predicted(s, x) - x.seconds);
  return sum;
}

std::vector<term_sample> samples_of(per_term const& truth) {
  std::vector<term_sample> samples;
  for (per_term const& further : {per_term{0.7, 0.7, 0.7, 0},
                                  {1.6, 0.5, 0.5, 0},
                                  {0.5, 1.6, 0.5, 0},
                                  {0.5, 0.5, 1.6, 0},
                                  {1, 1, 1.1, 0},
                                  {0.7, 0.7, 0, 0.7},
                                  {1.6, 0.5, 0, 0.5},
                                  {0.5, 1.6, 0, 0.5},
                                  {0.5, 0.5, 0, 1.6}}) {
    samples.push_back({further, 0});
    samples.back().seconds = predicted(truth, samples.back());
  }
  return samples;
}

}  // namespace

TEST_CASE("prices of terms are found again from products that cost exactly those") {
  per_term const truth{3e-5, 1e-5, 4e-6, 2e-5};
  per_term const found = fit_terms(samples_of(truth));
  for (std::size_t i = 0; i < truth.size(); ++i) CHECK(found[i] == Approx(truth[i]).epsilon(1e-6));
}

TEST_CASE("no price is below its least, and no neighbour of the prices found is nearer to the measurements") {
  std::vector<term_sample> samples = samples_of({3e-5, 1e-5, 4e-6, 2e-5});
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].seconds += i % 2 == 0 ? 1e-5 : -2e-5;
  for (term_sample& x : samples) x.seconds -= 3e-5 * x.further[2];  // updates that seem to save time
  for (per_term const& least : {per_term{}, per_term{1e-6, 5e-5, 2e-6, 0}}) {
    per_term const found = fit_terms(samples, least);
    double const reached = squares(found, samples);
    CHECK(found[2] == least[2]);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i] >= least[i]);
      for (double step : {-1e-7, 1e-7}) {
        per_term near = found;
        near[i] += step;
        if (near[i] >= least[i]) CHECK(squares(near, samples) > reached);
      }
    }
  }
}

TEST_CASE("terms that no sample has, and no samples at all, cost the least") {
  CHECK(fit_terms({}) == per_term{});
  CHECK(fit_terms({}, {1, 2, 3, 4}) == per_term{1, 2, 3, 4});
  term_sample const only_a{{2, 0, 0, 0}, 6e-6};
  CHECK(fit_terms({&only_a, 1}) == per_term{3e-6, 0, 0, 0});
}
