// SPDX-License-Identifier: BSD-3-Clause
// The format is described in numpy/lib/format.py: magic, version, header length, a Python dictionary, the elements.
#include "tools/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/plan/counted.hpp"
#include "tools/output_file.hpp"

namespace heptad::tools {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void reject(std::string const& file, std::string const& why) {
  throw error(status::invalid_argument, fmt::format("{}: {}", file, why));
}

/// Reads the one kind of Python literal that a header is.
class header_parser {
public:
  header_parser(std::string_view text, std::string const& file) : text_(text), file_(file) {}

  npy_header parse() {
    std::optional<std::string_view> type;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
    expect('{');
    while (!accept('}')) {
      auto const key = string();
      expect(':');
      if (key == "descr" && !type) type = descr();
      else if (key == "fortran_order" && !fortran_order) fortran_order = boolean();
      else if (key == "shape" && !shape) shape = integers();
      else reject(file_, fmt::format("unexpected or repeated key '{}' in the header", printable(key)));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (position_ != text_.size()) reject(file_, "text after the header's dictionary");
    if (!type || !fortran_order || !shape) reject(file_, "the header must have descr, fortran_order and shape");
    if (shape->size() != 2) reject(file_, fmt::format("{}, must be 2", counted(shape->size(), "dimension")));
    return {element(*type), *fortran_order, (*shape)[0], (*shape)[1], 0};
  }

private:
  static std::string printable(std::string_view text) {
    std::string clean(text.substr(0, 40));
    for (char& c : clean) {
      if (c < ' ' || c > '~') c = '?';
    }
    return clean;
  }

  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
  }
  bool accept(char c) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) reject(file_, fmt::format("the header must have '{}' at its byte {}", c, position_));
  }
  std::string_view string() {
    bool const single = accept('\'');
    if (!single) expect('"');
    std::size_t const end = text_.find(single ? '\'' : '"', position_);
    if (end == std::string_view::npos) reject(file_, "a string in the header does not end");
    return text_.substr(std::exchange(position_, end + 1), end - position_);
  }
  std::string_view descr() {
    skip_space();
    if (position_ < text_.size() && text_[position_] == '[') reject(file_, "elements are records, must be numbers");
    return string();
  }
  bool boolean() {
    skip_space();
    for (auto const& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(position_, word.size()) != word) continue;
      position_ += word.size();
      return value;
    }
    reject(file_, "fortran_order must be True or False");
  }
  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t value = 0;
      auto const [end, code] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
      if (code != std::errc{} || value < 0) reject(file_, "the shape must be a tuple of sizes");
      position_ = static_cast<std::size_t>(end - text_.data());
      values.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  element_type element(std::string_view type) const {
    if (type == "<f8") return element_type::f64;
    if (type == "<f4") return element_type::f32;
    reject(file_, fmt::format("elements are '{}', must be '<f4' or '<f8'", printable(type)));
  }

  std::string_view text_;
  std::string const& file_;
  std::size_t position_ = 0;
};

std::size_t little_endian(std::span<char const> bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string system_message() { return std::strerror(errno); }

}  // namespace

npy_header parse_npy_header(std::span<char const> bytes, std::string const& file_name) {
  std::size_t const fixed = magic.size() + 2;
  if (bytes.size() < fixed || std::string_view(bytes.data(), magic.size()) != magic) {
    reject(file_name, "not a .npy file");
  }
  int const version = static_cast<unsigned char>(bytes[magic.size()]);
  if (version < 1 || version > 3) reject(file_name, fmt::format("format version {}, must be 1, 2 or 3", version));
  std::size_t const width = version == 1 ? 2 : 4;
  if (bytes.size() < fixed + width) reject(file_name, "the file ends in its header");
  std::size_t const length = little_endian(bytes.subspan(fixed, width));
  if (length > bytes.size() - fixed - width) reject(file_name, "the file ends in its header");
  npy_header header = header_parser({bytes.data() + fixed + width, length}, file_name).parse();
  header.data_offset = fixed + width + length;
  return header;
}

npy_file::npy_file(std::string const& file_name) {
  int const file = ::open(file_name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) reject(file_name, system_message());
  struct stat about {};
  bool const regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  size_ = regular ? static_cast<std::size_t>(about.st_size) : 0;
  void* const map = size_ > 0 ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (map == MAP_FAILED)
    reject(file_name, regular && size_ == 0 ? "the file is empty" : "not a file that can be mapped");
  map_ = static_cast<char const*>(map);
  try {
    header_ = parse_npy_header({map_, size_}, file_name);
    std::size_t const element = header_.type == element_type::f64 ? 8 : 4;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(header_.rows, header_.cols, &bytes) || __builtin_mul_overflow(bytes, element, &bytes) ||
        bytes != size_ - header_.data_offset) {
      reject(file_name, fmt::format("{} x {} elements of {} bytes do not fill the {} bytes after the header",
                                    header_.rows, header_.cols, element, size_ - header_.data_offset));
    }
    if (header_.data_offset % element != 0) reject(file_name, "elements are not aligned; save the array again");
  } catch (...) {
    munmap(map, size_);
    throw;
  }
}

npy_file::~npy_file() {
  if (map_ != nullptr) munmap(const_cast<char*>(map_), size_);
}

npy_file::npy_file(npy_file&& other) noexcept
    : map_(std::exchange(other.map_, nullptr)), size_(other.size_), header_(other.header_) {}

template <typename T>
void write_npy(std::string const& file_name, matrix_view<T const> const& X) {
  bool const fortran = X.row_stride == 1 && X.col_stride == X.rows;
  std::string text = fmt::format("{{'descr': '<f{}', 'fortran_order': {}, 'shape': ({}, {}), }}", sizeof(T),
                                 fortran ? "True" : "False", X.rows, X.cols);
  // Padded so that the elements begin at a multiple of 64 bytes; the header ends in a newline.
  std::size_t const fixed = magic.size() + 4;
  text.append((64 - (fixed + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string start(magic);
  start += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  start += text;

  auto const bytes = static_cast<std::size_t>(X.rows * X.cols) * sizeof(T);
  write_output(file_name, {start, {reinterpret_cast<char const*>(X.data), bytes}});
}

template void write_npy(std::string const&, matrix_view<double const> const&);
template void write_npy(std::string const&, matrix_view<float const> const&);

}  // namespace heptad::tools
