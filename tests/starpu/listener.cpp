// SPDX-License-Identifier: BSD-3-Clause
#include "tests/starpu/listener.hpp"

#include <dlfcn.h>

#include <mutex>

#undef starpu_task_submit  // a macro where StarPU writes traces

namespace heptad::test {
namespace {

std::mutex mutex;
heard* now = nullptr;  // null: nobody listens

template <typename Change>
void note(Change const& change) {
  std::lock_guard const lock(mutex);
  if (now != nullptr) change(*now);
}

/// StarPU's own.
template <typename Function>
Function* next(Function* /*type*/, char const* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define NEXT(function) next(&function, #function)

void note_task(starpu_task const& t) {
  std::string const codelet = t.cl != nullptr && t.cl->name != nullptr ? t.cl->name : "";
  if (!codelet.starts_with("heptad_")) return;
  note([&](heard& h) {
    h.tasks.push_back({t.name != nullptr ? t.name : "", t.priority, t.sched_ctx, static_cast<unsigned>(t.where),
                       static_cast<int>(t.nbuffers)});
  });
}

void note_end(starpu_data_handle_t handle) {
  note([&](heard& h) { h.registered.erase(handle); });
}

}  // namespace

listener::listener() {
  std::lock_guard const lock(mutex);
  now = new heard;
}

listener::~listener() {
  std::lock_guard const lock(mutex);
  delete now;
  now = nullptr;
}

heard listener::so_far() const {
  std::lock_guard const lock(mutex);
  return *now;
}

}  // namespace heptad::test

using namespace heptad::test;

extern "C" {

int starpu_task_submit(starpu_task* t) {
  note_task(*t);
  return NEXT(starpu_task_submit)(t);
}

void starpu_matrix_data_register(starpu_data_handle_t* handle, int home, std::uintptr_t data, std::uint32_t ld,
                                 std::uint32_t rows, std::uint32_t cols, std::size_t element_bytes) {
  NEXT(starpu_matrix_data_register)(handle, home, data, ld, rows, cols, element_bytes);
  note([&](heard& h) { ++h.matrices, h.registered.insert(*handle); });
}

void starpu_void_data_register(starpu_data_handle_t* handle) {
  NEXT(starpu_void_data_register)(handle);
  note([&](heard& h) { ++h.locks, h.registered.insert(*handle); });
}

void starpu_data_unregister(starpu_data_handle_t handle) {
  note_end(handle);
  NEXT(starpu_data_unregister)(handle);
}
void starpu_data_unregister_submit(starpu_data_handle_t handle) {
  note_end(handle);
  NEXT(starpu_data_unregister_submit)(handle);
}
void starpu_data_unregister_no_coherency(starpu_data_handle_t handle) {
  note_end(handle);
  NEXT(starpu_data_unregister_no_coherency)(handle);
}

void starpu_pause() {
  note([](heard& h) { ++h.pauses; });
  NEXT(starpu_pause)();
}
void starpu_resume() {
  note([](heard& h) { ++h.resumes; });
  NEXT(starpu_resume)();
}

}  // extern "C"
