// SPDX-License-Identifier: MIT
// The built program and models: the output of `info` for every kind of model, `fetch`, and
// --sliding-window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/terms/terms.h"
#include "data/store/record_reader.h"
#include "tests/core/support/hub_server.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Tiny(const std::string& name) {
  return MIDSCOPE_TESTS
         "/core/golden/tiny_models"
         "/" +
         name;
}

json Info(const std::string& model, const Arguments& more = {}) {
  return json::parse(RunWell(With({"info", model, "--json"}, more)).out);
}

json Support(const json& info, const std::string& term) {
  for (const json& entry : info["interventions"]) {
    if (entry["term"] == term) return entry;
  }
  return nullptr;
}

TEST(ModelInfo, SaysOfEveryTermWhetherItIsSupported) {
  const json info = Info(Tiny("llama"));
  for (const TermType& term : TermTypes()) {
    if (term.name == "none") continue;
    EXPECT_FALSE(Support(info, term.name).is_null()) << term.name;
  }
  for (const char* term : {"ratios", "crop", "move", "boost"}) {
    EXPECT_EQ(Support(info, term)["supported"], true) << term;
  }
  // A model without rotary positions accepts no ratios, but accepts edits of attention.
  const json alibi = Info(Tiny("mpt"));
  EXPECT_EQ(Support(alibi, "ratios")["supported"], false);
  EXPECT_EQ(Support(alibi, "crop")["supported"], true);
  // The output names a file once.
  const ProgramRun text = RunMidscope({"info", Tiny("llama")});
  EXPECT_THAT(text.out, HasSubstr("tokenizer.json, "));
  EXPECT_EQ(text.out.find("pre-tokenizer tokenizer.json"), std::string::npos);
}

TEST(ModelInfo, TellsOfFoldersAndGgufFilesTheSame) {
  const json folder = Info(Tiny("llama"));
  EXPECT_EQ(folder["format"], "Hugging Face folder");
  EXPECT_EQ(folder["architecture"], "llama");
  EXPECT_EQ(folder["quantisation"], "BF16");
  EXPECT_EQ(folder["rope"]["scaling"], "llama3");
  EXPECT_EQ(folder["rope"]["factor"], 8.0);
  EXPECT_EQ(folder["rope"]["original_context"], 32.0);
  EXPECT_EQ(folder["rope_base"], 500.0);
  EXPECT_EQ(folder["sliding_window"], nullptr);
  EXPECT_EQ(folder["tokenizer"]["bos_id"], 257);
  EXPECT_EQ(folder["chat_template"], false);
  const json gguf = Info(Tiny("gguf-llama-q8_0") + "/model.gguf");
  EXPECT_EQ(gguf["format"], "GGUF");
  EXPECT_EQ(gguf["quantisation"], "Q8_0");
  EXPECT_EQ(gguf["rope_base"], 500.0);
  for (const auto& [key, value] : folder.items()) EXPECT_TRUE(gguf.contains(key)) << key;
}

// A token was added without a row in the embeddings: `info` and runs agree that the model is
// usable, and only a text with that token is rejected.
TEST(ModelInfo, ATokenWithoutARowOnlyMattersWhereItOccurs) {
  const test::TemporaryFolder model(Tiny("llama"));
  const int64_t rows = Info(Tiny("llama"))["vocabulary"];
  json tokenizer = json::parse(model.Read("tokenizer.json"));
  const int64_t tokens = Info(Tiny("llama"))["tokenizer"]["vocabulary"];
  for (int64_t id = tokens; id <= rows; ++id) {
    tokenizer["added_tokens"].push_back(
        {{"id", id}, {"content", "<new" + std::to_string(id) + ">"}, {"special", true}});
  }
  model.Write("tokenizer.json", tokenizer.dump());
  const std::string path = model.path().string();
  EXPECT_EQ(Info(path)["supported"], true);
  EXPECT_EQ(Info(path)["tokenizer"]["vocabulary"], rows + 1);
  const std::string last = "<new" + std::to_string(rows) + ">";
  const json probe = json::parse(RunWell({"probe", path, "--prompt", "ab", "--json"}).out);
  EXPECT_EQ(probe["top"],
            json::parse(RunWell({"probe", Tiny("llama"), "--prompt", "ab", "--json"}).out)["top"]);
  for (const Arguments& with :
       {Arguments{"--prompt", "ab" + last}, Arguments{"--prompt", "ab", "--answer", last}}) {
    const ProgramRun run = RunMidscope(With({"probe", path}, with));
    EXPECT_EQ(run.status, 1);
    EXPECT_THAT(run.err, HasSubstr("token '" + last + "': its id " + std::to_string(rows) +
                                   " exceeds those of the model's"));
  }
}

TEST(ModelInfo, TellsOfWindowsBasesAndLayersWithoutPositions) {
  EXPECT_EQ(Info(Tiny("mistral"))["sliding_window"], json({{"tokens", 12}, {"layers", {0, 1}}}));
  const json gemma3 = Info(Tiny("gemma3"));
  EXPECT_EQ(gemma3["rope"]["local_base"], 300.0);
  EXPECT_EQ(gemma3["sliding_window"]["layers"], json({0, 1, 3}));
  EXPECT_EQ(Info(Tiny("smollm3"))["rope"]["layers_without_positions"], json({1, 3}));
  const ProgramRun text = RunMidscope({"info", Tiny("gemma3")});
  EXPECT_THAT(text.out, AllOf(HasSubstr("11 tokens in layers 0-1, 3"),
                              HasSubstr("4000, linear scaling by 2"), HasSubstr("300 in layers")));
}

TEST(ModelInfo, TellsWhatIsNotSupportedAndWhy) {
  const json mpt = Info(Tiny("mpt"));
  EXPECT_EQ(mpt["positions"], "alibi");
  EXPECT_EQ(mpt["rope_base"], nullptr);
  EXPECT_EQ(Support(mpt, "channel")["supported"], true);
  EXPECT_EQ(Support(mpt, "ms-poe")["supported"], false);
  EXPECT_THAT(Support(mpt, "pi")["why_not"], HasSubstr("ALiBi"));
  const json qwen3 = Info(Tiny("qwen3"));
  for (const char* term : {"pi", "ms-poe", "channel"}) {
    EXPECT_EQ(Support(qwen3, term)["supported"], true) << term;
  }
  EXPECT_THAT(RunMidscope({"info", Tiny("mpt")}).out, HasSubstr("not ms-poe: this model has no"));
}

TEST(ModelInfo, TellsHowTheFilesWereRead) {
  const json pictures = Info(Tiny("gemma3-pictures"));
  ASSERT_EQ(pictures["notes"].size(), 1u);
  EXPECT_THAT(pictures["notes"][0].get<std::string>(), HasSubstr("only the text part is read"));
  EXPECT_THAT(RunMidscope({"info", Tiny("llama-other-head")}).out,
              HasSubstr("note              tie_word_embeddings is set, but"));
  EXPECT_EQ(Info(Tiny("llama"))["notes"], json::array());
  const ProgramRun run = RunMidscope({"probe", Tiny("llama-other-head"), "--prompt", "a text"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("tie_word_embeddings is set"));
}

TEST(ModelInfo, TellsWhatItCanOfAFolderThatIsNotSupported) {
  const TemporaryFolder folder;
  std::filesystem::copy(Tiny("llama"), folder.File("m"));
  std::ofstream(folder.File("m/config.json")) << R"({"model_type": "new", "hidden_size": 36})";
  const ProgramRun run = RunMidscope({"info", folder.File("m")});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("hidden            36"), HasSubstr(" tensors)"),
                             HasSubstr("trained_context   not stated\n")));
  EXPECT_THAT(run.err, AllOf(HasSubstr("the model_type 'new' is not supported yet"),
                             HasSubstr("core/model/families/README.md")));
  std::filesystem::remove(folder.File("m/model.safetensors"));
  const ProgramRun bare = RunMidscope({"info", folder.File("m")});
  EXPECT_EQ(bare.status, 1);
  EXPECT_THAT(bare.out, AllOf(HasSubstr("m (Hugging Face folder)\n"), Not(HasSubstr("0 tensors")),
                              Not(HasSubstr("0.0 MB"))));
}

TEST(ModelInfo, CountsMemoryForTheLengthsAskedFor) {
  const json memory = Info(Tiny("qwen2"), {"--tokens", "10,100"})["memory"];
  ASSERT_EQ(memory.size(), 4u);
  // float32, 2 layers, 3 key-value heads of 10: keys and values, and the residual stream of 24
  // before each layer and after the last.
  EXPECT_EQ(memory[0]["tokens"], 10);
  EXPECT_EQ(memory[0]["cache_bytes"], 10 * 2 * 2 * 3 * 10 * 4);
  EXPECT_EQ(memory[1]["cache_bytes"], 10 * memory[0]["cache_bytes"].get<int64_t>());
  EXPECT_EQ(memory[2]["cache_bytes"], memory[0]["cache_bytes"].get<int64_t>() / 2);
  EXPECT_EQ(memory[0]["attention_bytes"], 10 * 2 * 6 * 4);
  // Its context is 128 tokens; a position scheme goes beyond.
  EXPECT_EQ(Info(Tiny("qwen2"), {"--tokens", "1280"})["memory"][0]["cache_bytes"],
            128 * memory[0]["cache_bytes"].get<int64_t>());
  const ProgramRun refused = RunMidscope({"info", Tiny("qwen2"), "--tokens", "0"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--tokens"));
}

TEST(ModelInfo, NamesDevicesWithMemoryAndWhatThePromptTakesThere) {
  const json devices = Info(Tiny("qwen2"), {"--tokens", "10,100"})["devices"];
  ASSERT_GE(devices.size(), 2u);
  EXPECT_EQ(devices[0]["device"], "cpu");
  EXPECT_EQ(devices[1]["device"], "cpu:portable");
  for (const json& device : devices) {
    EXPECT_NE(device["name"], "");
    EXPECT_GT(device["free_bytes"].get<int64_t>(), 0);
    EXPECT_LE(device["free_bytes"], device["total_bytes"]);
    ASSERT_EQ(device["memory"].size(), 4u);  // two dtypes, two lengths
    EXPECT_EQ(device["memory"][1]["tokens"], 100);
    EXPECT_EQ(device["memory"][1]["prompt_bytes"].get<int64_t>(),
              10 * device["memory"][0]["prompt_bytes"].get<int64_t>());
    EXPECT_EQ(device["memory"][0]["fits"], true);
  }
  const auto weights = [&](size_t device) {
    return devices[device]["memory"][0]["weight_bytes"].get<int64_t>();
  };
  EXPECT_GT(weights(0), 0);
  EXPECT_GT(weights(1), 0);

  const std::string text = RunMidscope({"info", Tiny("qwen2"), "--tokens", "10,100"}).out;
  EXPECT_THAT(
      text, AllOf(HasSubstr("a prompt of 100 tokens take there"),
                  HasSubstr(devices[0]["name"].get<std::string>()), HasSubstr("\ncpu:portable  ")));
  const bool has_gpu = !devices.back()["compute_capability"].is_null();
  EXPECT_EQ(text.find("\nno GPU: ") == std::string::npos, has_gpu);
}

TEST(SlidingWindow, SwitchedOffChangesNumbersAndIsRecorded) {
  const TemporaryFolder folder;
  std::vector<float> logits[2];
  for (const bool window : {false, true}) {
    const std::string file = folder.File(window ? "on.h5" : "off.h5");
    std::vector<std::string> arguments = {
        "probe", Tiny("mistral"), "--prompt", "a text of more than a dozen bytes", "--out", file};
    if (!window) arguments.insert(arguments.end(), {"--sliding-window", "off"});
    const ProgramRun run = RunMidscope(arguments);
    ASSERT_EQ(run.status, 0) << run.err;
    const RunFile stored = ReadRecords(file);
    EXPECT_EQ(json::parse(stored.provenance.options_json)["sliding-window"], window ? "on" : "off");
    for (const Record& record : stored.records) {
      if (const Array* array = record.FindArray("last_logits")) {
        logits[window] = std::get<std::vector<float>>(array->data);
      }
    }
    ASSERT_FALSE(logits[window].empty());
  }
  EXPECT_NE(logits[0], logits[1]);
  const ProgramRun without =
      RunMidscope({"probe", Tiny("qwen3"), "--prompt", "a", "--sliding-window", "off"});
  EXPECT_EQ(without.status, 0);
  EXPECT_THAT(without.err, HasSubstr("nothing to switch off"));
  EXPECT_EQ(RunMidscope({"probe", "embedded", "--prompt", "a", "--sliding-window", "no"}).status,
            2);
}

class Fetch : public ::testing::Test {
 protected:
  Fetch() {
    static const test::HubServer server;
    setenv("HF_ENDPOINT", server.hub().c_str(), 1);
    setenv("HF_HUB_CACHE", folder_.File("hub").c_str(), 1);
  }
  ~Fetch() override {
    for (const char* name : {"HF_ENDPOINT", "HF_HUB_CACHE", "HF_HUB_OFFLINE"}) unsetenv(name);
  }
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  TemporaryFolder folder_;
};

TEST_F(Fetch, AFetchedModelOpensByItsName) {
  const ProgramRun missing = RunMidscope({"probe", "org/plain", "--prompt", "ab"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("midscope fetch org/plain"));
  const ProgramRun run = RunMidscope({"fetch", "org/plain", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json result = json::parse(run.out);
  EXPECT_EQ(result["files"].size(), 4u);
  EXPECT_EQ(result["bytes"], result["fetched_bytes"]);
  EXPECT_THAT(run.err, HasSubstr("pickle"));
  const ProgramRun probe = RunMidscope({"probe", "org/plain", "--prompt", "ab", "--json"});
  EXPECT_EQ(probe.status, 0) << probe.err;
  EXPECT_EQ(json::parse(probe.out)["tokens"], 1);
  EXPECT_EQ(Info("org/plain")["architecture"], "qwen3");
  const ProgramRun again = RunMidscope({"fetch", "org/plain"});
  EXPECT_THAT(again.out, AllOf(HasSubstr("4 files"), HasSubstr("fetched 0 bytes"),
                               HasSubstr("open it as: org/plain")));
}

TEST_F(Fetch, ADataSetIsGivenToATask) {
  const ProgramRun run = RunMidscope({"fetch", "--data", "org/data-lines"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("test/a.jsonl"), HasSubstr("--task")));
  EXPECT_EQ(json::parse(RunMidscope({"fetch", "--data", "org/data-lines", "--json"}).out)["data"],
            "org/data-lines");
  EXPECT_EQ(RunMidscope({"fetch", "org/plain", "--data", "org/data-lines"}).status, 2);
}

TEST_F(Fetch, EndsAsOtherCommandsDo) {
  const ProgramRun unknown = RunMidscope({"fetch", "org/unknown"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("midscope: org/unknown: the hub has no such model"));
  EXPECT_EQ(RunMidscope({"fetch", "unknown"}).status, 2);
  EXPECT_EQ(RunMidscope({"fetch"}).status, 2);
  setenv("HF_HUB_OFFLINE", "1", 1);
  EXPECT_THAT(RunMidscope({"fetch", "org/plain"}).err, HasSubstr("HF_HUB_OFFLINE"));
}

TEST_F(Fetch, AnInterruptedFetchSaysHowToGoOn) {
  using Clock = std::chrono::steady_clock;
  RunningProgram program({"fetch", "org/slow"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  program.Signal(SIGINT);
  const auto since = Clock::now();
  const ProgramRun run = program.Wait();
  EXPECT_LT(Clock::now() - since, std::chrono::seconds(1));
  EXPECT_EQ(run.status, 130);
  EXPECT_THAT(run.err, HasSubstr("the same command continues the download"));
}

}  // namespace
}  // namespace midscope
