// SPDX-License-Identifier: MIT
// `--dtype auto`, the default, as a user encounters it: files have the resolved dtype, and a
// resumed sweep keeps the dtype of its file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/model/model_source.h"
#include "data/store/record_reader.h"
#include "probes/sweep/sweep_plan.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramDtype : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string models = ModelFolder().string();
    setenv("MIDSCOPE_MODELS", models.c_str(), 1);
    setenv("XDG_CACHE_HOME", folder_.File("cache").c_str(), 1);
  }

  Arguments Sweep(const std::string& file, const std::string& samples, const std::string& dtype,
                  const Arguments& more = {}) const {
    return With({"sweep", "embedded", "--task", "list:lines=4", "--places", "1", "--samples",
                 samples, "--dtype", dtype, "--out", folder_.File(file)},
                more);
  }
  std::string StoredDtype(const std::string& file) const {
    const RunReader reader(folder_.File(file));
    EXPECT_EQ(reader.provenance().dtype, PlanDtype(reader.plan_json()));
    return reader.provenance().dtype;
  }

  std::string StoredProducts(const std::string& file) const {
    const RunReader reader(folder_.File(file));
    EXPECT_EQ(reader.provenance().products, PlanProducts(reader.plan_json()));
    return reader.provenance().products;
  }

  TemporaryFolder folder_;
};

TEST_F(ProgramDtype, AutoIsTheDefaultAndStoredResolved) {
  Arguments by_default = Sweep("a.h5", "1", "auto");
  std::erase(by_default, "--dtype");
  std::erase(by_default, "auto");
  RunWell(by_default);
  RunWell(Sweep("b.h5", "1", "float32"));
  RunWell(Sweep("c.h5", "1", "auto", {"--device", "cpu:portable"}));
  for (const char* file : {"a.h5", "b.h5", "c.h5"}) EXPECT_EQ(StoredDtype(file), "float32");
  const json facts = json::parse(RunWell({"info", "embedded", "--json"}).out);
  EXPECT_EQ(facts["dtype_auto"], json({{"auto", "float32"}}));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("cache/midscope/dtype_times.json")));
}

TEST_F(ProgramDtype, AContinuedSweepStaysInTheDtypeOfItsFile) {
  for (const std::string dtype : {"float32", "bfloat16"}) {
    RunWell(Sweep(dtype, "1", dtype));
    const ProgramRun more = RunWell(Sweep(dtype, "2", "auto", {"--resume"}));
    EXPECT_THAT(more.err, Not(HasSubstr("dtype:")));
    EXPECT_EQ(StoredDtype(dtype), dtype);
  }
  const ProgramRun merged = RunMidscope(
      {"merge", folder_.File("merged.h5"), folder_.File("float32"), folder_.File("bfloat16")});
  EXPECT_NE(merged.status, 0);
  EXPECT_THAT(merged.err, HasSubstr("dtype"));
}

// As above, for integer products.
TEST_F(ProgramDtype, AContinuedSweepKeepsTheProductsOfItsFile) {
  for (const std::string each : {"int8", "int16", "float"}) {
    RunWell(Sweep(each, "1", "float32", {"--products", each}));
    RunWell(Sweep(each, "2", "float32", {"--resume"}));
    EXPECT_EQ(StoredProducts(each), each);
  }
  EXPECT_THAT(RunWell({"show", folder_.File("int8")}).out, HasSubstr("products int8"));
  EXPECT_THAT(RunMidscope(Sweep("int8", "2", "float32", {"--resume", "--products", "float"})).err,
              HasSubstr("products"));
  for (const char* other : {"float", "int16"}) {
    const ProgramRun merged = RunMidscope(
        {"merge", folder_.File("merged.h5"), folder_.File("int8"), folder_.File(other)});
    EXPECT_NE(merged.status, 0);
    EXPECT_THAT(merged.err, HasSubstr("products"));
  }
  const ProgramRun expanded =
      RunMidscope(Sweep("c", "1", "float32", {"--products", "int8", "--weights", "expanded"}));
  EXPECT_EQ(expanded.status, 2);
  EXPECT_THAT(expanded.err, HasSubstr("--weights stored"));
}

TEST_F(ProgramDtype, InfoSaysHowFarOthersAreFromFloat32) {
  const json facts = json::parse(RunWell({"info", "embedded", "--dtypes", "--json"}).out);
  for (const char* other : {"bfloat16_to_float32", "int16_to_float32", "int8_to_float32"}) {
    const json& distance = facts["dtype_auto"][other];
    EXPECT_GT(distance["largest_logit_difference"], 0.0) << other;
    EXPECT_LT(distance["largest_logit_difference"], 2.0) << other;
    EXPECT_LT(distance["mean_answer_nll_difference"], 0.5) << other;
    EXPECT_GE(distance["same_first_token"], 3) << other;
  }
  const json& auto_facts = facts["dtype_auto"];
  EXPECT_LT(auto_facts["int16_to_float32"]["largest_logit_difference"].get<double>(),
            auto_facts["bfloat16_to_float32"]["largest_logit_difference"].get<double>() / 20);
}

// LibTorch's environment variable also limits Midscope's own kernels.
TEST_F(ProgramDtype, TheEnvironmentCanAskForFewerInstructions) {
#if defined(__x86_64__)
  setenv("ATEN_CPU_CAPABILITY", "avx2", 1);
  const ProgramRun run = RunWell(Sweep("a.h5", "1", "bfloat16"));
  unsetenv("ATEN_CPU_CAPABILITY");
  EXPECT_THAT(run.err, HasSubstr("dtype: this CPU has no products in bfloat16"));
#else
  GTEST_SKIP() << "not a CPU of x86-64";
#endif
}

}  // namespace
}  // namespace midscope
