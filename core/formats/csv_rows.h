// SPDX-License-Identifier: MIT
// Reads small CSV files (RFC 4180).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

struct CsvFault {
  int64_t line = 0;  // from 1
  std::string reason;
};

struct CsvRow {
  int64_t line = 0;                 // of its first character, from 1
  std::string_view text;            // that line, without its end
  std::vector<std::string> fields;  // never empty; those before the fault where there is one
  bool quoted = false;              // one of the fields is in quotation marks
  std::optional<CsvFault> fault;
};

// The rows of a text, one after the other. A quoted field may contain commas, line ends and doubled
// quotes; empty lines are ignored.
class CsvReader {
 public:
  // `text` must outlive the reader and its rows. A byte-order mark in front is skipped.
  explicit CsvReader(std::string_view text);

  // Nothing at the end. After a row with a fault (a quote that is not closed or inside a plain
  // field) the reader goes on with the line behind the row's first.
  std::optional<CsvRow> Next();

 private:
  CsvRow Row();
  std::optional<std::string> Field(CsvRow& row);
  std::optional<std::string> Plain(CsvRow& row);
  std::optional<std::string> Quoted(CsvRow& row);
  bool Take(char character);

  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

// The remedy for a row that has other fields than it should have, where it has other separators
// than commas; `otherwise` where it has not.
std::string CsvRemedy(std::string_view row, const std::string& otherwise);

// The fields of all rows. Throws Error (failure) that names the file and the line: the file can't
// be read, exceeds 64 MiB or is not UTF-8, a row has a fault.
std::vector<std::vector<std::string>> ReadCsv(const std::string& path);

// As above, for a text in memory; errors name `name`.
std::vector<std::vector<std::string>> ParseCsv(const std::string& name, std::string_view text);

}  // namespace midscope
