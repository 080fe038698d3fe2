// SPDX-License-Identifier: MIT
// --dtype auto: float32 unless bfloat16 is more than 5 % faster; measured once, kept in the cache
// folder, measured again where what is kept cannot be used.
#include "core/decoder/dtype_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/compute/aten_executor.h"
#include "core/model/embedded_model.h"
#include "core/model/model_source.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

DtypeTimes TimesWith(double speedup) {
  DtypeTimes times;
  times.float32 = {1e-3 * speedup, 8e-3 * speedup};
  times.bfloat16 = {1e-3, 8e-3};
  return times;
}

TEST(DtypeTimes, BFloat16MustBeMoreThanFivePercentFaster) {
  EXPECT_EQ(TimesWith(1.04).Fastest(), kernels::Dtype::kFloat32);
  EXPECT_EQ(TimesWith(1.06).Fastest(), kernels::Dtype::kBFloat16);
  EXPECT_EQ(TimesWith(0.3).Fastest(), kernels::Dtype::kFloat32);
  EXPECT_NEAR(TimesWith(2.5).Speedup(), 2.5, 1e-12);
  // Short and long prompts count alike, by ratio: 4 times faster here and 3 times slower there.
  DtypeTimes mixed;
  mixed.float32 = {4e-3, 1e-3};
  mixed.bfloat16 = {1e-3, 3e-3};
  EXPECT_EQ(mixed.Fastest(), kernels::Dtype::kBFloat16);
}

// The cache folder is a new one; models stay where they are.
class DtypeChoice : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string models = ModelFolder().string();
    setenv("MIDSCOPE_MODELS", models.c_str(), 1);
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    source_ = OpenModel("embedded");
    context_.log = [this](const std::string& message) { log_.push_back(message); };
  }

  bool Measured() const {
    return std::any_of(log_.begin(), log_.end(), [](const std::string& message) {
      return message.find("measuring") != std::string::npos;
    });
  }
  std::string File() const { return (folder_.path() / "midscope" / "dtype_times.json").string(); }

  test::TemporaryFolder folder_;
  std::unique_ptr<ModelSource> source_;
  std::vector<std::string> log_;
  JobContext context_;
  AtenExecutor executor_;
};

TEST_F(DtypeChoice, IsMeasuredOnceAndKept) {
  EXPECT_FALSE(KnownDtypeTimes(*source_, {}).has_value());
  const DtypeTimes measured = FindDtypeTimes(*source_, {}, executor_, context_);
  EXPECT_TRUE(Measured());
  for (size_t i = 0; i < kTimedRows.size(); ++i) {
    EXPECT_GT(measured.float32[i], 0);
    EXPECT_GT(measured.bfloat16[i], 0);
  }
  EXPECT_GT(measured.float32[1], measured.float32[0]);  // 512 rows take longer than 64
  log_.clear();
  const DtypeTimes again = FindDtypeTimes(*source_, {}, executor_, context_);
  EXPECT_FALSE(Measured());
  EXPECT_EQ(again.float32, measured.float32);
  EXPECT_EQ(again.bfloat16, measured.bfloat16);
  // Stored weights are another case.
  EXPECT_FALSE(KnownDtypeTimes(*source_, {.weights = WeightStorage::kStored}).has_value());
}

TEST_F(DtypeChoice, WhatIsKeptAndDamagedIsMeasuredAnew) {
  FindDtypeTimes(*source_, {}, executor_, context_);
  std::string text;
  std::getline(std::ifstream(File()), text, '\0');
  for (const std::string& damaged :
       {text.substr(0, text.size() / 2), std::string("[]"), std::string()}) {
    std::ofstream(File()) << damaged;
    EXPECT_FALSE(KnownDtypeTimes(*source_, {}).has_value());
  }
  log_.clear();
  FindDtypeTimes(*source_, {}, executor_, context_);
  EXPECT_TRUE(Measured());
  EXPECT_TRUE(KnownDtypeTimes(*source_, {}).has_value());
}

TEST_F(DtypeChoice, AFolderThatCannotBeWrittenCostsAMessage) {
  std::filesystem::remove_all(folder_.path() / "midscope");
  std::ofstream(folder_.path() / "midscope") << "a file where the folder would be";
  FindDtypeTimes(*source_, {}, executor_, context_);
  ASSERT_FALSE(log_.empty());
  EXPECT_NE(log_.back().find("can't be written"), std::string::npos) << log_.back();
}

TEST_F(DtypeChoice, ADecoderHasTheResolvedDtype) {
  const auto decoder = Decoder::Open("embedded", {.fastest_dtype = true}, context_);
  const auto times = KnownDtypeTimes(*source_, {});
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(decoder->options().dtype, times->Fastest());
  EXPECT_NE(log_.back().find("dtype: auto is"), std::string::npos) << log_.back();
}

TEST_F(DtypeChoice, MeasuringCanBeCancelled) {
  const std::atomic<bool> cancel{true};
  context_.cancel = &cancel;
  const DecoderOptions options;
  EXPECT_THROW(FindDtypeTimes(*source_, options, executor_, context_), Cancelled);
  EXPECT_FALSE(KnownDtypeTimes(*source_, {}).has_value());
}

}  // namespace
}  // namespace midscope
