// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/classes.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <utility>

#include <heptad/heptad.hpp>

#include "python/src/arrays.hpp"

namespace heptad::python {
namespace {

using namespace nb::literals;

template <typename Enum, std::size_t N>
using names = std::array<std::pair<char const*, Enum>, N>;

constexpr names<scheduler_kind, 3> schedulers{
    {{"tbb", scheduler_kind::tbb}, {"sequential", scheduler_kind::sequential}, {"starpu", scheduler_kind::starpu}}};
constexpr names<scaling_kind, 5> scalings{{{"none", scaling_kind::none},
                                           {"outside", scaling_kind::outside},
                                           {"inside", scaling_kind::inside},
                                           {"both", scaling_kind::both},
                                           {"automatic", scaling_kind::automatic}}};
constexpr names<level_kind, 3> kinds{
    {{"task", level_kind::task}, {"explicit", level_kind::explicit_passes}, {"fused", level_kind::fused}}};

template <typename Enum, std::size_t N>
Enum from_name(char const* argument, std::string const& name, names<Enum, N> const& known) {
  std::string all;
  for (auto const& [text, value] : known) {
    if (name == text) return value;
    all += fmt::format("{}'{}'", all.empty() ? "" : ", ", text);
  }
  throw nb::value_error(fmt::format("{} = '{}' must be one of {}", argument, name, all).c_str());
}

template <typename Enum, std::size_t N>
char const* name_of(Enum value, names<Enum, N> const& known) {
  for (auto const& [text, one] : known)
    if (one == value) return text;
  return "?";
}

void add_options(nb::module_& m) {
  nb::class_<options>(m, "Options", "What the caller allows: see heptad::options in <heptad/heptad.hpp>.")
      .def(
          "__init__",
          [](options* self, double max_error, bool guaranteed, std::optional<std::size_t> max_workspace,
             std::optional<int> max_levels, std::optional<int> force_levels, std::string algorithm, bool deterministic,
             std::string const& scheduler, std::string kernel, std::string const& scaling, int check, bool refine) {
            new (self) options;
            self->max_error = max_error;
            self->guaranteed = guaranteed;
            self->max_workspace = max_workspace;
            self->max_levels = max_levels.value_or(-1);
            self->force_levels = force_levels.value_or(-1);
            self->algorithm = std::move(algorithm);
            self->deterministic = deterministic;
            self->scheduler = from_name("scheduler", scheduler, schedulers);
            self->kernel = std::move(kernel);
            self->scaling = from_name("scaling", scaling, scalings);
            self->check = check;
            self->refine = refine;
          },
          nb::kw_only(), "max_error"_a = 100.0, "guaranteed"_a = false, "max_workspace"_a = nb::none(),
          "max_levels"_a = nb::none(), "force_levels"_a = nb::none(), "algorithm"_a = "auto", "deterministic"_a = false,
          "scheduler"_a = "tbb", "kernel"_a = "auto", "scaling"_a = "automatic", "check"_a = 0, "refine"_a = false);
}

void add_plan(nb::module_& m) {
  nb::class_<plan_level>(m, "PlanLevel", "One level of a plan.")
      .def_ro("name", &plan_level::name, "of the algorithm")
      .def_prop_ro(
          "kind", [](plan_level const& x) { return name_of(x.kind, kinds); }, "'task', 'explicit' or 'fused'")
      .def("__repr__", [](plan_level const& x) { return fmt::format("{} ({})", x.name, name_of(x.kind, kinds)); });
  nb::class_<candidate>(m, "Candidate", "A plan that was considered, and why it was not taken.")
      .def_ro("description", &candidate::description)
      .def_ro("seconds", &candidate::seconds, "predicted")
      .def_ro("workspace", &candidate::workspace, "bytes")
      .def_ro("growth", &candidate::growth, "expected growth of the error")
      .def_ro("bound", &candidate::bound, "the proved one, as in Plan")
      .def_ro("verdict", &candidate::verdict)
      .def("__repr__", [](candidate const& x) { return fmt::format("{}: {}", x.description, x.verdict); });
  nb::class_<plan>(m, "Plan", "How one product will be computed.")
      .def_prop_ro("dtype", [](plan const& x) { return dtype_name(x.type); })
      .def_prop_ro(
          "levels", [](plan const& x) { return x.levels; },
          "outermost first, of the product as it is run: see matmul; none: the classical algorithm")
      .def_prop_ro(
          "m", [](plan const& x) { return x.shape.m; }, "rows of out")
      .def_prop_ro(
          "n", [](plan const& x) { return x.shape.n; }, "columns of out")
      .def_prop_ro("k", [](plan const& x) { return x.shape.k; })
      .def_ro("workers", &plan::workers)
      .def_ro("deterministic", &plan::deterministic)
      .def_ro("kernel", &plan::kernel, "micro-kernel set")
      .def_ro("seconds", &plan::seconds, "predicted")
      .def_ro("classical_seconds", &plan::classical_seconds, "predicted for the classical plan")
      .def_ro("workspace", &plan::workspace, "bytes")
      .def_ro("workspace_cap", &plan::workspace_cap, "bytes")
      .def_ro("bound", &plan::bound, "f with max|C - exact| <= f u max|A| max|B|, proved")
      .def_ro("likely_bound", &plan::likely_bound,
              "in place of bound for independent entries of mean zero, but for one product in a million")
      .def_ro("growth", &plan::growth, "expected error over that of the classical product")
      .def_ro("tasks", &plan::tasks)
      .def_ro("reason", &plan::reason, "why this plan, in a sentence")
      .def_prop_ro("candidates", [](plan const& x) { return x.candidates; })
      .def("__str__", [](plan const& x) { return explain(x); })
      .def("__repr__", [](plan const& x) {
        std::string levels;
        for (plan_level const& level : x.levels)
          levels += fmt::format("{}{} ({})", levels.empty() ? "" : ", ", level.name, name_of(level.kind, kinds));
        return fmt::format("<heptad.Plan {} x {} x {} {}: {}>", x.shape.m, x.shape.n, x.shape.k, dtype_name(x.type),
                           levels.empty() ? "classical" : levels);
      });
}

void add_report(nb::module_& m) {
  nb::class_<sampled_error>(m, "SampledError", "What the check of a result by random vectors found.")
      .def_ro("vectors", &sampled_error::vectors)
      .def_ro("observed", &sampled_error::observed)
      .def_ro("limit", &sampled_error::limit)
      .def_ro("passed", &sampled_error::passed);
  nb::class_<report>(m, "Report", "What one call did.")
      .def_ro("plan", &report::plan)
      .def_ro("seconds", &report::seconds, "wall clock of the whole call")
      .def_ro("gflops", &report::gflops, "effective: 2mnk / seconds / 1e9")
      .def_ro("workspace", &report::workspace, "bytes really held")
      .def_ro("tasks", &report::tasks)
      .def_prop_ro(
          "busy_seconds", [](report const& x) { return x.busy_seconds; }, "per worker, in tasks")
      .def_ro("idle_fraction", &report::idle_fraction)
      .def_ro("fell_back", &report::fell_back, "workspace could not be allocated; a smaller plan was run")
      .def_ro("precaution", &report::precaution, "what in a and b forbade the levels planned; or empty")
      .def_ro("precaution_seconds", &report::precaution_seconds)
      .def_prop_ro(
          "scaling", [](report const& x) { return name_of(x.scaling, scalings); }, "that was applied")
      .def_prop_ro(
          "check", [](report const& x) { return x.check; }, "when a check was asked for")
      .def("__str__",
           [](report const& x) {
             return fmt::format("{}actual      {:.6f} s, {:.1f} GFLOP/s, {} tasks, {:.1f} MiB of workspace{}{}\n",
                                explain(x.plan), x.seconds, x.gflops, x.tasks,
                                static_cast<double>(x.workspace) / (1 << 20),
                                x.fell_back ? " (fell back: no memory for more)" : "",
                                x.precaution.empty() ? "" : "; classical: " + x.precaution);
           })
      .def("__repr__", [](report const& x) {
        return fmt::format("<heptad.Report {:.6f} s, {:.1f} GFLOP/s, {} levels, {} bytes of workspace>", x.seconds,
                           x.gflops, x.precaution.empty() ? x.plan.levels.size() : 0, x.workspace);
      });
}

}  // namespace

int threads_of(nb::handle threads) {
  int count = 0;
  if (PyIndex_Check(threads.ptr()) == 0 || !nb::try_cast(threads, count))
    throw nb::type_error(fmt::format("threads = {} must be an integer of 32 bits", nb::repr(threads).c_str()).c_str());
  return count;
}

void add_classes(nb::module_& m) {
  add_options(m);
  add_plan(m);
  add_report(m);
  nb::class_<context>(m, "Context", "Workers and their memory; threads = 0: as many as the process may use.")
      .def(
          "__init__", [](context* self, nb::handle threads) { new (self) context(threads_of(threads)); },
          "threads"_a.none() = 0, nb::sig("def __init__(self, threads: int = 0) -> None"))
      .def_prop_ro("threads", &context::threads)
      .def("release_workspace", &context::release_workspace,
           "The workspace of calls that have ended is kept for the next ones; this frees it.");
}

}  // namespace heptad::python
