// SPDX-License-Identifier: MIT
// The messages that RunReader and its reader process, which calls HDF5, exchange over a socket: a
// header, then as many bytes as it states. Both processes are of the same build, on one machine.
// Internal to data/.
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
  kValues = 4,    // elements of an array, in several messages
  kFailure = 5,   // an Error's text
};

struct MessageHead {
  static constexpr uint32_t kMagic = 0x4d535252;

  uint32_t magic = kMagic;
  MessageKind kind = MessageKind::kFailure;
  uint64_t bytes = 0;
};

// Maximum size, in bytes, of one message with elements of an array.
inline constexpr int64_t kLargestPiece = int64_t{64} << 20;

struct ReaderRequest {
  enum class Kind : int64_t { kContents, kFrame, kValues };
  Kind kind = Kind::kContents;
  int64_t record = 0;
  std::string array;  // for kValues
  IndexBox box;
};

std::vector<uint8_t> EncodeRequest(const ReaderRequest& request);
std::vector<uint8_t> EncodeContents(const RunContents& contents);
// DecodeRequest and DecodeContents throw Error (failure), which names `file`, for invalid bytes.
ReaderRequest DecodeRequest(const std::string& file, std::span<const uint8_t> bytes);
RunContents DecodeContents(const std::string& file, std::span<const uint8_t> bytes);

// Appends a text to a message of array elements: the length (4 bytes), then the bytes.
void AppendText(std::vector<uint8_t>& piece, const std::string& text);
// Appends the texts in a message of array elements to `texts`; returns false if it is malformed.
bool TakeTexts(std::span<const uint8_t> piece, std::vector<std::string>& texts);

// Both send all bytes and return false if the connection is closed. They do not raise SIGPIPE.
bool SendBytes(int socket, const void* bytes, size_t size);
bool SendMessage(int socket, MessageKind kind, std::span<const uint8_t> bytes);
// Receives exactly `size` bytes. Returns false if the connection is closed, or after `wait_ms`
// milliseconds without data (-1: no limit).
bool ReceiveBytes(int socket, void* bytes, size_t size, int wait_ms);

}  // namespace midscope
