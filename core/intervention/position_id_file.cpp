// SPDX-License-Identifier: MIT
#include "core/intervention/position_id_file.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/hashes.h"
#include "core/base/json_depth.h"
#include "core/base/memory_map.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr int64_t kMaxIdFileBytes = int64_t{64} << 20;
constexpr size_t kMostIds = size_t{1} << 22;
constexpr std::string_view kSeparators = " \t\r\n,";

class Ids {
 public:
  explicit Ids(const std::string& file) : file_(file) {}

  void Add(double id) {
    // Written as a negation, so that NaN is also rejected.
    if (!(id >= 0 && id <= kLargestPositionId)) {
      throw UsageError(file_,
                       Next() + " is " + NumberText(id) + ": a position id must be from 0 to " +
                           NumberText(kLargestPositionId),
                       "Shift all ids: attention sees their differences alone");
    }
    if (ids_.size() == kMostIds) {
      throw UsageError(file_, "it holds more than " + std::to_string(kMostIds) + " ids",
                       "Give one for each token of the prompt");
    }
    ids_.push_back(id);
  }

  // Returns the name of the next number for messages: "number 3".
  std::string Next() const { return "number " + std::to_string(ids_.size() + 1); }

  std::vector<double> Finish() {
    if (ids_.empty())
      throw UsageError(file_, "it holds no position ids", "Give one for each token of the prompt");
    return std::move(ids_);
  }

 private:
  const std::string& file_;
  std::vector<double> ids_;
};

std::vector<double> IdsFromText(const std::string& file, std::string_view text) {
  Ids ids(file);
  for (size_t begin = text.find_first_not_of(kSeparators); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSeparators, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    double id = 0;
    if (!ReadWhole(word, id)) {
      throw UsageError(file, ids.Next() + " is " + Quote(word) + ", which is not a number",
                       "Write numbers with white space or commas between, or a JSON list");
    }
    ids.Add(id);
    begin = text.find_first_not_of(kSeparators, end);
  }
  return ids.Finish();
}

// Returns the list of numbers: the root itself, or the one sample of {"positions": [[...]]}.
const nlohmann::json& ListOf(const std::string& file, const nlohmann::json& root) {
  if (root.is_array()) return root;
  const auto samples = root.find("positions");
  if (samples == root.end() || !samples->is_array()) {
    throw UsageError(file, "it has no list \"positions\"", "Write [0, 1, 2, ...]");
  }
  if (samples->size() != 1 || !samples->front().is_array()) {
    throw UsageError(file,
                     "\"positions\" holds " +
                         CountText(static_cast<int64_t>(samples->size()), "sample") +
                         ", of which one must be meant",
                     "Make one: midscope positions ... --samples 1 --json");
  }
  return samples->front();
}

std::vector<double> IdsFromJson(const std::string& file, std::string_view text) {
  if (!JsonNestsWithin(text)) throw UsageError(file, "it is JSON that nests too deeply");
  const nlohmann::json root = nlohmann::json::parse(text, nullptr, false);
  if (root.is_discarded()) throw UsageError(file, "it is not JSON, or a damaged one");
  Ids ids(file);
  for (const nlohmann::json& item : ListOf(file, root)) {
    if (!item.is_number())
      throw UsageError(file, ids.Next() + " is " + Quote(item.dump()) + ", which is not a number");
    ids.Add(item.get<double>());
  }
  return ids.Finish();
}

}  // namespace

std::vector<double> ParsePositionIds(const std::string& file, std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '[' || text[first] == '{');
  return json ? IdsFromJson(file, text) : IdsFromText(file, text);
}

std::vector<double> ReadPositionIds(const std::string& file) {
  const MemoryMap map(file);
  if (map.size() > kMaxIdFileBytes) {
    throw UsageError(file,
                     "it is " + std::to_string(map.size()) +
                         " bytes long; position ids have at most " +
                         std::to_string(kMaxIdFileBytes),
                     "Give one number for each token of the prompt");
  }
  const std::string text(reinterpret_cast<const char*>(map.data()),
                         static_cast<size_t>(map.size()));
  CheckUtf8(file, text);
  return ParsePositionIds(file, text);
}

std::string PositionIdDigest(const std::vector<double>& ids) {
  std::string text;
  for (const double id : ids) text.append(NumberText(id)).append(1, ' ');
  return ShortDigest(text);
}

}  // namespace midscope
