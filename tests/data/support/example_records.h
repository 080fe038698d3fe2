// SPDX-License-Identifier: MIT
// Records and folders that several tests of the store use.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {

using test::TemporaryFolder;

inline std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline Provenance ExampleProvenance() {
  Provenance provenance;
  provenance.version = "0.1.0";
  provenance.created = "2026-01-02T03:04:05Z";
  provenance.command = "midscope probe embedded --prompt-file \xc3\xa9.txt";
  provenance.model_path = "model.gguf";
  provenance.model_hash = "00112233445566778899aabbccddeeff";
  provenance.architecture = "llama";
  provenance.dtype = "float32";
  provenance.threads = 2;
  provenance.seed = -7;
  provenance.options_json = R"({"with":"none"})";
  provenance.libraries = "HDF5";
  return provenance;
}

// Records of a probe: every data type, a scalar, an empty axis, and labels that need escaping.
inline std::vector<Record> ExampleRecords() {
  Record probe;
  probe.name = "last_query_attention";
  probe.axes = {{"layer", 3, "", {}, {}},
                {"head", 2, "", {}, {}},
                {"key", 4, "", {"<s>", "caf\xc3\xa9", " \xe2\x82\xac", "a,\"b\"\n"}, {}},
                {"token", 4, "", {}, {}},
                {"vocabulary", 50000, "", {}, {}},
                {"nothing", 0, "", {}, {}},
                {"frequency", 2, "1/token", {}, {0.5, 0.25}},
                {"place", 2, "", {}, {1, 20}}};
  std::vector<float> attention(24);
  std::iota(attention.begin(), attention.end(), 0.0F);
  attention[5] = std::numeric_limits<float>::quiet_NaN();
  attention[6] = 0.1F;
  std::vector<float> logits(50000);
  std::iota(logits.begin(), logits.end(), -7.5F);
  probe.arrays = {
      {"last_query_attention",
       {"layer", "head", "key"},
       attention,
       "",
       "attention of the last row"},
      {"token_ids", {"token"}, std::vector<int64_t>{1, -1, INT64_MAX, INT64_MIN}, "", ""},
      {"last_logits", {"vocabulary"}, logits, "", "logits"},
      {"answer_nll", {"place"}, std::vector<double>{2.1, 1e-300}, "nat", ""},
      {"correct", {"place"}, std::vector<uint8_t>{1, 0}, "", ""},
      {"token_text",
       {"token"},
       std::vector<std::string>{"a", "", "\xf0\x9f\x98\x80", "x y"},
       "",
       ""},
      {"by_frequency", {"frequency"}, std::vector<double>{1, 2}, "", ""},
      {"none_at_all", {"nothing"}, std::vector<float>{}, "", ""},
      {"elapsed", {}, std::vector<double>{12.5}, "ms", ""}};
  probe.attributes = {{"setting", "none"}, {"count", int64_t{3}}, {"mean", 0.1}};
  probe.signal = "last_query_attention";

  Record second;
  second.name = "sweep";
  second.axes = {{"place", 3, "", {}, {1, 5, 10}}};
  second.arrays = {{"accuracy", {"place"}, std::vector<double>{0.1, 0.2, 0.3}, "", "share"}};
  second.signal = "accuracy";
  return {probe, second};
}

// Expects equal data; NaN equals NaN.
inline void ExpectSameData(const ArrayData& a, const ArrayData& b, const std::string& name) {
  ASSERT_EQ(a.index(), b.index()) << name;
  std::visit(
      [&](const auto& left) {
        using Values = std::decay_t<decltype(left)>;
        const auto& right = std::get<Values>(b);
        ASSERT_EQ(left.size(), right.size()) << name;
        for (size_t i = 0; i < left.size(); ++i) {
          if constexpr (std::is_floating_point_v<typename Values::value_type>) {
            if (std::isnan(left[i]) && std::isnan(right[i])) continue;
          }
          ASSERT_EQ(left[i], right[i]) << name << " element " << i;
        }
      },
      a);
}

inline void ExpectSameRecord(const Record& a, const Record& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.signal, b.signal);
  EXPECT_EQ(a.attributes, b.attributes);
  ASSERT_EQ(a.axes.size(), b.axes.size());
  for (size_t i = 0; i < a.axes.size(); ++i) {
    EXPECT_EQ(a.axes[i].name, b.axes[i].name);
    EXPECT_EQ(a.axes[i].size, b.axes[i].size);
    EXPECT_EQ(a.axes[i].unit, b.axes[i].unit);
    EXPECT_EQ(a.axes[i].labels, b.axes[i].labels);
    EXPECT_EQ(a.axes[i].values, b.axes[i].values);
  }
  ASSERT_EQ(a.arrays.size(), b.arrays.size());
  for (size_t i = 0; i < a.arrays.size(); ++i) {
    EXPECT_EQ(a.arrays[i].name, b.arrays[i].name);
    EXPECT_EQ(a.arrays[i].axes, b.arrays[i].axes);
    EXPECT_EQ(a.arrays[i].unit, b.arrays[i].unit);
    EXPECT_EQ(a.arrays[i].description, b.arrays[i].description);
    if (a.arrays[i].unit == kSeconds) continue;  // depends on the machine
    ExpectSameData(a.arrays[i].data, b.arrays[i].data, a.arrays[i].name);
  }
}

// One sample of a sweep; the length of its prompt depends on the sample.
inline Record ExampleSample(int64_t sample) {
  std::mt19937 random(static_cast<unsigned>(sample));
  const auto keys = static_cast<int64_t>(5 + random() % 20);
  Record record;
  record.name = "sweep";
  std::vector<std::string> tokens;
  for (int64_t key = 0; key < keys; ++key) tokens.push_back("t" + std::to_string(random() % 100));
  record.axes = {{"layer", 3, "", {}, {}},
                 {"head", 2, "", {}, {}},
                 {"key", keys, "", tokens, {}},
                 {"setting", 2, "", {"none", "pi(1.5)"}, {}},
                 {"place", 3, "", {}, {1, 5, 10}}};
  std::vector<float> attention(static_cast<size_t>(6 * keys));
  for (float& value : attention) value = static_cast<float>(random()) / 4e9F;
  std::vector<double> losses(6);
  for (double& value : losses) value = static_cast<double>(random()) / 1e9;
  losses[2] = std::numeric_limits<double>::quiet_NaN();
  std::vector<uint8_t> correct(6);
  for (uint8_t& value : correct) value = random() % 2;
  std::vector<int64_t> ids(static_cast<size_t>(keys));
  for (int64_t& value : ids) value = static_cast<int64_t>(random() % 49152);
  record.arrays = {
      {"answer_nll", {"setting", "place"}, losses, "nat", "summed over the answer's tokens"},
      {"correct", {"setting", "place"}, correct, "", ""},
      {"last_query_attention", {"layer", "head", "key"}, attention, "", ""},
      {"token_ids", {"key"}, ids, "", ""},
      {"answer", {}, std::vector<std::string>{"word " + std::to_string(sample)}, "", ""}};
  record.attributes = {{"task", "list:lines=20"}};
  record.signal = "answer_nll";
  return record;
}

}  // namespace midscope
