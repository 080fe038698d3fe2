// SPDX-License-Identifier: MIT
#include "data/tasks/ruler_kinds.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "data/tasks/prompt_builder.h"
#include "data/tasks/word_lists.h"

namespace midscope {
namespace {

constexpr RulerWord kWordKind = RulerWord::kWords;
constexpr RulerWord kNumberKind = RulerWord::kNumbers;
constexpr RulerWord kUuidKind = RulerWord::kUuids;
constexpr int64_t kNeedleTokens = 128;

RulerKind Niah(const std::string& name, const RulerNeedles& needles) {
  // `size` of the haystack counts words in essays, otherwise lines.
  const bool essay = needles.haystack == RulerHaystack::kEssay;
  return {name, kNeedleTokens, essay ? 50 : 1, essay ? 1 : 8, true, needles, MakeRulerNeedles};
}

constexpr const char* kRulerNoise =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";

std::string RandomUuid(SplitMix64& random) {
  constexpr uint64_t kVersion = 0x4000;
  constexpr uint64_t kVariant = uint64_t{2} << 62;
  const uint64_t high = (random.Next() & ~uint64_t{0xF000}) | kVersion;
  const uint64_t low = (random.Next() & ~(uint64_t{3} << 62)) | kVariant;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF,
                     high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFF);
}

std::string RandomOf(RulerWord kind, SplitMix64& random) {
  constexpr uint64_t kSmallest = 1000000;  // seven digits
  constexpr uint64_t kNumbers = 9000000;
  if (kind == RulerWord::kNumbers) return std::to_string(kSmallest + random.Below(kNumbers));
  if (kind == RulerWord::kUuids) return RandomUuid(random);
  const std::string& adjective = PlainAdjectives()[random.Below(PlainAdjectives().size())];
  return adjective + "-" + PlainNouns()[random.Below(PlainNouns().size())];
}

std::string RulerWordName(RulerWord kind) {
  return kind == RulerWord::kNumbers ? "numbers" : kind == RulerWord::kUuids ? "uuids" : "words";
}

std::string RulerNeedle(const std::string& kind, const std::string& key, const std::string& value) {
  return "One of the special magic " + kind + " for " + key + " is: " + value + ".";
}

// A needle, and the index of the haystack's piece before which it is inserted.
struct PlacedNeedle {
  int64_t piece = 0;
  std::string text;
  bool gold = false;
};

struct DrawnNeedles {
  std::vector<std::string> queries;
  std::vector<std::string> answers;
  std::vector<PlacedNeedle> needles;  // the gold one first
};

DrawnNeedles DrawNeedles(const RulerNeedles& form, SplitMix64& random) {
  DrawnNeedles drawn;

  const std::string kind = RulerWordName(form.value);
  // The question requests the first `queries` keys. All keys are drawn at random.
  for (int64_t key = 0; key < form.keys; ++key) {
    const std::string name = RandomOf(form.key, random);
    const bool is_requested = key < form.queries;
    if (is_requested) drawn.queries.push_back(name);
    for (int64_t i = 0; i < form.values; ++i) {
      const std::string value = RandomOf(form.value, random);
      const bool gold = key == 0 && i == 0;
      drawn.needles.push_back({0, RulerNeedle(kind, name, value), gold});
      if (is_requested) drawn.answers.push_back(value);
    }
  }
  return drawn;
}

// Returns the pieces of the haystack: lines of noise, lines that look like needles, or sentences of
// an essay.
std::vector<std::string> RulerPieces(const RulerNeedles& form, const RulerRequest& request,
                                     SplitMix64& random) {
  std::vector<std::string> pieces;
  if (form.haystack == RulerHaystack::kNoise) {
    pieces.assign(static_cast<size_t>(request.size), kRulerNoise);
    return pieces;
  }
  if (form.haystack == RulerHaystack::kNeedles) {
    for (int64_t i = 0; i < request.size; ++i) {
      const std::string key = RandomOf(form.key, random);
      pieces.push_back(RulerNeedle(RulerWordName(form.value), key, RandomOf(form.value, random)));
    }
    return pieces;
  }
  bool ended = true;
  for (int64_t i = 0; i < request.size; ++i) {
    const std::string& word =
        request.text.words[static_cast<size_t>(i) % request.text.words.size()];
    if (ended) {
      pieces.push_back(word);
    } else {
      pieces.back() += " " + word;
    }
    ended = word.ends_with('.') || word.ends_with('!') || word.ends_with('?');
  }
  return pieces;
}

// Sets where needles are inserted: the gold one at the requested depth, the others at different
// ones of 40 depths, drawn as in the public code. Sorts the needles by piece.
void PlaceNeedles(const RulerRequest& request, int64_t pieces, SplitMix64& random,
                  std::vector<PlacedNeedle>& needles) {
  constexpr int64_t kDepths = 40;
  std::vector<int64_t> depths;
  for (int64_t i = 0; i < kDepths; ++i)
    depths.push_back((200 * i + kDepths - 1) / (2 * kDepths - 2));
  depths = random.Draw(std::move(depths), needles.size());
  for (size_t i = 0; i < needles.size(); ++i) {
    const int64_t depth = needles[i].gold ? request.depth : depths[i];
    needles[i].piece = pieces * depth / 100;
  }
  std::stable_sort(needles.begin(), needles.end(),
                   [](const PlacedNeedle& a, const PlacedNeedle& b) { return a.piece < b.piece; });
}

std::string RulerListed(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 == names.size() ? ", and " : ", ") + names[i];
  }
  return text;
}

}  // namespace

const std::vector<RulerKind>& RulerKinds() {
  static const std::vector<RulerKind> kinds = {
      Niah("niah_single_1", {RulerHaystack::kNoise, kWordKind, kNumberKind}),
      Niah("niah_single_2", {RulerHaystack::kEssay, kWordKind, kNumberKind}),
      Niah("niah_single_3", {RulerHaystack::kEssay, kWordKind, kUuidKind}),
      Niah("niah_multikey_1", {RulerHaystack::kEssay, kWordKind, kNumberKind, 4}),
      Niah("niah_multikey_2", {RulerHaystack::kNeedles, kWordKind, kNumberKind}),
      Niah("niah_multikey_3", {RulerHaystack::kNeedles, kUuidKind, kUuidKind}),
      Niah("niah_multivalue", {RulerHaystack::kEssay, kWordKind, kNumberKind, 1, 4}),
      Niah("niah_multiquery", {RulerHaystack::kEssay, kWordKind, kNumberKind, 4, 1, 4}),
      {"vt", 30, 5, 8, false, {}, MakeRulerVariables},
      {"cwe", 120, 10, 1, false, {}, MakeRulerCommonWords},
      {"fwe", 50, 64, 1, false, {}, MakeRulerFrequentWords},
  };
  return kinds;
}

TaskSample MakeRulerNeedles(const RulerKind& kind, const RulerRequest& request) {
  const RulerNeedles& form = kind.needles;
  SplitMix64 random = request.random;
  DrawnNeedles drawn = DrawNeedles(form, random);
  const std::vector<std::string> pieces = RulerPieces(form, request, random);
  PlaceNeedles(request, std::ssize(pieces), random, drawn.needles);
  const char* between = form.haystack == RulerHaystack::kEssay ? " " : "\n";

  const bool one = form.queries * form.values == 1;
  std::string name = RulerWordName(form.value);
  if (one) name.pop_back();
  const std::string verb = one ? "is" : "are";
  const std::string query = RulerListed(drawn.queries);
  PromptBuilder prompt;
  prompt.Add(
      fmt::format("{} special magic {} {} hidden within the following text. Make sure to "
                  "memorize it. I will quiz you about the {} afterwards.\n",
                  one ? "A" : "Some", name, verb, name));
  size_t next = 0;
  bool first = true;
  const auto add_needles = [&](int64_t before) {
    for (; next < drawn.needles.size() && drawn.needles[next].piece <= before; ++next) {
      if (!first) prompt.Add(between);
      first = false;
      prompt.AddSpan(fmt::format("needle {}", next + 1), drawn.needles[next].text);
      if (drawn.needles[next].gold) prompt.NameLastSpan("gold");
    }
  };
  for (size_t i = 0; i < pieces.size(); ++i) {
    add_needles(static_cast<int64_t>(i));
    prompt.Add((first ? "" : between) + pieces[i]);
    first = false;
  }
  add_needles(std::ssize(pieces));
  prompt.Add("\n");
  prompt.AddSpan("question",
                 fmt::format("What {} special magic {} for {} mentioned in the provided "
                             "text?",
                             one ? "is the" : "are all the", name, query));
  prompt.Add(fmt::format(" The special magic {} for {} mentioned in the provided text {}", name,
                         query, verb));
  TaskSample made = std::move(prompt).Sample(std::vector{RulerListed(drawn.answers)}, 1, 1);
  made.answers = drawn.answers;
  return made;
}

}  // namespace midscope
