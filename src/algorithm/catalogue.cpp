// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm that has a name: the files under algorithms/, embedded at build time, with their symmetries, and what
// users add. Only the first lines of an embedded file are read until someone asks for it by name or by shape.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"
#include "src/algorithm/embedded.hpp"
#include "src/process/fork_safe.hpp"

namespace heptad {
namespace {

using loaded = std::shared_ptr<algorithm const>;

/// The six symmetries: `rotations` of the algorithm, then transposed or not.
struct symmetry {
  int rotations;
  bool transposed;
};
constexpr std::array<symmetry, 6> symmetries{{{0, false}, {1, false}, {2, false}, {0, true}, {1, true}, {2, true}}};

/// A name, and how to get at its coefficients.
struct entry {
  algorithm_header header;
  embedded_file const* file = nullptr;  // of an algorithm that is not loaded yet
  symmetry how{0, false};               // of what the file holds
  loaded base;                          // the same, of a file of the user's
  loaded coefficients;
};

algorithm apply(symmetry how, algorithm x) {
  for (int i = 0; i < how.rotations; ++i) x = rotate(x);
  return how.transposed ? transpose(x) : x;
}

std::array<int, 3> sides(algorithm_header const& x) { return {x.m, x.k, x.n}; }

std::array<int, 3> sides(symmetry how, algorithm_header const& x) {
  std::array<int, 3> s = sides(x);
  std::rotate(s.begin(), s.begin() + how.rotations, s.end());
  if (how.transposed) std::swap(s[0], s[2]);
  return s;
}

/// "323", or "10x2x3" where a side has two digits.
std::string digits(std::array<int, 3> const& s) {
  bool const short_form = *std::max_element(s.begin(), s.end()) < 10;
  return fmt::format(fmt::runtime(short_form ? "{}{}{}" : "{}x{}x{}"), s[0], s[1], s[2]);
}

/// Sides and, if it is said, rank of "3x2x4", "3,2,4", "<3,2,4>", "<3,2,4;20>", with ⟨ and ⟩ as well.
struct asked_shape {
  std::array<int, 3> sides{};
  std::optional<int> rank;
};

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<asked_shape> parse_shape(std::string_view text) {
  asked_shape shape;
  bool const open = take(text, "<") || take(text, "⟨");
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0 && !take(text, "x") && !take(text, ",")) return std::nullopt;
    auto const side = take_number(text);
    if (!side || *side < 1) return std::nullopt;
    shape.sides[i] = *side;
  }
  if (take(text, ";") && !(shape.rank = take_number(text))) return std::nullopt;
  bool const close = take(text, ">") || take(text, "⟩");
  if (!text.empty() || open != close) return std::nullopt;
  return shape;
}

bool is_path(std::string const& name) { return name.find('/') != std::string::npos || name.ends_with(".txt"); }

constinit std::mutex mutex;
fork_safe<mutex> const in_forks;

class catalogue {
public:
  catalogue() {
    addition built_in;
    for (embedded_file const& file : embedded_algorithms()) {
      entry e;
      e.header = parse_header(std::string(file.text), file.name);
      e.file = &file;
      add(built_in, std::move(e));
    }
    add_symmetries(built_in);
    entry e;
    e.header = {"strassen*strassen", "two levels of strassen", 4, 4, 4, 49};
    add(built_in, std::move(e));
    publish(built_in);
  }

  [[nodiscard]] std::vector<algorithm_header> headers() const {
    std::vector<algorithm_header> list;
    for (entry const& e : entries_) list.push_back(e.header);
    std::stable_sort(list.begin(), list.end(), [](algorithm_header const& a, algorithm_header const& b) {
      return std::tuple(sides(a), a.rank) < std::tuple(sides(b), b.rank);
    });
    return list;
  }

  /// All or nothing.
  void add_directory(std::string const& directory, std::vector<algorithm> const& found) {
    for (algorithm const& x : found)
      if (index_.count(x.name) > 0)
        throw error(status::invalid_argument,
                    fmt::format("{}: the name {} is that of an algorithm that is known already", directory, x.name));
    addition fresh;
    for (algorithm const& x : found) {
      entry e;
      e.header = {x.name, x.source, x.m, x.k, x.n, x.rank()};
      e.coefficients = std::make_shared<algorithm const>(x);
      add(fresh, std::move(e));
    }
    add_symmetries(fresh);
    publish(fresh);
  }

  loaded find(std::string const& name) {
    if (auto const found = index_.find(name); found != index_.end()) return load(entries_[found->second]);
    if (auto const found = others_.find(name); found != others_.end()) return found->second;
    if (auto const shape = parse_shape(name)) return best_of(*shape);
    bool const composition = name.find('*') != std::string::npos;
    loaded const x =
        !composition && is_path(name) ? std::make_shared<algorithm const>(load_algorithm(name)) : composed(name);
    if (x) others_.emplace(name, x);
    return x;
  }

private:
  using name_index = std::map<std::string, std::size_t, std::less<>>;

  /// Entries that nobody sees yet, and where their names will lead.
  struct addition {
    std::vector<entry> entries;
    name_index index;
  };

  void add(addition& to, entry e) const {
    to.index.emplace(e.header.name, entries_.size() + to.entries.size());
    to.entries.push_back(std::move(e));
  }

  /// Once there is room nothing can fail.
  void publish(addition& x) {
    entries_.reserve(entries_.size() + x.entries.size());
    for (entry& e : x.entries) entries_.push_back(std::move(e));
    index_.merge(x.index);
  }

  /// huang233 and huang332 from huang323, where no file has that name.
  void add_symmetries(addition& to) const {
    for (std::size_t i = 0, files = to.entries.size(); i < files; ++i) {
      algorithm_header const header = to.entries[i].header;
      std::string stem = header.name;
      if (stem.ends_with(digits(sides(header)))) stem.resize(stem.size() - digits(sides(header)).size());
      for (symmetry const how : symmetries) {
        auto const shape = sides(how, header);
        entry e = to.entries[i];
        e.header.name = stem + digits(shape);
        e.header.m = shape[0], e.header.k = shape[1], e.header.n = shape[2];
        e.how = how;
        e.base = to.entries[i].coefficients;
        e.coefficients = nullptr;
        bool const taken = index_.contains(e.header.name) || to.index.contains(e.header.name);
        if (shape != sides(header) && !taken) add(to, std::move(e));
      }
    }
  }

  loaded load(entry& e) {
    if (!e.coefficients && !e.file && !e.base) e.coefficients = composed(e.header.name);
    if (!e.coefficients) {
      algorithm x = apply(e.how, e.base ? *e.base : parse_algorithm(std::string(e.file->text), e.file->name));
      x.name = e.header.name;
      if (e.how.rotations > 0 || e.how.transposed) verify(x);
      e.coefficients = std::make_shared<algorithm const>(std::move(x));
    }
    return e.coefficients;
  }

  /// The fewest products, then the fewest coefficients other than zero, then the first name.
  loaded best_of(asked_shape const& shape) {
    int rank = shape.rank.value_or(shape.sides[0] * shape.sides[1] * shape.sides[2]);
    std::vector<entry*> same;
    for (entry& e : entries_) {
      if (sides(e.header) != shape.sides || e.header.rank > rank || (shape.rank && e.header.rank != rank)) continue;
      if (e.header.rank < rank) same.clear();
      rank = e.header.rank;
      same.push_back(&e);
    }
    loaded best;
    for (entry* e : same) {
      loaded const x = load(*e);
      if (!best || std::tuple(nonzeros(*x), x->name) < std::tuple(nonzeros(*best), best->name)) best = x;
    }
    return best;
  }

  /// "strassen*winograd": the Kronecker product of known algorithms, outermost first.
  loaded composed(std::string const& name) {
    auto const star = name.rfind('*');
    if (star == std::string::npos) return nullptr;
    loaded const outer = find(name.substr(0, star)), inner = find(name.substr(star + 1));
    if (!outer || !inner) return nullptr;
    auto const largest = [](algorithm const& x) { return std::max({x.m, x.k, x.n}); };
    if (largest(*outer) * largest(*inner) > largest_side)
      throw error(status::invalid_argument,
                  fmt::format("algorithm {}: no side may have more than {} blocks", name, largest_side));
    algorithm x = kronecker(*outer, *inner);
    x.name = name;
    verify(x);
    return std::make_shared<algorithm const>(std::move(x));
  }

  std::vector<entry> entries_;                         // with names of their own
  name_index index_;                                   // into entries_
  std::map<std::string, loaded, std::less<>> others_;  // compositions and files that were asked for
};

/// Under the mutex. Never destroyed: exit handlers of the program may still multiply.
catalogue& the_catalogue() {
  static auto& instance = *new catalogue;
  return instance;
}

}  // namespace

std::vector<algorithm_header> known_algorithms() {
  std::lock_guard const lock(mutex);
  return the_catalogue().headers();
}

void add_algorithms(std::string const& directory) {
  std::vector<algorithm> const found = load_directory(directory);
  std::lock_guard const lock(mutex);
  the_catalogue().add_directory(directory, found);
}

std::shared_ptr<algorithm const> find_algorithm(std::string const& name) {
  std::lock_guard const lock(mutex);
  return the_catalogue().find(name);
}

}  // namespace heptad
