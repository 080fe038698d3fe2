// SPDX-License-Identifier: MIT
#include "core/tokenizer/tokenizer_json_steps.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/tokenizer/unicode_text.h"
#include "core/tokenizer/vocabulary.h"

namespace midscope {
namespace {

constexpr const char* kNumeric = R"(\p{N})";
constexpr const char* kWhiteSpaces = R"(\s)";
// \w+|[^\w\s]+ with the \w of IsWord.
constexpr const char* kWords = R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}]+|)"
                               R"([^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}\s]+)";
// mistralai/Mistral-Nemo tokenizer.json; transformers inserts it into other files.
constexpr const char* kMistralPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
    R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kPunctuation = R"([!-/:-@\[-`{-~\p{P}])";

// Calls `read` for each component of a Sequence. Nesting is limited, because the file is not
// trusted.
template <typename Read>
void ForEach(const JsonFields& fields, const std::string& list, const Read& read) {
  const nlohmann::json& parts = fields.Array(list);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string where = fmt::format("{}[{}]", fields.where(), i);
    if (where.size() > 200) fields.Fail("is nested too deeply");
    read(JsonFields(parts[i], fields.thing(), where));
  }
}

[[noreturn]] void Unknown(const JsonFields& fields, const std::string& type) {
  fields.Fail(Quote(type) + " is not supported, and leaving it out would give other token ids");
}

Pattern ReadPattern(const JsonFields& fields) {
  const JsonFields pattern = fields.Inside("pattern");
  if (const auto expression = pattern.FindText("Regex")) return Pattern(*expression);
  const std::string text = pattern.Text("String");
  if (text.empty()) pattern.Fail("is empty");
  return Pattern::Literal(text);
}

SplitBehavior ReadBehavior(const JsonFields& fields, const std::string& otherwise) {
  constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kBehaviors = {
      {{"Removed", SplitBehavior::kRemoved},
       {"Isolated", SplitBehavior::kIsolated},
       {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
       {"MergedWithNext", SplitBehavior::kMergedWithNext},
       {"Contiguous", SplitBehavior::kContiguous}}};
  const std::string name = fields.FindText("behavior").value_or(otherwise);
  for (const auto& [known, behavior] : kBehaviors) {
    if (known == name) return behavior;
  }
  fields.Fail("has the unknown behavior " + Quote(name));
}

// Replaces spaces by marks, and puts one mark before the text.
void ReadMetaspace(const JsonFields& fields, PreTokenizer* pre_tokenizer) {
  const std::string mark = fields.FindText("replacement").value_or(std::string(kSpaceMark));
  // `tokenizers` requires one character here; a longer mark would make the text grow with every
  // step.
  if (mark.empty() || CharacterAt(mark, 0).length != mark.size())
    fields.Fail("replaces spaces by " + Quote(mark) + ", which is not one character");
  PrefixScheme scheme = PrefixScheme::kAlways;
  if (const auto name = fields.FindText("prepend_scheme")) {
    if (*name == "first") {
      scheme = PrefixScheme::kFirst;
    } else if (*name == "never") {
      scheme = PrefixScheme::kNever;
    } else if (*name != "always") {
      fields.Fail("has the unknown prepend_scheme " + Quote(*name));
    }
  } else if (!fields.Flag("add_prefix_space", true)) {
    scheme = PrefixScheme::kNever;
  }
  pre_tokenizer->AddReplace(" ", mark);
  pre_tokenizer->AddPrefix(mark, scheme);
  if (fields.Flag("split", true))
    pre_tokenizer->AddSplit(Pattern::Literal(mark), SplitBehavior::kMergedWithNext);
}

void ReadByteLevelStep(const JsonFields& fields, PreTokenizer* pre_tokenizer) {
  if (fields.Flag("add_prefix_space", true)) pre_tokenizer->AddPrefix(" ", PrefixScheme::kAlways);
  if (fields.Flag("use_regex", true)) pre_tokenizer->AddByteLevel();
}

// Whether the type is one of those that only split; if so, reads it.
bool ReadSplitter(const JsonFields& fields, const std::string& type, PreTokenizer* steps) {
  if (type == "Split") {
    steps->AddSplit(ReadPattern(fields), ReadBehavior(fields, ""), fields.Flag("invert", false));
  } else if (type == "Digits") {
    const bool each = fields.Flag("individual_digits", false);
    steps->AddSplit(Pattern(kNumeric),
                    each ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
  } else if (type == "Whitespace") {
    steps->AddSplit(Pattern(kWords), SplitBehavior::kRemoved, true);
  } else if (type == "WhitespaceSplit") {
    steps->AddSplit(Pattern(kWhiteSpaces), SplitBehavior::kRemoved);
  } else if (type == "Punctuation") {
    steps->AddSplit(Pattern(kPunctuation), ReadBehavior(fields, "Isolated"));
  } else if (type == "CharDelimiterSplit") {
    const std::string delimiter = fields.Text("delimiter");
    if (delimiter.empty()) fields.Fail("has no delimiter");
    steps->AddSplit(Pattern::Literal(delimiter), SplitBehavior::kRemoved);
  } else {
    return false;
  }
  return true;
}

// ["<s>", 0]
std::pair<std::string, int32_t> ReadPair(const JsonFields& fields, const std::string& key) {
  const nlohmann::json& token = fields.Array(key);
  if (token.size() != 2 || !token[0].is_string())
    fields.Fail("has a " + Quote(key) + " that is not a token and its id");
  return {token[0].get<std::string>(), fields.Id(token[1], Quote(key))};
}

// Returns the ids of a special token in a template; the file may list several.
std::vector<int32_t> TemplateIds(const JsonFields& fields, const std::string& token,
                                 const std::unordered_map<std::string, int32_t>& ids) {
  if (fields.Find("special_tokens") != nullptr) {
    const JsonFields tokens = fields.Inside("special_tokens");
    if (tokens.Find(token) != nullptr) {
      const JsonFields entry = tokens.Inside(token);
      std::vector<int32_t> own;
      for (const nlohmann::json& id : entry.Array("ids")) own.push_back(entry.Id(id, "'ids'"));
      return own;
    }
  }
  const auto found = ids.find(token);
  if (found == ids.end())
    fields.Fail("puts " + Quote(token) + " around a text, which is not in its vocabulary");
  return {found->second};
}

TokensAround ReadTemplate(const JsonFields& fields,
                          const std::unordered_map<std::string, int32_t>& ids) {
  TokensAround around;
  int texts = 0;
  for (const nlohmann::json& part : fields.Array("single")) {
    const JsonFields piece(part, fields.thing(), fields.where() + ".single");
    if (piece.Find("SpecialToken") == nullptr) {
      ++texts;
      continue;
    }
    const std::string token = piece.Inside("SpecialToken").Text("id");
    const std::vector<int32_t> own = TemplateIds(fields, token, ids);
    if (texts == 0) around.before.insert(around.before.end(), own.begin(), own.end());
    if (texts > 0) around.after += token;
  }
  if (texts != 1) fields.Fail("does not have the text once in its 'single'");
  return around;
}

}  // namespace

std::string DecodeBase64(const std::string& text, const JsonFields& fields) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) fields.Fail("is not base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

void ReadNormalizer(const JsonFields& fields, Normalizer* normalizer) {
  const std::string type = fields.Text("type");
  if (type == "Sequence") {
    ForEach(fields, "normalizers",
            [&](const JsonFields& part) { ReadNormalizer(part, normalizer); });
  } else if (type == "NFC") {
    normalizer->AddForm(NormalForm::kNfc);
  } else if (type == "NFD") {
    normalizer->AddForm(NormalForm::kNfd);
  } else if (type == "NFKC") {
    normalizer->AddForm(NormalForm::kNfkc);
  } else if (type == "NFKD") {
    normalizer->AddForm(NormalForm::kNfkd);
  } else if (type == "Lowercase") {
    normalizer->AddLowercase();
  } else if (type == "Strip") {
    normalizer->AddStrip(fields.Flag("strip_left", true), fields.Flag("strip_right", true));
  } else if (type == "StripAccents") {
    normalizer->AddStripAccents();
  } else if (type == "Prepend") {
    normalizer->AddPrepend(fields.Text("prepend"));
  } else if (type == "Replace") {
    normalizer->AddReplace(ReadPattern(fields), fields.Text("content"));
  } else if (type == "Precompiled") {
    const std::string rules = DecodeBase64(fields.Text("precompiled_charsmap"), fields);
    if (!rules.empty()) normalizer->AddPrecompiled(PrecompiledMap(rules, fields.thing()));
  } else {
    Unknown(fields, type);
  }
}

bool ReadPreTokenizer(const JsonFields& fields, PreTokenizer* pre_tokenizer) {
  const std::string type = fields.Text("type");
  if (type == "Sequence") {
    bool byte_level = false;
    ForEach(fields, "pretokenizers", [&](const JsonFields& part) {
      if (byte_level) part.Fail("comes after ByteLevel, which is not supported");
      byte_level = ReadPreTokenizer(part, pre_tokenizer);
    });
    return byte_level;
  }
  constexpr size_t kMaxSteps = 50;
  if (pre_tokenizer->steps() > kMaxSteps)
    fields.Fail(fmt::format("comes after more than {} steps, which is the limit", kMaxSteps));
  if (type == "ByteLevel") {
    ReadByteLevelStep(fields, pre_tokenizer);
    return true;
  }
  if (type == "Metaspace") {
    ReadMetaspace(fields, pre_tokenizer);
  } else if (!ReadSplitter(fields, type, pre_tokenizer)) {
    Unknown(fields, type);
  }
  return false;
}

void CheckDecoder(const JsonFields& fields) {
  const std::string type = fields.Text("type");
  if (type == "Sequence") {
    ForEach(fields, "decoders", CheckDecoder);
    return;
  }
  for (const char* known : {"ByteLevel", "Metaspace", "ByteFallback", "Fuse", "Strip"}) {
    if (type == known) return;
  }
  if (type == "Replace" && fields.Text("content") == " " &&
      fields.Inside("pattern").FindText("String") == kSpaceMark)
    return;
  fields.Fail(Quote(type) + " is not supported, and leaving it out would give another text");
}

nlohmann::json WithMistralRegex(nlohmann::json pre_tokenizer) {
  const nlohmann::json split = {{"type", "Split"},
                                {"pattern", {{"Regex", kMistralPattern}}},
                                {"behavior", "Isolated"},
                                {"invert", false}};
  const std::string type = pre_tokenizer.value("type", "");
  if (type == "Sequence" && pre_tokenizer.contains("pretokenizers") &&
      !pre_tokenizer["pretokenizers"].empty()) {
    pre_tokenizer["pretokenizers"][0] = split;
    return pre_tokenizer;
  }
  if (type == "Metaspace") {
    pre_tokenizer = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  }
  return {{"type", "Sequence"}, {"pretokenizers", {split, pre_tokenizer}}};
}

TokensAround ReadTokensAround(const JsonFields& fields,
                              const std::unordered_map<std::string, int32_t>& ids) {
  const std::string type = fields.Text("type");
  TokensAround around;
  if (type == "Sequence") {
    ForEach(fields, "processors", [&](const JsonFields& part) {
      TokensAround own = ReadTokensAround(part, ids);
      if (own.before.empty() && own.after.empty()) return;
      // The second post-processor would receive the first one's tokens as part of the text.
      if (!around.before.empty() || !around.after.empty())
        part.Fail("adds tokens after another one that does, which is not supported");
      around = std::move(own);
    });
  } else if (type == "TemplateProcessing") {
    around = ReadTemplate(fields, ids);
  } else if (type == "RobertaProcessing" || type == "BertProcessing") {
    around.before = {ReadPair(fields, "cls").second};
    around.after = ReadPair(fields, "sep").first;
  } else if (type != "ByteLevel") {
    fields.Fail(Quote(type) + " is not supported");
  }
  return around;
}

}  // namespace midscope
