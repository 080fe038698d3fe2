// SPDX-License-Identifier: MIT
// Contract: a model split in the manner of llama.cpp's gguf-split and of gguf-py equals the model
// in one file, to the last bit; any input except the first shard of a complete set gives an Error
// with a remedy.
#include "core/formats/gguf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "core/decoder/decoder.h"
#include "core/model/gguf_model.h"
#include "core/model/model_source.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::GgufWriter;
using test::Raw;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

GgufWriter& SetSplit(GgufWriter& writer, uint16_t number, uint16_t count, int32_t tensors) {
  return writer.RawValue("split.no", GgufType::kUint16, Raw(number))
      .RawValue("split.count", GgufType::kUint16, Raw(count))
      .RawValue("split.tensors.count", GgufType::kInt32, Raw(tensors));
}

// Writes the tiny model as three shards m-0000N-of-00003.gguf: of no tensor, of 11 and of the rest.
// `change` may alter the writer of shard 0, 1 or 2.
void WriteShards(const TemporaryFolder& folder,
                 const std::function<void(int shard, GgufWriter&)>& change = {}) {
  const test::TemporaryFile whole(test::TinyModel().Bytes());
  const GgufFile file(whole.path());
  const auto all = static_cast<int32_t>(file.tensors().size());
  for (int shard = 0; shard < 3; ++shard) {
    GgufWriter writer = shard == 0 ? test::TinyMetadata() : GgufWriter();
    SetSplit(writer, static_cast<uint16_t>(shard), 3, all);
    for (size_t i = 0; i < file.tensors().size(); ++i) {
      if (shard != (i < 11 ? 1 : 2)) continue;
      const GgufTensor& tensor = file.tensors()[i];
      std::vector<float> values(static_cast<size_t>(tensor.elements()));
      std::memcpy(values.data(), tensor.data, static_cast<size_t>(tensor.bytes));
      writer.Float32Tensor(tensor.name, tensor.shape, values);
    }
    if (change) change(shard, writer);
    folder.Write("m-0000" + std::to_string(shard + 1) + "-of-00003.gguf", writer.Bytes());
  }
}

std::string First(const TemporaryFolder& folder) {
  return (folder.path() / "m-00001-of-00003.gguf").string();
}

std::string OpenError(const std::string& model) {
  return ErrorMessage([&] { OpenModel(model); });
}

std::vector<float> LastLogits(const std::string& model) {
  const auto decoder = Decoder::Open(model, {kernels::Dtype::kFloat32, 1});
  const std::vector<int32_t> ids = {5, 9, 200, 3, 77, 5, 9};
  RunRequest request;
  request.ids = ids;
  const RunResult result = decoder->RunOne(request);
  const auto row = result.Logits(6);
  return {row.begin(), row.end()};
}

TEST(GgufShards, AreTheModelInOneFile) {
  const TemporaryFolder folder;
  WriteShards(folder);
  const test::TemporaryFile whole(test::TinyModel().Bytes());
  EXPECT_EQ(LastLogits(First(folder)), LastLogits(whole.path().string()));
  const GgufFile file(First(folder));
  EXPECT_EQ(file.maps().size(), 3u);
  EXPECT_EQ(file.tensors().size(), 20u);
  const GgufTensor& last = file.tensors().back();
  file.DontNeed(last.data, last.bytes);
  // The hash is of all files.
  const std::string before = OpenModel(First(folder))->Hash();
  WriteShards(folder, [](int shard, GgufWriter& writer) {
    if (shard == 2) writer.Uint32("something", 1);
  });
  EXPECT_NE(OpenModel(First(folder))->Hash(), before);
}

TEST(GgufShards, AreOpenedByTheFolder) {
  const TemporaryFolder folder;
  WriteShards(folder);
  EXPECT_EQ(ResolveModel(folder.path().string()), First(folder));
  EXPECT_THAT(OpenRunnableModel(folder.path().string()).config.notes,
              Contains(HasSubstr("its only GGUF file, m-00001-of-00003.gguf, is opened")));
  EXPECT_THAT(OpenRunnableModel(First(folder)).config.notes, Not(Contains(HasSubstr("is opened"))));
  folder.Write("other.gguf", "GGUF");
  EXPECT_THAT(OpenError(folder.path().string()),
              AllOf(HasSubstr("holds several GGUF files"), HasSubstr("other.gguf"),
                    HasSubstr("m-00001-of"), Not(HasSubstr("m-00002-of"))));
}

TEST(GgufShards, OtherThanTheFirstNameIt) {
  const TemporaryFolder folder;
  WriteShards(folder);
  EXPECT_THAT(OpenError((folder.path() / "m-00002-of-00003.gguf").string()),
              AllOf(HasSubstr("it is shard 2 of 3"), HasSubstr("Name the first: "),
                    HasSubstr("m-00001-of-00003.gguf")));
  std::filesystem::rename(folder.path() / "m-00002-of-00003.gguf", folder.path() / "second.gguf");
  EXPECT_THAT(OpenError((folder.path() / "second.gguf").string()), HasSubstr("shard 2 of 3"));
  EXPECT_THAT(OpenError(First(folder)),
              AllOf(HasSubstr("m-00002-of-00003.gguf: this file is missing: shard 2 of 3"),
                    HasSubstr("Put all 3 files")));
  std::filesystem::rename(First(folder), folder.path() / "first.gguf");
  EXPECT_THAT(OpenError((folder.path() / "first.gguf").string()),
              AllOf(HasSubstr("must end in -00001-of-00003.gguf"), HasSubstr("--merge")));
}

TEST(GgufShards, OfAnotherModelAreRefused) {
  const auto error = [](const std::function<void(int shard, GgufWriter&)>& change) {
    const TemporaryFolder folder;
    WriteShards(folder, change);
    return OpenError(First(folder));
  };
  const auto changed = [&](const std::string& key, GgufType type, const std::string& bytes) {
    return error([&](int shard, GgufWriter& writer) {
      if (shard == 1) writer.Remove(key).RawValue(key, type, bytes);
    });
  };
  const auto is_other =
      HasSubstr("m-00002-of-00003.gguf: it is not shard 2 of 3 of the same model");
  EXPECT_THAT(changed("split.no", GgufType::kUint16, Raw<uint16_t>(2)), is_other);
  EXPECT_THAT(changed("split.count", GgufType::kUint16, Raw<uint16_t>(4)), is_other);
  EXPECT_THAT(changed("split.tensors.count", GgufType::kInt32, Raw(19)), is_other);
  EXPECT_THAT(changed("split.no", GgufType::kFloat32, Raw(1.0f)), is_other);
  EXPECT_THAT(error([](int shard, GgufWriter& writer) {
                if (shard == 1) writer.Remove("split.no");
              }),
              is_other);
  EXPECT_THAT(error([](int shard, GgufWriter& writer) {
                if (shard == 1)
                  writer.Float32Tensor("output_norm.weight", {16}, std::vector<float>(16));
                if (shard == 2)
                  writer.Float32Tensor("output_norm.weight", {16}, std::vector<float>(16));
              }),
              HasSubstr("'output_norm.weight' occurs twice"));
  EXPECT_THAT(error([](int, GgufWriter& writer) {
                writer.Remove("split.tensors.count")
                    .RawValue("split.tensors.count", GgufType::kInt32, Raw(25));
              }),
              HasSubstr("its 3 shards have 20 tensors; split.tensors.count is 25"));
  // A shard's file that is damaged or cut off is named itself.
  const TemporaryFolder folder;
  WriteShards(folder);
  folder.Write("m-00003-of-00003.gguf", "GGUF");
  EXPECT_THAT(OpenError(First(folder)), HasSubstr("m-00003-of-00003.gguf: the file ends"));
}

TEST(GgufShards, OneShardIsAWholeFile) {
  GgufWriter writer = test::TinyModel();
  SetSplit(writer, 0, 1, 20);
  const test::TemporaryFile file(writer.Bytes());
  EXPECT_EQ(OpenError(file.path().string()), "");
}

TEST(GgufShards, NamesAreReadAsLlamaCppWritesThem) {
  const auto name = ParseGgufShardName("dir/a-b.Q4_K_M-00002-of-00013.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "dir/a-b.Q4_K_M");
  EXPECT_EQ(name->number, 2);
  EXPECT_EQ(name->count, 13);
  EXPECT_EQ(name->OfShard(13), "dir/a-b.Q4_K_M-00013-of-00013.gguf");
  for (const char* other :
       {"a-0001-of-00003.gguf", "a-00004-of-00003.gguf", "a-00000-of-00003.gguf",
        "a-00001-of-00003.bin", "00001-of-00003.gguf", "a-00001-of-0x003.gguf"})
    EXPECT_FALSE(ParseGgufShardName(other)) << other;
}

}  // namespace
}  // namespace midscope
