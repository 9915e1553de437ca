// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/scan.hpp"

#include <algorithm>
#include <variant>

#include "codelets/cpu/scan.hpp"

namespace heptad {

template <typename T>
operand_scan<T>::operand_scan(scan_graph const& scan, matrix_view<T const> A, matrix_view<T const> B,
                              executor const* product, std::pmr::memory_resource* memory)
    : A_(A),
      B_(B),
      product_(product),
      elements_(static_cast<std::size_t>(scan.copies * (A.rows + A.cols + B.rows + B.cols)), T(0), memory),
      copies_(static_cast<std::size_t>(scan.copies), memory) {
  T* next = elements_.data();
  for (maxima& copy : copies_)
    for (auto const& [place, count] : {std::pair{&copy.of_A.rows, A.rows},
                                       {&copy.of_A.cols, A.cols},
                                       {&copy.of_B.rows, B.rows},
                                       {&copy.of_B.cols, B.cols}}) {
      *place = next;
      next += count;
    }
}

template <typename T>
std::size_t operand_scan<T>::scratch_bytes() const noexcept {
  return product_ == nullptr ? 0 : product_->scratch_bytes();
}

template <typename T>
void operand_scan<T>::run(task const& t, std::byte* scratch) const noexcept {
  if (auto const* const step = std::get_if<scan_step>(&t.body))
    return scan(*step, step->where.space == space_A ? A_ : B_);
  maxima& found = take();
  open(*product_, t, found.of_A, found.of_B, scratch);
  found.taken.clear(std::memory_order_release);
}

template <typename T>
void operand_scan<T>::run_at(task const& t, std::span<location const> spaces, std::byte*) const noexcept {
  auto const& step = std::get<scan_step>(t.body);
  location const& at = spaces[static_cast<std::size_t>(step.where.space)];
  scan(step, {static_cast<T const*>(at.data), 0, 0, at.rs, at.cs});
}

/// There is a free one unless a runtime runs more tasks at a time than it was said to.
template <typename T>
typename operand_scan<T>::maxima& operand_scan<T>::take() const noexcept {
  for (std::size_t i = 0;; i = (i + 1) % copies_.size())
    if (!copies_[i].taken.test_and_set(std::memory_order_acquire)) return copies_[i];
}

template <typename T>
void operand_scan<T>::scan(scan_step const& step, matrix_view<T const> const& whole) const noexcept {
  block const& x = step.where;
  matrix_view<T const> const part = whole.block(x.row, x.col, x.rows, x.cols);
  maxima& found = take();
  line_maxima<T> const& of_X = x.space == space_A ? found.of_A : found.of_B;
  cpu::scan(part.data, part.rows, part.cols, part.row_stride, part.col_stride, of_X.rows + x.row, of_X.cols + x.col);
  found.taken.clear(std::memory_order_release);
}

template <typename T>
magnitudes<T> operand_scan<T>::merged(matrix_view<T const> const& X, line_maxima<T> maxima::*of_X) const {
  auto const largest = [&](T* line_maxima<T>::*lines, std::int64_t size) {
    T const* const first = copies_.front().*of_X.*lines;
    std::pmr::vector<T> all(first, first + size, elements_.get_allocator());
    for (maxima const& copy : std::span(copies_).subspan(1))
      for (std::int64_t i = 0; i < size; ++i) all[i] = cpu::larger_magnitude(all[i], (copy.*of_X.*lines)[i]);
    return all;
  };
  magnitudes<T> result{largest(&line_maxima<T>::rows, X.rows), largest(&line_maxima<T>::cols, X.cols)};
  result.find_largest();
  return result;
}

template class operand_scan<double>;
template class operand_scan<float>;

}  // namespace heptad
