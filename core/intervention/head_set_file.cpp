// SPDX-License-Identifier: MIT
#include "core/intervention/head_set_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/json_depth.h"
#include "core/base/memory_map.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr int64_t kHeadSetBytes = int64_t{64} << 20;
constexpr int64_t kHeadSetLayers = 1024;
constexpr int64_t kHeadSetHeads = 4096;
constexpr size_t kHeadSetNames = 65536;
constexpr std::string_view kHeadSetBlanks = " \t\r";

// A file of heads and a choice: `top` largest scores, scores >= `least` or scores < `below`.
struct HeadChoice {
  std::string path;
  std::optional<int64_t> top;
  std::optional<double> least;
  std::optional<double> below;
};

class ListedHeads {
 public:
  explicit ListedHeads(const std::string& file) : file_(file) {}

  void Add(int64_t layer, int64_t head, bool group, std::optional<double> score) {
    if (layer < 0 || layer >= kHeadSetLayers || head < 0 || head >= kHeadSetHeads)
      throw UsageError(file_, Named(layer, head) + " is out of the range of layers and heads");
    if (score && !std::isfinite(*score))
      throw UsageError(file_, Named(layer, head) + " has a score that is not finite");
    if (heads_.size() == kHeadSetNames)
      throw UsageError(file_, "it names more than " + std::to_string(kHeadSetNames) + " heads");
    heads_.push_back({{layer, head, group}, score.value_or(0)});
    scored_ = score.has_value();
  }

  std::vector<HeadName> Chosen(const HeadChoice& choice) {
    if (scored_ && !choice.top && !choice.least && !choice.below) {
      throw UsageError(file_, "it has a score for every head",
                       "Say which: file:" + file_ + ":top:20, :least:0.5 or :below:0.5");
    }
    if (!scored_ && (choice.least || choice.below))
      throw UsageError(file_, "it has no scores", "Leave least and below out");
    if (scored_) {
      std::sort(heads_.begin(), heads_.end(), [](const Scored& a, const Scored& b) {
        return a.score != b.score ? a.score > b.score : a.name < b.name;
      });
    }
    std::vector<HeadName> chosen;
    std::set<HeadName> seen;
    for (const Scored& head : heads_) {
      if (choice.top && static_cast<int64_t>(chosen.size()) == *choice.top) break;
      if ((choice.least && head.score < *choice.least) ||
          (choice.below && head.score >= *choice.below))
        continue;
      if (seen.insert(head.name).second) chosen.push_back(head.name);
    }
    if (chosen.empty()) throw UsageError(file_, "it leaves no head");
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
  struct Scored {
    HeadName name;
    double score = 0;
  };
  static std::string Named(int64_t layer, int64_t head) {
    return "layer " + std::to_string(layer) + ", head " + std::to_string(head);
  }

  const std::string& file_;
  std::vector<Scored> heads_;
  bool scored_ = false;
};

// Parses a head such as "16-19": layer 16, head 19.
bool ReadPair(std::string_view text, int64_t& layer, int64_t& head) {
  const size_t dash = text.find('-');
  return dash != std::string_view::npos && ReadWhole(text.substr(0, dash), layer) &&
         ReadWhole(text.substr(dash + 1), head);
}

double MeanScore(const std::string& file, const std::string& key, const nlohmann::json& scores) {
  double sum = 0;
  for (const nlohmann::json& score : scores) {
    if (!score.is_number())
      throw UsageError(file, Quote(key) + " has a score that is not a number");
    sum += score.get<double>();
  }
  return scores.empty() ? 0 : sum / static_cast<double>(scores.size());
}

ListedHeads HeadsOfJson(const std::string& file, std::string_view text) {
  if (!JsonNestsWithin(text)) throw UsageError(file, "it is JSON that nests too deeply");
  const auto root = nlohmann::ordered_json::parse(text, nullptr, false);
  if (root.is_discarded()) throw UsageError(file, "it is not JSON, or a damaged one");
  ListedHeads heads(file);
  std::optional<bool> pairs;
  for (const auto& [key, values] : root.items()) {
    int64_t layer = 0;
    int64_t head = 0;
    const bool pair = ReadPair(key, layer, head);
    if ((!pair && !ReadWhole(key, layer)) || !values.is_array() || pairs.value_or(pair) != pair) {
      throw UsageError(file, Quote(key) + " is neither a head with its scores nor a layer's heads",
                       R"(It should read like {"16-19": [0.9, 0.8]} or {"16": [19, 3]})");
    }
    pairs = pair;
    if (pair) {
      heads.Add(layer, head, false, MeanScore(file, key, values));
      continue;
    }
    for (const auto& value : values) {
      if (!value.is_number_integer())
        throw UsageError(file, Quote(key) + " has a head that is not an integer");
      heads.Add(layer, value.get<int64_t>(), false, std::nullopt);
    }
  }
  return heads;
}

// Removes the part of `rest` before the next character that is in `ends`, and returns it.
std::string_view NextPart(std::string_view& rest, std::string_view ends) {
  const size_t end = std::min(rest.find_first_of(ends), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

constexpr std::string_view kYamlKey = "attn_head_set:";

ListedHeads HeadsOfYaml(const std::string& file, std::string_view text) {
  std::string_view line = text.substr(text.find(kYamlKey) + kYamlKey.size());
  line = Trimmed(NextPart(line, "\n"), kHeadSetBlanks);
  if (line.starts_with('"')) {
    line.remove_prefix(1);
    line = NextPart(line, "\"");
  } else {
    line = Trimmed(NextPart(line, "#"), kHeadSetBlanks);
  }
  ListedHeads heads(file);
  while (!line.empty()) {
    const std::string word(Trimmed(NextPart(line, ","), kHeadSetBlanks));
    int64_t layer = 0;
    int64_t head = 0;
    if (!ReadPair(word, layer, head))
      throw UsageError(file, Quote(word) + " is not a head", "Write layer and head as 16-19");
    heads.Add(layer, head, false, std::nullopt);
  }
  return heads;
}

ListedHeads HeadsOfTable(const std::string& file, std::string_view text) {
  ListedHeads heads(file);
  int64_t layer = 0;
  while (!text.empty()) {
    std::string_view line = Trimmed(NextPart(text, "\n"), kHeadSetBlanks);
    if (line.empty()) continue;
    for (int64_t head = 0; !line.empty(); ++head) {
      double score = 0;
      const std::string word(NextPart(line, kHeadSetBlanks));
      if (!ReadWhole(std::string_view(word), score)) {
        throw UsageError(
            file,
            "line " + std::to_string(layer + 1) + " has " + Quote(word) + ", which is not a number",
            "The file has none of the known formats of head lists");
      }
      heads.Add(layer, head, true, score);
      line = Trimmed(line, kHeadSetBlanks);
    }
    ++layer;
  }
  return heads;
}

// Splits a text such as NAME:top:20 into the file's name and the choice.
HeadChoice DividedChoice(std::string_view name) {
  HeadChoice file{std::string(name), {}, {}, {}};
  const size_t value_at = name.rfind(':');
  const size_t word_at = value_at == 0 || value_at == std::string_view::npos
                             ? value_at
                             : name.rfind(':', value_at - 1);
  if (word_at == std::string_view::npos || value_at == 0) return file;
  const std::string_view word = name.substr(word_at + 1, value_at - word_at - 1);
  const std::string_view value = name.substr(value_at + 1);
  const auto number = [&](auto& to) {
    std::remove_reference_t<decltype(*to)> read = 0;
    if (!ReadWhole(value, read) || !(read > -1e9 && read < 1e9))
      throw UsageError(file.path, Quote(std::string(value)) + " is not a number");
    to = read;
    file.path = std::string(name.substr(0, word_at));
  };
  if (word == "top") number(file.top);
  if (word == "least") number(file.least);
  if (word == "below") number(file.below);
  if (file.top && *file.top < 1) throw UsageError(file.path, "top must be at least 1");
  return file;
}

}  // namespace

std::vector<HeadName> ReadHeadSetFile(std::string_view name) {
  const HeadChoice file = DividedChoice(name);
  const MemoryMap map{std::filesystem::path(file.path)};
  if (map.size() > kHeadSetBytes) throw UsageError(file.path, "it is too long for a list of heads");
  const std::string_view text(reinterpret_cast<const char*>(map.data()),
                              static_cast<size_t>(map.size()));
  CheckUtf8(file.path, text);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    return HeadsOfJson(file.path, text).Chosen(file);
  if (text.find(kYamlKey) != std::string_view::npos)
    return HeadsOfYaml(file.path, text).Chosen(file);
  return HeadsOfTable(file.path, text).Chosen(file);
}

}  // namespace midscope
