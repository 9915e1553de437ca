// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace heptad::tools {

/// The picture that Graphviz draws of a graph, for the file `svg`. Throws heptad::error with its name.
std::string drawn_by_graphviz(std::string const& graph, std::string const& svg);

}  // namespace heptad::tools
