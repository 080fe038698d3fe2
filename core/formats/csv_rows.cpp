// SPDX-License-Identifier: MIT
#include "data/formats/csv_rows.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

std::string ReadAll(const std::string& path) {
  constexpr int64_t kMostBytes = int64_t{64} << 20;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw Failure(path, "is a folder, not a file");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw Failure(path, "can't be opened", "Check the path");
  const auto bytes = static_cast<int64_t>(file.tellg());
  if (bytes < 0 || bytes > kMostBytes) throw Failure(path, "it is longer than 64 MiB");
  std::string text(static_cast<size_t>(bytes), '\0');
  file.seekg(0);
  file.read(text.data(), bytes);
  if (file.gcount() != bytes) throw Failure(path, "can't be read");
  CheckUtf8(path, text);
  return text;
}

class Parser {
 public:
  Parser(const std::string& path, const std::string& text) : path_(path), text_(text) {}

  std::vector<std::vector<std::string>> Rows() {
    std::vector<std::vector<std::string>> rows;
    while (at_ < text_.size()) {
      std::vector<std::string> row = {Field()};
      while (Take(',')) row.push_back(Field());
      Take('\r');
      if (at_ < text_.size() && !Take('\n')) Fail("a comma is missing after a quoted field");
      ++line_;
      if (row.size() > 1 || !row.front().empty()) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  [[noreturn]] void Fail(const std::string& reason) const {
    throw Failure(path_ + ", line " + std::to_string(line_), reason);
  }

  bool Take(char character) {
    if (at_ >= text_.size() || text_[at_] != character) return false;
    ++at_;
    return true;
  }

  std::string Field() { return Take('"') ? Quoted() : Plain(); }

  std::string Plain() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r') {
      if (text_[at_] == '"') Fail("a quote is inside a field that does not begin with one");
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string Quoted() {
    std::string field;
    while (at_ < text_.size()) {
      const char character = text_[at_++];
      if (character == '"' && !Take('"')) return field;
      if (character == '\n') ++line_;
      field += character;
    }
    Fail("a quoted field does not end");
  }

  const std::string& path_;
  const std::string& text_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace

std::vector<std::vector<std::string>> ReadCsv(const std::string& path) {
  return ParseCsv(path, ReadAll(path));
}

std::vector<std::vector<std::string>> ParseCsv(const std::string& name, const std::string& text) {
  return Parser(name, text).Rows();
}

}  // namespace midscope
