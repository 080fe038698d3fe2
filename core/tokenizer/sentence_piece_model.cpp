// SPDX-License-Identifier: MIT
#include "core/tokenizer/sentence_piece_model.h"

#include <cstdint>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "core/base/error.h"

namespace midscope {
namespace {

// Field numbers, from sentencepiece_model.proto.
enum Field : uint64_t {
  kModelPieces = 1,
  kModelTrainer = 2,
  kModelNormalizer = 3,
  kPieceText = 1,
  kPieceScore = 2,
  kPieceType = 3,
  kTrainerKind = 3,
  kTrainerByteFallback = 35,
  kNormalizerRules = 2,
  kNormalizerSpacePrefix = 3,
  kNormalizerRemoveSpaces = 4,
};

// Protocol buffers' wire types.
enum Wire : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Value {
  uint64_t field = 0;
  uint64_t number = 0;     // kVarint
  std::string_view bytes;  // for all other types
};

class MessageReader {
 public:
  MessageReader(std::string_view message, const std::string& thing)
      : rest_(message), thing_(thing) {}

  bool Next(Value* value) {
    if (rest_.empty()) return false;
    const uint64_t tag = Varint();
    *value = {tag >> 3, 0, {}};
    switch (tag & 7) {
      case kVarint:
        value->number = Varint();
        break;
      case kFixed64:
        value->bytes = Take(8);
        break;
      case kBytes:
        value->bytes = Take(Varint());
        break;
      case kFixed32:
        value->bytes = Take(4);
        break;
      default:
        Fail();
    }
    return true;
  }

 private:
  [[noreturn]] void Fail() const {
    throw Failure(thing_, "not a SentencePiece model, or a damaged one");
  }

  uint64_t Varint() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(Take(1)[0]);
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    Fail();
  }

  std::string_view Take(uint64_t bytes) {
    if (bytes > rest_.size()) Fail();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
  const std::string& thing_;
};

SentencePieceModel::Piece ReadPiece(std::string_view message, const std::string& thing) {
  SentencePieceModel::Piece piece;
  MessageReader reader(message, thing);
  for (Value value; reader.Next(&value);) {
    if (value.field == kPieceText) piece.text = value.bytes;
    if (value.field == kPieceScore && value.bytes.size() == sizeof piece.score)
      std::memcpy(&piece.score, value.bytes.data(), sizeof piece.score);
    if (value.field == kPieceType) {
      if (value.number < 1 || value.number > 6)
        throw Failure(thing, fmt::format("a piece has the unknown type {}", value.number));
      piece.type = static_cast<TokenType>(value.number);
    }
  }
  return piece;
}

void WriteVarint(uint64_t number, std::string* bytes) {
  for (; number >= 0x80; number >>= 7) *bytes += static_cast<char>(0x80 | (number & 0x7f));
  *bytes += static_cast<char>(number);
}

std::string Number(uint64_t field, uint64_t number) {
  std::string bytes;
  WriteVarint(field << 3 | kVarint, &bytes);
  WriteVarint(number, &bytes);
  return bytes;
}

std::string Bytes(uint64_t field, std::string_view value) {
  std::string bytes;
  WriteVarint(field << 3 | kBytes, &bytes);
  WriteVarint(value.size(), &bytes);
  return bytes.append(value);
}

std::string Float(uint64_t field, float value) {
  std::string bytes;
  WriteVarint(field << 3 | kFixed32, &bytes);
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  return bytes.append(raw, sizeof value);
}

}  // namespace

SentencePieceModel ParseSentencePiece(std::string_view bytes, const std::string& thing) {
  SentencePieceModel model;
  uint64_t kind = static_cast<uint64_t>(SentencePieceModel::Kind::kUnigram);
  MessageReader reader(bytes, thing);
  for (Value value; reader.Next(&value);) {
    if (value.field == kModelPieces) model.pieces.push_back(ReadPiece(value.bytes, thing));
    MessageReader inner(value.bytes, thing);
    if (value.field == kModelTrainer) {
      for (Value part; inner.Next(&part);) {
        if (part.field == kTrainerKind) kind = part.number;
      }
    } else if (value.field == kModelNormalizer) {
      for (Value part; inner.Next(&part);) {
        if (part.field == kNormalizerRules) model.normalisation = part.bytes;
        if (part.field == kNormalizerSpacePrefix) model.add_space_prefix = part.number != 0;
        if (part.field == kNormalizerRemoveSpaces) model.remove_extra_spaces = part.number != 0;
      }
    }
  }
  if (kind != 1 && kind != 2) {
    throw Failure(thing, fmt::format("its model type {} is not supported", kind),
                  "Supported: 1 (Unigram), 2 (BPE)");
  }
  model.kind = static_cast<SentencePieceModel::Kind>(kind);
  model.file = bytes;
  return model;
}

std::string SerializeSentencePiece(const SentencePieceModel& model) {
  // The file's own settings are kept, because later fields of a message override earlier ones.
  std::string bytes = model.file;
  const std::string prefix = Number(kNormalizerSpacePrefix, model.add_space_prefix ? 1 : 0);
  if (!bytes.empty()) return bytes + Bytes(kModelNormalizer, prefix);
  bool byte_fallback = false;
  for (const auto& piece : model.pieces) {
    byte_fallback = byte_fallback || piece.type == TokenType::kByte;
    bytes += Bytes(kModelPieces, Bytes(kPieceText, piece.text) + Float(kPieceScore, piece.score) +
                                     Number(kPieceType, static_cast<uint64_t>(piece.type)));
  }
  bytes += Bytes(kModelTrainer, Number(kTrainerKind, static_cast<uint64_t>(model.kind)) +
                                    Number(kTrainerByteFallback, byte_fallback ? 1 : 0));
  return bytes + Bytes(kModelNormalizer,
                       Bytes(kNormalizerRules, model.normalisation) + prefix +
                           Number(kNormalizerRemoveSpaces, model.remove_extra_spaces ? 1 : 0));
}

}  // namespace midscope
