// SPDX-License-Identifier: MIT
// Sweeps defined by plan files and flags, without a model.
#include "probes/cli/commands/sweep_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope::cli {
namespace {

using ::midscope::test::ErrorMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SweepPlanFile : public ::testing::Test {
 protected:
  OptionSet Read(const std::string& name, const std::string& text,
                 const std::vector<std::pair<std::string, std::string>>& flags = {}) {
    folder_.Write(name, text);
    const std::string path = (folder_.path() / name).string();
    OptionSet options(SweepOptions());
    options.SetText("plan", path);
    for (const auto& [option, value] : flags) options.SetText(option, value);
    return WithPlan(options);
  }

  test::TemporaryFolder folder_;
};

constexpr const char* kToml = R"toml(
model = ["a.gguf", "b.gguf"]
task = ["list:lines={size}", "kv:pairs={size}"]
size = [10, 20]
seed = [1, 2]
samples = 12
places = [1, 5]
with = ["none", "pi(1.5)"]
control = true
threads = 2
)toml";

TEST_F(SweepPlanFile, TomlCrossesWhatItLists) {
  const OptionSet options = Read("plan.toml", kToml);
  EXPECT_EQ(CellsOf(options).size(), 16u);
  EXPECT_EQ(options.Integer("samples"), 12);
  EXPECT_EQ(options.Text("places"), "1,5");
  EXPECT_TRUE(options.Flag("control"));
  ASSERT_EQ(ReadSettings(options).size(), 2u);
  EXPECT_EQ(ReadSettings(options)[1].text, "pi(1.5)");
}

TEST_F(SweepPlanFile, JsonSaysTheSame) {
  const OptionSet options = Read("plan.json", R"({"model": "a.gguf", "task": "list:lines=5",
    "seed": 3, "with": "none", "dtype": "bfloat16"})");
  EXPECT_EQ(CellsOf(options), (std::vector<SweepCell>{{"a.gguf", "list:lines=5", 3}}));
  EXPECT_EQ(options.Text("dtype"), "bfloat16");
}

// Files and plans contain the long name even if the short one was given.
TEST_F(SweepPlanFile, TakesShortNamesOfADtype) {
  EXPECT_EQ(Read("a.json", R"({"model": "a.gguf", "dtype": "bf16"})").Text("dtype"), "bfloat16");
  EXPECT_EQ(Read("a.toml", "model = 'a.gguf'\ndtype = 'fp32'\n").Text("dtype"), "float32");
  const OptionSet flags = Read("b.json", R"({"model": "a.gguf"})", {{"dtype", "bf16"}});
  EXPECT_EQ(flags.Text("dtype"), "bfloat16");
  EXPECT_THAT(flags.ToJson(), ::testing::HasSubstr(R"("dtype":"bfloat16")"));
}

TEST_F(SweepPlanFile, FlagsOverrideIt) {
  const OptionSet options =
      Read("plan.toml", kToml, {{"model", "c.gguf"}, {"seed", "7"}, {"with", "ntk(2)"}});
  const std::vector<SweepCell> cells = CellsOf(options);
  ASSERT_EQ(cells.size(), 4u);
  for (const SweepCell& cell : cells) {
    EXPECT_EQ(cell.model, "c.gguf");
    EXPECT_EQ(cell.seed, 7u);
  }
  EXPECT_THAT(options.TextList("with"), ElementsAre("ntk(2)"));
  EXPECT_EQ(options.Integer("samples"), 12);
}

TEST_F(SweepPlanFile, ErrorsNameTheFileAndTheLineOrTheName) {
  EXPECT_THAT(ErrorMessage([&] { Read("plan.toml", "model = 'a'\nsamples = = 3\n"); }),
              ::testing::AllOf(HasSubstr("plan.toml"), HasSubstr("line 2")));
  EXPECT_THAT(ErrorMessage([&] { Read("plan.json", "{\n\"model\": ]}"); }), HasSubstr("line 2"));
  EXPECT_THAT(ErrorMessage([&] { Read("plan.toml", "model = 'a'\nsampels = 3\n"); }),
              ::testing::AllOf(HasSubstr("sampels"), HasSubstr("samples")));
  EXPECT_THAT(ErrorMessage([&] { Read("plan.toml", "model = 'a'\nsamples = -1\n"); }),
              HasSubstr("out of range"));
  EXPECT_THAT(ErrorMessage([&] { Read("plan.toml", "model = 'a'\nsamples = 'many'\n"); }),
              HasSubstr("samples"));
  EXPECT_THAT(ErrorMessage([&] { Read("plan.toml", "model = 'a'\nwith = [[1]]\n"); }),
              HasSubstr("with"));
  EXPECT_THAT(ErrorMessage([&] { Read("plan.toml", "plan = 'other.toml'\n"); }),
              HasSubstr("the option is unknown"));
  EXPECT_THAT(ErrorMessage([&] { Read("plan.yaml", "model: a"); }), HasSubstr(".toml"));
  EXPECT_THAT(ErrorMessage([&] { Read("plan.json", "[1]"); }), HasSubstr("not an object"));
  EXPECT_THAT(ErrorMessage([&] { Read("plan.toml", "samples = 3\n"); }), HasSubstr("MODEL"));
}

}  // namespace
}  // namespace midscope::cli
