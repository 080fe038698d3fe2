// SPDX-License-Identifier: MIT
// An engine on a thread that serves the test, which is its client.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "probes/serve/frames.h"
#include "probes/serve/message.h"
#include "probes/serve/server.h"

namespace midscope::testing {

class Served {
 public:
  explicit Served(std::unique_ptr<Engine> engine = MakeLocalEngine()) {
    EXPECT_EQ(::pipe(to_.data()), 0);
    EXPECT_EQ(::pipe(from_.data()), 0);
    thread_ = std::thread([this, served = std::move(engine)]() mutable {
      ServeClient(to_[0], from_[1], std::move(served));
    });
    std::string line;
    for (char byte = 0; byte != '\n' && ::read(from_[0], &byte, 1) == 1;) line += byte;
    EXPECT_EQ(line, "midscope-engine 1\n");
    frames_ = std::make_unique<FrameReader>(from_[0]);
  }
  // Leaves and waits until the engine has ended.
  ~Served() {
    Leave();
    thread_.join();
    ::close(from_[0]);
    ::close(to_[0]);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  // Ends the engine's input.
  void Leave() {
    if (to_[1] >= 0) ::close(to_[1]);
    to_[1] = -1;
  }
  void SendBytes(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(to_[1], bytes.data(), bytes.size());
      ASSERT_GT(count, 0);
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }
  void SendFrame(const std::string& frame) const { SendBytes(LengthBytes(frame.size()) + frame); }
  void Send(const Message& message) const { SendFrame(PackMessage(message)); }
  // Returns the next message that is neither progress nor a log line; null at the end.
  Message Receive() {
    while (true) {
      const std::optional<std::string_view> frame = frames_->Next();
      if (!frame) return nullptr;
      Message message = UnpackMessage(*frame);
      if (!message.contains("progress") && !message.contains("log")) return message;
    }
  }
  Message Ask(const std::string& method, const Message& params = Message::object()) {
    Send({{"id", 1}, {"method", method}, {"params", params}});
    return Receive();
  }

 private:
  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
  std::unique_ptr<FrameReader> frames_;
  std::thread thread_;
};

}  // namespace midscope::testing
