// SPDX-License-Identifier: MIT
#include "core/tokenizer/normalizer.h"

#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"

namespace midscope {

class Normalizer::Step {
 public:
  virtual ~Step() = default;
  // Throws TooLong before the text exceeds `most` bytes.
  virtual void Apply(AlignedText* text, size_t most) const = 0;
};

namespace {

struct TooLong {};

void CheckLength(size_t bytes, size_t most) {
  if (bytes > most) throw TooLong();
}

// A step that processes one character at a time; `Change` returns nothing if the character is
// unchanged.
using Change = std::function<std::optional<std::string>(char32_t code)>;

void ChangeCharacters(AlignedText* text, const Change& change) {
  AlignedText changed = text->Empty(0);
  bool any = false;
  for (size_t i = 0; i < text->size();) {
    const Character character = CharacterAt(text->text(), i);
    const auto bytes = change(character.code);
    if (bytes) {
      changed.AppendChanged(*text, i, i + character.length, *bytes);
      any = true;
    } else {
      changed.AppendPart(*text, i, i + character.length);
    }
    i += character.length;
  }
  if (any) *text = std::move(changed);
}

class FormStep : public Normalizer::Step {
 public:
  explicit FormStep(NormalForm form) : form_(form) {}

  void Apply(AlignedText* text, size_t /*most*/) const override {
    const std::string whole = Normalise(text->text(), form_);
    if (whole == text->text()) return;
    // Normalised grapheme by grapheme for the alignment. If the joined results differ from those
    // for the whole text (a normal form crosses a cluster boundary), the whole text is aligned as
    // one part.
    AlignedText changed = text->Empty(0);
    ForEachGrapheme(text->text(), [&](size_t begin, size_t end) {
      const std::string_view cluster = text->text().substr(begin, end - begin);
      const std::string normal = Normalise(cluster, form_);
      if (normal == cluster) {
        changed.AppendPart(*text, begin, end);
      } else {
        changed.AppendChanged(*text, begin, end, normal);
      }
    });
    if (changed.text() != whole) {
      changed = text->Empty(0);
      changed.AppendChanged(*text, 0, text->size(), whole);
    }
    *text = std::move(changed);
  }

 private:
  NormalForm form_;
};

class LowercaseStep : public Normalizer::Step {
 public:
  void Apply(AlignedText* text, size_t /*most*/) const override {
    ChangeCharacters(text, [](char32_t code) { return std::optional(LowerCase(code)); });
  }
};

class StripAccentsStep : public Normalizer::Step {
 public:
  void Apply(AlignedText* text, size_t /*most*/) const override {
    ChangeCharacters(text, [](char32_t code) {
      return IsMark(code) ? std::optional<std::string>("") : std::nullopt;
    });
  }
};

class StripStep : public Normalizer::Step {
 public:
  StripStep(bool left, bool right) : left_(left), right_(right) {}

  void Apply(AlignedText* text, size_t /*most*/) const override {
    size_t begin = 0;
    size_t end = text->size();
    while (left_ && begin < end) {
      const Character character = CharacterAt(text->text(), begin);
      if (!IsWhiteSpace(character.code)) break;
      begin += character.length;
    }
    while (right_ && begin < end) {
      const Character character = CharacterBefore(text->text(), end);
      if (!IsWhiteSpace(character.code)) break;
      end -= character.length;
    }
    if (begin > 0 || end < text->size()) *text = text->Part(begin, end);
  }

 private:
  bool left_;
  bool right_;
};

class PrependStep : public Normalizer::Step {
 public:
  explicit PrependStep(std::string prefix) : prefix_(std::move(prefix)) {}

  void Apply(AlignedText* text, size_t most) const override {
    if (text->size() == 0) return;
    CheckLength(text->size() + prefix_.size(), most);
    AlignedText changed = text->Empty(0);
    changed.AppendChanged(*text, 0, 0, prefix_);
    changed.AppendPart(*text, 0, text->size());
    *text = std::move(changed);
  }

 private:
  std::string prefix_;
};

class ReplaceAllStep : public Normalizer::Step {
 public:
  ReplaceAllStep(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void Apply(AlignedText* text, size_t most) const override {
    std::vector<Pattern::Cut> cuts;
    Pattern::Matcher(pattern_).FindAll(text->text(), &cuts);
    AlignedText changed = text->Empty(0);
    bool any = false;
    for (const Pattern::Cut& cut : cuts) {
      any = any || cut.match;
      if (cut.match) {
        CheckLength(changed.size() + content_.size(), most);
        changed.AppendChanged(*text, cut.begin, cut.end, content_);
      } else {
        changed.AppendPart(*text, cut.begin, cut.end);
      }
    }
    if (any) *text = std::move(changed);
  }

 private:
  Pattern pattern_;
  std::string content_;
};

// Applies the map like `tokenizers`, which differs from SentencePiece: short graphemes are replaced
// as a whole, others character by character.
class PrecompiledStep : public Normalizer::Step {
 public:
  explicit PrecompiledStep(PrecompiledMap map) : map_(std::move(map)) {}

  void Apply(AlignedText* text, size_t most) const override {
    constexpr size_t kShort = 6;  // bytes
    AlignedText changed = text->Empty(0);
    const auto take = [&](size_t begin, size_t end) {
      const auto bytes = map_.Find(text->text().substr(begin, end - begin));
      if (bytes) {
        CheckLength(changed.size() + bytes->size(), most);
        changed.AppendChanged(*text, begin, end, *bytes);
      }
      return bytes.has_value();
    };
    ForEachGrapheme(text->text(), [&](size_t begin, size_t end) {
      if (end - begin < kShort && take(begin, end)) return;
      while (begin < end) {
        const size_t next = begin + CharacterAt(text->text(), begin).length;
        if (!take(begin, next)) changed.AppendPart(*text, begin, next);
        begin = next;
      }
    });
    if (changed.text() != text->text()) *text = std::move(changed);
  }

 private:
  PrecompiledMap map_;
};

}  // namespace

Normalizer::Normalizer(std::string thing) : thing_(std::move(thing)) {}
Normalizer::~Normalizer() = default;
Normalizer::Normalizer(Normalizer&&) noexcept = default;
Normalizer& Normalizer::operator=(Normalizer&&) noexcept = default;

void Normalizer::Add(std::unique_ptr<const Step> step) {
  if (steps_.size() >= kMaxNormalizerSteps)
    throw Failure(thing_, fmt::format("its normalizer has more than {} steps, which is the limit",
                                      kMaxNormalizerSteps));
  steps_.push_back(std::move(step));
}

void Normalizer::AddForm(NormalForm form) { Add(std::make_unique<FormStep>(form)); }
void Normalizer::AddLowercase() { Add(std::make_unique<LowercaseStep>()); }
void Normalizer::AddStripAccents() { Add(std::make_unique<StripAccentsStep>()); }
void Normalizer::AddStrip(bool left, bool right) { Add(std::make_unique<StripStep>(left, right)); }
void Normalizer::AddPrepend(std::string text) {
  Add(std::make_unique<PrependStep>(std::move(text)));
}
void Normalizer::AddReplace(Pattern pattern, std::string content) {
  Add(std::make_unique<ReplaceAllStep>(std::move(pattern), std::move(content)));
}
void Normalizer::AddPrecompiled(PrecompiledMap map) {
  Add(std::make_unique<PrecompiledStep>(std::move(map)));
}

void Normalizer::Apply(AlignedText* text) const {
  const size_t most = text->size() * kNormalizerGrowth + kNormalizerSlack;
  try {
    for (const auto& step : steps_) {
      step->Apply(text, most);
      CheckLength(text->size(), most);
    }
  } catch (const TooLong&) {
    throw Failure(
        thing_,
        fmt::format("its normalizer makes the text more than {} times as long, which is the limit",
                    kNormalizerGrowth),
        "The file is damaged, or made to use up the memory");
  }
}

std::string Normalizer::Apply(std::string_view text) const {
  AlignedText aligned(std::string(text), 0);
  Apply(&aligned);
  return std::string(aligned.text());
}

}  // namespace midscope
