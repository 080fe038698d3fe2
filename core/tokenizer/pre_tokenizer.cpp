// SPDX-License-Identifier: MIT
#include "core/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace midscope {
namespace {

using Cuts = std::vector<Pattern::Cut>;

// Joins neighbouring cuts as the behavior says; `match` is false in what comes out.
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

// A step either cuts or changes text.
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

// One walk through the steps; keeps what the searches of each step need.
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

  // A pattern sees the piece alone, so that its look-ahead ends where the piece does.
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

}  // namespace midscope
