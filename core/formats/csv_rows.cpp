// SPDX-License-Identifier: MIT
#include "core/formats/csv_rows.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

std::string ReadAll(const std::string& path) {
  constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  std::string text = ReadWholeFile(path, kMostBytes, "64 MiB");
  CheckUtf8(path, text);
  return text;
}

}  // namespace

CsvReader::CsvReader(std::string_view text) : text_(text) {
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

std::optional<CsvRow> CsvReader::Next() {
  while (at_ < text_.size()) {
    CsvRow row = Row();
    if (row.fault || row.fields.size() > 1 || !row.fields.front().empty()) return row;
  }
  return std::nullopt;
}

CsvRow CsvReader::Row() {
  const size_t begin = at_;
  CsvRow row;
  row.line = line_;
  row.text = text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
  do {
    std::optional<std::string> field = Field(row);
    if (field) row.fields.push_back(std::move(*field));
  } while (!row.fault && Take(','));
  while (!row.fault && Take('\r')) {
  }
  if (!row.fault && at_ < text_.size() && !Take('\n'))
    row.fault = CsvFault{line_, "a comma is missing after a quoted field"};
  if (row.fault) {
    at_ = std::min(begin + row.text.size() + 1, text_.size());
    line_ = row.line;
    if (row.fields.empty()) row.fields.emplace_back();
  }
  ++line_;
  return row;
}

std::optional<std::string> CsvReader::Field(CsvRow& row) {
  return Take('"') ? Quoted(row) : Plain(row);
}

std::optional<std::string> CsvReader::Plain(CsvRow& row) {
  const size_t begin = at_;
  at_ = std::min(text_.find_first_of(",\n\r\"", begin), text_.size());
  if (at_ < text_.size() && text_[at_] == '"') {
    row.fault = CsvFault{line_, "a quote is inside a field that does not begin with one"};
    return std::nullopt;
  }
  return std::string(text_.substr(begin, at_ - begin));
}

std::optional<std::string> CsvReader::Quoted(CsvRow& row) {
  row.quoted = true;
  std::string field;
  while (at_ < text_.size()) {
    const char character = text_[at_++];
    if (character == '"' && !Take('"')) return field;
    if (character == '\n') ++line_;
    field += character;
  }
  row.fault = CsvFault{line_, "a quoted field does not end"};
  return std::nullopt;
}

bool CsvReader::Take(char character) {
  if (at_ >= text_.size() || text_[at_] != character) return false;
  ++at_;
  return true;
}

std::string CsvRemedy(std::string_view row, const std::string& otherwise) {
  if (row.find(';') != std::string_view::npos)
    return "Separate fields by commas, not by semicolons, and write 1.5, not 1,5. " + otherwise;
  if (row.find('\t') != std::string_view::npos)
    return "Separate fields by commas, not by tabs. " + otherwise;
  return otherwise;
}

std::vector<std::vector<std::string>> ReadCsv(const std::string& path) {
  return ParseCsv(path, ReadAll(path));
}

std::vector<std::vector<std::string>> ParseCsv(const std::string& name, std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  CsvReader reader(text);
  while (std::optional<CsvRow> row = reader.Next()) {
    if (row->fault)
      throw Failure(fmt::format("{}, line {}", name, row->fault->line), row->fault->reason);
    rows.push_back(std::move(row->fields));
  }
  return rows;
}

}  // namespace midscope
