// SPDX-License-Identifier: MIT
#include "data/key_value_task.h"

#include <set>

#include "data/prompt_text.h"
#include "data/random.h"

namespace midscope {
namespace {

// Version 4, variant 10xx, lower case: "1b4e28ba-2fa1-4d2e-883f-0016d3cca427".
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

class KeyValueTask : public Task {
 public:
  KeyValueTask(const TaskSpec& spec, uint64_t seed)
      : name_(TaskSpecText(spec, DescribeKeyValueTask())),
        pairs_(spec.values.at("pairs")),
        query_aware_(spec.values.at("query_aware") != 0),
        seed_(seed) {}

  std::string name() const override { return name_; }
  int64_t pieces() const override { return pairs_; }

  TaskSample Make(int64_t sample, int64_t place) const override {
    CheckPlace(*this, place);
    SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    std::vector<std::pair<std::string, std::string>> pairs;
    std::set<std::string> keys;
    while (static_cast<int64_t>(pairs.size()) < pairs_) {
      const std::string key = Uuid4(random);
      if (keys.insert(key).second) pairs.emplace_back(key, Uuid4(random));
    }
    const auto gold = pairs.front();
    pairs = WithFirstAt(std::move(pairs), place);

    const std::string question = "Key: \"" + gold.first + "\"";
    PromptText prompt;
    prompt.Add(
        "Extract the value corresponding to the specified key in the JSON object below.\n\n");
    if (query_aware_) prompt.Add(question + "\n\n");
    prompt.Add("JSON data:\n");
    for (int64_t rank = 1; rank <= pairs_; ++rank) {
      const auto& [key, value] = pairs[static_cast<size_t>(rank - 1)];
      prompt.Add(rank == 1 ? "{" : " ");
      prompt.AddSpan("pair " + std::to_string(rank), JsonPair(key, value));
      if (rank == place) prompt.NameLastSpan("gold");
      prompt.Add(rank == pairs_ ? "}\n\n" : ",\n");
    }
    prompt.AddSpan("question", question);
    prompt.Add("\nCorresponding value:");
    return std::move(prompt).Sample(" " + gold.second, place, pairs_);
  }

 private:
  std::string name_;
  int64_t pairs_;
  bool query_aware_;
  uint64_t seed_;
};

}  // namespace

TaskDescription DescribeKeyValueTask() {
  constexpr int64_t kMostPairs = 10000;  // about 700,000 tokens; far beyond any model at hand
  return {"kv",
          "UUID key-value retrieval (arXiv 2307.03172)",
          {{"pairs", "pairs in the JSON object", 1, kMostPairs, 75},
           {"query_aware", "1: the key also stands before the data", 0, 1, 0}}};
}

std::unique_ptr<Task> MakeKeyValueTask(const TaskSpec& spec, uint64_t seed) {
  return std::make_unique<KeyValueTask>(spec, seed);
}

}  // namespace midscope
