// SPDX-License-Identifier: MIT
// Frames on file descriptors. A frame is a length (four bytes, least significant first) followed by
// that number of bytes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/file_access.h"

namespace midscope {

// Maximum length of a frame, in bytes.
inline constexpr uint32_t kLargestFrame = uint32_t{64} << 20;

// The bytes of a frame, without its length, in consecutive parts: large arrays are written from
// their own memory without a copy.
struct Frame {
  Frame() = default;
  Frame(std::string bytes);  // NOLINT(google-explicit-constructor): a string is a frame

  size_t size() const;

  std::vector<std::string_view> parts;
  std::shared_ptr<const void> owner;  // keeps the memory of the parts
};

// Returns the four bytes with the length of a frame.
std::string LengthBytes(size_t length);

// Reads frames. Used by one thread.
class FrameReader {
 public:
  // Reads from `descriptor`, which is not closed.
  explicit FrameReader(int descriptor);

  // Returns the next frame, which is valid until the next call; nullopt at the end of the input,
  // also in the middle of a frame. Throws Error (failure) for a frame over kLargestFrame, before
  // memory is allocated; the next call then returns the frame after it.
  std::optional<std::string_view> Next();

 private:
  bool Read(char* data, size_t size);

  int descriptor_;
  std::vector<char> buffer_;  // kept unless it is large, so that a frame needs no new pages
};

// Writes frames on a separate thread, so that a client that stops reading blocks no work.
class FrameWriter {
 public:
  // Writes to `descriptor`, which this object owns and closes.
  explicit FrameWriter(int descriptor);
  // Writes the queued bytes as long as the client reads, and closes the descriptor.
  ~FrameWriter();
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  // Queues a line of text without a length before it; used for the first line of the protocol.
  void SendLine(const std::string& line);
  // Queues a frame. Thread-safe. Waits while more than 256 MB are queued; returns false if the
  // client stopped reading or the writer closes. Throws std::logic_error if the frame exceeds
  // kLargestFrame.
  bool Send(Frame frame);
  // Queues a frame without waiting; if 512 MB are queued, treats the client as no longer reading.
  // Used for short frames by the thread that reads requests, which must see the end of input.
  bool SendNow(Frame frame);
  // Returns whether writing has failed because the client has closed its end.
  bool is_broken() const;
  // Makes waiting calls of Send return false.
  void Close();

 private:
  // Bytes in the queue: `head` (a length or a line), then the frame.
  struct Queued {
    std::string head;
    Frame frame;
    size_t size() const { return head.size() + frame.size(); }
  };
  bool Queue(Queued bytes, bool wait);
  void Loop();
  // Writes the bytes; returns false if the client has closed its end or, while the writer is
  // closing, does not read for kPatience.
  bool Write(const Queued& bytes);

  FileDescriptor descriptor_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Queued> queue_;  // guarded by mutex_
  size_t queued_bytes_ = 0;   // guarded by mutex_
  bool closing_ = false;      // guarded by mutex_
  bool broken_ = false;       // guarded by mutex_
  std::thread thread_;        // last member, because it uses all others
};

}  // namespace midscope
