// SPDX-License-Identifier: MIT
#include "core/tokenizer/normalizer.h"

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

// Fields of a unit, packed as in darts-clone.
constexpr uint32_t kLeaf = 1u << 8;
uint32_t Label(uint32_t unit) { return unit & ((1u << 31) | 0xff); }
uint32_t LeafValue(uint32_t unit) { return unit & ((1u << 31) - 1); }
size_t Offset(uint32_t unit) {
  return static_cast<size_t>(unit >> 10) << ((unit & (1u << 9)) >> 6);
}

// Visits every unit that a key can reach.
class Checker {
 public:
  Checker(const std::vector<uint32_t>& units, const std::string& replacements,
          const std::string& thing)
      : units_(units), replacements_(replacements), thing_(thing), seen_(units.size()) {}

  void Run() {
    std::vector<size_t> open = {0};
    seen_[0] = true;
    while (!open.empty()) {
      const size_t node = open.back();
      open.pop_back();
      const size_t base = node ^ Offset(units_[node]);
      if ((base | 0xff) >= units_.size()) Fail();
      if ((units_[node] & kLeaf) != 0) CheckReplacement(LeafValue(units_[base]));
      for (size_t byte = 1; byte < 256; ++byte) {
        const size_t child = base ^ byte;
        if (Label(units_[child]) != byte || seen_[child]) continue;
        seen_[child] = true;
        open.push_back(child);
      }
    }
  }

 private:
  void CheckReplacement(uint32_t begin) const {
    if (begin >= replacements_.size()) Fail();
    if (FindInvalidUtf8(replacements_.c_str() + begin))
      throw Failure(thing_, "one of its normalisation rules gives invalid UTF-8");
  }

  [[noreturn]] void Fail() const {
    throw Failure(thing_, "its table of normalisation rules points outside itself");
  }

  const std::vector<uint32_t>& units_;
  const std::string& replacements_;
  const std::string& thing_;
  std::vector<bool> seen_;
};

}  // namespace

PrecompiledMap::PrecompiledMap(std::string_view bytes, const std::string& thing) {
  uint32_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (size == 0 || size % sizeof(uint32_t) != 0 || size > bytes.size() - sizeof size ||
      bytes.back() != '\0') {
    throw Failure(
        thing, fmt::format("its table of normalisation rules is damaged ({} bytes)", bytes.size()));
  }
  units_.resize(size / sizeof(uint32_t));
  std::memcpy(units_.data(), bytes.data() + sizeof size, size);
  replacements_ = bytes.substr(sizeof size + size);
  Checker(units_, replacements_, thing).Run();
}

std::optional<std::string_view> PrecompiledMap::Find(std::string_view text) const {
  size_t node = Offset(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) break;
    node ^= byte;
    const uint32_t unit = units_[node];
    if (Label(unit) != byte) break;
    node ^= Offset(unit);
    if ((unit & kLeaf) != 0)
      return std::string_view(replacements_.data() + LeafValue(units_[node]));
  }
  return std::nullopt;
}

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
