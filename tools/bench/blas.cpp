// SPDX-License-Identifier: BSD-3-Clause
// The BLAS libraries as loaded at run time: dgemm_ and sgemm_ with 32-bit integers, and each library's own calls for
// its threads, version and processor type.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <stdexcept>

#include "tools/bench/library.hpp"

namespace heptad::bench {
namespace {

template <typename T>
using gemm_function = void(char const*, char const*, std::int32_t const*, std::int32_t const*, std::int32_t const*,
                           T const*, T const*, std::int32_t const*, T const*, std::int32_t const*, T const*, T*,
                           std::int32_t const*);

class shared_object {
public:
  explicit shared_object(std::string const& path, int flags = RTLD_NOW | RTLD_LOCAL)
      : handle_(dlopen(path.c_str(), flags)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }
  template <typename Function>
  [[nodiscard]] Function* find(char const* symbol) const {
    return reinterpret_cast<Function*>(dlsym(handle_, symbol));
  }
  template <typename Function>
  [[nodiscard]] Function* get(char const* symbol) const {
    if (auto* function = find<Function>(symbol)) return function;
    throw std::runtime_error(fmt::format("{} has no {}", path(), symbol));
  }
  [[nodiscard]] std::string path() const {
    Dl_info where{};
    void* symbol = dlsym(handle_, "dgemm_");
    return symbol != nullptr && dladdr(symbol, &where) != 0 ? where.dli_fname : "";
  }

private:
  void* handle_;  // never closed: a BLAS with a pool of threads cannot be unloaded
};

class blas : public library {
public:
  blas(std::string name, std::string const& path, int flags = RTLD_NOW | RTLD_LOCAL)
      : name_(std::move(name)),
        object_(path, flags),
        dgemm_(object_.get<gemm_function<double>>("dgemm_")),
        sgemm_(object_.get<gemm_function<float>>("sgemm_")) {}
  void multiply(operands<double>& on) override { run(dgemm_, on); }
  void multiply(operands<float>& on) override { run(sgemm_, on); }

protected:
  [[nodiscard]] library_info introduced(std::string version, std::string core) const {
    return {name_, std::move(version), std::move(core), object_.path()};
  }
  [[nodiscard]] shared_object const& object() const { return object_; }

private:
  template <typename T>
  static void run(gemm_function<T>* gemm, operands<T>& on) {
    auto const m = static_cast<std::int32_t>(on.what.m), n = static_cast<std::int32_t>(on.what.n),
               k = static_cast<std::int32_t>(on.what.k), lda = static_cast<std::int32_t>(on.A.leading_dimension()),
               ldb = static_cast<std::int32_t>(on.B.leading_dimension());
    T const alpha = 1, beta = static_cast<T>(on.what.beta);
    gemm(&on.what.transposes[0], &on.what.transposes[1], &m, &n, &k, &alpha, on.A.data(), &lda, on.B.data(), &ldb,
         &beta, on.C.data(), &m);
  }

  std::string name_;
  shared_object object_;
  gemm_function<double>* dgemm_;
  gemm_function<float>* sgemm_;
};

class openblas final : public blas {
public:
  openblas(std::string const& path, int threads) : blas("openblas", path.empty() ? "libopenblas.so.0" : path) {
    object().get<void(int)>("openblas_set_num_threads")(threads);
  }
  [[nodiscard]] library_info info() const override {
    return introduced(object().get<char*()>("openblas_get_config")(), object().get<char*()>("openblas_get_corename")());
  }
};

class blis final : public blas {
public:
  blis(std::string const& path, int threads) : blas("blis", path.empty() ? "libblis.so.4" : path) {
    object().get<void(long)>("bli_thread_set_num_threads")(threads);
  }
  [[nodiscard]] library_info info() const override {
    int const id = object().get<int()>("bli_arch_query_id")();
    return introduced(fmt::format("BLIS {}", object().get<char*()>("bli_info_get_version_str")()),
                      object().get<char*(int)>("bli_arch_string")(id));
  }
};

// libmkl_rt chooses its layers by MKL_THREADING_LAYER=GNU and MKL_INTERFACE_LAYER=LP64, set before the worker starts.
class mkl final : public blas {
public:
  mkl(std::string const& path, int threads) : blas("mkl", with_openmp(path), RTLD_NOW | RTLD_GLOBAL) {
    object().get<void(int)>("MKL_Set_Num_Threads")(threads);
    object().get<void(int)>("MKL_Set_Dynamic")(0);
  }
  [[nodiscard]] library_info info() const override {
    std::array<char, 256> text{};
    object().get<void(char*, int)>("MKL_Get_Version_String")(text.data(), static_cast<int>(text.size()) - 1);
    std::string version = text.data();
    version.erase(version.find_last_not_of(' ') + 1);
    struct {
      int major, minor, update;
      char *product_status, *build, *processor, *platform;
    } details{};
    object().get<void(void*)>("MKL_Get_Version")(&details);
    return introduced(version, details.processor != nullptr ? details.processor : "");
  }

private:
  // The GNU layer of the wheel takes its OpenMP from whoever loaded it.
  static std::string with_openmp(std::string const& path) {
    shared_object const openmp("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
    return path;
  }
};

}  // namespace

std::unique_ptr<library> load_blas(std::string const& name, std::string const& path, int threads) {
  if (name == "openblas") return std::make_unique<openblas>(path, threads);
  if (name == "blis") return std::make_unique<blis>(path, threads);
  if (name == "mkl") return std::make_unique<mkl>(path, threads);
  throw std::runtime_error("must be openblas, blis or mkl");
}

}  // namespace heptad::bench
