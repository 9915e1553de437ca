// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/crew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "src/api/context.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/environment.hpp"
#include "src/api/memory.hpp"
#include "src/api/present.hpp"
#include "src/plan/find_or_make.hpp"
#include "src/plan/planner.hpp"

namespace heptad::hybrid {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

crew::crew(context& workers, element_type type, problem const& shape, options const& wishes)
    : workers_(workers), type_(type), shape_(shape), wishes_(wishes) {}

void crew::ask(device_backend& (*find)(), std::function<bool(device_backend&)> const& pinned) {
  bool const alone = (wishes_.devices && wishes_.devices->empty()) || wishes_.cpu_share == 1.0;
  if (alone || without_workers()) return;
  try {
    backend_ = &find();
    find_devices();
    if (!devices_.empty()) pinned_ = pinned(*backend_);
  } catch (error const& e) {
    if (!devices_.empty() && e.code() == status::invalid_argument) throw;
    devices_.clear();  // the driver, or what it is to tell, is not there
    absent_.emplace_back(e.what());
  }
}

/// Those that can take part; why others cannot goes into absent_.
void crew::find_devices() {
  auto const found = backend_->devices();
  std::vector<int> asked;
  if (wishes_.devices) asked = *wishes_.devices;
  else
    for (found_device const& d : found) asked.push_back(d.number);
  for (int const number : asked) {
    auto const d = std::ranges::find(found, number, &found_device::number);
    if (d == found.end()) absent_.push_back(fmt::format("device {}: there is none of this number", number));
    else if (!d->unusable.empty()) absent_.push_back(fmt::format("device {} ({}): {}", number, d->name, d->unusable));
    else
      for (int l = 0; l < wishes_.logical_devices; ++l)
        devices_.push_back(
            {{number, wishes_.logical_devices, wishes_.max_device_memory, wishes_.copy_threads, wishes_.product},
             l,
             d->name});
  }
  if (found.empty()) absent_.push_back("no CUDA device was found");
}

plan crew::make() {
  if (devices_.empty()) {
    whole_by_cpu();
  } else {
    key_ = {type_, shape_, pinned_, workers_.threads(), 1 + devices_.size(), wishes_};
    known_ = workers_.state().learned.find(key_);
    if (!wishes_.learn || known_.how.parts.empty()) {
      try {
        auto const all = participants_by_rates();
        known_.how = split_product(shape_.m, shape_.n, all);
        std::ranges::sort(known_.how.parts, {}, &split_part::who);
        if (known_.times_made++ == 0) known_.alone = fastest_alone(all);
      } catch (error const&) {
        if (!wishes_.take_over) throw;  // every device has said that it cannot
        whole_by_cpu();
      }
    }
  }
  plan p;
  p.type = type_, p.shape = shape_, p.pinned = pinned_;
  p.predicted_seconds = known_.how.seconds;
  who_.clear();
  for (split_part const& s : known_.how.parts) {
    p.parts.push_back(part_of(s));
    who_.push_back(s.who);
  }
  p.alone_seconds = known_.alone.seconds;
  p.absent = absent_;
  return p;
}

void crew::describe(plan& p) const {
  for (std::size_t i = 0; i < who_.size(); ++i) {
    part& x = p.parts[i];
    if (shape_.k == 0) continue;
    x.how = who_[i] == 0 ? describe_levels(on_cpu(x.rows, x.cols))
                         : backend_->predict(device(who_[i]), type_, block_of(x.rows, x.cols), pinned_).how;
  }
}

void crew::learn(report const& told) const {
  if (!wishes_.learn || devices_.empty()) return;
  std::vector<double> seen(key_.participants, 0.0);
  for (std::size_t i = 0; i < who_.size(); ++i)
    if (part const& p = told.parts[i]; p.failure.empty()) seen[who_[i]] = p.seconds / p.predicted_seconds;
  workers_.state().learned.tell(key_, known_, seen, told.seconds - told.planning_seconds);
}

/// By what is predicted, and how wrong that was before.
std::vector<participant> crew::participants_by_rates() {
  // Logical devices of one device have the same predictions, and the same sizes are asked for again and again.
  auto const known = std::make_shared<std::map<std::tuple<int, std::int64_t, std::int64_t>, double>>();
  auto const remembered = [known](int who, auto rows, auto cols, auto const& predict) {
    return find_or_make(*known, {who, rows, cols}, predict);
  };
  std::vector<participant> all;
  all.push_back({[=, this](auto rows, auto cols) {
                   return known_.factors[0] * remembered(-1, rows, cols, [&] { return on_cpu(rows, cols).seconds; });
                 },
                 wishes_.cpu_share});
  for (std::size_t d = 0; d < devices_.size(); ++d)
    all.push_back({[=, this](auto rows, auto cols) {
                     return known_.factors[1 + d] *
                            remembered(devices_[d].what.device, rows, cols, [&] { return on_device(d, rows, cols); });
                   },
                   {}});
  return all;
}

/// Before anything was learned. None where shares or logical devices are asked for: they are to be had then.
split crew::fastest_alone(std::vector<participant> const& all) const {
  if (wishes_.cpu_share || wishes_.logical_devices > 1) return {};
  split best;
  best.seconds = never;
  for (std::size_t who = 0; who < all.size(); ++who)
    if (double const seconds = all[who].seconds(shape_.m, shape_.n); seconds < best.seconds)
      best = {{{who, 0, 0, shape_.m, shape_.n, seconds}}, seconds};
  return best;
}

void crew::whole_by_cpu() {
  devices_.clear();
  double const seconds = shape_.k > 0 ? on_cpu(shape_.m, shape_.n).seconds : 0;
  known_.how = {{{0, 0, 0, shape_.m, shape_.n, seconds}}, seconds};
}

part crew::part_of(split_part const& s) {
  part p;
  p.row = s.row, p.col = s.col, p.rows = s.rows, p.cols = s.cols;
  p.share = double(p.rows) * double(p.cols) / (double(shape_.m) * double(shape_.n));
  p.predicted_seconds = s.seconds;
  if (s.who == 0) {
    p.who = fmt::format("CPU, {} workers", workers_.threads());
    return p;
  }
  logical_device const& d = devices_[s.who - 1];
  p.device = d.what.device, p.logical = d.number;
  p.who = fmt::format("device {}{} ({})", p.device, wishes_.logical_devices > 1 ? fmt::format(".{}", p.logical) : "",
                      d.name);
  return p;
}

problem crew::block_of(std::int64_t rows, std::int64_t cols) const {
  problem shape = shape_;
  shape.m = rows, shape.n = cols;
  return present(shape);
}

heptad::plan crew::on_cpu(std::int64_t rows, std::int64_t cols) const {
  context::impl& state = workers_.state();
  heptad::options const wishes = with_defaults(wishes_.product, state.defaults);
  return choose_plan(type_, block_of(rows, cols), workers_.threads(), free_memory(), state.machine(), wishes);
}

double crew::on_device(std::size_t d, std::int64_t rows, std::int64_t cols) {
  try {
    return backend_->predict(devices_[d].what, type_, block_of(rows, cols), pinned_).seconds;
  } catch (error const& e) {
    auto why = fmt::format("device {}: {}", devices_[d].what.device, e.what());
    if (std::ranges::find(absent_, why) == absent_.end()) absent_.push_back(std::move(why));
    return never;
  }
}

}  // namespace heptad::hybrid
