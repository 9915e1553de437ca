// SPDX-License-Identifier: BSD-3-Clause
// Finding the real BLAS. A library is ourselves when the object that defines its dgemm_ also has our mark.
#include "blas/backend.hpp"

#include <dlfcn.h>

#include <cstring>
#include <span>
#include <string_view>

#include "blas/looked_up.hpp"
#include "blas/say.hpp"

extern "C" __attribute__((visibility("default"))) char const heptad_blas_mark[] = "Heptad's drop-in BLAS";

namespace heptad::blas {
namespace {

using files = std::span<char const* const>;

constexpr char const* openblas[] = {"libopenblas.so.0", "libopenblas.so"};
constexpr char const* blis[] = {"libblis.so.4", "libblis.so.5", "libblis.so"};
constexpr char const* mkl[] = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"};
constexpr char const* reference[] = {"/usr/lib/x86_64-linux-gnu/blas/libblas.so.3", "/usr/lib64/libblas.so.3",
                                     "libblas.so.3"};

/// What stands behind a name that is no file; the first that loads is taken.
files files_of(std::string_view name) {
  return name == "openblas"    ? files(openblas)
         : name == "blis"      ? files(blis)
         : name == "mkl"       ? files(mkl)
         : name == "reference" ? files(reference)
                               : files();
}

bool is_ours(void* function) {
  Dl_info of_function{}, of_mark{};
  if (dladdr(function, &of_function) == 0) return false;
  if (dladdr(heptad_blas_mark, &of_mark) != 0 && of_mark.dli_fbase == of_function.dli_fbase) return true;
  // The other of our two libraries, or a copy of this one.
  void* const object = dlopen(of_function.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return false;
  void* const mark = dlsym(object, "heptad_blas_mark");
  bool const ours = mark != nullptr && dladdr(mark, &of_mark) != 0 && of_mark.dli_fbase == of_function.dli_fbase;
  dlclose(object);
  return ours;
}

/// A symbol of the library behind `handle` or of what it needs, unless that is ours.
void* find_in(void* handle, char const* symbol) {
  void* const found = handle == nullptr ? nullptr : dlsym(handle, symbol);
  return found == nullptr || is_ours(found) ? nullptr : found;
}

}  // namespace

bool backend::accept(void* handle) {
  void* gemm = find_in(handle, "dgemm_");
  if (gemm == nullptr) gemm = find_in(handle, "dgemm_64_");
  Dl_info where{};
  if (gemm == nullptr || dladdr(gemm, &where) == 0) return false;
  blas_ = handle;
  path_ = where.dli_fname;
  int_threads_ = reinterpret_cast<int (*)()>(dlsym(handle, "openblas_get_num_threads"));
  if (int_threads_ == nullptr) int_threads_ = reinterpret_cast<int (*)()>(dlsym(handle, "MKL_Get_Max_Threads"));
  long_threads_ = reinterpret_cast<long (*)()>(dlsym(handle, "bli_thread_get_num_threads"));
  return true;
}

bool backend::open(char const* file) {
  // MKL loads its layers as it goes, and they look for it in the global scope.
  int const scope = std::strstr(file, "mkl") == nullptr ? RTLD_LOCAL : RTLD_GLOBAL;
  void* const handle = dlopen(file, RTLD_LAZY | scope);
  if (handle == nullptr) return false;
  if (accept(handle)) return true;
  dlclose(handle);
  return false;
}

backend::backend(std::string const& wanted) {
  if (!wanted.empty()) {
    for (char const* file : files_of(wanted)) {
      if (open(file)) return;
    }
    if (files_of(wanted).empty() && open(wanted.c_str())) return;
    say("HEPTAD_BLAS_BACKEND = '{}' must be a BLAS that can be loaded, and not Heptad's own; another one is used",
        wanted);
  }
  if (accept(RTLD_NEXT)) return;
  for (char const* file : {"libblas.so.3", "libopenblas.so.0", "libblis.so.4", "libmkl_rt.so.2"}) {
    if (open(file)) return;
  }
  for (char const* file : reference) {
    if (open(file)) return;
  }
  say("no BLAS was found; set HEPTAD_BLAS_BACKEND to the file of one");
}

void* backend::find(char const* symbol) const {
  if (void* const found = find_in(blas_, symbol)) return found;
  if (void* const found = find_in(RTLD_NEXT, symbol)) return found;
  static constinit looked_up lapack;
  return find_in(lapack.get([] { return dlopen("liblapack.so.3", RTLD_LAZY | RTLD_LOCAL); }), symbol);
}

int backend::threads() const {
  if (int_threads_ != nullptr) return int_threads_();
  if (long_threads_ == nullptr) return 0;
  long const set = long_threads_();
  return set > 0 ? static_cast<int>(set) : 0;
}

}  // namespace heptad::blas
