// SPDX-License-Identifier: MIT
#include "core/intervention/head_ratio_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/hashes.h"
#include "core/base/json_depth.h"
#include "core/base/memory_map.h"
#include "core/base/random.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/formats/csv_rows.h"

namespace midscope {

// Does not use std::shuffle, whose result the C++ standard does not specify. SplitMix64 mixes seed
// and layer, so that neighbouring seeds and layers give unrelated orders.
std::vector<int64_t> RandomHeadOrder(uint64_t seed, int64_t layer, size_t count) {
  std::mt19937_64 engine(SplitMix64(SplitMix64(seed).Next() + static_cast<uint64_t>(layer)).Next());
  std::vector<int64_t> items(count);
  std::iota(items.begin(), items.end(), 0);
  for (size_t last = count; last > 1; --last) std::swap(items[last - 1], items[engine() % last]);
  return items;
}

namespace {

constexpr int64_t kMaxRatioFileBytes = int64_t{16} << 20;
constexpr int64_t kMostLayers = 1024;
constexpr int64_t kMostHeads = 4096;
constexpr std::string_view kBlanks = " \t\r";
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Collects the cells of a ratio table in any order.
class Cells {
 public:
  explicit Cells(std::string file) : file_(std::move(file)) {}

  // `where` is a location such as "line 3" or "layer 2, head 1".
  void Set(const std::string& where, int64_t layer, int64_t head, double ratio) {
    if (layer < 0 || layer >= kMostLayers || head < 0 || head >= kMostHeads) {
      throw UsageError(file_,
                       fmt::format("{}: layer {}, head {} is out of range", where, layer, head));
    }
    // Written as a negation, so that NaN is also rejected.
    if (!(ratio >= kSmallestRatio && ratio <= kLargestRatio)) {
      throw UsageError(file_,
                       where + ": a ratio must be from " + NumberText(kSmallestRatio) + " to " +
                           NumberText(kLargestRatio) + ", not " + NumberText(ratio),
                       "1 leaves the head as it is");
    }
    if (layer >= static_cast<int64_t>(rows_.size())) rows_.resize(static_cast<size_t>(layer) + 1);
    std::vector<double>& row = rows_[static_cast<size_t>(layer)];
    if (head >= static_cast<int64_t>(row.size()))
      row.resize(static_cast<size_t>(head) + 1, kMissing);
    double& cell = row[static_cast<size_t>(head)];
    if (!std::isnan(cell)) {
      throw UsageError(file_,
                       fmt::format("{}: layer {}, head {} occurs twice", where, layer, head));
    }
    cell = ratio;
  }

  HeadRatioTable Finish() const {
    if (rows_.empty()) throw UsageError(file_, "it holds no ratios", "Give one for every head");
    HeadRatioTable table;
    table.file = file_;
    for (const std::vector<double>& row : rows_)
      table.heads = std::max(table.heads, static_cast<int64_t>(row.size()));
    for (size_t layer = 0; layer < rows_.size(); ++layer) {
      for (size_t head = 0; head < static_cast<size_t>(table.heads); ++head) {
        const std::vector<double>& row = rows_[layer];
        if (head >= row.size() || std::isnan(row[head])) {
          throw UsageError(file_, fmt::format("layer {}, head {} has no ratio", layer, head),
                           "Give one for every head; 1 leaves it as it is");
        }
        table.ratios.push_back(row[head]);
      }
    }
    return table;
  }

 private:
  std::string file_;
  std::vector<std::vector<double>> rows_;
};

// Returns the array "position_ratio" of an exported file.
const nlohmann::json& ExportedTable(const std::string& file, const nlohmann::json& root) {
  const auto records = root.find("records");
  if (records != root.end() && records->is_array()) {
    for (const nlohmann::json& record : *records) {
      const auto arrays = record.is_object() ? record.find("arrays") : record.end();
      if (!record.is_object() || arrays == record.end() || !arrays->is_array()) continue;
      for (const nlohmann::json& array : *arrays) {
        if (array.is_object() && array.value("name", nlohmann::json()) == kPositionRatio &&
            array.contains("data"))
          return array["data"];
      }
    }
  }
  throw UsageError(file, "its records have no array " + std::string(kPositionRatio),
                   "Write [[ratio of layer 0, head 0, ...], ...]");
}

HeadRatioTable FromJson(const std::string& file, std::string_view text) {
  if (!JsonNestsWithin(text)) throw UsageError(file, "it is JSON that nests too deeply");
  const nlohmann::json root = nlohmann::json::parse(text, nullptr, false);
  if (root.is_discarded()) throw UsageError(file, "it is not JSON, or a damaged one");
  const nlohmann::json& rows = root.is_object() ? ExportedTable(file, root) : root;
  if (!rows.is_array()) {
    throw UsageError(file, std::string(kPositionRatio) + " is not a list of layers",
                     "Write [[ratio of layer 0, head 0, ...], ...]");
  }
  Cells cells(file);
  for (size_t layer = 0; layer < rows.size(); ++layer) {
    const std::string row_name = fmt::format("layer {}", layer);
    const nlohmann::json& row = rows[layer];
    if (!row.is_array()) throw UsageError(file, row_name + " is not a list of ratios");
    for (size_t head = 0; head < row.size(); ++head) {
      const std::string where = fmt::format("{}, head {}", row_name, head);
      if (!row[head].is_number()) throw UsageError(file, where + " is not a number");
      cells.Set(where, static_cast<int64_t>(layer), static_cast<int64_t>(head),
                row[head].get<double>());
    }
  }
  return cells.Finish();
}

HeadRatioTable FromCsv(const std::string& file, std::string_view text) {
  Cells cells(file);
  bool exported = false;  // whether each row begins with its array's name
  CsvReader reader(text);
  while (std::optional<CsvRow> row = reader.Next()) {
    if (Trimmed(row->text, kBlanks).empty()) continue;
    std::vector<std::string_view> fields;
    for (const std::string& field : row->fields) fields.push_back(Trimmed(field, kBlanks));
    if (row->line == 1 && fields.front() == "array") {
      exported = true;
      continue;
    }
    if (row->line == 1 && fields.front() == "layer") continue;
    if (exported && fields.front() != kPositionRatio) continue;
    if (exported) fields.erase(fields.begin());
    const std::string where = fmt::format("line {}", row->line);
    int64_t layer = 0;
    int64_t head = 0;
    double ratio = 0;
    if (row->fault || fields.size() != 3 || !ReadWhole(fields[0], layer) ||
        !ReadWhole(fields[1], head) || !ReadWhole(fields[2], ratio)) {
      const bool comma = fields.size() == 4 ||
                         (fields.size() == 3 && fields[2].find(',') != std::string_view::npos);
      throw UsageError(file,
                       where + " is not layer,head,ratio: " + Quote(Trimmed(row->text, kBlanks)),
                       CsvRemedy(row->text, comma ? "Write a decimal point: for example 12,3,1.5"
                                                  : "Write for example 12,3,1.5"));
    }
    cells.Set(where, layer, head, ratio);
  }
  return cells.Finish();
}

}  // namespace

HeadRatioTable ParseHeadRatios(const std::string& file, std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '[' || text[first] == '{');
  return json ? FromJson(file, text) : FromCsv(file, text);
}

HeadRatioTable ReadHeadRatios(const std::string& file) {
  const MemoryMap map(file);
  if (map.size() > kMaxRatioFileBytes) {
    throw UsageError(file, fmt::format("it is {} bytes long; a table of ratios has at most {}",
                                       map.size(), kMaxRatioFileBytes));
  }
  const std::string text(reinterpret_cast<const char*>(map.data()),
                         static_cast<size_t>(map.size()));
  if (text.starts_with("PK\x03\x04") || text.starts_with("\x93NUMPY")) {
    throw UsageError(file, "it is an array of NumPy, and ratios are read from JSON or CSV",
                     "Write it by json.dump(ratios.tolist(), file)");
  }
  CheckUtf8(file, text);
  return ParseHeadRatios(file, text);
}

HeadRatioTable ShuffledRatios(HeadRatioTable table, uint64_t seed) {
  const auto heads = static_cast<size_t>(table.heads);
  const std::vector<double> before = table.ratios;
  for (size_t layer = 0; layer * heads < before.size(); ++layer) {
    const std::vector<int64_t> order = RandomHeadOrder(seed, static_cast<int64_t>(layer), heads);
    for (size_t head = 0; head < heads; ++head) {
      table.ratios[layer * heads + head] = before[layer * heads + static_cast<size_t>(order[head])];
    }
  }
  table.shuffle = seed;
  return table;
}

std::string RatioDigest(const HeadRatioTable& table) {
  std::string text = std::to_string(table.heads);
  for (const double ratio : table.ratios) text.append(1, ' ').append(NumberText(ratio));
  return ShortDigest(text);
}

}  // namespace midscope
