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
  int64_t line = 0;  // counted from 1
  std::string reason;
};

struct CsvRow {
  int64_t line = 0;                 // line of the row's first character, counted from 1
  std::string_view text;            // the text of that line, without its line end
  std::vector<std::string> fields;  // never empty; if there is a fault, the fields before it
  bool quoted = false;              // any field is in quotation marks
  std::optional<CsvFault> fault;
};

// Iterates over the rows of a text. A quoted field may contain commas, line ends and doubled
// quotes; empty lines are ignored.
class CsvReader {
 public:
  // `text` must outlive the reader and its rows. A byte-order mark at its beginning is skipped.
  explicit CsvReader(std::string_view text);

  // Returns the next row; nullopt at the end of the text. After a row with a fault (a quote that is
  // not closed or is inside an unquoted field), the reader continues with the line after the row's
  // first line.
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

// Returns the remedy text for a row with unexpected fields: advice about separators if the row uses
// others than commas, else `otherwise`.
std::string CsvRemedy(std::string_view row, const std::string& otherwise);

// Returns the fields of all rows. Throws Error (failure) that names the file and the line if the
// file cannot be read, exceeds 64 MiB or is not UTF-8, or if a row has a fault.
std::vector<std::vector<std::string>> ReadCsv(const std::string& path);

// Returns the fields of all rows of a text in memory (see ReadCsv). Errors name `name`.
std::vector<std::vector<std::string>> ParseCsv(const std::string& name, std::string_view text);

}  // namespace midscope
