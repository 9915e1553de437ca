// SPDX-License-Identifier: BSD-3-Clause
#include "tools/simulate/node.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>

#include <heptad/heptad.hpp>

namespace heptad::tools {
namespace {

/// N of "<prefix>N", or 0.
int count_after(std::string const& prefix, std::string const& name) {
  int count = 0;
  if (!name.starts_with(prefix)) return 0;
  char const* const end = name.data() + name.size();
  auto const [rest, wrong] = std::from_chars(name.data() + prefix.size(), end, count);
  return wrong == std::errc{} && rest == end && count > 0 ? count : 0;
}

void write(std::filesystem::path const& path, std::string const& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw error(status::invalid_argument, fmt::format("{} could not be written", path.string()));
}

/// Every transfer between main memory and a device passes its link and the one that they share; every other one leaves
/// one device and enters another.
std::string platform_of(simulated_node const& node) {
  std::string text =
      "<?xml version='1.0'?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n"
      " <config>\n";
  // Rates are those seen by copies: no model of a network protocol on top.
  for (auto const& [key, value] : {std::pair{"network/TCP-gamma", "-1"},
                                   {"network/latency-factor", "1"},
                                   {"network/bandwidth-factor", "1"},
                                   {"network/weight-S", "0"},
                                   {"network/crosstraffic", "0"}})
    text += fmt::format("  <prop id=\"{}\" value=\"{}\"/>\n", key, value);
  text += " </config>\n <zone id=\"node\" routing=\"Full\">\n  <host id=\"MAIN\" speed=\"1f\"/>\n";
  auto const link = [&text](std::string const& id, double rate, double latency) {
    text += fmt::format("  <link id=\"{}\" bandwidth=\"{:.0f}Bps\" latency=\"{:.9f}s\"/>\n", id, rate, latency);
  };
  auto const route = [&text](std::string const& from, std::string const& to, std::string const& a,
                             std::string const& b) {
    text += fmt::format(
        "  <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\"><link_ctn id=\"{}\"/><link_ctn id=\"{}\"/></route>\n", from,
        to, a, b);
  };
  for (int i = 0; i < node.cpus; ++i) text += fmt::format("  <host id=\"CPU{}\" speed=\"1Gf\"/>\n", i);
  for (int i = 0; i < node.devices; ++i)
    text += fmt::format(
        "  <host id=\"CUDA{}\" speed=\"1Gf\"><prop id=\"model\" value=\"{}\"/><prop id=\"memsize\" value=\"{}\"/>"
        "<prop id=\"memcpy_peer\" value=\"1\"/></host>\n",
        i, node.name, node.device_memory);
  text += "  <host id=\"RAM\" speed=\"1f\"/>\n";
  if (node.devices > 0) link("from-host", node.to_devices, 0), link("to-host", node.from_devices, 0);
  for (int i = 0; i < node.devices; ++i) {
    link(fmt::format("host-{}", i), node.to_device, node.host_latency);
    link(fmt::format("{}-host", i), node.to_host, node.host_latency);
    link(fmt::format("out-{}", i), node.to_peer, node.peer_latency);
    link(fmt::format("in-{}", i), node.to_peer, 0);
  }
  for (int i = 0; i < node.devices; ++i) {
    std::string const device = fmt::format("CUDA{}", i);
    route("RAM", device, fmt::format("host-{}", i), "from-host");
    route(device, "RAM", fmt::format("{}-host", i), "to-host");
    for (int j = 0; j < node.devices; ++j)
      if (j != i) route(device, fmt::format("CUDA{}", j), fmt::format("out-{}", i), fmt::format("in-{}", j));
  }
  return text + " </zone>\n</platform>\n";
}

/// Main memory is node 0, the devices follow; what does not exist is nan.
std::string matrix_of(int nodes, int existing, std::function<double(int from, int to)> const& value) {
  std::string text = "# from row to column\n";
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j < nodes; ++j) {
      bool const exists = i <= existing && j <= existing;
      double const x = !exists ? std::numeric_limits<double>::quiet_NaN() : i == j ? 0 : value(i, j);
      text += fmt::format("{:e}{}", x, j + 1 < nodes ? '\t' : '\n');
    }
  return text;
}

}  // namespace

simulated_node find_node(std::string const& name) {
  simulated_node node;
  node.name = name;
  if (int const count = count_after("h200x", name); count == 1 || count == 4 || count == 8) {
    node.devices = count;
    node.device_memory = std::size_t{140} * 1000 * 1000 * 1000;
    node.to_device = 49.5e9, node.to_host = 54.1e9;
    node.to_devices = 136.9e9, node.from_devices = 72.0e9;
    node.to_peer = 384.5e9;
    node.host_latency = 6e-6, node.peer_latency = 7e-6;
    node.source = "links measured on 8 NVIDIA H200: bench/results/gpu/2026-11-20-nvidia-h200x8-transfers";
    return node;
  }
  if (int const count = count_after("cpux", name); count > 0 && count <= 64) {
    node.cpus = count;
    node.source = "no transfers: one memory";
    return node;
  }
  throw error(status::invalid_argument,
              fmt::format("platform = '{}' must be h200x1, h200x4, h200x8, or cpuxN with N from 1 to 64", name));
}

void write_platform(simulated_node const& node, std::filesystem::path const& folder, int nodes) {
  auto const bus = folder / "bus";
  std::filesystem::create_directories(bus);
  std::string const platform = platform_of(node);
  write(bus / (node.name + ".platform.v4.xml"), platform);
  // StarPU only looks whether it is there: the counts are those of the platform.
  write(bus / (node.name + ".config"), "# see the platform\n");
  auto const link = [](double to_device, double to_host, double to_peer) {
    return [=](int from, int to) { return from == 0 ? to_device : to == 0 ? to_host : to_peer; };
  };
  constexpr double mega = 1e6;  // StarPU's units are MB/s and µs
  write(bus / (node.name + ".bandwidth"),
        matrix_of(nodes, node.devices, link(node.to_device / mega, node.to_host / mega, node.to_peer / mega)));
  write(bus / (node.name + ".latency"),
        matrix_of(nodes, node.devices,
                  link(node.host_latency * mega, node.host_latency * mega, node.peer_latency * mega)));
}

}  // namespace heptad::tools
