// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/scan.hpp"

#include <variant>

#include "codelets/cpu/scan.hpp"

namespace heptad {

template <typename T>
operand_scan<T>::operand_scan(scan_graph const& scan, matrix_view<T const> A, matrix_view<T const> B,
                              std::pmr::memory_resource* memory)
    : scan_(scan), A_(A), B_(B), results_(static_cast<std::size_t>(scan.elements()), T(0), memory) {}

template <typename T>
void operand_scan<T>::run(task const& t, std::byte*) const noexcept {
  auto const& step = std::get<scan_step>(t.body);
  scan(step, step.where.space == space_A ? A_ : B_);
}

template <typename T>
void operand_scan<T>::run_at(task const& t, std::span<location const> spaces, std::byte*) const noexcept {
  auto const& step = std::get<scan_step>(t.body);
  location const& at = spaces[static_cast<std::size_t>(step.where.space)];
  scan(step, {static_cast<T const*>(at.data), 0, 0, at.rs, at.cs});
}

template <typename T>
void operand_scan<T>::scan(scan_step const& step, matrix_view<T const> const& whole) const noexcept {
  block const& x = step.where;
  matrix_view<T const> const part = whole.block(x.row, x.col, x.rows, x.cols);
  cpu::scan(part.data, part.rows, part.cols, part.row_stride, part.col_stride, results_.data() + step.of_rows,
            results_.data() + step.of_cols);
}

template <typename T>
magnitudes<T> operand_scan<T>::merged(scan_graph::operand const& x) const {
  auto const copies = [this](auto first_of, int count, std::int64_t size) {
    T const* const first = results_.data() + first_of(0);
    std::pmr::vector<T> all(first, first + size, results_.get_allocator());
    for (int copy = 1; copy < count; ++copy) {
      T const* const more = results_.data() + first_of(copy);
      for (std::int64_t i = 0; i < size; ++i) all[i] = cpu::larger_magnitude(all[i], more[i]);
    }
    return all;
  };
  magnitudes<T> result{copies([&](int copy) { return x.of_rows(copy); }, x.row_copies, x.rows),
                       copies([&](int copy) { return x.of_cols(copy); }, x.col_copies, x.cols)};
  for (T const most : result.rows) result.largest = cpu::larger_magnitude(result.largest, most);
  return result;
}

template class operand_scan<double>;
template class operand_scan<float>;

}  // namespace heptad
