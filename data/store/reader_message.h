// SPDX-License-Identifier: MIT
// What RunReader's process and midscope-reader say to each other over a socket: a head, then as
// many bytes as it says. Both run on one machine and are of one build. Internal to data/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/store/run_source.h"

namespace midscope {

enum class MessageKind : uint32_t {
  kAsk = 1,       // a ReaderRequest
  kContents = 2,  // RunContents
  kFrame = 3,     // a Record without data
  kValues = 4,    // elements of an array, in pieces
  kFailure = 5,   // an Error's text
};

struct MessageHead {
  static constexpr uint32_t kMagic = 0x4d535252;

  uint32_t magic = kMagic;
  MessageKind kind = MessageKind::kFailure;
  uint64_t bytes = 0;
};

// Neither side sends a larger piece.
inline constexpr int64_t kLargestPiece = int64_t{64} << 20;

struct ReaderRequest {
  enum class Kind : int64_t { kContents, kFrame, kValues };
  Kind kind = Kind::kContents;
  int64_t record = 0;
  std::string array;  // kValues
  IndexBox box;
};

std::vector<uint8_t> EncodeRequest(const ReaderRequest& request);
std::vector<uint8_t> EncodeContents(const RunContents& contents);
// Both throw Error (failure) that names `file` where the bytes are something else.
ReaderRequest DecodeRequest(const std::string& file, std::span<const uint8_t> bytes);
RunContents DecodeContents(const std::string& file, std::span<const uint8_t> bytes);

// Texts as a piece of values: each its length (4 bytes) and its bytes.
void AppendText(std::vector<uint8_t>& piece, const std::string& text);
// Takes texts from a piece and returns whether it consists of texts alone.
bool TakeTexts(std::span<const uint8_t> piece, std::vector<std::string>& texts);

// All bytes, or false where the other side is gone. Neither raises SIGPIPE.
bool SendBytes(int socket, const void* bytes, size_t size);
bool SendMessage(int socket, MessageKind kind, std::span<const uint8_t> bytes);
// `wait_ms`: for how long nothing may come; -1: for ever. False where that passes, too.
bool ReceiveBytes(int socket, void* bytes, size_t size, int wait_ms);

}  // namespace midscope
