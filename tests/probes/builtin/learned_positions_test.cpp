// SPDX-License-Identifier: MIT
// Learned positions: for a table that is the sinusoidal encoding, its periods and its similarity by
// distance are found, also for the tables of a tiny GPT-2 and OPT; for other tables they are not.
#include "probes/measure/builtin/learned_positions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "probes/measure/builtin/model_positions.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

constexpr double kBase = 1e4;

std::vector<double> Row(const Record& record, const std::string& name, size_t table) {
  const auto& values = std::get<std::vector<double>>(record.FindArray(name)->data);
  const size_t size = values.size() / 2;
  const auto begin = values.begin() + static_cast<int64_t>(table * size);
  return {begin, begin + static_cast<int64_t>(size)};
}

double Period(int64_t dimension, int64_t dimensions) {
  const int64_t even = dimension - dimension % 2;
  const auto exponent = static_cast<double>(even) / static_cast<double>(dimensions);
  return 2 * std::numbers::pi * std::pow(kBase, exponent);
}

// `share`: lower limit of wave_share; `tolerance`: of the periods, relative.
void ExpectSinusoidal(const Record& record, double tolerance, double share) {
  record.Check();
  const std::vector<double> periods = Row(record, "period", 0);
  const std::vector<double> shares = Row(record, "wave_share", 0);
  const auto positions = static_cast<double>(record.FindAxis("position")->size);
  const auto dimensions = static_cast<int64_t>(periods.size());
  for (int64_t dimension = 0; dimension < dimensions; ++dimension) {
    const auto i = static_cast<size_t>(dimension);
    const double period = Period(dimension, dimensions);
    // Half a period or more is distinguishable from other curves; bfloat16 turns slower waves into
    // steps.
    if (period < 2 * positions) {
      EXPECT_NEAR(periods[i], period, tolerance * period) << dimension;
      EXPECT_GT(shares[i], share) << dimension;
    } else if (period > 5 * positions) {
      EXPECT_TRUE(std::isnan(periods[i]) || periods[i] > 2 * positions) << dimension;
    }
  }
  const Axis& axis = *record.FindAxis("distance");
  const std::vector<double> similarity = Row(record, "similarity", 0);
  for (size_t i = 0; i < similarity.size(); ++i) {
    double expected = 0;
    const int64_t pairs = dimensions / 2;
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const double angle = axis.values[i] * 2 * std::numbers::pi / Period(2 * pair, dimensions);
      expected += std::cos(angle) / static_cast<double>(pairs);
    }
    EXPECT_NEAR(similarity[i], expected, tolerance) << axis.values[i];
  }
}

TEST(LearnedPositions, GiveTheSinusoidalEncodingItsPeriodsBack) {
  for (const int64_t positions : {97, 512}) {
    const Record record =
        LearnedPositions({SinusoidalEncoding(positions, 48, kBase), positions, 48});
    ExpectSinusoidal(record, 1e-3, 0.999);
    EXPECT_EQ(Row(record, "period", 0).front(), Row(record, "period", 1).front());
    EXPECT_EQ(record.FindAxis("turns")->size, positions / 2);
  }
}

TEST(LearnedPositions, FindAWaveUnderNoiseAndNoneInNoise) {
  const int64_t positions = 200;
  std::mt19937 random(5);
  std::normal_distribution<double> noise;
  std::vector<float> values;
  for (int64_t i = 0; i < positions; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / 37.3 + 0.4;
    values.push_back(static_cast<float>(7 + std::cos(turn) + 0.3 * noise(random)));
    values.push_back(static_cast<float>(noise(random)));
    values.push_back(2.5f);
  }
  const Record record = LearnedPositions({values, positions, 3});
  const std::vector<double> periods = Row(record, "period", 0);
  const std::vector<double> shares = Row(record, "wave_share", 0);
  EXPECT_NEAR(periods[0], 37.3, 0.3);
  EXPECT_GT(shares[0], 0.75);
  EXPECT_LT(shares[1], 0.15);
  EXPECT_TRUE(std::isnan(periods[2]));  // a constant channel has no period
  EXPECT_EQ(shares[2], 0);
  EXPECT_TRUE(std::isnan(Row(record, "period_in_order", 0)[2]));
}

// Overwrites the first `rows` position embeddings (bfloat16), from row `first` on, with the
// sinusoidal encoding.
void WriteSinusoidal(const std::filesystem::path& folder, const std::string& tensor,
                     int64_t first) {
  const std::filesystem::path path = folder / "model.safetensors";
  std::ifstream in(path, std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  test::SafetensorsParts parts = test::ReadSafetensors(file);
  test::SafetensorsPart& part = parts.at(tensor);
  ASSERT_EQ(part.dtype, "BF16");
  const int64_t dimensions = part.shape[1];
  const std::vector<float> values = SinusoidalEncoding(part.shape[0] - first, dimensions, kBase);
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, &values[i], sizeof bits);
    const auto upper = static_cast<uint16_t>((bits + 0x8000u) >> 16);
    std::memcpy(&part.bytes[2 * (static_cast<size_t>(first * dimensions) + i)], &upper, 2);
  }
  std::ofstream(path, std::ios::binary) << test::WriteSafetensors(parts);
}

TEST(LearnedPositions, AreReadFromTheModel) {
  struct Case {
    const char* model;
    const char* tensor;
    int64_t first;
  };
  for (const Case& c : {Case{"gpt2", "transformer.wpe.weight", 0},
                        Case{"opt", "model.decoder.embed_positions.weight", 2}}) {
    const test::TemporaryFolder folder(test::TinyModelFolder(c.model));
    WriteSinusoidal(folder.path(), c.tensor, c.first);
    const auto decoder = Decoder::Open(folder.path().string(), {});
    const Record record = LearnedPositions(*LearnedTableOf(*decoder));
    ExpectSinusoidal(record, 0.01, 0.99);
    EXPECT_EQ(record.FindAxis("position")->size, 131) << c.model;
  }
}

TEST(LearnedPositions, NeedLearnedPositions) {
  const auto decoder = Decoder::Open(test::TinyModelPath("llama"), {});
  EXPECT_EQ(LearnedTableOf(*decoder), nullptr);
}

}  // namespace
}  // namespace midscope
