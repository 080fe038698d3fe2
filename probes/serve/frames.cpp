// SPDX-License-Identifier: MIT
#include "probes/serve/frames.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "kernels/check.h"

namespace midscope {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kMostKeptBytes = size_t{32} << 20;
constexpr size_t kMostQueuedBytes = size_t{256} << 20;
constexpr int kPollMilliseconds = 100;
// Number of polls without progress after which a closing writer gives up.
constexpr int kPatience = 20;
// Size of the pipe; with the kernel's 64 KB there would be more switches between the two processes.
constexpr int kPipeBytes = 1 << 20;

void WidenPipe(int descriptor) {
  ::fcntl(descriptor, F_SETPIPE_SZ, kPipeBytes);  // fails where it is not a pipe
}

}  // namespace

Frame::Frame(std::string bytes) {
  const auto whole = std::make_shared<const std::string>(std::move(bytes));
  parts = {*whole};
  owner = whole;
}

size_t Frame::size() const {
  size_t sum = 0;
  for (const std::string_view part : parts) sum += part.size();
  return sum;
}

std::string LengthBytes(size_t length) {
  std::string bytes;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    bytes.push_back(static_cast<char>((length >> (8 * i)) & 0xFFU));
  }
  return bytes;
}

FrameReader::FrameReader(int descriptor) : descriptor_(descriptor) { WidenPipe(descriptor); }

bool FrameReader::Read(char* data, size_t size) {
  while (size > 0) {
    const ssize_t count = ::read(descriptor_, data, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {  // shared with a FrameWriter
      pollfd wait{descriptor_, POLLIN, 0};
      ::poll(&wait, 1, -1);
      continue;
    }
    if (count <= 0) return false;
    data += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

std::optional<std::string_view> FrameReader::Next() {
  std::array<char, kLengthBytes> bytes{};
  if (!Read(bytes.data(), bytes.size())) return std::nullopt;
  uint32_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) {
    length = (length << 8U) | static_cast<uint8_t>(bytes[i]);
  }
  if (length > kLargestFrame) {
    std::array<char, size_t{1} << 16> skipped{};
    for (size_t left = length; left > 0;) {
      const size_t part = std::min(left, skipped.size());
      if (!Read(skipped.data(), part)) return std::nullopt;
      left -= part;
    }
    throw Failure("frame", fmt::format("it has {} bytes, more than {}", length, kLargestFrame),
                  "Send larger arrays in slices");
  }
  if (length > buffer_.size() || buffer_.size() > kMostKeptBytes)
    buffer_ = std::vector<char>(length);
  if (!Read(buffer_.data(), length)) return std::nullopt;
  return std::string_view(buffer_.data(), length);
}

FrameWriter::FrameWriter(int descriptor) : descriptor_(descriptor) {
  WidenPipe(descriptor);
  // Writing never blocks for longer than a poll, so that a closing writer can give up.
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  thread_ = std::thread([this] { Loop(); });
}

FrameWriter::~FrameWriter() {
  Close();
  thread_.join();
}

void FrameWriter::SendLine(const std::string& line) { Queue({line + "\n", {}}, true); }

bool FrameWriter::Send(Frame frame) { return Queue({"", std::move(frame)}, true); }

bool FrameWriter::SendNow(Frame frame) { return Queue({"", std::move(frame)}, false); }

bool FrameWriter::Queue(Queued bytes, bool wait) {
  if (bytes.head.empty()) {
    MIDSCOPE_CHECK(bytes.size() <= kLargestFrame, "a frame is too long");
    bytes.head = LengthBytes(bytes.size());
  }
  std::unique_lock lock(mutex_);
  if (wait) {
    changed_.wait(lock, [&] { return broken_ || closing_ || queued_bytes_ < kMostQueuedBytes; });
  }
  broken_ = broken_ || queued_bytes_ >= 2 * kMostQueuedBytes;
  if (broken_ || closing_) return false;
  queued_bytes_ += bytes.size();
  queue_.push_back(std::move(bytes));
  changed_.notify_all();
  return true;
}

bool FrameWriter::is_broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

void FrameWriter::Close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

void FrameWriter::Loop() {
  while (true) {
    Queued bytes;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      bytes = std::move(queue_.front());
      queue_.pop_front();
    }
    const bool written = Write(bytes);
    const std::lock_guard lock(mutex_);
    queued_bytes_ -= bytes.size();
    broken_ = broken_ || !written;
    if (broken_) queue_.clear();
    changed_.notify_all();
    if (broken_) return;
  }
}

bool FrameWriter::Write(const Queued& bytes) {
  std::vector<iovec> left;
  const auto add = [&](std::string_view part) {
    left.push_back({const_cast<char*>(part.data()), part.size()});
  };
  add(bytes.head);
  for (const std::string_view part : bytes.frame.parts) add(part);
  int waits = 0;
  for (size_t first = 0; first < left.size();) {
    const size_t parts = std::min<size_t>(left.size() - first, IOV_MAX);
    const ssize_t count = ::writev(descriptor_.get(), &left[first], static_cast<int>(parts));
    if (count > 0) {
      auto done = static_cast<size_t>(count);
      for (; first < left.size() && done >= left[first].iov_len; ++first) {
        done -= left[first].iov_len;
      }
      if (done > 0)
        left[first] = {static_cast<char*>(left[first].iov_base) + done, left[first].iov_len - done};
      waits = 0;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return false;
    pollfd wait{descriptor_.get(), POLLOUT, 0};
    ::poll(&wait, 1, kPollMilliseconds);
    const std::lock_guard lock(mutex_);
    if (closing_ && ++waits > kPatience) return false;
  }
  return true;
}

}  // namespace midscope
