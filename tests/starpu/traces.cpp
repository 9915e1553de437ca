// SPDX-License-Identifier: BSD-3-Clause
// What StarPU's tools show of a product: names and colours in the files that StarPU makes of an FxT trace.
#include <fstream>
#include <heptad/starpu.hpp>
#include <iterator>
#include <optional>

#include "tests/starpu/flight.hpp"
#include "tests/tasks/plans.hpp"
#include "tests/temporary_folder.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

[[maybe_unused]] std::string text_of(std::filesystem::path const& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("StarPU's tools show every task by its name, with the model and the colour of its codelet") {
#ifndef STARPU_USE_FXT
  WARN("skipped: this StarPU writes no traces; see scripts/build-starpu.sh --fxt");
#else
  temporary_folder const folder;
  std::vector<task> tasks;
  {
    std::string const prefix = folder.path().string() + "/";
    own_starpu const runtime(
        "lws", {{"STARPU_FXT_TRACE", "1"}, {"STARPU_GENERATE_TRACE", "1"}, {"STARPU_FXT_PREFIX", prefix.c_str()}});
    plan const p = test::make_plan("TT", "winograd", 40, 44, 36, false);
    std::mt19937 random(61);
    operands<double> x(p, random);
    x.share();
    flight<double> product(p, 1, 1, {workspace::of_starpu, false, false});
    product.submit(x.A.handle, x.B.handle, x.C.handle);
    tasks = product.tasks();
    x.C.release(), x.A.release(), x.B.release();
    starpu_task_wait_for_all();
  }
  std::string const dag = text_of(folder.path() / "dag.dot"), records = text_of(folder.path() / "tasks.rec"),
                    paje = text_of(folder.path() / "paje.trace");
  REQUIRE(!records.empty());
  for (task const& t : tasks) {
    bool const product = std::holds_alternative<sequence_step>(t.body);
    std::string const codelet = product ? "heptad_product" : "heptad_combine", color = product ? "70ad47" : "5b9bd5";
    INFO(t.name);
    CHECK(records.find("Name: " + t.name + "\nModel: " + codelet + "\n") != std::string::npos);
    CHECK(dag.find("label=\"" + t.name + "\", fillcolor=\"#" + color + "\"") != std::string::npos);
    CHECK(paje.find("WS\t" + t.name + "\t") != std::string::npos);
  }
#endif
}
