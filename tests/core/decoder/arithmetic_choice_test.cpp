// SPDX-License-Identifier: MIT
// --dtype auto: float32 unless bfloat16 or int16 products are more than 5 % faster. Measured once,
// stored in the cache folder, and measured again if the stored result cannot be used.
#include "core/decoder/arithmetic_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/compute/aten_executor.h"
#include "core/model/model_source.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;

const DecoderOptions& Fastest() {
  static const DecoderOptions options = {.fastest_dtype = true, .fastest_products = true};
  return options;
}

constexpr Arithmetic kFloat32 = {kernels::Dtype::kFloat32, Products::kFloat};
constexpr Arithmetic kInt16 = {kernels::Dtype::kFloat32, Products::kInt16};
constexpr Arithmetic kBFloat16 = {kernels::Dtype::kBFloat16, Products::kFloat};

ArithmeticTimes TimesWith(double speedup) {
  return {{{kFloat32, {1e-3 * speedup, 8e-3 * speedup}}, {kBFloat16, {1e-3, 8e-3}}}};
}

TEST(ArithmeticTimes, BFloat16MustBeMoreThanFivePercentFaster) {
  EXPECT_EQ(TimesWith(1.04).Fastest(true), kFloat32);
  EXPECT_EQ(TimesWith(1.06).Fastest(true), kBFloat16);
  EXPECT_EQ(TimesWith(0.3).Fastest(true), kFloat32);
  const ArithmeticTimes times = TimesWith(2.5);
  EXPECT_NEAR(times.Speedup(times.timed.back()), 2.5, 1e-12);
  // Short and long prompts count alike, by ratio: 4 times faster here and 3 times slower there.
  const ArithmeticTimes mixed = {{{kFloat32, {4e-3, 1e-3}}, {kBFloat16, {1e-3, 3e-3}}}};
  EXPECT_EQ(mixed.Fastest(true), kBFloat16);
}

TEST(ArithmeticTimes, BFloat16MustBeatInt16ToBeTakenInItsPlace) {
  const auto fastest = [](double int16, double bfloat16, bool choose_products = true) {
    return ArithmeticTimes{{{kFloat32, {1, 1}},
                            {kInt16, {1 / int16, 1 / int16}},
                            {kBFloat16, {1 / bfloat16, 1 / bfloat16}}}}
        .Fastest(choose_products);
  };
  EXPECT_EQ(fastest(1.04, 1.04), kFloat32);
  EXPECT_EQ(fastest(1.04, 1.06), kBFloat16);
  EXPECT_EQ(fastest(1.3, 1.06), kInt16);
  EXPECT_EQ(fastest(1.3, 1.33), kInt16);
  EXPECT_EQ(fastest(1.3, 2.0), kBFloat16);
  // Whoever does not leave products to the choice has them in float.
  EXPECT_EQ(fastest(1.3, 1.04, false), kFloat32);
  EXPECT_EQ(fastest(1.3, 1.2, false), kBFloat16);
}

TEST(ArithmeticTimes, HaveThreeDigitsInEveryLocale) {
  const ArithmeticTimes times{{{kFloat32, {0.00123456, 0.0125}}}};
  EXPECT_THAT(ArithmeticTimesText(times),
              ::testing::StartsWith("a layer takes 1.23 ms in float32 for 64 tokens; 12.5 ms in"));
}

// The cache folder is a new one; models stay where they are.
class ArithmeticChoice : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string models = ModelFolder().string();
    setenv("MIDSCOPE_MODELS", models.c_str(), 1);
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    source_ = OpenModel("embedded");
    context_.log = [this](const std::string& message) { log_.push_back(message); };
  }

  static std::vector<Arithmetic> Arithmetics(const ArithmeticTimes& times) {
    std::vector<Arithmetic> arithmetics;
    for (const ArithmeticTimes::Timed& timed : times.timed) arithmetics.push_back(timed.arithmetic);
    return arithmetics;
  }
  static Arithmetic ArithmeticOf(const Decoder& decoder) {
    return {decoder.options().dtype, decoder.options().products};
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

TEST_F(ArithmeticChoice, IsMeasuredOnceAndKept) {
  EXPECT_FALSE(KnownArithmeticTimes(*source_, {}).has_value());
  const ArithmeticTimes measured = FindArithmeticTimes(*source_, {}, executor_, context_);
  EXPECT_TRUE(Measured());
  EXPECT_THAT(Arithmetics(measured), ElementsAre(kFloat32, kInt16, kBFloat16));
  for (const auto& [arithmetic, seconds] : measured.timed) {
    EXPECT_GT(seconds[0], 0) << ArithmeticName(arithmetic);
    EXPECT_GT(seconds[1], seconds[0]) << ArithmeticName(arithmetic);  // 512 rows, and 64
  }
  log_.clear();
  const ArithmeticTimes again = FindArithmeticTimes(*source_, {}, executor_, context_);
  EXPECT_FALSE(Measured());
  for (size_t i = 0; i < measured.timed.size(); ++i)
    EXPECT_EQ(again.timed[i].seconds, measured.timed[i].seconds);
  // Stored weights are another case.
  EXPECT_FALSE(KnownArithmeticTimes(*source_, {.weights = WeightStorage::kStored}).has_value());
}

TEST_F(ArithmeticChoice, WhatIsKeptAndDamagedIsMeasuredAnew) {
  FindArithmeticTimes(*source_, {}, executor_, context_);
  std::string text;
  std::getline(std::ifstream(File()), text, '\0');
  for (const std::string& damaged :
       {text.substr(0, text.size() / 2), std::string("[]"), std::string()}) {
    std::ofstream(File()) << damaged;
    EXPECT_FALSE(KnownArithmeticTimes(*source_, {}).has_value());
  }
  log_.clear();
  FindArithmeticTimes(*source_, {}, executor_, context_);
  EXPECT_TRUE(Measured());
  EXPECT_TRUE(KnownArithmeticTimes(*source_, {}).has_value());
}

TEST_F(ArithmeticChoice, AFolderThatCannotBeWrittenCostsAMessage) {
  std::filesystem::remove_all(folder_.path() / "midscope");
  std::ofstream(folder_.path() / "midscope") << "a file where the folder would be";
  FindArithmeticTimes(*source_, {}, executor_, context_);
  ASSERT_FALSE(log_.empty());
  EXPECT_NE(log_.back().find("cannot be written"), std::string::npos) << log_.back();
}

TEST_F(ArithmeticChoice, ADecoderHasTheResolvedArithmetic) {
  const auto decoder = Decoder::Open("embedded", Fastest(), context_);
  const auto times = KnownArithmeticTimes(*source_, Fastest());
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(ArithmeticOf(*decoder), times->Fastest(Fastest().fastest_products));
  EXPECT_NE(log_.back().find("dtype: auto is"), std::string::npos) << log_.back();
}

TEST_F(ArithmeticChoice, Int16IsTimedWhereItsProductsCanBeHad) {
  const auto timed = [&](const ModelSource& source, const DecoderOptions& options) {
    return Arithmetics(FindArithmeticTimes(source, options, executor_, context_));
  };
  EXPECT_THAT(timed(*source_, Fastest()), ElementsAre(kFloat32, kInt16, kBFloat16));
  DecoderOptions expanded = Fastest();
  expanded.weights = WeightStorage::kExpanded;
  EXPECT_THAT(timed(*source_, expanded), ElementsAre(kFloat32, kBFloat16));
  DecoderOptions portable = Fastest();
  portable.placement = ParsePlacement("cpu:portable");
  EXPECT_THAT(timed(*source_, portable), ElementsAre(kFloat32, kBFloat16));
  // Requested products are used.
  DecoderOptions int8 = Fastest();
  int8.products = Products::kInt8;
  EXPECT_THAT(timed(*source_, int8),
              ElementsAre(Arithmetic{kernels::Dtype::kFloat32, Products::kInt8},
                          Arithmetic{kernels::Dtype::kBFloat16, Products::kInt8}));
  // Not quantised; quantised in a format that has no such products.
  for (const char* model : {"internlm2", "gpt-oss-mxfp4"}) {
    const auto other = OpenModel(test::TinyModelFolder(model));
    EXPECT_THAT(timed(*other, Fastest()), ElementsAre(kFloat32, kBFloat16)) << model;
    EXPECT_TRUE(KnownArithmeticTimes(*other, Fastest()).has_value()) << model;
  }
}

// The stored times decide, so that a machine on which int16 is slower gives the same result.
TEST_F(ArithmeticChoice, ADecoderTakesInt16WhereThatIsFastest) {
  FindArithmeticTimes(*source_, Fastest(), executor_, context_);
  nlohmann::json kept = nlohmann::json::parse(std::ifstream(File()));
  ASSERT_EQ(kept.size(), 1u);
  kept.front()["int16"] = {1e-9, 1e-9};
  std::ofstream(File()) << kept;
  const auto decoder = Decoder::Open("embedded", Fastest(), context_);
  EXPECT_EQ(ArithmeticOf(*decoder), kInt16);
  EXPECT_EQ(decoder->options().weights, WeightStorage::kStored);
  EXPECT_NE(log_.back().find("float32 with --products int16"), std::string::npos) << log_.back();
  const auto asked = Decoder::Open("embedded", {.products = Products::kInt16}, context_);
  const std::vector<int32_t> ids = decoder->tokenizer().EncodeIds("The capital of France is");
  RunRequest request;
  request.ids = ids;
  EXPECT_EQ(decoder->RunOne(request).logits, asked->RunOne(request).logits);
  // Products that are given are kept.
  DecoderOptions in_float = Fastest();
  in_float.fastest_products = false;
  EXPECT_EQ(Decoder::Open("embedded", in_float, context_)->options().products, Products::kFloat);
}

TEST_F(ArithmeticChoice, MeasuringCanBeCancelled) {
  const std::atomic<bool> cancel{true};
  context_.cancel = &cancel;
  const DecoderOptions options;
  EXPECT_THROW(FindArithmeticTimes(*source_, options, executor_, context_), Cancelled);
  EXPECT_FALSE(KnownArithmeticTimes(*source_, {}).has_value());
}

}  // namespace
}  // namespace midscope
