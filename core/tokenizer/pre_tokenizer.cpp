// SPDX-License-Identifier: MIT
#include "core/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {

namespace {

using Cuts = std::vector<Pattern::Cut>;

// Joins neighbouring cuts according to the behavior; `match` is false in the result.
void Join(SplitBehavior behavior, Cuts* cuts) {
  Cuts joined;
  bool previous_match = false;
  const auto next = [&](const Pattern::Cut& cut, bool with_last) {
    if (with_last && !joined.empty()) {
      joined.back() = {std::min(joined.back().begin, cut.begin),
                       std::max(joined.back().end, cut.end), false};
    } else {
      joined.push_back({cut.begin, cut.end, false});
    }
    previous_match = cut.match;
  };
  switch (behavior) {
    case SplitBehavior::kIsolated:
      return;
    case SplitBehavior::kRemoved:
      std::erase_if(*cuts, [](const Pattern::Cut& cut) { return cut.match; });
      return;
    case SplitBehavior::kContiguous:
      for (const Pattern::Cut& cut : *cuts) next(cut, cut.match == previous_match);
      break;
    case SplitBehavior::kMergedWithPrevious:
      for (const Pattern::Cut& cut : *cuts) next(cut, cut.match && !previous_match);
      break;
    case SplitBehavior::kMergedWithNext:
      for (auto cut = cuts->rbegin(); cut != cuts->rend(); ++cut)
        next(*cut, cut->match && !previous_match);
      std::reverse(joined.begin(), joined.end());
      break;
  }
  *cuts = std::move(joined);
}

}  // namespace

// A step either splits or changes text.
class PreTokenizer::Step {
 public:
  virtual ~Step() = default;
  virtual const Pattern* pattern() const { return nullptr; }
  virtual void Behave(Cuts* /*cuts*/) const {}
  virtual AlignedText Change(AlignedText part) const { return part; }
};

namespace {

class SplitStep : public PreTokenizer::Step {
 public:
  SplitStep(Pattern pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  const Pattern* pattern() const override { return &pattern_; }
  void Behave(Cuts* cuts) const override {
    if (invert_) {
      for (Pattern::Cut& cut : *cuts) cut.match = !cut.match;
    }
    Join(behavior_, cuts);
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

class PrefixStep : public PreTokenizer::Step {
 public:
  PrefixStep(std::string prefix, PrefixScheme scheme)
      : prefix_(std::move(prefix)), scheme_(scheme) {}

  AlignedText Change(AlignedText part) const override {
    const bool wanted = scheme_ == PrefixScheme::kAlways ||
                        (scheme_ == PrefixScheme::kFirst && part.OriginalBegin(0) == 0);
    if (!wanted || part.text().starts_with(prefix_)) return part;
    AlignedText changed = part.Empty(0);
    changed.AppendChanged(part, 0, 0, prefix_);
    changed.AppendPart(part, 0, part.size());
    return changed;
  }

 private:
  std::string prefix_;
  PrefixScheme scheme_;
};

class ReplaceStep : public PreTokenizer::Step {
 public:
  ReplaceStep(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  AlignedText Change(AlignedText part) const override {
    if (part.text().find(from_) == std::string_view::npos) return part;
    AlignedText changed = part.Empty(0);
    size_t done = 0;
    for (size_t at; (at = part.text().find(from_, done)) != std::string_view::npos;) {
      changed.AppendPart(part, done, at);
      done = at + from_.size();
      changed.AppendChanged(part, at, done, to_);
    }
    changed.AppendPart(part, done, part.size());
    return changed;
  }

 private:
  std::string from_;
  std::string to_;
};

// One pass of a text through the steps; stores the search state of each step.
class Walk {
 public:
  Walk(const std::vector<std::unique_ptr<const PreTokenizer::Step>>& steps,
       const PreTokenizer::Piece& piece)
      : steps_(steps), piece_(piece), cuts_(steps.size()) {
    for (const auto& step : steps)
      matchers_.push_back(step->pattern() == nullptr
                              ? std::nullopt
                              : std::optional<Pattern::Matcher>(std::in_place, *step->pattern()));
  }

  // A pattern only sees the piece, so that its look-ahead ends at the piece's end.
  void From(size_t level, const AlignedText& text, size_t begin, size_t end) {
    if (begin == end) return;
    if (level == steps_.size()) {
      piece_(text, begin, end);
    } else if (!matchers_[level]) {
      const AlignedText changed = steps_[level]->Change(text.Part(begin, end));
      From(level + 1, changed, 0, changed.size());
    } else {
      Cuts& cuts = cuts_[level];
      matchers_[level]->FindAll(text.text().substr(begin, end - begin), &cuts);
      steps_[level]->Behave(&cuts);
      for (const Pattern::Cut& cut : cuts)
        From(level + 1, text, begin + cut.begin, begin + cut.end);
    }
  }

 private:
  const std::vector<std::unique_ptr<const PreTokenizer::Step>>& steps_;
  const PreTokenizer::Piece& piece_;
  std::vector<std::optional<Pattern::Matcher>> matchers_;
  std::vector<Cuts> cuts_;
};

}  // namespace

PreTokenizer::PreTokenizer() = default;
PreTokenizer::~PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;

void PreTokenizer::AddSplit(Pattern pattern, SplitBehavior behavior, bool invert) {
  steps_.push_back(std::make_unique<SplitStep>(std::move(pattern), behavior, invert));
}
void PreTokenizer::AddPrefix(std::string replacement, PrefixScheme scheme) {
  steps_.push_back(std::make_unique<PrefixStep>(std::move(replacement), scheme));
}
void PreTokenizer::AddReplace(std::string from, std::string to) {
  steps_.push_back(std::make_unique<ReplaceStep>(std::move(from), std::move(to)));
}

void PreTokenizer::Split(const AlignedText& text, size_t begin, size_t end,
                         const Piece& piece) const {
  Walk(steps_, piece).From(0, text, begin, end);
}

// The pre-tokenizers that GGUF files know by name. Each is the pre-tokenizer in the family's
// tokenizer.json (the names in files: ggml-org/llama.cpp convert_hf_to_gguf.py,
// get_vocab_base_pre).

namespace {

// openai/gpt-2 src/encoder.py.
constexpr const char* kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kDigit = R"(\p{N})";
// meta-llama/llama3 llama/tokenizer.py.
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Qwen/Qwen2 tokenizer.json: like Llama 3's, but digits are separate.
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Qwen/Qwen3.5 tokenizer.json: like Qwen 2's, but combining marks belong to words.
constexpr const char* kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+)"
    R"([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// ByteDance-Seed/Seed-OSS tokenizer.json: like Qwen 2's, without line ends after punctuation.
constexpr const char* kSeed =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define CONTRACTION R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
#define BEFORE R"([^\r\n\p{L}\p{N}]?)"
// openai/tiktoken o200k_base.
constexpr const char* kGpt4o =
    BEFORE UPPER "*" LOWER "+" CONTRACTION "|" BEFORE UPPER "+" LOWER "*" CONTRACTION
                 R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// mistralai/Mistral-Nemo tokenizer.json.
constexpr const char* kTekken =
    BEFORE UPPER "*" LOWER "+|" BEFORE UPPER "+" LOWER
                 "*"
                 R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
#undef UPPER
#undef LOWER
#undef CONTRACTION
#undef BEFORE

// tiiuae/falcon-7b tokenizer.json: punctuation, GPT-2's pieces, numbers in groups of three digits.
constexpr const char* kFalconMarks = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr const char* kThreeDigits = "[0-9][0-9][0-9]";
// bigscience/bloom tokenizer.json.
constexpr const char* kBloom = " ?[^(\\s|.,!?…。，、।۔،)]+";
// deepseek-ai/DeepSeek-V3 tokenizer.json, and tencent/Hunyuan's dense models'.
constexpr const char* kUpToThree = R"(\p{N}{1,3})";
constexpr const char* kHanAndKana = "[一-龥぀-ゟ゠-ヿ]+";
constexpr const char* kDeepseek =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Scheme {
  std::string_view name;
  std::array<const char*, 3> patterns;
  bool ignores_merges;
  bool composes;
  bool adds_bos = false;
};

constexpr std::array<Scheme, 38> kSchemes = {
    {{"smollm", {kDigit, kGpt2}, false, false},
     {"starcoder", {kDigit, kGpt2}, false, false},
     {"refact", {kDigit, kGpt2}, false, false},
     {"command-r", {kDigit, kGpt2}, false, true},
     {"exaone4", {kGpt2, nullptr}, false, false},
     {"glm4", {kLlama3, nullptr}, true, false},
     {"chatglm-bpe", {kLlama3, nullptr}, false, false},
     {"stablelm2", {kQwen2, nullptr}, false, false},
     {"seed-coder", {kSeed, nullptr}, false, false},
     {"default", {kGpt2, nullptr}, false, false},
     {"gpt-2", {kGpt2, nullptr}, false, false},
     {"gpt2", {kGpt2, nullptr}, false, false},
     {"phi-2", {kGpt2, nullptr}, false, false},
     {"mpt", {kGpt2, nullptr}, false, true},
     {"olmo", {kGpt2, nullptr}, false, true},
     {"gpt-neox", {kGpt2, nullptr}, false, true},
     {"falcon3", {kLlama3, nullptr}, true, false, true},
     {"falcon-h1", {kLlama3, nullptr}, true, false, true},
     {"pixtral", {kLlama3, nullptr}, true, false, true},
     {"midm-2.0", {kLlama3, nullptr}, true, false, true},
     {"lfm2", {kLlama3, nullptr}, true, false, true},
     {"llama-bpe", {kLlama3, nullptr}, true, false, true},
     {"llama3", {kLlama3, nullptr}, true, false, true},
     {"llama-v3", {kLlama3, nullptr}, true, false, true},
     {"dbrx", {kLlama3, nullptr}, false, false},
     {"smaug-bpe", {kLlama3, nullptr}, false, false},
     {"qwen2", {kQwen2, nullptr}, false, true},
     {"qwen35", {kQwen35, nullptr}, false, true},
     {"deepseek-r1-qwen", {kQwen2, nullptr}, false, true},
     {"megrez", {kQwen2, nullptr}, false, true},
     {"gpt-4o", {kGpt4o, nullptr}, false, false},
     {"llama4", {kGpt4o, nullptr}, false, false},
     {"falcon", {kFalconMarks, kGpt2, kThreeDigits}, false, false},
     {"bloom", {kBloom}, false, false},
     {"gpt3-finnish", {kBloom}, false, false},
     {"deepseek-v3", {kUpToThree, kHanAndKana, kDeepseek}, false, false},
     {"hunyuan-dense", {kUpToThree, kHanAndKana, kDeepseek}, false, false},
     {"tekken", {kTekken, nullptr}, true, false, true}}};

const Scheme& FindScheme(const std::string& name) {
  std::string known;
  for (const Scheme& scheme : kSchemes) {
    if (scheme.name == name) return scheme;
    known += (known.empty() ? "" : ", ") + std::string(scheme.name);
  }
  throw Failure("pre-tokenizer " + Quote(name),
                "not supported yet, and any other would give other token ids",
                "Supported: " + known);
}

}  // namespace

void PreTokenizer::AddByteLevel() { AddSplit(Pattern(kGpt2), SplitBehavior::kIsolated); }

NamedScheme MakeNamedScheme(const std::string& name) {
  const Scheme& scheme = FindScheme(name);
  NamedScheme made;
  made.ignores_merges = scheme.ignores_merges;
  made.composes = scheme.composes;
  made.adds_bos = scheme.adds_bos;
  for (const char* pattern : scheme.patterns) {
    if (pattern != nullptr) made.pre_tokenizer.AddSplit(Pattern(pattern), SplitBehavior::kIsolated);
  }
  return made;
}

}  // namespace midscope
