// SPDX-License-Identifier: MIT
// A client that does not read, or that leaves: requests of others of its own are cancelled at once,
// and the end of the input ends the engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "tests/probes/serve/served.h"
#include "tests/probes/serve/small_engine.h"

namespace midscope {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::Served;
using testing::SmallEngine;

std::unique_ptr<Served> WithPrompt() {
  auto served = std::make_unique<Served>(std::make_unique<SmallEngine>());
  served->Ask("open", {{"model", "small"}});
  served->Ask("set_prompt", {{"text", "A"}});
  return served;
}

// Requests 2 MB per millisecond.
void SendCompare(const Served& served, int64_t id, int64_t samples) {
  served.Send({{"id", id},
               {"method", "compare"},
               {"params", {{"settings", {"none"}}, {"samples", samples}}}});
}

// Returns the answer of a request, and skips its partial results.
Message AnswerOf(int64_t id, Served& served) {
  Message message = served.Receive();
  while (!message.is_null() && (message["id"] != id || message.contains("partial"))) {
    message = served.Receive();
  }
  return message;
}

TEST(SlowClient, GetsEverythingWhenItReadsOn) {
  const auto served = WithPrompt();
  SendCompare(*served, 1, 200);                    // more than the queue holds
  std::this_thread::sleep_for(milliseconds(500));  // the queue is full
  int partial = 0;
  Message message = served->Receive();
  for (; message.contains("partial"); message = served->Receive()) {
    ++partial;
    EXPECT_EQ(message["partial"]["records"][0]["arrays"][0]["data"].get_binary().size(),
              size_t{2} << 20);
  }
  EXPECT_EQ(partial, 200);
  EXPECT_TRUE(message.contains("result"));
}

TEST(SlowClient, CancelIsAnsweredAtOnce) {
  const auto served = WithPrompt();
  SendCompare(*served, 1, 1 << 30);
  SendCompare(*served, 2, 1);  // waits
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(served->Receive().contains("partial"));
  const auto begin = steady_clock::now();
  served->Send({{"cancel", 2}});
  served->Send({{"cancel", 1}});
  EXPECT_EQ(AnswerOf(2, *served)["error"]["cancelled"], true);
  EXPECT_EQ(AnswerOf(1, *served)["error"]["cancelled"], true);
  // Reading what was queued before takes most of it.
  EXPECT_LT(steady_clock::now() - begin, milliseconds(1000));
  EXPECT_EQ(served->Ask("hello")["result"]["protocol"], 1);
}

TEST(SlowClient, EndOfInputEndsTheEngineThoughNothingIsRead) {
  const auto begin = steady_clock::now();
  {
    const auto served = WithPrompt();
    SendCompare(*served, 1, 1 << 30);
    std::this_thread::sleep_for(milliseconds(500));  // the queue is full
    served->Send({{"cancel", 7}});
  }
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(SlowClient, InputThatEndsInsideAFrameEndsTheEngine) {
  for (const std::string& bytes : {std::string("\x05"), LengthBytes(100) + "abc"}) {
    const auto served = WithPrompt();
    served->SendBytes(bytes);
  }
}

// A request beside those of the model is answered while the queue of the model is busy, and more
// requests than threads are answered one after the other.
TEST(SlowClient, RequestsBesideTheModelDoNotWaitForIt) {
  const auto served = WithPrompt();
  SendCompare(*served, 1, 1 << 30);
  for (int id = 100; id < 200; ++id) served->Send({{"id", id}, {"method", "hello"}});
  int hellos = 0;
  while (hellos < 100) {
    const Message message = served->Receive();
    ASSERT_FALSE(message.is_null());
    if (message["id"] != 1) ++hellos;
  }
}

}  // namespace
}  // namespace midscope
