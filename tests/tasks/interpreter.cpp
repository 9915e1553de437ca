// SPDX-License-Identifier: BSD-3-Clause
#include "tests/tasks/interpreter.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace heptad::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// One space: memory with strides.
struct storage {
  double* data = nullptr;
  std::int64_t rows = 0, cols = 0, rs = 1, cs = 0;
};

storage storage_of(matrix& X) { return {X.data.data(), X.rows, X.cols, 1, X.rows}; }
storage storage_of(buffer const& x, std::vector<double>& memory) {
  bool const columns = x.order == orientation::column_major;
  return {memory.data() + x.offset, x.rows, x.cols, columns ? 1 : x.ld, columns ? x.ld : 1};
}

/// The spaces that a step sees: those of the graph, or the formal operands and scratch of a sequence, each of which is
/// a window into a space of the graph (or private).
struct window {
  storage memory;
  block where;  // in the graph; space < 0: scratch of the task
};

class machine {
public:
  machine(graph const& g, double alpha, double beta, matrix& A, matrix& B, matrix& C, bool recording)
      : g_(g),
        alpha_(alpha),
        beta_(beta),
        recording_(recording),
        workspace_(static_cast<std::size_t>(g.workspace_elements), nan) {
    for (matrix* X : {&A, &B, &C}) spaces_.push_back(storage_of(*X));
    for (buffer const& x : g.buffers) {
      check_room(x, g.workspace_elements);
      spaces_.push_back(storage_of(x, workspace_));
    }
  }

  touched_elements run(task const& t) {
    touched_.clear();
    std::vector<window> windows;
    for (int s = 0; s < static_cast<int>(spaces_.size()); ++s)
      windows.push_back({spaces_[s], {s, 0, 0, spaces_[s].rows, spaces_[s].cols}});
    std::visit([&](auto const& body) { run(body, windows, alpha_); }, t.body);
    return touched_;
  }

private:
  static void check_room(buffer const& x, std::int64_t elements) {
    bool const columns = x.order == orientation::column_major;
    std::int64_t const last = x.offset + x.ld * (columns ? x.cols : x.rows);
    if (x.ld < (columns ? x.rows : x.cols) || last > elements) throw std::logic_error("buffer outside its workspace");
  }

  double& at(std::vector<window> const& w, block const& x, std::int64_t i, std::int64_t j, int how) {
    window const& view = w.at(x.space);
    std::int64_t const row = x.row + i, col = x.col + j;
    if (row < 0 || col < 0 || row >= view.where.rows || col >= view.where.cols)
      throw std::logic_error("element outside its space");
    if (recording_ && view.where.space >= 0)
      touched_[view.where.space][{view.where.row + row, view.where.col + col}] |= how;
    return view.memory.data[row * view.memory.rs + col * view.memory.cs];
  }
  double read(std::vector<window> const& w, block const& x, std::int64_t i, std::int64_t j) {
    return at(w, x, i, j, 1);
  }
  void apply(std::vector<window> const& w, target const& t, std::int64_t i, std::int64_t j, double value) {
    bool const reads = t.how == update::accumulate || (t.how == update::scaled && beta_ != 0);
    double const factor = t.how == update::scaled ? beta_ : 1;
    double const old = reads ? factor * read(w, t.where, i, j) : 0;
    at(w, t.where, i, j, 2) = old + t.coefficient * value;
  }

  void run(combine_step const& step, std::vector<window> const& w, double) {
    additions_program const& program = g_.programs.at(step.program);
    if (program.inputs != static_cast<int>(step.sources.size()) || program.outputs.size() != step.targets.size())
      throw std::logic_error("combine step does not fit its program");
    block const shape = step.targets.front().where;
    for (auto const& s : step.sources)
      if (s.rows != shape.rows || s.cols != shape.cols) throw std::logic_error("shapes of a combine step differ");
    for (std::int64_t j = 0; j < shape.cols; ++j)
      for (std::int64_t i = 0; i < shape.rows; ++i) {
        std::vector<double> values;
        for (block const& s : step.sources) values.push_back(read(w, s, i, j));
        for (auto const& terms : program.steps) {
          double sum = 0;
          for (linear_term const& t : terms) sum += t.coefficient.value() * values[t.value];
          values.push_back(sum);
        }
        for (std::size_t q = 0; q < step.targets.size(); ++q)
          apply(w, step.targets[q], i, j, program.outputs[q].coefficient.value() * values[program.outputs[q].value]);
      }
  }

  void run(product_step const& step, std::vector<window> const& w, double alpha) {
    block const c = step.c.front().where, a = step.a.front().where;
    for (std::int64_t j = 0; j < c.cols; ++j)
      for (std::int64_t i = 0; i < c.rows; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < a.cols; ++l) {
          double x = 0, y = 0;
          for (source const& s : step.a) x += s.coefficient * read(w, s.where, i, l);
          for (source const& s : step.b) y += s.coefficient * read(w, s.where, l, j);
          sum += x * y;
        }
        for (target const& t : step.c) apply(w, t, i, j, alpha * sum);
      }
  }

  void run(scale_step const& step, std::vector<window> const& w, double) {
    for (std::int64_t j = 0; j < step.where.cols; ++j)
      for (std::int64_t i = 0; i < step.where.rows; ++i)
        apply(w, {step.where, 1, beta_ == 0 ? update::overwrite : update::scaled}, i, j, 0);
  }

  void run(scan_step const&, std::vector<window> const&, double) {
    throw std::logic_error("scans have graphs of their own");
  }

  void run(sequence_step const& call, std::vector<window> const& w, double alpha) {
    sequence const& s = g_.sequences.at(call.sequence);
    if (call.a.rows != s.m || call.a.cols != s.k || call.b.rows != s.k || call.b.cols != s.n || call.c.rows != s.m ||
        call.c.cols != s.n)
      throw std::logic_error("operands do not fit their sequence");
    std::vector<window> inner;
    for (block const& x : {call.a, call.b, call.c}) {
      storage part = w.at(x.space).memory;
      part.data += x.row * part.rs + x.col * part.cs;
      inner.push_back({part, x});
    }
    std::vector<double> scratch(static_cast<std::size_t>(s.scratch_elements), nan);
    for (buffer const& x : s.buffers) {
      check_room(x, s.scratch_elements);
      inner.push_back({storage_of(x, scratch), {-1, 0, 0, x.rows, x.cols}});
    }
    for (step const& one : s.steps)
      std::visit([&](auto const& body) { run(body, inner, alpha * call.coefficient); }, one);
  }

  graph const& g_;
  double const alpha_, beta_;
  bool const recording_;
  std::vector<double> workspace_;
  std::vector<storage> spaces_;
  touched_elements touched_;
};

}  // namespace

matrix random_integers(std::int64_t rows, std::int64_t cols, std::mt19937& random) {
  matrix X(rows, cols, 0);
  std::uniform_int_distribution<int> digit(-4, 4);
  for (double& x : X.data) x = digit(random);
  return X;
}

matrix not_a_number(std::int64_t rows, std::int64_t cols) { return matrix(rows, cols, nan); }

namespace {

/// How far along each side the tasks reach.
struct extents {
  std::int64_t m, n, k;
};
extents reach(graph const& g) {
  extents last{g.m, g.n, g.k};
  for (task const& t : g.tasks)
    for (access const& x : t.accesses) {
      std::int64_t const row = x.where.row + x.where.rows, col = x.where.col + x.where.cols;
      if (x.where.space == space_A) last.m = std::max(last.m, row), last.k = std::max(last.k, col);
      if (x.where.space == space_B) last.k = std::max(last.k, row), last.n = std::max(last.n, col);
      if (x.where.space == space_C) last.m = std::max(last.m, row), last.n = std::max(last.n, col);
    }
  return last;
}

/// As much of X as there is, `beyond` elsewhere.
matrix resized(matrix const& X, std::int64_t rows, std::int64_t cols, double beyond) {
  matrix Y(rows, cols, beyond);
  for (std::int64_t j = 0; j < std::min(X.cols, cols); ++j)
    for (std::int64_t i = 0; i < std::min(X.rows, rows); ++i) Y(i, j) = X(i, j);
  return Y;
}

}  // namespace

run interpret(graph const& g, std::vector<int> const& order, double alpha, matrix const& A, matrix const& B,
              double beta, matrix C, bool record) {
  auto const [m, n, k] = reach(g);
  matrix a = resized(A, m, k, 0), b = resized(B, k, n, 0);
  C = resized(C, m, n, nan);  // nothing that is beyond may come back
  machine worker(g, alpha, beta, a, b, C, record);
  run result;
  if (record) result.touched.resize(g.tasks.size());
  for (int t : order) {
    auto touched = worker.run(g.tasks[t]);
    if (record) result.touched[t] = std::move(touched);
  }
  result.C = resized(C, g.m, g.n, nan);
  return result;
}

std::vector<int> program_order(graph const& g) {
  std::vector<int> order(g.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> random_order(dependencies const& d, std::mt19937& random) {
  std::vector<int> waiting = d.predecessors, ready, order;
  for (std::size_t t = 0; t < waiting.size(); ++t)
    if (waiting[t] == 0) ready.push_back(static_cast<int>(t));
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    int const t = ready.back();
    ready.pop_back();
    order.push_back(t);
    for (int s : d.successors[t])
      if (--waiting[s] == 0) ready.push_back(s);
  }
  return order;
}

matrix classical_product(double alpha, matrix const& A, matrix const& B, double beta, matrix const& C) {
  matrix R(A.rows, B.cols, 0);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t j = 0; j < B.cols; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < A.cols; ++l) sum += A(i, l) * B(l, j);
      R(i, j) = alpha * sum + (beta == 0 ? 0 : beta * C(i, j));
    }
  return R;
}

}  // namespace heptad::test
