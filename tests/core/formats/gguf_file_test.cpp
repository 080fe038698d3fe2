// SPDX-License-Identifier: MIT
#include "core/formats/gguf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "core/base/hashes.h"
#include "core/formats/gguf_header.h"
#include "core/model/model_source.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::GgufWriter;
using test::Raw;
using test::TemporaryFile;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string OpenError(const std::filesystem::path& path) {
  return ErrorMessage([&] { GgufFile file(path); });
}

TEST(GgufFile, ReadsTheEmbeddedModel) {
  const GgufFile file(ModelPath("embedded"));
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.tensors().size(), 272u);
  EXPECT_EQ(file.Keys().size(), 33u);
  EXPECT_EQ(file.GetString("general.architecture"), "llama");
  EXPECT_EQ(file.GetInt("llama.block_count"), 30);
  EXPECT_EQ(file.GetFloat("llama.rope.freq_base"), 100000.0);
  EXPECT_EQ(file.GetBool("tokenizer.ggml.add_bos_token"), false);
  EXPECT_EQ(file.GetStringArray("tokenizer.ggml.tokens")->at(1), "<|im_start|>");
  EXPECT_EQ(file.GetIntArray("tokenizer.ggml.token_type")->size(), 49152u);
  // Places as the `gguf` Python package gives them.
  const GgufTensor& gate = file.Require("blk.0.ffn_gate.weight");
  EXPECT_THAT(gate.shape, ElementsAre(1536, 576));
  EXPECT_EQ(gate.format.name, "Q4_1");
  EXPECT_EQ(gate.bytes, 552960);
  EXPECT_EQ(gate.elements(), 1536 * 576);
  EXPECT_EQ(gate.data - file.maps()[0].data(), 32421952);
}

TEST(GgufFile, GivesATensorsPagesBackAndReadsThemAgain) {
  const GgufFile file(ModelPath("embedded"));
  const GgufTensor& tensor = file.Require("blk.0.ffn_gate.weight");
  const std::string before = HashBytes({tensor.data, static_cast<size_t>(tensor.bytes)});
  file.DontNeed(tensor.data, tensor.bytes);
  EXPECT_EQ(HashBytes({tensor.data, static_cast<size_t>(tensor.bytes)}), before);
}

TEST(GgufFile, ReadsEveryTypeOfValue) {
  GgufWriter writer;
  writer.RawValue("u8", GgufType::kUint8, Raw<uint8_t>(200))
      .RawValue("i8", GgufType::kInt8, Raw<int8_t>(-5));
  writer.RawValue("u16", GgufType::kUint16, Raw<uint16_t>(60000))
      .RawValue("i16", GgufType::kInt16, Raw<int16_t>(-300));
  writer.RawValue("u64", GgufType::kUint64, Raw<uint64_t>(UINT64_MAX))
      .RawValue("i64", GgufType::kInt64, Raw(INT64_MIN));
  writer.RawValue("f64", GgufType::kFloat64, Raw(0.1))
      .Float32("f32", 0.5f)
      .Bool("yes", true)
      .String("text", "a\nb");
  writer.RawArray("shorts", GgufType::kInt16, 2, Raw<int16_t>(-1) + Raw<int16_t>(7));
  writer.RawArray("floats", GgufType::kFloat32, 1, Raw(1.5f)).Strings("none", {});
  const TemporaryFile temporary(writer.Bytes());
  const GgufFile file(temporary.path());
  EXPECT_EQ(file.GetInt("u8"), 200);
  EXPECT_EQ(file.GetInt("i8"), -5);
  EXPECT_EQ(file.GetInt("u16"), 60000);
  EXPECT_EQ(file.GetInt("i16"), -300);
  EXPECT_EQ(file.GetInt("i64"), INT64_MIN);
  EXPECT_EQ(file.GetFloat("f64"), 0.1);
  EXPECT_EQ(file.GetFloat("f32"), 0.5);
  EXPECT_EQ(file.GetBool("yes"), true);
  EXPECT_EQ(file.GetString("text"), "a\nb");
  EXPECT_THAT(*file.GetIntArray("shorts"), ElementsAre(-1, 7));
  EXPECT_THAT(*file.GetFloatArray("floats"), ElementsAre(1.5));
  EXPECT_THAT(*file.GetStringArray("none"), IsEmpty());
  EXPECT_EQ(file.GetInt("absent"), std::nullopt);
  EXPECT_THAT(ErrorMessage([&] { file.GetInt("u64"); }), HasSubstr("u64 is too large"));
  EXPECT_THAT(ErrorMessage([&] { file.GetString("u8"); }),
              HasSubstr("u8 is a single uint8; it must be a single string"));
  EXPECT_THAT(ErrorMessage([&] { file.GetInt("shorts"); }),
              HasSubstr("an array of int16; it must be a single integer"));
  EXPECT_THAT(ErrorMessage([&] { file.GetFloat("u8"); }), HasSubstr("must be a single float"));
  EXPECT_THAT(ErrorMessage([&] { file.Require("w"); }), HasSubstr("has no tensor 'w'"));
}

TEST(GgufFile, ReadsVersion2AndAnotherAlignment) {
  GgufWriter writer;
  writer.version = 2;
  writer.alignment = 64;
  writer.Uint32("general.alignment", 64)
      .Float32Tensor("a", {1, 3}, {1, 2, 3})
      .Float32Tensor("b", {2}, {4, 5});
  const TemporaryFile temporary(writer.Bytes());
  const GgufFile file(temporary.path());
  EXPECT_THAT(file.Require("a").shape, ElementsAre(1, 3));
  float value = 0;
  std::memcpy(&value, file.Require("b").data, sizeof value);
  EXPECT_EQ(value, 4.0f);
  EXPECT_EQ((file.Require("b").data - file.maps()[0].data()) % 64, 0);
}

TEST(GgufFile, SurvivesBeingMoved) {
  GgufFile first(ModelPath("embedded"));
  const std::byte* data = first.Require("output_norm.weight").data;
  const GgufFile second(std::move(first));
  EXPECT_EQ(second.Require("output_norm.weight").data, data);
  EXPECT_EQ(second.GetString("general.architecture"), "llama");
}

TEST(GgufFile, NamesWhatIsWrongWithThePath) {
  EXPECT_THAT(OpenError("/nowhere/model.gguf"),
              AllOf(HasSubstr("/nowhere/model.gguf"), HasSubstr("No such file")));
  EXPECT_THAT(OpenError(std::filesystem::temp_directory_path()), HasSubstr("is a folder"));
  EXPECT_THAT(OpenError(""), HasSubstr("cannot be opened"));
  EXPECT_THAT(OpenError("/dev/null"), HasSubstr("not a regular file"));
  const TemporaryFile empty("");
  EXPECT_THAT(OpenError(empty.path()), HasSubstr("is empty"));
  const TemporaryFile text("Once upon a time there was no model.");
  EXPECT_THAT(OpenError(text.path()), HasSubstr("not a GGUF file"));
}

// The embedded model cut at 20 random places of its header and 20 of its data: always an Error that
// counts the missing bytes.
TEST(GgufFile, SaysHowManyBytesAreMissingWhereTruncated) {
  const MemoryMap map(ModelPath("embedded"));
  constexpr int64_t kDataBegin = 1785664;
  std::mt19937_64 random(20);
  for (int i = 0; i < 40; ++i) {
    const int64_t low = i < 20 ? 1 : kDataBegin;
    const int64_t high = i < 20 ? kDataBegin : map.size();
    const int64_t size = low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low));
    const std::string message = ErrorMessage(
        [&] { ParseGgufHeader(map.bytes().first(static_cast<size_t>(size)), "cut.gguf"); });
    EXPECT_THAT(message, AllOf(HasSubstr("cut.gguf: "), HasSubstr("truncated"))) << size;
    EXPECT_THAT(message,
                ::testing::AnyOf(HasSubstr("bytes are missing"), HasSubstr("bytes are left")))
        << size;
  }
  const std::string message = ErrorMessage(
      [&] { ParseGgufHeader(map.bytes().first(static_cast<size_t>(map.size() - 7)), "cut.gguf"); });
  EXPECT_THAT(message, HasSubstr(": 7 bytes are missing"));
}

// xxhsum -H2 of the same bytes.
TEST(FileHash, IsXxh3) {
  EXPECT_EQ(HashBytes({}), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(HashFile(ModelPath("embedded")).size(), 32u);
}

}  // namespace
}  // namespace midscope
