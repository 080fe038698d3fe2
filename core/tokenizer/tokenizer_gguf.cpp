// SPDX-License-Identifier: MIT
// Makes tokenizers from GGUF metadata (tokenizer.ggml.*): byte-level BPE here; for SentencePiece,
// the model from which the metadata were converted is rebuilt and passed to its library.
#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/formats/gguf_file.h"
#include "core/tokenizer/byte_pair_encoding.h"
#include "core/tokenizer/gguf_roles.h"
#include "core/tokenizer/pattern.h"
#include "core/tokenizer/sentence_piece_model.h"
#include "core/tokenizer/tokenizer_parts.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope {
namespace {

constexpr int64_t kMaxTokens = int64_t{1} << 30;

class GgufTokenizerReader {
 public:
  explicit GgufTokenizerReader(const GgufFile& file) : file_(file) {}

  TokenizerParts Read() {
    const auto model = file_.GetString("tokenizer.ggml.model");
    if (!model) Fail("it has no tokenizer (metadata tokenizer.ggml.model is missing)");
    if (*model == "gpt2") {
      ReadByteLevel();
    } else if (*model == "llama") {
      ReadPieces(SentencePieceModel::Kind::kBytePair);
    } else if (*model == "t5") {
      ReadPieces(SentencePieceModel::Kind::kUnigram);
    } else if (*model == "gemma4") {
      ReadCharacterPairs();
    } else {
      Fail("its tokenizer " + Quote(*model) + " is not supported",
           "Supported: gpt2 (byte-level BPE), llama (SentencePiece BPE), t5 (Unigram), gemma4 "
           "(BPE of characters)");
    }
    StripAfterSpecial();
    ReadFacts(*model);
    return std::move(parts_);
  }

 private:
  [[noreturn]] void Fail(const std::string& reason, const std::string& remedy = "") const {
    throw Failure(file_.path().string(), reason, remedy);
  }

  void ReadFacts(const std::string& model) {
    Vocabulary& vocabulary = parts_.vocabulary;
    vocabulary.chat_template = file_.GetString("tokenizer.chat_template").value_or("");
    const std::string& cuts = vocabulary.pre_tokenizer;
    const bool is_glm = cuts == "chatglm-bpe" || cuts == "glm4";
    const bool by_default = model == "llama" || model == "gemma4" || (model == "gpt2" && adds_bos_);
    const auto add_bos = file_.GetBool("tokenizer.ggml.add_bos_token");
    const bool adds = add_bos.value_or(by_default);
    vocabulary.unknown = ReadId("tokenizer.ggml.unknown_token_id");
    vocabulary.bos = ReadId("tokenizer.ggml.bos_token_id");
    if (!vocabulary.bos && adds && !is_glm)
      vocabulary.bos = DefaultId("bos_token_id", model == "llama" ? 1 : 11);
    vocabulary.eos = ReadId("tokenizer.ggml.eos_token_id");
    if (!vocabulary.eos) {
      vocabulary.eos = DefaultId("eos_token_id", model == "llama" ? 2 : model == "t5" ? 1 : 11);
    }
    if (vocabulary.bos && adds) vocabulary.begins = {*vocabulary.bos};
    if (vocabulary.bos && !add_bos) {
      vocabulary.notes.push_back(fmt::format(
          "tokenizer.ggml.add_bos_token is missing: text begins {} BOS, llama.cpp's default for {}",
          adds ? "with" : "without",
          model == "gpt2" ? "the pre-tokenizer " + Quote(cuts) : "SentencePiece"));
    }
    if (vocabulary.eos && file_.GetBool("tokenizer.ggml.add_eos_token").value_or(model == "t5")) {
      vocabulary.notes.push_back(
          fmt::format("llama.cpp puts {} behind every text of this model; here it is left out, as "
                      "an answer follows the text",
                      Quote(texts_[static_cast<size_t>(*vocabulary.eos)])));
    }
    vocabulary.ends = std::move(ends_);
    for (const auto& end : {vocabulary.eos, ReadId("tokenizer.ggml.eot_token_id"),
                            ReadId("tokenizer.ggml.eom_token_id")}) {
      if (end &&
          std::find(vocabulary.ends.begin(), vocabulary.ends.end(), *end) == vocabulary.ends.end())
        vocabulary.ends.push_back(*end);
    }
  }

  // Returns an id that llama.cpp assumes if the file states none; nullopt if there is no such
  // token.
  std::optional<int32_t> DefaultId(const char* key, int32_t id) {
    if (static_cast<size_t>(id) >= texts_.size()) return std::nullopt;
    parts_.vocabulary.notes.push_back(
        fmt::format("tokenizer.ggml.{} is missing: it is token {} ({}), llama.cpp's default", key,
                    id, Quote(texts_[static_cast<size_t>(id)])));
    return id;
  }

  void ReadTexts() {
    const auto texts = file_.GetStringArray("tokenizer.ggml.tokens");
    const auto types = file_.GetIntArray("tokenizer.ggml.token_type");
    if (!texts || texts->empty())
      Fail("its tokenizer has no tokens (metadata tokenizer.ggml.tokens)");
    if (types && file_.FindValue("tokenizer.ggml.token_type")->type != GgufType::kInt32) {
      Fail("tokenizer.ggml.token_type must be an array of int32");
    }
    if (types && types->size() != texts->size()) {
      Fail(fmt::format("tokenizer.ggml.token_type has {} elements for {} tokens", types->size(),
                       texts->size()));
    }
    if (static_cast<int64_t>(texts->size()) > kMaxTokens) Fail("its tokenizer has too many tokens");
    texts_ = *texts;
    ids_.reserve(texts_.size());
    for (size_t i = 0; i < texts_.size(); ++i) {
      // As in llama.cpp.
      if (texts_[i].empty()) texts_[i] = names_.emplace_back(fmt::format("[EMPTY_{}]", i));
      const int64_t type = types ? (*types)[i] : int64_t{static_cast<int>(TokenType::kNormal)};
      if (type < 1 || type > 6) Fail(fmt::format("{} has the unknown type {}", What(i), type));
      const auto [other, is_new] = ids_.emplace(texts_[i], static_cast<int32_t>(i));
      if (!is_new) {
        Fail(fmt::format("{} occurs twice (also as token {})", What(i), other->second));
      }
      parts_.vocabulary.types.push_back(static_cast<TokenType>(type));
      if (type == static_cast<int64_t>(TokenType::kByte) && !ParseByteToken(texts_[i])) {
        Fail(What(i) + " is marked as a byte but is not written as one (<0x00> to <0xFF>)");
      }
    }
    const auto named = [this](const char* role) {
      return ReadId(("tokenizer.ggml." + std::string(role) + "_token_id").c_str());
    };
    ends_ = FindGgufEnds(ids_, named, &parts_.vocabulary.types);
  }

  std::string What(size_t id) const { return fmt::format("token {} {}", id, Quote(texts_[id])); }

  void ReadByteLevel() {
    if (file_.GetBool("tokenizer.ggml.add_space_prefix").value_or(false)) {
      Fail(
          "its tokenizer puts a space before every text, which is not supported for byte-level "
          "BPE");
    }
    // The scores are not used, but a file that declares them with another type is damaged.
    file_.GetFloatArray("tokenizer.ggml.scores");
    parts_.vocabulary.pre_tokenizer = file_.GetString("tokenizer.ggml.pre").value_or("default");
    ReadTexts();
    BytePairEncoding::Alphabet alphabet;
    std::vector<AddedToken> added;
    std::unordered_map<std::string, int32_t> whole;
    for (size_t i = 0; i < texts_.size(); ++i) {
      const auto id = static_cast<int32_t>(i);
      TokenType& type = parts_.vocabulary.types[i];
      const auto decoded = DecodeByteLevel(texts_[i]);
      // A text outside the byte alphabet cannot result from a merge; it is only ever decoded.
      if (type == TokenType::kNormal && !decoded) type = TokenType::kUnused;
      std::string bytes(texts_[i]);
      if (type == TokenType::kNormal) bytes = *decoded;
      if (type == TokenType::kByte) bytes = static_cast<char>(*ParseByteToken(texts_[i]));
      if (type == TokenType::kNormal && bytes.size() == 1)
        alphabet.bytes.at(static_cast<unsigned char>(bytes[0])) = id;
      if (decoded && (type == TokenType::kNormal || type == TokenType::kUnused))
        whole.emplace(*decoded, id);
      if (type == TokenType::kControl || type == TokenType::kUnknown ||
          type == TokenType::kUserDefined)
        added.push_back({bytes, id, type != TokenType::kUserDefined});
      parts_.vocabulary.bytes.push_back(std::move(bytes));
    }
    parts_.added = AddedTokens(added);
    NamedScheme scheme = MakeNamedScheme(parts_.vocabulary.pre_tokenizer);
    parts_.pre_tokenizer = std::move(scheme.pre_tokenizer);
    if (scheme.composes) parts_.normalizer.AddForm(NormalForm::kNfc);
    parts_.exact = !scheme.composes;
    adds_bos_ = scheme.adds_bos;
    if (!scheme.ignores_merges) whole.clear();
    parts_.model =
        std::make_unique<BytePairEncoding>(std::move(alphabet), ReadMerges(), std::move(whole));
  }

  // Merges of characters within a line, and of line ends; spaces are written as U+2581, and a
  // character without a token as its bytes.
  void ReadCharacterPairs() {
    if (file_.GetBool("tokenizer.ggml.add_space_prefix").value_or(false))
      Fail("its tokenizer puts a space before every text, which is not supported for gemma4");
    file_.GetFloatArray("tokenizer.ggml.scores");  // not used
    parts_.vocabulary.pre_tokenizer = "gemma4";
    ReadTexts();
    BytePairEncoding::Alphabet alphabet;
    alphabet.of_characters = true;
    alphabet.unknown = ReadId("tokenizer.ggml.unknown_token_id");
    std::vector<AddedToken> added;
    std::unordered_map<std::string, int32_t> lines;
    for (size_t i = 0; i < texts_.size(); ++i) {
      const auto id = static_cast<int32_t>(i);
      const TokenType type = parts_.vocabulary.types[i];
      const std::string text(texts_[i]);
      std::string bytes = UnmarkSpaces(text);
      if (type == TokenType::kByte) {
        bytes = static_cast<char>(*ParseByteToken(text));
        alphabet.bytes.at(static_cast<unsigned char>(bytes[0])) = id;
      } else if (type == TokenType::kNormal) {
        if (CharacterAt(text, 0).length == text.size()) alphabet.characters.emplace(text, id);
        if (text.find_first_not_of('\n') == std::string::npos) lines.emplace(text, id);
      } else if (type != TokenType::kUnused) {
        added.push_back({text, id, type != TokenType::kUserDefined});
      }
      parts_.vocabulary.bytes.push_back(std::move(bytes));
    }
    const auto count = std::count_if(alphabet.bytes.begin(), alphabet.bytes.end(),
                                     [](int32_t id) { return id >= 0; });
    if (count != 0 && count != std::ssize(alphabet.bytes))
      Fail(fmt::format("its tokenizer has tokens for {} of the 256 bytes", count));
    parts_.added = AddedTokens(added);
    parts_.normalizer.AddReplace(Pattern::Literal(" "), std::string(kSpaceMark));
    parts_.pre_tokenizer.AddSplit(Pattern("\\n+"), SplitBehavior::kIsolated);
    parts_.model =
        std::make_unique<BytePairEncoding>(std::move(alphabet), ReadMerges(), std::move(lines));
  }

  std::vector<BytePairEncoding::Merge> ReadMerges() const {
    const auto texts = file_.GetStringArray("tokenizer.ggml.merges");
    if (!texts)
      Fail("its tokenizer has no merges (metadata tokenizer.ggml.merges)",
           "Convert the model again");
    std::unordered_set<uint64_t> seen;
    seen.reserve(texts->size());
    std::vector<BytePairEncoding::Merge> merges;
    merges.reserve(texts->size());
    for (const std::string_view text : *texts) {
      const std::string what = fmt::format("merge {} {}", merges.size(), Quote(text));
      const size_t space = text.find(' ');
      if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
        Fail(what + " is not two tokens with one space between");
      }
      const std::string_view left = text.substr(0, space);
      const std::string_view right = text.substr(space + 1);
      const BytePairEncoding::Merge merge{FindToken(left, what), FindToken(right, what),
                                          FindToken(std::string(left) + std::string(right), what)};
      const auto pair =
          static_cast<uint64_t>(merge.left) << 32 | static_cast<uint64_t>(merge.right);
      if (!seen.insert(pair).second) Fail(what + " occurs twice");
      if (parts_.vocabulary.types[static_cast<size_t>(merge.joined)] != TokenType::kNormal) {
        Fail(what + " makes a token that is not ordinary text");
      }
      merges.push_back(merge);
    }
    return merges;
  }

  int32_t FindToken(std::string_view text, const std::string& what) const {
    const auto found = ids_.find(text);
    if (found == ids_.end())
      Fail(what + " needs the token " + Quote(text) + ", which is not in the vocabulary");
    return found->second;
  }

  // Early converters gave padding the type of the unknown token, and the unknown token another type
  // (Phi-3), so the token that the file names as unknown is used.
  void ChooseUnknown() {
    std::vector<TokenType>& types = parts_.vocabulary.types;
    auto named = ReadId("tokenizer.ggml.unknown_token_id");
    if (file_.FindValue("tokenizer.ggml.token_type") == nullptr) {
      // If there are no types, llama.cpp identifies byte tokens by their texts.
      for (size_t i = 0; i < texts_.size(); ++i) {
        if (ParseByteToken(texts_[i])) types[i] = TokenType::kByte;
      }
      if (!named) named = 0;
    }
    if (!named || std::count(types.begin(), types.end(), TokenType::kUnknown) == 1) return;
    std::replace(types.begin(), types.end(), TokenType::kUnknown, TokenType::kUnused);
    types[static_cast<size_t>(*named)] = TokenType::kUnknown;
  }

  void ReadPieces(SentencePieceModel::Kind kind) {
    ReadTexts();
    ChooseUnknown();
    const auto scores = file_.GetFloatArray("tokenizer.ggml.scores");
    if (!scores) Fail("metadata tokenizer.ggml.scores is missing", "Convert the model again");
    if (scores->size() != texts_.size()) {
      Fail(fmt::format("tokenizer.ggml.scores has {} elements for {} tokens", scores->size(),
                       texts_.size()));
    }
    SentencePieceModel model;
    model.kind = kind;
    for (size_t i = 0; i < texts_.size(); ++i) {
      const TokenType type = parts_.vocabulary.types[i];
      std::string text(texts_[i]);
      // llama.cpp's converter writes the spaces of user-defined tokens unchanged.
      if (type == TokenType::kUserDefined) text = MarkSpaces(text);
      model.pieces.push_back({std::move(text), static_cast<float>((*scores)[i]), type});
    }
    model.add_space_prefix = file_.GetBool("tokenizer.ggml.add_space_prefix").value_or(true);
    model.remove_extra_spaces =
        file_.GetBool("tokenizer.ggml.remove_extra_whitespaces").value_or(false);
    if (const auto bytes = file_.GetIntArray("tokenizer.ggml.precompiled_charsmap")) {
      for (const int64_t byte : *bytes) model.normalisation += static_cast<char>(byte);
    }
    parts_ = MakeSentencePiece(model, file_.path().string(), {});
  }

  // Like llama.cpp, makes white space after Phi-3's special tokens a part of them. Their
  // tokenizer_config.json specifies this, but the GGUF file does not.
  void StripAfterSpecial() {
    const std::string name =
        LowerCase(std::string_view(file_.GetString("general.name").value_or("")));
    if (name.find("phi-3") == std::string::npos && name.find("phi3") == std::string::npos) return;
    for (size_t i = 0; i < texts_.size(); ++i) {
      const TokenType type = parts_.vocabulary.types[i];
      const std::string_view text = texts_[i];
      const bool special = type == TokenType::kControl || type == TokenType::kUserDefined ||
                           type == TokenType::kUnknown || text == "</s>";
      if (!special || text == "<unk>" || text == "<s>" || text == "<|endoftext|>") continue;
      AddedToken token{std::string(text), static_cast<int32_t>(i)};
      token.special = type != TokenType::kUserDefined;
      token.right_strip = true;
      parts_.added.Add(std::move(token));
    }
  }

  std::optional<int32_t> ReadId(const char* key) const {
    const auto id = file_.GetInt(key);
    if (!id) return std::nullopt;
    if (*id < 0 || *id >= static_cast<int64_t>(texts_.size())) {
      Fail(fmt::format("{} is {}, outside the vocabulary of {} tokens", key, *id, texts_.size()));
    }
    return static_cast<int32_t>(*id);
  }

  const GgufFile& file_;
  TokenizerParts parts_;
  std::vector<std::string_view> texts_;  // [token]: as written in the file
  std::deque<std::string> names_;        // names of tokens without a text
  std::vector<int32_t> ends_;
  bool adds_bos_ = false;                              // llama.cpp's default for the pre-tokenizer
  std::unordered_map<std::string_view, int32_t> ids_;  // as written in the file
};

}  // namespace

TokenizerParts ReadGgufTokenizer(const GgufFile& file) { return GgufTokenizerReader(file).Read(); }

}  // namespace midscope
