// SPDX-License-Identifier: MIT
#include "core/vocabulary.h"

#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/gguf_file.h"
#include "core/utf8.h"

namespace midscope {
namespace {

constexpr int64_t kMaxTokens = int64_t{1} << 30;

// Byte-level BPE writes each byte as a printable character (openai/gpt-2 src/encoder.py,
// bytes_to_unicode): printable Latin-1 stands for itself, the other 68 bytes for U+0100 on.
struct ByteAlphabet {
  std::array<int, 0x144> byte_of{};  // [character] -1: none

  ByteAlphabet() {
    byte_of.fill(-1);
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool itself =
          (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      byte_of.at(static_cast<size_t>(itself ? byte : next++)) = byte;
    }
  }

  // The bytes that `token` is written for; nothing where one of its characters is outside the
  // alphabet.
  std::optional<std::string> Decode(std::string_view token) const {
    std::string bytes;
    for (size_t i = 0; i < token.size(); ++i) {
      unsigned character = static_cast<unsigned char>(token[i]);
      // The alphabet ends at U+0143: characters of one or two bytes.
      if (character >= 0x80) {
        if ((character & 0xe0) != 0xc0 || i + 1 == token.size()) return std::nullopt;
        character = (character & 0x1f) << 6 | (static_cast<unsigned char>(token[++i]) & 0x3f);
      }
      if (character >= byte_of.size() || byte_of.at(character) < 0) return std::nullopt;
      bytes += static_cast<char>(byte_of.at(character));
    }
    return bytes;
  }
};

class Reader {
 public:
  explicit Reader(const GgufFile& file) : file_(file) {}

  Vocabulary Read() {
    CheckModel();
    vocabulary_.pre_tokenizer = file_.GetString("tokenizer.ggml.pre").value_or("default");
    vocabulary_.chat_template = file_.GetString("tokenizer.chat_template").value_or("");
    ReadTokens();
    ReadMerges();
    vocabulary_.bos = ReadId("tokenizer.ggml.bos_token_id");
    vocabulary_.eos = ReadId("tokenizer.ggml.eos_token_id");
    vocabulary_.unknown = ReadId("tokenizer.ggml.unknown_token_id");
    vocabulary_.add_bos = file_.GetBool("tokenizer.ggml.add_bos_token").value_or(false);
    return std::move(vocabulary_);
  }

 private:
  [[noreturn]] void Fail(const std::string& reason, const std::string& remedy = "") const {
    throw Failure(file_.path().string(), reason, remedy);
  }

  void CheckModel() const {
    const auto model = file_.GetString("tokenizer.ggml.model");
    if (!model) Fail("it has no tokenizer (metadata tokenizer.ggml.model is missing)");
    if (*model != "gpt2") {
      Fail("its tokenizer " + Quote(*model) + " is not supported yet",
           "Supported: gpt2 (byte-level BPE)");
    }
    if (file_.GetBool("tokenizer.ggml.add_space_prefix").value_or(false)) {
      Fail(
          "its tokenizer puts a space before every text, which is not supported for byte-level "
          "BPE");
    }
    // Not used, but a file that declares them otherwise is damaged.
    file_.GetFloatArray("tokenizer.ggml.scores");
  }

  void ReadTokens() {
    const auto texts = file_.GetStringArray("tokenizer.ggml.tokens");
    const auto types = file_.GetIntArray("tokenizer.ggml.token_type");
    if (!texts || texts->empty())
      Fail("its tokenizer has no tokens (metadata tokenizer.ggml.tokens)");
    if (!types) Fail("metadata tokenizer.ggml.token_type is missing", "Convert the model again");
    if (file_.FindValue("tokenizer.ggml.token_type")->type != GgufType::kInt32) {
      Fail("tokenizer.ggml.token_type must be an array of int32");
    }
    if (types->size() != texts->size()) {
      Fail("tokenizer.ggml.token_type has " + std::to_string(types->size()) + " elements for " +
           std::to_string(texts->size()) + " tokens");
    }
    if (static_cast<int64_t>(texts->size()) > kMaxTokens) Fail("its tokenizer has too many tokens");
    ids_.reserve(texts->size());
    vocabulary_.byte_tokens.fill(-1);
    vocabulary_.bytes.reserve(texts->size());
    vocabulary_.types.reserve(texts->size());
    for (size_t i = 0; i < texts->size(); ++i) AddToken((*texts)[i], (*types)[i]);
  }

  void AddToken(std::string_view text, int64_t type_number) {
    const auto id = static_cast<int32_t>(vocabulary_.bytes.size());
    const std::string what = "token " + std::to_string(id) + " " + Quote(text);
    if (type_number < 1 || type_number > 6)
      Fail(what + " has the unknown type " + std::to_string(type_number));
    const auto [other, is_new] = ids_.emplace(text, id);
    if (!is_new) Fail(what + " stands twice (also as token " + std::to_string(other->second) + ")");
    auto type = static_cast<TokenType>(type_number);
    // What is outside the byte alphabet can't come out of a merge; it is only ever decoded.
    if (type == TokenType::kNormal && !alphabet_.Decode(text)) type = TokenType::kUnused;
    vocabulary_.types.push_back(type);
    vocabulary_.bytes.push_back(TokenBytes(text, type, what));
    const std::string& bytes = vocabulary_.bytes.back();
    const bool special = type == TokenType::kControl || type == TokenType::kUserDefined ||
                         type == TokenType::kUnknown;
    if (special && !bytes.empty()) vocabulary_.special.emplace(bytes, id);
    if (type == TokenType::kNormal && bytes.size() == 1) {
      vocabulary_.byte_tokens.at(static_cast<unsigned char>(bytes[0])) = id;
    }
  }

  std::string TokenBytes(std::string_view text, TokenType type, const std::string& what) const {
    if (type == TokenType::kByte) return std::string(1, ParseByteToken(text, what));
    if (type != TokenType::kNormal) return std::string(text);
    return *alphabet_.Decode(text);
  }

  // "<0x0A>", and nothing near it.
  char ParseByteToken(std::string_view text, const std::string& what) const {
    unsigned value = 0;
    const bool framed = text.size() == 6 && text.starts_with("<0x") && text.ends_with(">");
    const char* end = text.data() + 5;
    if (!framed || std::from_chars(text.data() + 3, end, value, 16).ptr != end) {
      Fail(what + " is marked as a byte but is not written as one (<0x00> to <0xFF>)");
    }
    return static_cast<char>(value);
  }

  void ReadMerges() {
    const auto merges = file_.GetStringArray("tokenizer.ggml.merges");
    if (!merges)
      Fail("its tokenizer has no merges (metadata tokenizer.ggml.merges)",
           "Convert the model again");
    std::unordered_set<uint64_t> seen;
    seen.reserve(merges->size());
    vocabulary_.merges.reserve(merges->size());
    for (const std::string_view text : *merges) {
      const std::string what =
          "merge " + std::to_string(vocabulary_.merges.size()) + " " + Quote(text);
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
      if (!seen.insert(pair).second) Fail(what + " stands twice");
      if (vocabulary_.types[static_cast<size_t>(merge.joined)] != TokenType::kNormal) {
        Fail(what + " makes a token that is not ordinary text");
      }
      vocabulary_.merges.push_back(merge);
    }
  }

  int32_t FindToken(std::string_view text, const std::string& what) const {
    const auto found = ids_.find(text);
    if (found == ids_.end())
      Fail(what + " needs the token " + Quote(text) + ", which is not in the vocabulary");
    return found->second;
  }

  std::optional<int32_t> ReadId(const char* key) const {
    const auto id = file_.GetInt(key);
    if (!id) return std::nullopt;
    if (*id < 0 || *id >= static_cast<int64_t>(vocabulary_.bytes.size())) {
      Fail(std::string(key) + " is " + std::to_string(*id) + ", outside the vocabulary of " +
           std::to_string(vocabulary_.bytes.size()) + " tokens");
    }
    return static_cast<int32_t>(*id);
  }

  const GgufFile& file_;
  const ByteAlphabet alphabet_;
  Vocabulary vocabulary_;
  std::unordered_map<std::string_view, int32_t> ids_;  // as written in the file
};

}  // namespace

Vocabulary ReadVocabulary(const GgufFile& file) { return Reader(file).Read(); }

}  // namespace midscope
