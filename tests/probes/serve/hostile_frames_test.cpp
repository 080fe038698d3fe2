// SPDX-License-Identifier: MIT
// Mutated and truncated frames: the engine answers or refuses each, goes on, and ends with its
// input. MIDSCOPE_HOSTILE_FRAMES sets their number.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/probes/serve/served.h"
#include "tests/probes/serve/small_engine.h"

namespace midscope {
namespace {

using testing::Served;
using testing::SmallEngine;

int FrameCount() {
  const char* count = std::getenv("MIDSCOPE_HOSTILE_FRAMES");
  return count == nullptr ? 3000 : std::atoi(count);
}

// A message for every method that neither writes nor starts anything, and what else a client sends.
std::vector<Message> Requests() {
  const Message part = {{"point", "blocks.1.attn.hook_z"}, {"rows", {0, 3}}, {"heads", {1, 2}}};
  std::vector<Message> messages = {
      {{"cancel", 1}},
      {{"reply", 1}, {"value", nullptr}},
      {{"reply", 1}, {"error", "it failed"}},
  };
  const auto add = [&](const std::string& method, const Message& params) {
    messages.push_back({{"id", 1}, {"method", method}, {"params", params}});
  };
  add("hello", Message::object());
  add("open", {{"model", "embedded"}, {"dtype", "float32"}, {"threads", 2}});
  add("describe", Message::object());
  add("set_prompt", {{"task", "list:lines=4"}, {"places", "1,25%"}, {"sample", 2}, {"seed", 3}});
  add("set_prompt", {{"text", "Frank has a kite."},
                     {"gold", "kite"},
                     {"spans", {{"who", {0, 5}}, {"verb", "has"}}},
                     {"pieces", {{0, 5}, {6, 9}}},
                     {"format", {{"chat_template", "chatml"}, {"bos", "on"}}}});
  add("preview", {{"text", "A"}, {"gold", {0, 1}}, {"answer", " b"}});
  add("run", {{"place", 1},
              {"setting", "ms-poe(min=1.2, max=1.8)"},
              {"options", {{"probes", "default,logit_lens"}}},
              {"channels", {1, 2}},
              {"logits", true},
              {"capture", {"blocks.0.hook_resid_post", part, {{"point", "blocks.1.attn.hook_k"}}}},
              {"hooks", {part, {{"point", "blocks.0.attn.hook_pattern"}, {"rows", "answer"}}}}});
  add("what_if", {{"setting", "channel([1,2], factor=-1, layers=0-1)"},
                  {"place", 0},
                  {"attention", false},
                  {"channels", {1}},
                  {"partial", true}});
  add("compare", {{"settings", {"none", "pi(1.5)"}}, {"samples", 2}});
  add("scan", {{"over", "heads"},
               {"term", "ablate({head})"},
               {"range", {{"layers", "0-1"}}},
               {"samples", 2}});
  add("channels", {{"options", {{"seed", 3}}}});
  add("prompt_channels", {{"setting", "none"}, {"options", {{"seed", 3}}}});
  add("generate", {{"new_tokens", 3}, {"setting", "pi(2)"}});
  add("list_folder", {{"path", "/nowhere/at/all"}});
  add("open_file", {{"path", "/nowhere.h5"}});
  add("read_record", {{"file", 1}, {"record", "sweep"}});
  add("close_file", {{"file", 1}});
  add("read_array", {{"handle", 1}, {"begin", 0}, {"count", 16}});
  add("release", {{"handle", 1}});
  return messages;
}

class Mutator {
 public:
  std::string Mutated(std::string bytes) {
    if (Below(200) == 0) return std::string(100000, "\x91\x81\xdc\xc1"[Below(4)]);
    for (size_t changes = 1 + Below(4); changes > 0 && !bytes.empty(); --changes) {
      const size_t at = Below(bytes.size());
      switch (Below(6)) {
        case 0:
          bytes.resize(at);
          break;
        case 1:
          bytes.erase(at, Below(8));
          break;
        case 2:
          bytes.insert(at, bytes.substr(Below(bytes.size()), Below(32)));
          break;
        case 3:  // the types and lengths of MessagePack
          bytes[at] = static_cast<char>(0x80 + Below(0x80));
          break;
        default:
          bytes[at] = static_cast<char>(random_());
      }
    }
    return bytes;
  }
  // Returns the message with another value somewhere inside.
  Message WithOtherValue(const Message& message) {
    static const std::vector<Message> hostile_values = {nullptr,
                                                        true,
                                                        -1,
                                                        INT64_MIN,
                                                        INT64_MAX,
                                                        UINT64_MAX,
                                                        1e308,
                                                        "",
                                                        "a(b=[1-2",
                                                        std::string(1000, '('),
                                                        Message::array(),
                                                        Message::array({-1, INT64_MAX}),
                                                        Message::object(),
                                                        Message{{"point", 1}},
                                                        Message::binary({1, 2, 3})};
    Message flat = message.flatten();  // a key is the path of a value
    auto chosen = flat.begin();
    std::advance(chosen, Below(flat.size()));
    Message changed = message;
    changed[Message::json_pointer(chosen.key())] = hostile_values[Below(hostile_values.size())];
    return changed;
  }
  size_t Below(size_t limit) { return random_() % limit; }

 private:
  std::mt19937_64 random_{1};
};

// Reads answers until that of `id`, and answers questions of hooks with mutated arrays. Adds the
// number of results to `results`.
void ReceiveUntil(int64_t id, Served& served, Mutator& mutator, int& results) {
  while (true) {
    const Message answer = served.Receive();
    ASSERT_FALSE(answer.is_null()) << "the engine has ended";
    if (answer.contains("question")) {
      const Message reply = {{"reply", answer["question"]}, {"value", answer["about"]["array"]}};
      served.SendFrame(mutator.Mutated(PackMessage(reply)));
      served.Send({{"reply", answer["question"]}, {"value", nullptr}});
    }
    results += answer.contains("result") ? 1 : 0;
    if (answer["id"] == id) return;
  }
}

TEST(HostileFrames, MutatedFramesAreAnsweredOrRefused) {
  Served served(std::make_unique<SmallEngine>());
  Mutator mutator;
  const std::vector<Message> requests = Requests();
  const int count = FrameCount();
  int results = 0;
  for (int i = 0; i < count; ++i) {
    const Message& request = requests[mutator.Below(requests.size())];
    if (i % 2 == 0) {
      served.SendFrame(mutator.Mutated(PackMessage(request)));
    } else {
      served.Send(mutator.WithOtherValue(request));
    }
    if (i % 50 != 0) continue;
    // A model and a prompt, so that parameters of later requests are read.
    served.Send({{"id", 2}, {"method", "open"}, {"params", {{"model", "small"}}}});
    served.Send({{"id", 3}, {"method", "set_prompt"}, {"params", {{"text", "A"}}}});
    served.Send(
        {{"id", 4}, {"method", "run"}, {"params", {{"capture", {"blocks.1.attn.hook_z"}}}}});
    const int64_t id = int64_t{1} << 40 | i;
    served.Send({{"id", id}, {"method", "describe"}});
    ReceiveUntil(id, served, mutator, results);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(results, count / 15);
}

TEST(HostileFrames, StreamsThatEndAnywhereEndTheEngine) {
  Mutator mutator;
  const std::vector<Message> requests = Requests();
  const int count = FrameCount() / 20;
  for (int i = 0; i < count; ++i) {
    std::string stream;
    for (int frame = 0; frame < 3; ++frame) {
      const std::string packed = PackMessage(requests[mutator.Below(requests.size())]);
      stream += LengthBytes(packed.size()) + packed;
    }
    if (mutator.Below(2) == 0) stream[mutator.Below(4)] = static_cast<char>(mutator.Below(256));
    Served served(std::make_unique<SmallEngine>());
    served.SendBytes(std::string_view(stream).substr(0, mutator.Below(stream.size())));
  }
}

}  // namespace
}  // namespace midscope
