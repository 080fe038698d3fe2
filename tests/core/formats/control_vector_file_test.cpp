// SPDX-License-Identifier: MIT
// Control vectors written by the package gguf (make_residual_edits_golden.py) and by Midscope, and
// hostile files: each of these gives an ordinary Error that names the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/formats/control_vector_file.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::GgufWriter;
using test::TemporaryFile;
using ::testing::HasSubstr;

GgufWriter Header() {
  GgufWriter writer;
  writer.String("general.architecture", "controlvector");
  writer.String("controlvector.model_hint", "llama");
  return writer;
}

ControlVector ReadBytes(const std::string& bytes) {
  const TemporaryFile file(bytes);
  return ReadControlVector(file.path());
}

std::string ReadError(const GgufWriter& writer) {
  return ErrorMessage([&] { ReadBytes(writer.Bytes()); });
}

TEST(ControlVectorFile, ReadsWhatThePackageGgufWrites) {
  const ControlVector vector =
      ReadControlVector(MIDSCOPE_TESTS "/core/golden/control_vectors/embedded.gguf");
  EXPECT_EQ(vector.model_hint, "embedded");
  ASSERT_EQ(vector.directions.size(), 3u);
  EXPECT_EQ(vector.directions.begin()->first, 0);
  EXPECT_EQ(vector.directions.rbegin()->first, 29);
  EXPECT_EQ(vector.directions.at(1).size(), 576u);
}

TEST(ControlVectorFile, WhatIsWrittenIsReadBack) {
  const ControlVector vector{"llama",
                             {{1, {0.5F, -2, 3}}, {7, {1, 2, -0.0F}}, {31, {0, 0, 1e-30F}}}};
  EXPECT_EQ(ReadBytes(ControlVectorBytes(vector)), vector);
  EXPECT_EQ(ReadBytes(Header().Float32Tensor("direction.0", {2}, {1, 2}).Bytes()).directions.size(),
            1u);
}

TEST(ControlVectorFile, TheDigestIsOfTheNumbers) {
  const ControlVector vector{"llama", {{1, {0.5F, -2}}}};
  EXPECT_EQ(ControlVectorDigest(vector), ControlVectorDigest({"other", {{1, {0.5F, -2}}}}));
  EXPECT_NE(ControlVectorDigest(vector), ControlVectorDigest({"llama", {{2, {0.5F, -2}}}}));
  EXPECT_NE(ControlVectorDigest(vector), ControlVectorDigest({"llama", {{1, {0.5F, 2}}}}));
  EXPECT_EQ(ControlVectorDigest(vector).size(), 16u);
}

TEST(ControlVectorFile, RefusesOtherFiles) {
  EXPECT_THAT(ReadError(test::TinyModel()), HasSubstr("its architecture is 'llama'"));
  EXPECT_THAT(ReadError(GgufWriter().Float32Tensor("direction.1", {2}, {1, 2})),
              HasSubstr("general.architecture is missing"));
  EXPECT_THAT(ReadError(GgufWriter().Uint32("general.architecture", 7)),
              HasSubstr("general.architecture is a single uint32"));
  EXPECT_THAT(ReadError(Header()), HasSubstr("it has no directions"));
  EXPECT_THAT(ErrorMessage([] { ReadControlVector("/no/such/file.gguf"); }),
              HasSubstr("/no/such/file.gguf"));
}

TEST(ControlVectorFile, RefusesTensorsThatNameNoLayer) {
  for (const char* name :
       {"direction", "direction.", "direction.-1", "direction.01", "direction.1x", "direction. 1",
        "direction.+1", "direction.1.weight", "direction.65536", "direction.99999999999999999999",
        "other.1", "direction.\xc3\xa9"}) {
    EXPECT_THAT(ReadError(Header().Float32Tensor(name, {2}, {1, 2})), HasSubstr("names no layer"))
        << name;
  }
  // Two of one name are refused with every GGUF file.
  EXPECT_THAT(ReadError(Header()
                            .Float32Tensor("direction.3", {2}, {1, 2})
                            .Float32Tensor("direction.3", {2}, {1, 2})),
              HasSubstr("occurs twice"));
}

TEST(ControlVectorFile, RefusesOtherTypesAndShapes) {
  constexpr uint32_t kFloat16 = 1;
  EXPECT_THAT(ReadError(Header().RawTensor("direction.1", {4}, kFloat16, 0).RawData("12345678")),
              HasSubstr("is not float32"));
  EXPECT_THAT(ReadError(Header().Float32Tensor("direction.1", {2, 2}, {1, 2, 3, 4})),
              HasSubstr("more than one dimension"));
  EXPECT_THAT(ReadError(Header()
                            .Float32Tensor("direction.1", {2}, {1, 2})
                            .Float32Tensor("direction.2", {3}, {1, 2, 3})),
              HasSubstr("has 3 numbers, the one of layer 1 has 2"));
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_THAT(ReadError(Header().Float32Tensor("direction.1", {2}, {1, bad})),
                HasSubstr("not finite"));
  }
}

// False sizes in the header: nothing is allocated by them.
TEST(ControlVectorFile, RefusesSizesThatTheFileLacks) {
  EXPECT_THAT(ReadError(Header().RawTensor("direction.1", {uint64_t{1} << 62}, 0, 0)),
              HasSubstr("more bytes"));
  EXPECT_THAT(ReadError(Header().RawTensor("direction.1", {uint64_t{1} << 40}, 0, 0)),
              HasSubstr("bytes are missing"));
  EXPECT_THAT(ReadError(Header().RawTensor("direction.1", {2}, 0, uint64_t{1} << 63)),
              HasSubstr("bytes are missing"));
  GgufWriter claimed = Header();
  claimed.claimed_tensors = uint64_t{1} << 60;
  EXPECT_THAT(ReadError(claimed), HasSubstr("it claims"));
}

// Every file cut short is an Error, and none with a byte changed does more harm than one.
TEST(ControlVectorFile, DamagedFilesAreErrorsOrHarmless) {
  const std::string whole = ControlVectorBytes({"llama", {{1, {0.5F, -2, 3}}, {2, {1, 2, 3}}}});
  for (size_t size = 0; size + 21 < whole.size(); ++size)  // what follows is padding
    EXPECT_FALSE(ErrorMessage([&] { ReadBytes(whole.substr(0, size)); }).empty()) << size;
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const ControlVector vector = ReadBytes(damaged);
      EXPECT_FALSE(vector.directions.empty());
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace midscope
