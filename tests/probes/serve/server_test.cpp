// SPDX-License-Identifier: MIT
// The engine as a process: its first line, answers, errors, cancellation, superseded what-ifs,
// frames that are damaged or too long, a client that leaves or does not read.
#include "probes/serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "probes/serve/frames.h"
#include "probes/serve/message.h"
#include "probes/serve/protocol_page.h"
#include "tests/paths.h"
#include "tests/probes/serve/served.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;
using testing::Served;

TEST(Server, TellsWhoItIs) {
  Served served;
  const Message answer = served.Ask("hello")["result"];
  EXPECT_EQ(answer["protocol"], 1);
  EXPECT_EQ(answer["frame_bytes"], kLargestFrame);
  EXPECT_GT(answer["methods"].size(), 15U);
}

TEST(Server, WrongRequestsAreErrorsWithARemedy) {
  Served served;
  const auto error = [&](const std::string& method, const Message& params = Message::object()) {
    return served.Ask(method, params)["error"];
  };
  EXPECT_THAT(error("helo")["remedy"].get<std::string>(), HasSubstr("Did you mean 'hello'?"));
  EXPECT_THAT(error("run")["remedy"].get<std::string>(), HasSubstr("open"));
  EXPECT_THAT(error("open")["reason"].get<std::string>(), HasSubstr("it needs 'model'"));
  EXPECT_THAT(error("open", {{"modell", "x"}, {"model", "y"}})["reason"].get<std::string>(),
              HasSubstr("modell"));
  EXPECT_THAT(error("open", {{"model", "/nowhere"}})["thing"].get<std::string>(),
              HasSubstr("/nowhere"));
  EXPECT_THAT(error("list_folder", {{"path", 3}})["reason"].get<std::string>(),
              HasSubstr("not a string"));
  served.Send({{"id", "text"}, {"method", "hello"}});
  EXPECT_THAT(served.Receive()["error"]["reason"].get<std::string>(), HasSubstr("integer"));
}

TEST(Server, DamagedAndLongFramesAreAnsweredAndSkipped) {
  Served served;
  served.SendFrame("\xc1");
  EXPECT_EQ(served.Receive()["id"], nullptr);
  served.SendFrame("\x01");
  EXPECT_THAT(served.Receive()["error"]["reason"].get<std::string>(), HasSubstr("a map"));
  const uint32_t length = kLargestFrame + 1;
  served.SendBytes(LengthBytes(length));
  const std::string part(1 << 16, 'x');
  for (uint32_t left = length; left > 0;) {
    const uint32_t size = std::min<uint32_t>(left, 1 << 16);
    served.SendBytes(std::string_view(part).substr(0, size));
    left -= size;
  }
  EXPECT_THAT(served.Receive()["error"]["reason"].get<std::string>(),
              HasSubstr("bytes, more than"));
  EXPECT_EQ(served.Ask("hello")["result"]["protocol"], 1);
}

TEST(Server, OpensRunsAndCancels) {
  Served served;
  const Message opened = served.Ask("open", {{"model", "embedded"}, {"dtype", "float32"}});
  ASSERT_TRUE(opened.contains("result")) << opened.dump();
  EXPECT_EQ(opened["result"]["layers"], 30);
  EXPECT_TRUE(served.Ask("set_prompt", {{"task", "list:lines=4"}}).contains("result"));
  served.Send({{"id", 8}, {"method", "scan"}, {"params", {{"over", "heads"}, {"samples", 1000}}}});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto begin = std::chrono::steady_clock::now();
  served.Send({{"cancel", 8}});
  Message answer = served.Receive();
  while (answer.contains("partial")) answer = served.Receive();
  EXPECT_EQ(answer["id"], 8);
  EXPECT_EQ(answer["error"]["cancelled"], true) << answer.dump();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  // Only the newest of the waiting what-ifs runs.
  for (int id = 10; id < 14; ++id) {
    served.Send({{"id", id},
                 {"method", "what_if"},
                 {"params", {{"setting", "pi(1." + std::to_string(id) + ")"}}}});
  }
  int superseded = 0;
  for (Message reply = served.Receive();; reply = served.Receive()) {
    ASSERT_FALSE(reply.is_null());
    if (reply["id"] == 13) {
      EXPECT_TRUE(reply.contains("result"));
      break;
    }
    superseded += reply.contains("error") ? 1 : 0;
  }
  EXPECT_GE(superseded, 2);
}

TEST(Server, EndsWhenTheClientLeavesInTheMiddleOfWork) {
  const auto begin = std::chrono::steady_clock::now();
  {
    Served served;
    served.Ask("open", {{"model", "embedded"}, {"dtype", "float32"}});
    served.Ask("set_prompt", {{"task", "list:lines=4"}});
    served.Send({{"id", 8}, {"method", "scan"}, {"params", {{"samples", 1000}}}});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }  // nothing is read any more
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(Server, ThePageIsThatOfTheMethods) {
  std::ifstream file(MIDSCOPE_TESTS "/../probes/engine/PROTOCOL.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), ProtocolPage())
      << "midscope serve --protocol > probes/engine/PROTOCOL.md writes it";
}

}  // namespace
}  // namespace midscope
