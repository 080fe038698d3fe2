// SPDX-License-Identifier: MIT
// UUID key-value retrieval of "Lost in the Middle" (Liu et al. 2023, arXiv 2307.03172), with the
// template of its public data; pairs are generated, or read from one of its files. Scored by
// whether the value is a substring of 100 new tokens (not cut at a line end).
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "data/formats/json_lines.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

// Returns a UUID of version 4, variant 10xx, in lower case: "1b4e28ba-2fa1-4d2e-883f-0016d3cca427".
std::string Uuid4(SplitMix64& random) {
  constexpr uint64_t kVersionMask = 0xF000;
  constexpr uint64_t kVersion4 = 0x4000;
  constexpr uint64_t kVariantMask = 0xC000000000000000;
  constexpr uint64_t kVariant = 0x8000000000000000;
  const uint64_t high = (random.Next() & ~kVersionMask) | kVersion4;
  const uint64_t low = (random.Next() & ~kVariantMask) | kVariant;
  std::string text;
  for (int nibble = 0; nibble < 32; ++nibble) {
    if (nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20) text += '-';
    const uint64_t half = nibble < 16 ? high : low;
    text += "0123456789abcdef"[(half >> (60 - 4 * (nibble % 16))) & 0xF];
  }
  return text;
}

std::string JsonPair(const std::string& key, const std::string& value) {
  std::string text = "\"";
  text += key;
  text += "\": \"";
  text += value;
  text += "\"";
  return text;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs RandomPairs(int64_t count, SplitMix64 random) {
  Pairs pairs;
  std::set<std::string> keys;
  while (static_cast<int64_t>(pairs.size()) < count) {
    const std::string key = Uuid4(random);
    if (keys.insert(key).second) pairs.emplace_back(key, Uuid4(random));
  }
  return pairs;
}

// Returns the key-value pairs of one line of a file, the pair that the question requests first.
Pairs ReadRecords(const JsonFields& fields) {
  const std::string key = fields.Text("key");
  Pairs pairs;
  std::optional<size_t> gold;
  for (const nlohmann::json& record : fields.Array("ordered_kv_records")) {
    if (!record.is_array() || record.size() != 2 || !record[0].is_string() ||
        !record[1].is_string()) {
      fields.Fail("has an ordered_kv_records that must be a list of [key, value]");
    }
    pairs.emplace_back(record[0].get<std::string>(), record[1].get<std::string>());
    if (pairs.back().first != key) continue;
    if (gold) fields.Fail("contains the requested key twice in ordered_kv_records");
    gold = pairs.size() - 1;
  }
  if (!gold || pairs[*gold].second != fields.Text("value")) {
    fields.Fail("has a key and value that are not in its ordered_kv_records");
  }
  std::rotate(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(*gold),
              pairs.begin() + static_cast<std::ptrdiff_t>(*gold) + 1);
  return pairs;
}

std::vector<Pairs> ReadFile(const std::string& path) {
  std::vector<Pairs> items;
  ForEachJsonLine(path, [&](const JsonFields& fields) {
    items.push_back(ReadRecords(fields));
    if (items.back().size() != items.front().size()) {
      fields.Fail(fmt::format("has {} records, the first line has {}", items.back().size(),
                              items.front().size()));
    }
  });
  return items;
}

class KeyValueTask : public SpecTask {
 public:
  KeyValueTask(TaskSpec spec, const TaskInputs& inputs)
      : query_aware_(spec.Number("query_aware") != 0),
        first_place_(spec.Number("first_place")),
        seed_(inputs.seed) {
    if (!spec.file().empty()) TakeFile(spec);
    pairs_ = spec.Number("pairs");
    name_ = TaskSpecText(spec);
  }

  int64_t pieces() const override { return pairs_; }
  int64_t first_place() const override { return first_place_; }
  std::optional<int64_t> samples() const override {
    if (items_.empty()) return std::nullopt;
    return static_cast<int64_t>(items_.size());
  }

  TaskSample MakeChecked(int64_t sample, int64_t given_place) const override {
    const int64_t place = given_place - first_place_ + 1;
    Pairs pairs = items_.empty()
                      ? RandomPairs(pairs_, SplitMix64(seed_, static_cast<uint64_t>(sample)))
                      : items_[static_cast<size_t>(sample)];
    const auto gold = pairs.front();
    pairs = WithFirstAt(std::move(pairs), place);
    pairs.resize(static_cast<size_t>(pairs_));

    const std::string question = "Key: \"" + gold.first + "\"";
    PromptBuilder prompt;
    prompt.Add(
        "Extract the value corresponding to the specified key in the JSON object below.\n\n");
    if (query_aware_) prompt.Add(question + "\n\n");
    prompt.Add("JSON data:\n");
    for (int64_t rank = 1; rank <= pairs_; ++rank) {
      const auto& [key, value] = pairs[static_cast<size_t>(rank - 1)];
      prompt.Add(rank == 1 ? "{" : " ");
      prompt.AddSpan(fmt::format("pair {}", rank), JsonPair(key, value));
      if (rank == place) prompt.NameLastSpan("gold");
      prompt.Add(rank == pairs_ ? "}\n\n" : ",\n");
    }
    prompt.AddSpan("question", question);
    prompt.Add("\nCorresponding value:");
    TaskSample made = Finished(std::move(prompt), gold.second, place);
    for (const auto& [key, value] : pairs) made.piece_answers.push_back(value);
    return made;
  }

 private:
  // Reads all pairs of each line or, if the spec states `pairs`, the first ones after the gold pair
  // was moved to the front (PositionalHidden cuts the file of 300 pairs to 140 in this way).
  void TakeFile(TaskSpec& spec) {
    items_ = ReadFile(spec.file());
    const auto most = static_cast<int64_t>(items_.front().size());
    if (!spec.parameters.IsSet("pairs")) spec.parameters.SetUnchecked("pairs", most);
    if (spec.Number("pairs") > most) {
      throw UsageError(spec.file(), fmt::format("it has {} records per line", most),
                       fmt::format("Give pairs={} or fewer", most));
    }
  }

  TaskSample Finished(PromptBuilder prompt, const std::string& value, int64_t place) const {
    constexpr int64_t kNewTokens = 100;
    TaskSample made = std::move(prompt).Sample(" " + value, place, pairs_);
    made.generation = {kNewTokens, AnswerCut::kWhole, AnswerMetric::kSubstring};
    return made;
  }

  int64_t pairs_ = 0;
  bool query_aware_;
  int64_t first_place_;
  uint64_t seed_;
  std::vector<Pairs> items_;  // [sample]: gold pair first; empty: generated
};

}  // namespace

TaskType KeyValueTaskType() {
  constexpr int64_t kMostPairs = 10000;  // about 700,000 tokens; beyond any known model
  TaskType type = {
      "kv",
      "UUID key-value retrieval (arXiv 2307.03172)",
      {WholeNumberParameter("pairs", "pairs in the JSON object", 1, kMostPairs, 75),
       WholeNumberParameter("query_aware", "1: the key also comes before the data", 0, 1, 0),
       FirstPlaceParameter(), MiddleCutParameter(false),
       TaskFile("a JSONL file of lost-in-the-middle (ordered_kv_records, key, value); "
                "pairs cuts its lines, default all",
                false)}};
  type.make = MakeSpecTask<KeyValueTask>;
  type.cuts_middle = true;
  return type;
}

}  // namespace midscope
