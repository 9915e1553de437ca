// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace heptad::python {

/// A number of threads; throws TypeError for what is not an integer.
int threads_of(nanobind::handle threads);

/// Options, Plan, PlanLevel, Candidate, Report, Context: the C++ classes of these names, their members read-only.
void add_classes(nanobind::module_& m);

}  // namespace heptad::python
