// SPDX-License-Identifier: MIT
// Tokenises with the SentencePiece library. It aborts or reads beyond its tables if a model
// contradicts itself, so the model is checked first.
#include <sentencepiece_processor.h>

#include <cmath>
#include <memory>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/tokenizer/normalizer.h"
#include "core/tokenizer/sentence_piece_model.h"
#include "core/tokenizer/tokenizer.h"

// Memory for a variable with this name, which the SentencePiece library defines as an object of 32
// bytes and LibTorch as one of 4 bytes. The dynamic linker merges them and uses the first that it
// finds: this one. Otherwise it would be LibTorch's, and SentencePiece would write beyond it, which
// makes LibTorch abort the program instead of throwing, for instance if the machine is out of
// memory.
// NOLINTNEXTLINE(readability-identifier-naming)
alignas(64) unsigned char FLAGS_minloglevel[64] = {};

namespace midscope {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;

std::unique_ptr<Processor> Load(const SentencePieceModel& model, const std::string& thing) {
  auto processor = std::make_unique<Processor>();
  const auto status = processor->LoadFromSerializedProto(SerializeSentencePiece(model));
  if (!status.ok()) {
    throw Failure(thing, "the SentencePiece library refuses it (" +
                             DisplayText(status.error_message()) + ")");
  }
  return processor;
}

class SentencePiece : public TokenModel {
 public:
  // later: used for pieces that do not begin the text, if these are encoded differently; may be
  // null.
  SentencePiece(std::unique_ptr<Processor> first, std::unique_ptr<Processor> later)
      : first_(std::move(first)), later_(std::move(later)) {}

  void Encode(std::string_view piece, bool at_text_begin,
              std::vector<Token>* tokens) const override {
    const Processor& processor = at_text_begin || !later_ ? *first_ : *later_;
    const auto encoded =
        processor.EncodeAsImmutableProto(absl::string_view(piece.data(), piece.size()));
    size_t run = 0;  // byte tokens since the last other token
    for (const auto& found : encoded.pieces()) {
      const auto id = static_cast<int32_t>(found.id());
      tokens->push_back({id, found.begin(), found.end()});
      run = processor.IsByte(id) ? run + 1 : 0;
      // The library assigns the whole character to the last of its bytes.
      if (run > 0 && found.end() > found.begin()) {
        SpreadOverBytes(found.begin(), found.end(), run, tokens);
        run = 0;
      }
    }
  }

 private:
  static void SpreadOverBytes(int64_t begin, int64_t end, size_t count,
                              std::vector<Token>* tokens) {
    if (end - begin != static_cast<int64_t>(count)) return;
    for (size_t i = 0; i < count; ++i) {
      Token& token = (*tokens)[tokens->size() - count + i];
      token.byte_begin = begin + static_cast<int64_t>(i);
      token.byte_end = token.byte_begin + 1;
    }
  }

  std::unique_ptr<Processor> first_;
  std::unique_ptr<Processor> later_;
};

void Check(const SentencePieceModel& model, const std::string& thing) {
  std::unordered_set<std::string_view> seen;
  size_t bytes = 0;
  size_t unknown = 0;
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const auto& piece = model.pieces[id];
    const auto fail = [&](const std::string& reason) {
      throw Failure(thing, fmt::format("token {} {} {}", id, Quote(piece.text), reason));
    };
    if (piece.text.empty()) fail("is empty");
    if (piece.text.find('\0') != std::string::npos) fail("holds a zero byte");
    if (FindInvalidUtf8(piece.text)) fail("is not UTF-8");
    if (!std::isfinite(piece.score) || std::abs(piece.score) > 1e9F)
      fail("has an impossible score");
    if (!seen.insert(piece.text).second) fail("occurs twice");
    if (piece.type == TokenType::kUnknown) ++unknown;
    if (piece.type != TokenType::kByte) continue;
    ++bytes;
    if (!ParseByteToken(piece.text)) {
      fail("is marked as a byte but is not written as one (<0x00> to <0xFF>)");
    }
  }
  if (unknown != 1) {
    throw Failure(thing,
                  fmt::format("its tokenizer has {} unknown tokens; it must have one", unknown));
  }
  if (bytes != 0 && bytes != 256) {
    throw Failure(thing, fmt::format("its tokenizer has tokens for {} of the 256 bytes", bytes));
  }
  // The library uses this table without checks.
  if (!model.normalisation.empty()) PrecompiledMap(model.normalisation, thing);
}

}  // namespace

TokenizerParts MakeSentencePiece(const SentencePieceModel& model, const std::string& thing,
                                 const SentencePieceOptions& options) {
  Check(model, thing);
  TokenizerParts parts;
  parts.vocabulary.pre_tokenizer = "sentencepiece";
  std::vector<AddedToken> added;
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const auto& piece = model.pieces[i];
    const auto id = static_cast<int32_t>(i);
    std::string bytes = UnmarkSpaces(piece.text);
    if (piece.type == TokenType::kByte) bytes = static_cast<char>(*ParseByteToken(piece.text));
    // The library itself finds user-defined pieces.
    if (piece.type == TokenType::kControl || piece.type == TokenType::kUnknown)
      added.push_back({piece.text, id});
    if (piece.type == TokenType::kUnknown) parts.vocabulary.unknown = id;
    parts.vocabulary.bytes.push_back(std::move(bytes));
    parts.vocabulary.types.push_back(piece.type);
  }
  parts.added = AddedTokens(added);
  std::unique_ptr<Processor> later;
  if (options.prefix_first_only && model.add_space_prefix) {
    SentencePieceModel unprefixed = model;
    unprefixed.add_space_prefix = false;
    later = Load(unprefixed, thing);
  }
  parts.model = std::make_unique<SentencePiece>(Load(model, thing), std::move(later));
  return parts;
}

TokenizerParts ReadSentencePiece(std::string_view bytes, const std::string& thing,
                                 const SentencePieceOptions& options) {
  return MakeSentencePiece(ParseSentencePiece(bytes, thing), thing, options);
}

}  // namespace midscope
