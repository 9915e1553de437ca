// SPDX-License-Identifier: BSD-3-Clause
// Failures for which there may be no memory to make them with: they are made when the library is loaded, and what is
// thrown is a copy, which takes none. Never destroyed: exit handlers of the program may still multiply.
#pragma once

#include <new>

#include <heptad/heptad.hpp>

namespace heptad {

inline error const& no_memory =
    *new error(status::out_of_memory, "out of memory before the product began; C is untouched");
inline error const& no_memory_to_repeat =
    *new error(status::internal_error, "out of memory when A and B asked for another way to make C; C is overwritten");
inline error const& failed_midway = *new error(status::internal_error, "a task failed; C may be partly updated");

/// What `call` returns; out of memory is an error like others.
template <typename Call>
auto or_no_memory(Call const& call) {
  try {
    return call();
  } catch (std::bad_alloc const&) {
    throw no_memory;
  }
}

}  // namespace heptad
