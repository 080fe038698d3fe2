// SPDX-License-Identifier: MIT
// Hugging Face's tokenizer.json (huggingface/tokenizers): its components become the steps of the
// same names here.
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_fields.h"
#include "core/tokenizer/byte_pair_encoding.h"
#include "core/tokenizer/tokenizer_json_steps.h"
#include "core/tokenizer/tokenizer_parts.h"
#include "core/tokenizer/unicode_text.h"
#include "core/tokenizer/unigram.h"

namespace midscope {
namespace {

// Reads a number like serde_json (its digits as an integer, times or divided by a power of ten),
// which does not always give the nearest double: ties between splits of a text depend on the last
// bit.
double ReadScore(const nlohmann::json& number) {
  const std::string text = number.dump();
  uint64_t digits = 0;
  int exponent = 0;
  size_t i = text[0] == '-' ? 1 : 0;
  for (bool fraction = false; i < text.size() && text[i] != 'e'; ++i) {
    if (text[i] == '.') {
      fraction = true;
    } else {
      digits = digits * 10 + static_cast<uint64_t>(text[i] - '0');
      exponent -= fraction ? 1 : 0;
    }
  }
  if (i < text.size()) exponent += std::atoi(text.c_str() + i + 1);
  // Outside the range of exact powers and integers, the number is read normally.
  if (text.size() > 19 || std::abs(exponent) > 22) return number.get<double>();
  const auto value = static_cast<double>(digits);
  const double scaled =
      exponent < 0 ? value / std::pow(10.0, -exponent) : value * std::pow(10.0, exponent);
  return text[0] == '-' ? -scaled : scaled;
}

class TokenizerJsonReader {
 public:
  TokenizerJsonReader(const JsonFields& fields, const TokenizerJsonChanges& changes)
      : fields_(fields), changes_(changes), model_(fields.Inside("model")) {}

  TokenizerParts Read() {
    parts_.normalizer = Normalizer(fields_.thing());
    if (fields_.Find("normalizer") != nullptr)
      ReadNormalizer(fields_.Inside("normalizer"), &parts_.normalizer);
    if (fields_.Find("decoder") != nullptr) CheckDecoder(fields_.Inside("decoder"));
    const std::string type = ModelType();
    if (type == "BPE") {
      ReadVocabulary();
    } else if (type == "Unigram") {
      ReadScoredVocabulary();
    } else {
      model_.Fail("type " + Quote(type) + " is not supported (BPE and Unigram are)");
    }
    const AddedTokenList added = ReadAddedTokens();
    ReadCuts();
    MakeTokens(added);
    if (type == "BPE") {
      MakeBytePairs();
    } else {
      MakeUnigram();
    }
    ReadFacts();
    return std::move(parts_);
  }

 private:
  // Files of early versions do not state the type.
  std::string ModelType() const {
    if (const auto type = model_.FindText("type")) return *type;
    return model_.Find("merges") != nullptr ? "BPE" : "Unigram";
  }

  void CheckCount(size_t tokens, int32_t id) const {
    // Ids may have gaps, but not so many that they would fill the memory.
    if (static_cast<size_t>(id) >= 2 * tokens + 100'000)
      model_.Fail(fmt::format("has the id {} for one of {} tokens", id, tokens));
  }

  void ReadVocabulary() {
    const nlohmann::json& vocabulary = model_.Need("vocab");
    if (!vocabulary.is_object()) model_.Fail("has a 'vocab' that is not an object");
    ids_.reserve(vocabulary.size());
    for (const auto& [text, number] : vocabulary.items()) {
      const int32_t id = model_.Id(number, "token " + Quote(text));
      CheckCount(vocabulary.size(), id);
      ids_.emplace(text, id);
      Place(text, id);
    }
  }

  void ReadScoredVocabulary() {
    for (const nlohmann::json& entry : model_.Array("vocab")) {
      const auto id = static_cast<int32_t>(scores_.size());
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
        model_.Fail(fmt::format("has token {} that is not [text, score]", id));
      const double score = ReadScore(entry[1]);
      if (!std::isfinite(score)) model_.Fail("has a score that is not finite");
      const auto text = entry[0].get<std::string>();
      scores_.emplace_back(text, score);
      ids_.insert_or_assign(text, id);
      Place(text, id);
    }
    if (scores_.empty()) model_.Fail("has no tokens");
  }

  void Place(const std::string& text, int32_t id) {
    const auto index = static_cast<size_t>(id);
    if (index >= texts_.size()) texts_.resize(index + 1);
    if (texts_[index])
      model_.Fail(
          fmt::format("has the id {} for {} and {}", id, Quote(*texts_[index]), Quote(text)));
    texts_[index] = text;
  }

  AddedTokenList ReadAddedTokens() {
    const size_t size = scores_.empty() ? ids_.size() : scores_.size();
    AddedTokenList added(size, [this](const std::string& text) -> std::optional<int32_t> {
      const auto found = ids_.find(text);
      return found == ids_.end() ? std::nullopt : std::optional(found->second);
    });
    std::map<int64_t, std::string> own;
    if (fields_.Find("added_tokens") != nullptr) {
      for (const nlohmann::json& entry : fields_.Array("added_tokens")) {
        const JsonFields token(entry, fields_.thing(), "added token");
        const auto id = token.FindId("id");
        if (!id) token.Fail("has no 'id'");
        AddedToken read = ReadAddedToken(token);
        own.emplace(*id, read.text);
        added.Add(std::move(read), *id, "tokenizer.json");
      }
    }
    changes_.tokens.AddTo(&added, own);
    for (const auto& [id, token] : added.tokens()) {
      if (!ids_.emplace(token.text, id).second) continue;
      CheckCount(ids_.size(), id);
      Place(token.text, id);
    }
    return added;
  }

  // Reads how text is split before the model, with transformers' fix for Mistral's tokenizers of
  // 2024 and 2025 (PreTrainedTokenizerFast._patch_mistral_regex, for more than 100,000 tokens).
  void ReadCuts() {
    const nlohmann::json* found = fields_.Find("pre_tokenizer");
    if (found == nullptr) return;
    nlohmann::json cuts = *found;
    if (ids_.size() > 100'000 && changes_.mistral_regex == MistralRegex::kAbsent) {
      parts_.vocabulary.notes.emplace_back(
          "transformers warns about this tokenizer: the pattern in its tokenizer.json cuts some "
          "texts otherwise than in training. \"fix_mistral_regex\": true in tokenizer_config.json "
          "mends it");
    } else if (ids_.size() > 100'000 && changes_.mistral_regex == MistralRegex::kOn) {
      cuts = WithMistralRegex(std::move(cuts));
    }
    byte_level_ = ReadPreTokenizer({cuts, fields_.thing(), "pre_tokenizer"}, &parts_.pre_tokenizer);
  }

  void MakeTokens(const AddedTokenList& added) {
    Vocabulary& vocabulary = parts_.vocabulary;
    byte_fallback_ = model_.Flag("byte_fallback", false);
    for (const auto& text : texts_) {
      TokenType type = text ? TokenType::kNormal : TokenType::kUnused;
      std::string bytes = text.value_or("");
      const auto byte = byte_fallback_ ? ParseByteToken(bytes) : std::nullopt;
      if (byte) {
        type = TokenType::kByte;
        bytes = static_cast<char>(*byte);
      } else if (byte_level_) {
        // A text outside the byte alphabet cannot result from a merge; it is only ever decoded.
        const auto decoded = DecodeByteLevel(bytes);
        if (!decoded) type = TokenType::kUnused;
        if (decoded) bytes = *decoded;
      } else {
        bytes = UnmarkSpaces(bytes);
      }
      vocabulary.bytes.push_back(std::move(bytes));
      vocabulary.types.push_back(type);
    }
    parts_.SetAddedTokens(added);
  }

  // Returns the tokens <0x00> to <0xFF>; all or none.
  std::array<int32_t, 256> ByteTokens() const {
    std::array<int32_t, 256> bytes{};
    bytes.fill(-1);
    if (!byte_fallback_) return bytes;
    size_t count = 0;
    for (const auto& [text, id] : ids_) {
      const auto byte = ParseByteToken(text);
      if (!byte) continue;
      bytes.at(*byte) = id;
      ++count;
    }
    if (count != 0 && count != 256)
      model_.Fail(fmt::format("has tokens for {} of the 256 bytes", count));
    return bytes;
  }

  void MakeBytePairs() {
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!model_.FindText(key).value_or("").empty())
        model_.Fail("has a " + Quote(key) + ", which is not supported");
    }
    const nlohmann::json* dropout = model_.Find("dropout");
    if (dropout != nullptr && (!dropout->is_number() || dropout->get<double>() != 0))
      model_.Fail("has a 'dropout': its ids are drawn by chance");
    BytePairEncoding::Alphabet alphabet;
    alphabet.of_characters = !byte_level_;
    alphabet.bytes = ByteTokens();
    alphabet.fuse_unknown = model_.Flag("fuse_unk", false);
    bool gaps = false;
    if (byte_level_) {
      if (byte_fallback_)
        model_.Fail("falls back to bytes after ByteLevel, which is not supported");
      for (const auto& [text, id] : ids_) {
        const auto bytes = DecodeByteLevel(text);
        if (bytes && bytes->size() == 1)
          alphabet.bytes.at(static_cast<unsigned char>((*bytes)[0])) = id;
      }
      for (const int32_t id : alphabet.bytes) gaps = gaps || id < 0;
    } else {
      for (const auto& [text, id] : ids_) {
        if (!text.empty() && CharacterAt(text, 0).length == text.size())
          alphabet.characters.emplace(text, id);
      }
    }
    if (const auto unknown = model_.FindText("unk_token")) {
      const auto found = ids_.find(*unknown);
      if (found != ids_.end()) {
        alphabet.unknown = parts_.vocabulary.unknown = found->second;
      } else if (!byte_level_ || gaps) {
        model_.Fail("has the unknown token " + Quote(*unknown) +
                    ", which is not in its vocabulary");
      }
    }
    const bool whole = model_.Flag("ignore_merges", false);
    parts_.model = std::make_unique<BytePairEncoding>(std::move(alphabet), ReadMerges(),
                                                      whole ? WholePieces() : NoPieces());
    parts_.exact = byte_level_ && parts_.normalizer.empty();
  }

  using Pieces = std::unordered_map<std::string, int32_t>;
  static Pieces NoPieces() { return {}; }
  Pieces WholePieces() const {
    Pieces pieces;
    const nlohmann::json& vocabulary = model_.Need("vocab");
    for (const auto& [text, number] : vocabulary.items()) {
      const auto bytes = byte_level_ ? DecodeByteLevel(text) : text;
      if (bytes) pieces.emplace(*bytes, number.get<int32_t>());
    }
    return pieces;
  }

  std::vector<BytePairEncoding::Merge> ReadMerges() const {
    std::vector<BytePairEncoding::Merge> merges;
    for (const nlohmann::json& entry : model_.Array("merges")) {
      const std::string what = fmt::format("merge {}", merges.size());
      std::string left;
      std::string right;
      if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string()) {
        left = entry[0].get<std::string>();
        right = entry[1].get<std::string>();
      } else if (entry.is_string()) {
        const auto text = entry.get<std::string>();
        const size_t space = text.find(' ');
        if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
          model_.Fail("has the " + what + ", which is not two tokens");
        left = text.substr(0, space);
        right = text.substr(space + 1);
      } else {
        model_.Fail("has the " + what + ", which is not two tokens");
      }
      merges.push_back(
          {FindToken(left, what), FindToken(right, what), FindToken(left + right, what)});
    }
    return merges;
  }

  int32_t FindToken(const std::string& text, const std::string& what) const {
    const auto found = ids_.find(text);
    if (found == ids_.end())
      model_.Fail("has the " + what + ", which needs " + Quote(text) +
                  ", a token that is not in its vocabulary");
    return found->second;
  }

  void MakeUnigram() {
    if (byte_level_) model_.Fail("is Unigram after ByteLevel, which is not supported");
    std::optional<int32_t> unknown = model_.FindId("unk_id");
    if (unknown && static_cast<size_t>(*unknown) >= scores_.size())
      model_.Fail("has an 'unk_id' outside its vocabulary");
    parts_.vocabulary.unknown = unknown;
    parts_.model = std::make_unique<Unigram>(scores_, ByteTokens(), unknown);
  }

  void ReadFacts() {
    Vocabulary& vocabulary = parts_.vocabulary;
    vocabulary.pre_tokenizer = "tokenizer.json";
    if (vocabulary.unknown) {
      TokenType& type = vocabulary.types[static_cast<size_t>(*vocabulary.unknown)];
      if (type == TokenType::kNormal) type = TokenType::kUnknown;
    }
    if (fields_.Find("post_processor") == nullptr) return;
    const TokensAround around = ReadTokensAround(fields_.Inside("post_processor"), ids_);
    for (const int32_t id : around.before) {
      if (static_cast<size_t>(id) >= texts_.size())
        fields_.Fail(fmt::format("puts the token {} first, which is not in its vocabulary", id));
    }
    vocabulary.begins = around.before;
    if (!around.before.empty()) vocabulary.bos = around.before.front();
    if (!around.after.empty()) {
      vocabulary.notes.push_back(fmt::format(
          "its post-processor puts {} behind every text, as transformers sends it; here "
          "it is left out, as an answer follows the text",
          Quote(around.after)));
    }
  }

  const JsonFields& fields_;
  const TokenizerJsonChanges& changes_;
  JsonFields model_;
  TokenizerParts parts_;
  bool byte_level_ = false;
  bool byte_fallback_ = false;
  std::vector<std::optional<std::string>> texts_;  // [token]: as written; nullopt in gaps
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<std::pair<std::string, double>> scores_;  // [token]: for Unigram
};

}  // namespace

void TokenizerParts::SetAddedTokens(const AddedTokenList& list) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  for (const auto& [id, token] : list.tokens()) {
    const auto index = static_cast<size_t>(id);
    if (index >= vocabulary.bytes.size()) {
      vocabulary.bytes.resize(index + 1);
      vocabulary.types.resize(index + 1, TokenType::kUnused);
    }
    vocabulary.types[index] = token.special ? TokenType::kControl : TokenType::kUserDefined;
    vocabulary.bytes[index] = token.text;
    (token.normalized ? normalized : raw).push_back(token);
    if (token.normalized) normalized.back().text = normalizer.Apply(token.text);
  }
  added = AddedTokens(raw);
  added_normalized = AddedTokens(normalized);
  const std::vector<std::string> notes = list.Notes();
  vocabulary.notes.insert(vocabulary.notes.end(), notes.begin(), notes.end());
}

TokenizerParts ReadTokenizerJson(const nlohmann::json& json, const std::string& thing,
                                 const TokenizerJsonChanges& changes) {
  const JsonFields fields(json, thing, "");
  return TokenizerJsonReader(fields, changes).Read();
}

}  // namespace midscope
