// SPDX-License-Identifier: BSD-3-Clause
// A partition of a matrix handle into any blocks.
#pragma once

#include <starpu.h>

#include <span>

#include "tasks/block.hpp"

namespace heptad::starpu {

/// Plans (not: submits) one child a block, rows along the contiguous dimension of the handle.
inline void plan_cells(starpu_data_handle_t whole, std::span<block const> cells,
                       std::span<starpu_data_handle_t> children) {
  starpu_data_filter filter{};
  filter.nchildren = static_cast<unsigned>(cells.size());
  filter.filter_arg_ptr = const_cast<block*>(cells.data());
  filter.filter_func = [](void* parent_interface, void* child_interface, starpu_data_filter* f, unsigned id, unsigned) {
    auto const& parent = *static_cast<starpu_matrix_interface const*>(parent_interface);
    auto& child = *static_cast<starpu_matrix_interface*>(child_interface);
    block const& b = static_cast<block const*>(f->filter_arg_ptr)[id];
    child = {};
    child.id = parent.id;
    child.nx = static_cast<decltype(child.nx)>(b.rows);
    child.ny = static_cast<decltype(child.ny)>(b.cols);
    child.elemsize = parent.elemsize;
    child.allocsize = static_cast<std::size_t>(b.rows * b.cols) * parent.elemsize;
    if (parent.dev_handle == 0) return;  // nothing allocated on this node yet
    auto const offset =
        static_cast<std::size_t>(b.row + b.col * static_cast<std::int64_t>(parent.ld)) * parent.elemsize;
    if (parent.ptr != 0) child.ptr = parent.ptr + offset;
    child.ld = parent.ld;
    child.dev_handle = parent.dev_handle;
    child.offset = parent.offset + offset;
  };
  starpu_data_partition_plan(whole, &filter, children.data());
}

}  // namespace heptad::starpu
