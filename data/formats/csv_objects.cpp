// SPDX-License-Identifier: MIT
#include "data/formats/csv_objects.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/json_depth.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr uint64_t kLargestCsv = uint64_t{1} << 30;

// Splits the text of a CSV file into records of cells.
class CsvRecords {
 public:
  CsvRecords(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  // Returns "FILE, line 3" for errors: the line in which the most recently read record begins.
  std::string thing() const { return fmt::format("{}, line {}", path_, record_line_); }

  // Reads the cells of the next record, skipping blank lines; returns false at the end of the text.
  bool Next(std::vector<std::string>& cells) {
    do {
      if (at_ == text_.size()) return false;
      cells.clear();
      record_line_ = line_;
      do {
        cells.push_back(Cell());
      } while (Take(','));
      EndLine();
    } while (cells.size() == 1 && StripAscii(cells.front()).empty());
    return true;
  }

 private:
  static std::string_view StripAscii(std::string_view cell) {
    const size_t first = cell.find_first_not_of(" \t");
    return first == std::string_view::npos ? "" : cell.substr(first);
  }

  bool Take(char wanted) {
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void EndLine() {
    Take('\r');
    if (at_ < text_.size() && !Take('\n')) {
      throw Failure(thing(), "it has text after a closing quote",
                    "Write a quote inside a quoted cell twice");
    }
    ++line_;
  }

  std::string Cell() {
    if (Take('"')) return QuotedCell();
    const size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }

  std::string QuotedCell() {
    std::string cell;
    while (true) {
      const size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) {
        throw Failure(thing(), "it has a quote that is not closed", "Close it, or leave it out");
      }
      const std::string_view part = text_.substr(at_, quote - at_);
      line_ += std::count(part.begin(), part.end(), '\n');
      cell += part;
      at_ = quote + 1;
      if (!Take('"')) return cell;
      cell += '"';
    }
  }

  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1;
  int64_t record_line_ = 1;
};

// Whether a cell's text is a list as printed by Python, which pandas writes into CSV files.
bool IsPythonList(std::string_view cell) {
  return cell.ends_with("]") &&
         (cell.starts_with("['") || cell.starts_with("[\"") || cell.starts_with("[{"));
}

nlohmann::json CellValue(const std::string& cell, const std::string& thing) {
  int64_t number = 0;
  if (ReadWhole(std::string_view(cell), number) && std::to_string(number) == cell) return number;
  if (cell.starts_with("[") && JsonNestsWithin(cell)) {
    nlohmann::json list = nlohmann::json::parse(cell, nullptr, false);
    if (list.is_array()) return list;
    if (IsPythonList(cell)) {
      throw Failure(thing, "it has a list that is not JSON: " + Quote(cell),
                    "Write the column with json.dumps, or the table with pandas as JSONL: "
                    "to_json(FILE, orient='records', lines=True)");
    }
  }
  return cell;
}

// For a column named NAME_N or "NAME N" with N >= 1, returns NAME and N; for any other column, its
// name and 0.
std::pair<std::string, size_t> NumberedColumn(const std::string& column) {
  const size_t line = column.find_last_of("_ ");
  size_t number = 0;
  if (line == std::string::npos || line == 0 ||
      !ReadWhole(std::string_view(column).substr(line + 1), number) || number == 0) {
    return {column, 0};
  }
  return {column.substr(0, line), number};
}

nlohmann::json RowObject(const std::vector<std::string>& columns,
                         const std::vector<std::string>& cells, const std::string& thing) {
  nlohmann::json object = nlohmann::json::object();
  std::map<std::string, std::map<size_t, std::string>> lists;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (cells[i].empty()) continue;
    const auto [name, number] = NumberedColumn(columns[i]);
    if (number == 0) {
      object[name] = CellValue(cells[i], thing);
    } else {
      lists[name][number] = cells[i];
    }
  }
  for (const auto& [name, texts] : lists) {
    if (object.contains(name)) {
      throw Failure(thing, "it has both " + Quote(name) + " and " + Quote(name + "_1"),
                    "Leave one of the two columns out");
    }
    nlohmann::json& list = object[name];
    for (const auto& [number, text] : texts) list.push_back(text);
  }
  return object;
}

}  // namespace

void ForEachCsvObject(const std::string& path,
                      const std::function<void(const JsonFields& fields)>& item) {
  const std::string bytes = ReadWholeFile(path, kLargestCsv, "1 GiB");
  std::string_view text = bytes;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  CheckUtf8(path, text);
  CsvRecords records(path, text);
  std::vector<std::string> columns;
  if (!records.Next(columns)) {
    throw Failure(path, "it is empty", "Its first line must name the columns");
  }
  if (columns.size() == 1 && columns.front().find_first_of(";\t") != std::string::npos) {
    throw Failure(path, "its columns are separated by semicolons or tabs, not by commas",
                  "Convert it, in Python: pandas.read_csv(FILE, sep=None, engine='python')"
                  ".to_csv(NEW, index=False)");
  }
  std::set<std::string> names;
  for (const std::string& column : columns) {
    if (!names.insert(column).second) {
      throw Failure(path, "two columns are named " + Quote(column), "Rename one of them");
    }
  }
  bool any = false;
  for (std::vector<std::string> cells; records.Next(cells); any = true) {
    if (cells.size() != columns.size()) {
      throw Failure(records.thing(),
                    fmt::format("it has {}, the first line has {}",
                                CountText(std::ssize(cells), "cell"), columns.size()),
                    "Put cells with commas or line ends in double quotes");
    }
    item(JsonFields(RowObject(columns, cells, records.thing()), records.thing(), ""));
  }
  if (!any) throw Failure(path, "it must contain at least one line below the names of columns");
}

}  // namespace midscope
