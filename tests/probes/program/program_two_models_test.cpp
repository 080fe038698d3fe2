// SPDX-License-Identifier: MIT
// Models with adapters and random weights on the command line, and `midscope compare-models`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "data/store/record_reader.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string tiny_llama = test::TinyModelFolder("llama");
const std::string llama_adapter = MIDSCOPE_TESTS "/core/golden/adapters/llama";

// Short questions with three documents, for models of 128 tokens.
std::string TaskIn(const TemporaryFolder& folder) {
  const std::string file = folder.File("mine.jsonl");
  std::ofstream lines(file);
  for (const char* city : {"Paris", "Rome", "Bern", "Oslo"}) {
    lines << json{{"context", {std::string("It is ") + city + ".", "Red.", "Blue."}},
                  {"gold", 1},
                  {"gold_from", 1},
                  {"question", "Where?"},
                  {"answers", {city}}}
          << "\n";
  }
  return "jsonl:file=" + file;
}

Arguments TwoModelSweep(const std::string& task) {
  return {"sweep", tiny_llama, "--task",     task,        "--places",
          "1,3",   "--score",  "likelihood", "--samples", "4"};
}

TEST(ProgramTwoModels, AnAdapterIsAPartOfTheModel) {
  const TemporaryFolder folder;
  const std::string task = TaskIn(folder);
  const std::string file = folder.File("run.h5");
  const auto plain = json::parse(RunWell(With(TwoModelSweep(task), {"--json"})).out);
  const auto nothing = json::parse(
      RunWell(With(TwoModelSweep(task), {"--adapter", llama_adapter + ":0", "--json"})).out);
  EXPECT_EQ(nothing["rows"], plain["rows"]);
  const auto half = With(TwoModelSweep(task), {"--adapter", llama_adapter + ":0.5", "--out", file});
  RunWell(half);
  const RunReader reader(file);
  EXPECT_EQ(reader.provenance().model_path, "llama adapter=llama:0.5");
  const auto nll = std::get<std::vector<double>>(reader.ReadArray("sweep", "answer_nll").data);
  EXPECT_NE(nll[0], plain["rows"][0]["answer_nll"].get<double>());
  RunWell(With(half, {"--resume"}));
  const ProgramRun whole = RunMidscope(
      With(TwoModelSweep(task), {"--adapter", llama_adapter, "--out", file, "--resume"}));
  EXPECT_EQ(whole.status, 1);
  EXPECT_THAT(whole.err, HasSubstr("model_hash"));
  EXPECT_THAT(RunWell({"info", tiny_llama, "--adapter", llama_adapter}).out, HasSubstr("adapter="));
}

// The setting of the recipe is named and not applied; the sweep's plan holds it for
// compare --published.
TEST(ProgramTwoModels, TheRecipeBesideAnAdapterIsNoted) {
  const TemporaryFolder folder;
  const std::string adapter = folder.File("adapter");
  std::filesystem::copy(llama_adapter, adapter);
  std::ofstream(adapter + "/midscope_recipe.json")
      << R"({"method": "cream", "interpolation": "yarn", "factor": 4, "context": 2048})";
  const std::string file = folder.File("run.h5");
  const std::string task = TaskIn(folder);
  const ProgramRun run = RunWell(With(TwoModelSweep(task), {"--adapter", adapter, "--out", file}));
  EXPECT_THAT(run.err, HasSubstr("tuned with method cream, interpolation yarn, factor 4"));
  EXPECT_EQ(json::parse(RunReader(file).plan_json())["recipe"]["method"], "cream");
  const auto plain =
      json::parse(RunWell(With(TwoModelSweep(task), {"--adapter", llama_adapter, "--json"})).out);
  const auto noted =
      json::parse(RunWell(With(TwoModelSweep(task), {"--adapter", adapter, "--json"})).out);
  EXPECT_EQ(noted["rows"], plain["rows"]);
}

TEST(ProgramTwoModels, FaultsOfAdaptersNameTheRemedy) {
  const auto error = [](const Arguments& more, int status) {
    const ProgramRun run =
        RunMidscope(With({"generate", tiny_llama, "--prompt", "a", "--new-tokens", "1"}, more));
    EXPECT_EQ(run.status, status) << run.err;
    return run.err;
  };
  EXPECT_THAT(error({"--adapter", "no-such-folder"}, 1), HasSubstr("no such file or folder"));
  EXPECT_THAT(error({"--adapter", llama_adapter + ":much"}, 2), HasSubstr(":0.5"));
  EXPECT_THAT(error({"--adapter", MIDSCOPE_TESTS "/core/golden/adapters/gpt2"}, 1),
              AllOf(HasSubstr("c_attn"), HasSubstr("made for")));
  const TemporaryFolder folder;
  std::ofstream(folder.File("plan.toml")) << "model = \"embedded\"\nadapter = \"a\"\n";
  const ProgramRun plan = RunMidscope({"sweep", "--plan", folder.File("plan.toml")});
  EXPECT_EQ(plan.status, 2);
  EXPECT_THAT(plan.err, HasSubstr("MODEL adapter=FOLDER"));
}

TEST(ProgramTwoModels, ComparesTheSameSamples) {
  const TemporaryFolder folder;
  const std::string out = folder.File("both");
  const Arguments compare = {"compare-models",
                             tiny_llama + "@init:3",
                             tiny_llama + " adapter=" + llama_adapter,
                             "--task",
                             TaskIn(folder),
                             "--places",
                             "1,3",
                             "--samples",
                             "4",
                             "--head-samples",
                             "2",
                             "--score",
                             "likelihood",
                             "--with",
                             "none",
                             "--with",
                             "yarn(2)"};
  const ProgramRun run = RunWell(With(compare, {"--out", out}));
  EXPECT_THAT(run.out, AllOf(HasSubstr("yarn(2): "), HasSubstr("nats ["), HasSubstr("mean"),
                             HasSubstr("gold attention"), HasSubstr("comparison.h5")));
  EXPECT_THAT(run.err, HasSubstr("seed 3"));
  // Four commands run the same prompts.
  const size_t note = run.err.find("prompt: ");
  ASSERT_NE(note, std::string::npos);
  EXPECT_EQ(run.err.find("prompt: ", note + 1), std::string::npos) << run.err;
  const json result =
      json::parse(RunWell(With(compare, {"--out", out, "--resume", "--json"})).out)["tasks"][0];
  ASSERT_EQ(result["rows"].size(), 6u);  // two settings at two places, and their means
  ASSERT_EQ(result["verdicts"].size(), 2u);
  const auto sweep_of = [&](const std::string& side) {
    const RunReader reader(out + "/task_" + side + ".h5");
    return std::get<std::vector<double>>(reader.ReadArray("sweep", "answer_nll").data);
  };
  const std::vector<double> before = sweep_of("before");  // [sample, setting, place]
  const std::vector<double> after = sweep_of("after");
  double difference = 0;
  for (size_t sample = 0; sample < 4; ++sample)
    difference += (after[sample * 4] - before[sample * 4]) / 4;
  EXPECT_NEAR(result["rows"][0]["difference"].get<double>(), difference, 1e-9);
  EXPECT_LT(result["rows"][0]["difference_low"], result["rows"][0]["difference"]);
  const RunReader reader(out + "/comparison.h5");
  const auto stored =
      std::get<std::vector<double>>(reader.ReadArray("model_comparison", "difference").data);
  EXPECT_NEAR(stored[0], difference, 1e-9);
  const Record record = reader.Read("model_comparison");
  EXPECT_EQ(std::get<std::string>(record.attributes.at("model_before")), "llama@init:3");
  EXPECT_EQ(std::get<std::vector<double>>(record.FindArray("gold_attention_after")->data).size(),
            12u);
  const ProgramRun again = RunMidscope(With(compare, {"--out", out}));
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("--overwrite"));
}

// Writes llama with six layers, the last of which are equal, and a longer context: the search takes
// layers from the third on and prompts of more than 200 tokens.
std::string DeepLlama(const TemporaryFolder& folder) {
  test::SafetensorsParts parts = test::ReadSafetensors(folder.Read("model.safetensors"));
  const test::SafetensorsParts two_layers = parts;
  for (const auto& [name, part] : two_layers) {
    const std::string last = "model.layers.1.";
    if (!name.starts_with(last)) continue;
    for (int layer = 2; layer < 6; ++layer)
      parts["model.layers." + std::to_string(layer) + "." + name.substr(last.size())] = part;
  }
  folder.Write("model.safetensors", test::WriteSafetensors(parts));
  json config = json::parse(folder.Read("config.json"));
  config["num_hidden_layers"] = 6;
  config["max_position_embeddings"] = 512;
  folder.Write("config.json", config.dump());
  return folder.path().string();
}

TEST(ProgramTwoModels, ComparesPositionalChannels) {
  const TemporaryFolder folder;
  const std::string out = folder.File("both");
  const TemporaryFolder llama(tiny_llama);
  const std::string model = DeepLlama(llama);
  const Arguments compare =
      With({"compare-models", model + "@init", model, "--task", TaskIn(folder), "--out", out},
           {"--places", "1", "--samples", "1", "--seed", "4", "--score", "likelihood"});
  const json rows = json::parse(RunWell(With(compare, {"--head-samples", "0", "--channel-prompts",
                                                       "1", "--channel-tokens", "230", "--json"}))
                                    .out)["channels"];
  // The search of each model alone, on the same prompts.
  const json alone = json::parse(RunWell({"channels", model, "--validate", "none", "--prompts", "1",
                                          "--tokens", "230", "--seed", "4", "--json"})
                                     .out)["channels"];
  ASSERT_GE(alone.size(), 3u);
  const RunReader reader(out + "/comparison.h5");
  const Record record = reader.Read("channel_comparison");
  const auto& smoothness =
      std::get<std::vector<double>>(record.FindArray("smoothness_after")->data);
  for (size_t rank = 0; rank < alone.size(); ++rank) {
    const auto channel = alone[rank]["channel"].get<size_t>();
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const json& each) { return each["channel"] == channel; });
    ASSERT_NE(row, rows.end()) << channel;
    EXPECT_EQ((*row)["rank_after"], rank + 1);
    EXPECT_EQ((*row)["monotone_layers_after"], alone[rank]["monotone_layers"]);
    EXPECT_EQ((*row)["trend_after"], alone[rank]["trend"]);
    EXPECT_TRUE((*row)["monotone_layers_before"].is_number());
    EXPECT_DOUBLE_EQ(smoothness[channel], alone[rank]["smoothness"].get<double>());
  }
}

TEST(ProgramTwoModels, RefusesTasksWithOtherTexts) {
  const ProgramRun run = RunMidscope(
      {"compare-models", tiny_llama, "embedded", "--task", "list:lines=3", "--samples", "2"});
  EXPECT_NE(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("kv:pairs"));
}

}  // namespace
}  // namespace midscope
