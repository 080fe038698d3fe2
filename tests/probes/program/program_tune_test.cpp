// SPDX-License-Identifier: MIT
// `midscope tune` as a user runs it: stable JSON names, files, kills, Ctrl-C and --resume, faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "data/store/record_reader.h"
#include "tests/paths.h"
#include "tests/probes/support/interrupted_program.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using testing::ExpectInterrupted;
using ::testing::HasSubstr;

const std::string tiny_models_folder = MIDSCOPE_TESTS "/core/golden/tiny_models/";

class ProgramTune : public ::testing::Test {
 protected:
  ProgramTune() : data_(folder_.File("data.jsonl")) {
    std::ofstream lines(data_);
    for (int i = 0; i < 40; ++i) {
      lines << "{\"text\": \"";
      for (int j = 0; j < 40; ++j) lines << "word " << (i * 7 + j * j) % 50 << ", ";
      lines << "\"}\n";
    }
  }

  Arguments Tune(const std::string& out, const Arguments& more = {},
                 const std::string& model = "qwen3") const {
    return With({"tune", tiny_models_folder + model, "--recipe", "cream", "--tokens", "60",
                 "--factor", "4", "--rate", "1e-3", "--threads", "1", "--out", folder_.File(out)},
                more);
  }
  // A run whose data are in the file.
  Arguments OfData(const std::string& out, const std::string& steps,
                   const Arguments& more = {}) const {
    return With(Tune(out, {"--data", data_, "--repeat", "--steps", steps}), more);
  }

  std::string Bytes(const std::string& name) const {
    std::ifstream file(folder_.File(name), std::ios::binary);
    EXPECT_TRUE(file.good()) << name;
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  std::string data_;
};

TEST_F(ProgramTune, WritesAModelThatIsOpenedAgain) {
  const ProgramRun run =
      RunWell(OfData("full", "5", {"--batch", "2", "--held-out", "3", "--json"}));
  const json result = json::parse(run.out);
  EXPECT_EQ(result["steps"], 5);
  EXPECT_EQ(result["tokens"], 5 * 2 * 60);
  EXPECT_EQ(result["setting"], "pi(4)");
  EXPECT_LT(result["held_out_loss_after"], result["held_out_loss_before"]);
  EXPECT_THAT(run.err, HasSubstr("config.json contains the position scheme"));
  const RunReader reader(result["file"]);
  const auto loss = std::get<std::vector<double>>(reader.ReadArray("tuning", "loss").data);
  ASSERT_EQ(loss.size(), 5U);
  EXPECT_EQ(result["first_loss"].get<double>(), loss.front());
  const json recipe = json::parse(Bytes("full/midscope_recipe.json"));
  EXPECT_EQ(recipe["method"], "cream");
  EXPECT_EQ(recipe["interpolation"], "linear");
  EXPECT_EQ(recipe["context"], 240);
  const json info = json::parse(RunWell({"info", folder_.File("full"), "--json"}).out);
  EXPECT_EQ(info["trained_context"], 240);
  EXPECT_FALSE(std::filesystem::exists(folder_.File("full/midscope_tuning.safetensors")));
  // Nothing is left to do.
  EXPECT_EQ(
      RunWell(OfData("full", "5", {"--batch", "2", "--held-out", "3", "--json", "--resume"})).out,
      run.out);
}

TEST_F(ProgramTune, ComputesOnTheDevice) {
  const Arguments lora = {"--lora", "4"};
  RunWell(OfData("default", "3", lora));
  RunWell(OfData("named", "3", With(lora, {"--device", "cpu"})));
  EXPECT_EQ(Bytes("default/adapter_model.safetensors"), Bytes("named/adapter_model.safetensors"));
  EXPECT_EQ(RunReader(folder_.File("named/tuning.h5")).provenance().device, "cpu=2");
  const auto refusal = [&](const Arguments& arguments) {
    const ProgramRun run = RunMidscope(arguments);
    EXPECT_EQ(run.status, 2) << run.err;
    return run.err;
  };
  const std::string elsewhere =
      refusal({"probe", tiny_models_folder + "qwen3", "--prompt", "x", "--device", "cuda:127"});
  EXPECT_EQ(refusal(OfData("none", "3", {"--device", "cuda:127"})), elsewhere);
  EXPECT_EQ(refusal({"influence", tiny_models_folder + "qwen3", "--prompt", "x", "--answer", " y",
                     "--device", "cuda:127"}),
            elsewhere);
  EXPECT_THAT(refusal(OfData("none", "3", {"--device", "cpu,cpu:portable"})),
              HasSubstr("all layers on one device"));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("none")));
}

TEST_F(ProgramTune, KilledRunsEndAsUninterruptedOnes) {
  const Arguments lora = {"--lora", "4", "--checkpoint", "3"};
  RunWell(OfData("whole", "150", lora));
  // Each run is killed some milliseconds after its first checkpoint, possibly while it writes one.
  const std::string losses = folder_.File("killed/tuning.h5");
  for (const int milliseconds : {0, 3, 7, 12, 20}) {
    std::error_code ignored;
    const auto before = std::filesystem::last_write_time(losses, ignored);
    RunningProgram running(OfData("killed", "150", With(lora, {"--resume"})));
    while (running.Running() && std::filesystem::last_write_time(losses, ignored) == before)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    running.Signal(SIGKILL);
    running.Wait();
  }
  RunWell(OfData("killed", "150", With(lora, {"--resume"})));
  EXPECT_EQ(Bytes("killed/adapter_model.safetensors"), Bytes("whole/adapter_model.safetensors"));
  EXPECT_EQ(Bytes("killed/midscope_recipe.json"), Bytes("whole/midscope_recipe.json"));
}

TEST_F(ProgramTune, CtrlCSavesACheckpoint) {
  const Arguments arguments = OfData("stopped", "100000", {"--lora", "4", "--checkpoint", "20"});
  const std::string state = folder_.File("stopped/midscope_tuning.safetensors");
  RunningProgram running(arguments);
  ExpectInterrupted(running, state);
  EXPECT_TRUE(std::filesystem::exists(state));
  EXPECT_TRUE(std::filesystem::exists(folder_.File("stopped/tuning.h5")));
  const ProgramRun other = RunMidscope(OfData("stopped", "99999", {"--lora", "4", "--resume"}));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("steps is '100000' there, but '99999' is requested"));
}

TEST_F(ProgramTune, AFaultLeavesTheLastCheckpoint) {
  Arguments again =
      Tune("nan", {"--data", data_, "--steps", "20", "--checkpoint", "1", "--warm-up", "2"});
  *std::find(again.begin(), again.end(), "1e-3") = "1e3";
  again.insert(again.end(), {"--weight-decay", "1000"});  // weights grow in every step
  const ProgramRun nan = RunMidscope(again);
  EXPECT_EQ(nan.status, 1) << nan.err;
  EXPECT_THAT(nan.err, HasSubstr("Use a lower rate"));
  EXPECT_TRUE(std::filesystem::exists(folder_.File("nan/midscope_tuning.safetensors")));
}

TEST_F(ProgramTune, AFullDiskLeavesNoPartialFile) {
  const ProgramRun run =
      RunMidscope(OfData("full_disk", "4", {"--checkpoint", "1"}), {.file_size_limit = 20000});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot be written"));
  EXPECT_FALSE(
      std::filesystem::exists(folder_.File("full_disk/midscope_tuning.safetensors.partial")));
}

TEST_F(ProgramTune, DataThatEndEarly) {
  const ProgramRun run =
      RunMidscope(Tune("early", {"--data", data_, "--steps", "30", "--batch", "2"}));
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("they have 40 documents of at least 60 tokens; 30 steps of 2 "
                                 "samples need 60. Give more data, fewer --steps, or --repeat"));
}

TEST_F(ProgramTune, Refusals) {
  const auto refusal = [&](const Arguments& more, const std::string& model = "qwen3") {
    const ProgramRun run = RunMidscope(Tune("refused", more, model));
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.File("refused")));
    return run.err;
  };
  EXPECT_THAT(refusal({"--steps", "4"}), HasSubstr("Give --data FILE or --task SPEC"));
  EXPECT_THAT(refusal({"--steps", "4", "--data", data_, "--task", "kv"}), HasSubstr("not both"));
  EXPECT_THAT(refusal({"--steps", "4", "--data", data_, "--chunks", "2"}),
              HasSubstr("it belongs to the sampler pose"));
  EXPECT_THAT(refusal({"--steps", "4", "--data", data_, "--warm-up", "4"}),
              HasSubstr("it must be below --steps"));
  EXPECT_THAT(refusal({"--steps", "4", "--data", data_, "--alpha", "4"}), HasSubstr("Give --lora"));
  EXPECT_THAT(refusal({"--steps", "4", "--data", data_, "--with", "ms-poe(first_layer=0)"}),
              HasSubstr("heads different positions"));
  EXPECT_THAT(
      refusal({"--steps", "4", "--data", data_, "--with", "pi(4)", "--interpolation", "ntk"}),
      HasSubstr("it takes the place of --interpolation"));
  EXPECT_THAT(refusal({"--steps", "4", "--data", data_}, "gguf-llama/model.gguf"),
              HasSubstr("--lora RANK"));
  EXPECT_THAT(refusal({"--steps", "4", "--task", "kv:pairs=1", "--packing", "join"}),
              HasSubstr("only with --data"));
  std::filesystem::create_directory(folder_.File("other"));
  std::ofstream(folder_.File("other/file")) << "x";
  const ProgramRun other = RunMidscope(OfData("other", "4"));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("it exists and is not empty"));
}

}  // namespace
}  // namespace midscope
