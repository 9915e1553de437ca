// SPDX-License-Identifier: BSD-3-Clause
// The text form of an algorithm: header lines, the rows of U, V and W, then the additions programs as assignments.
// The text may come from anyone: sizes are bounded before anything is allocated, and every error has its line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"

namespace heptad {
namespace {

constexpr std::int64_t largest_work = std::int64_t{1} << 28;  // terms of the Brent equations: seconds

[[noreturn]] void fail(std::string const& message) { throw error(status::invalid_argument, message); }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Takes tokens off the front of one line.
class scanner {
public:
  explicit scanner(std::string_view line) : rest_(line) { skip_blanks(); }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    drop(1);
    return true;
  }
  /// The longest run of characters that belong; may be empty.
  template <typename Belongs>
  std::string_view take_while(Belongs belongs) {
    auto const end = std::find_if_not(rest_.begin(), rest_.end(), belongs);
    std::string_view const taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    drop(taken.size());
    return taken;
  }
  std::string_view word() {
    return take_while([](char c) { return !is_blank(c); });
  }
  std::string_view name() {
    if (rest_.empty() || !is_letter(rest_.front())) return {};
    return take_while([](char c) { return is_letter(c) || is_digit(c); });
  }

private:
  void drop(std::size_t count) {
    rest_.remove_prefix(count);
    skip_blanks();
  }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

/// The lines that say something: comments (lines that start with #) and empty lines are passed over.
class lines {
public:
  explicit lines(std::string_view text) : rest_(text) { advance(); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool at_end() const { return at_end_; }
  [[nodiscard]] std::string_view current() const {
    if (at_end_) fail("the file ends too early");
    return line_;
  }
  void advance() {
    while (!rest_.empty()) {
      auto const end = rest_.find('\n');
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++number_;
      while (!line_.empty() && is_blank(line_.front())) line_.remove_prefix(1);
      while (!line_.empty() && is_blank(line_.back())) line_.remove_suffix(1);
      if (!line_.empty() && line_.front() != '#') return;
    }
    at_end_ = true;
  }

private:
  std::string_view rest_, line_;
  int number_ = 0;
  bool at_end_ = false;
};

/// What follows the keyword on the current line.
scanner expect_keyword(lines const& in, std::string_view keyword) {
  scanner line(in.current());
  std::string_view const word = line.word();
  if (word != keyword) fail(fmt::format("'{}' is expected, not '{}'", keyword, word));
  if (line.at_end()) fail(fmt::format("'{}' has no value", keyword));
  return line;
}

int read_size(scanner& line, char const* what, int largest) {
  rational const value = parse_rational(line.word());
  if (value.den() != 1 || value.num() < 1 || value.num() > largest)
    fail(fmt::format("{} is {}, not an integer from 1 to {}", what, to_string(value), largest));
  return static_cast<int>(value.num());
}

void expect_line_end(scanner const& line) {
  if (!line.at_end()) fail(fmt::format("'{}' is left over at the end of the line", line.rest()));
}

coefficient_matrix read_matrix(lines& in, std::string_view name, int rows, int cols) {
  if (in.current() != name) fail(fmt::format("the matrix '{}' is expected, not '{}'", name, in.current()));
  in.advance();
  coefficient_matrix matrix{rows, cols, {}};
  for (int i = 0; i < rows; ++i) {
    scanner line(in.current());
    for (int r = 0; r < cols; ++r) {
      if (line.at_end()) fail(fmt::format("row {} of {} has {} coefficients, not {}", i + 1, name, r, cols));
      matrix.entries.push_back(parse_rational(line.word()));
    }
    if (!line.at_end()) fail(fmt::format("row {} of {} has more than {} coefficients", i + 1, name, cols));
    in.advance();
  }
  return matrix;
}

using value_names = std::map<std::string, int, std::less<>>;

/// One term, [number *] name, after its sign.
linear_term read_term(scanner& line, rational sign, value_names const& values) {
  rational coefficient = sign;
  std::string_view const number = line.take_while([](char c) { return is_digit(c) || c == '/'; });
  if (!number.empty()) {
    coefficient = sign * parse_rational(number);
    if (!line.take('*')) fail(fmt::format("'*' and a name are expected after the number '{}'", number));
  }
  std::string_view const name = line.name();
  if (name.empty()) fail(fmt::format("a name is expected at '{}'", line.rest()));
  auto const found = values.find(name);
  if (found == values.end()) fail(fmt::format("'{}' is not defined above this line", name));
  if (coefficient.is_zero()) fail(fmt::format("'{}' has the coefficient 0", name));
  return {found->second, coefficient};
}

std::vector<linear_term> read_sum(scanner& line, value_names const& values) {
  std::vector<linear_term> sum;
  rational sign = line.take('-') ? -1 : 1;
  while (true) {
    linear_term const term = read_term(line, sign, values);
    if (std::any_of(sum.begin(), sum.end(), [&](linear_term const& t) { return t.value == term.value; }))
      fail("a sum has the same name twice");
    sum.push_back(term);
    if (line.take('+')) sign = 1;
    else if (line.take('-')) sign = -1;
    else return sum;
  }
}

std::vector<linear_term> read_outputs(scanner& line, int outputs, value_names const& values) {
  std::vector<linear_term> result;
  do {
    if (result.size() == static_cast<std::size_t>(outputs))
      fail(fmt::format("there are more than {} outputs", outputs));
    if (line.rest() == "0" || line.rest().substr(0, 2) == "0,") {
      line.take('0');
      result.push_back({0, 0});
    } else {
      rational const sign = line.take('-') ? -1 : 1;
      result.push_back(read_term(line, sign, values));
    }
  } while (line.take(','));
  expect_line_end(line);
  if (result.size() != static_cast<std::size_t>(outputs))
    fail(fmt::format("there are {} outputs, not {}", result.size(), outputs));
  return result;
}

/// Lines `name = sum`, then `outputs: …`. The inputs are called <letter>1, <letter>2, …
additions_program read_program(lines& in, std::string_view title, char letter, int inputs, int outputs) {
  if (in.current() != title) fail(fmt::format("'{}' is expected, not '{}'", title, in.current()));
  in.advance();
  additions_program program{inputs, {}, {}};
  value_names values;
  for (int i = 0; i < inputs; ++i) values.emplace(fmt::format("{}{}", letter, i + 1), i);
  while (true) {
    scanner line(in.current());
    std::string_view const name = line.name();
    if (name.empty()) fail(fmt::format("a name or 'outputs:' is expected at '{}'", line.rest()));
    if (name == "outputs" && line.take(':')) {
      program.outputs = read_outputs(line, outputs, values);
      in.advance();
      return program;
    }
    if (!line.take('=')) fail(fmt::format("'=' is expected after '{}'", name));
    program.steps.push_back(read_sum(line, values));
    expect_line_end(line);
    if (!values.emplace(name, inputs + static_cast<int>(program.steps.size()) - 1).second)
      fail(fmt::format("'{}' is defined twice", name));
    in.advance();
  }
}

/// Dense matrices of a legal size could keep the verification busy for an hour.
void check_work(algorithm const& x) {
  std::int64_t work = 0;
  for (int r = 0; r < x.rank(); ++r) work += std::int64_t{nonzeros(x.U, r)} * nonzeros(x.V, r) * x.W.rows;
  if (work > largest_work)
    fail(fmt::format("U and V are too dense to be verified: {} terms, more than {}", work, largest_work));
}

algorithm_header read_header(lines& in) {
  algorithm_header x;
  scanner name = expect_keyword(in, "name");
  x.name = name.word();
  expect_line_end(name);
  in.advance();
  x.source = expect_keyword(in, "source").rest();
  in.advance();
  scanner blocks = expect_keyword(in, "blocks");
  x.m = read_size(blocks, "m", largest_side);
  x.k = read_size(blocks, "k", largest_side);
  x.n = read_size(blocks, "n", largest_side);
  expect_line_end(blocks);
  in.advance();
  scanner rank = expect_keyword(in, "rank");
  x.rank = read_size(rank, "the rank", x.m * x.k * x.n);
  expect_line_end(rank);
  in.advance();
  return x;
}

algorithm read_algorithm(lines& in) {
  algorithm_header const header = read_header(in);
  int const rank = header.rank;
  algorithm x;
  x.name = header.name;
  x.source = header.source;
  x.m = header.m;
  x.k = header.k;
  x.n = header.n;
  x.U = read_matrix(in, "U", x.m * x.k, rank);
  x.V = read_matrix(in, "V", x.k * x.n, rank);
  x.W = read_matrix(in, "W", x.m * x.n, rank);
  check_work(x);
  if (in.at_end()) {
    set_plain_programs(x);
    return x;
  }
  x.sums_A = read_program(in, "sums of A", 'a', x.m * x.k, rank);
  x.sums_B = read_program(in, "sums of B", 'b', x.k * x.n, rank);
  x.sums_C = read_program(in, "sums of C", 'p', rank, x.m * x.n);
  if (!in.at_end()) fail(fmt::format("'{}' is left over at the end of the file", in.current()));
  return x;
}

/// A message may quote the text, which may be anything: what is not printed everywhere is escaped, and the length is
/// bounded.
std::string printable(std::string_view message) {
  constexpr std::size_t longest = 300;
  std::string text;
  for (char const c : message) {
    if (text.size() >= longest) return text + "…";
    if (c >= ' ' && c <= '~') text += c;
    else text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

template <typename Read>
auto parse(std::string const& text, std::string const& file_name, Read read) {
  if (text.size() > largest_algorithm_text)
    fail(fmt::format("{}: the file has {} bytes, more than {}", file_name, text.size(), largest_algorithm_text));
  if (text.find('\0') != text.npos) fail(fmt::format("{}: the file is no text: it has a byte 0", file_name));
  lines in(text);
  try {
    return read(in);
  } catch (error const& e) {
    // Where there is no line that says something, none is wrong.
    std::string const place = in.number() > 0 ? fmt::format("{}:{}", file_name, in.number()) : file_name;
    throw error(e.code(), fmt::format("{}: {}", place, printable(e.what())));
  }
}

void write_matrix(std::string& text, char const* name, coefficient_matrix const& matrix) {
  text += fmt::format("\n{}\n", name);
  std::size_t width = 1;
  for (rational const& entry : matrix.entries) width = std::max(width, to_string(entry).size());
  for (int i = 0; i < matrix.rows; ++i)
    for (int r = 0; r < matrix.cols; ++r)
      text += fmt::format("{:>{}}{}", to_string(matrix(i, r)), width, r + 1 < matrix.cols ? ' ' : '\n');
}

void write_program(std::string& text, char const* title, char letter, additions_program const& program) {
  auto const name = [&](int value) {
    return value < program.inputs ? fmt::format("{}{}", letter, value + 1)
                                  : fmt::format("t{}", value - program.inputs + 1);
  };
  auto const magnitude_and_name = [&](linear_term const& term) {
    rational const magnitude = term.coefficient.num() < 0 ? -term.coefficient : term.coefficient;
    return magnitude == rational(1) ? name(term.value) : fmt::format("{}*{}", to_string(magnitude), name(term.value));
  };
  text += fmt::format("\n{}\n", title);
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    text += fmt::format("t{} =", s + 1);
    bool first = true;
    for (linear_term const& term : program.steps[s]) {
      bool const negative = term.coefficient.num() < 0;
      text += first ? (negative ? " -" : " ") : (negative ? " - " : " + ");
      text += magnitude_and_name(term);
      first = false;
    }
    text += '\n';
  }
  text += "outputs:";
  for (std::size_t q = 0; q < program.outputs.size(); ++q) {
    linear_term const& output = program.outputs[q];
    text += q == 0 ? " " : ", ";
    if (output.coefficient.num() < 0) text += '-';
    text += output.coefficient.is_zero() ? "0" : magnitude_and_name(output);
  }
  text += '\n';
}

}  // namespace

bool is_one_word(std::string const& name) {
  return !name.empty() && std::none_of(name.begin(), name.end(), [](char c) { return is_blank(c) || c == '\n'; });
}

std::string to_text(algorithm const& x) {
  if (!is_one_word(x.name)) fail(fmt::format("the name '{}' is not one word", printable(x.name)));
  if (scanner(x.source).at_end() || x.source.find('\n') != std::string::npos)
    fail(fmt::format("the source '{}' of {} is not one line", printable(x.source), x.name));
  std::string text =
      fmt::format("name {}\nsource {}\nblocks {} {} {}\nrank {}\n", x.name, x.source, x.m, x.k, x.n, x.rank());
  write_matrix(text, "U", x.U);
  write_matrix(text, "V", x.V);
  write_matrix(text, "W", x.W);
  write_program(text, "sums of A", 'a', x.sums_A);
  write_program(text, "sums of B", 'b', x.sums_B);
  write_program(text, "sums of C", 'p', x.sums_C);
  return text;
}

algorithm_header parse_header(std::string const& text, std::string const& file_name) {
  return parse(text, file_name, read_header);
}

algorithm parse_algorithm(std::string const& text, std::string const& file_name) {
  algorithm x = parse(text, file_name, read_algorithm);
  try {
    verify(x);
  } catch (error const& e) {
    throw error(e.code(), fmt::format("{}: {}", file_name, printable(e.what())));
  }
  return x;
}

}  // namespace heptad
