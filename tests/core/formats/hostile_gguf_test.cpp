// SPDX-License-Identifier: MIT
// Files that broke other loaders, and damaged files. Contract: each gives an ordinary Error, or
// loads if the damage is harmless; nothing crashes, hangs or allocates memory according to an
// unchecked number in the file. Run it under the address sanitizer for full coverage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <span>

#include "core/formats/gguf_header.h"
#include "core/model/gguf_model.h"
#include "core/model/model_source.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/memory_limit.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::GgufWriter;
using test::MemoryLimit;
using test::Raw;
using test::RawString;
using test::TemporaryFile;
using test::TinyMetadata;
using test::TinyModel;
using ::testing::HasSubstr;

constexpr uint32_t kFloat32 = 0;
constexpr uint32_t kQ4K = 12;

std::string GgufError(const std::string& bytes) {
  return ErrorMessage([&] { ParseGgufHeader(std::as_bytes(std::span(bytes)), "file"); });
}

// Everything that opening a model does short of running it.
void LoadAll(const std::filesystem::path& path) {
  const std::unique_ptr<ModelSource> model = OpenGgufModel(path);
  const std::unique_ptr<Tokenizer> tokenizer = model->MakeTokenizer();
  tokenizer->Decode(tokenizer->EncodeIds("abc <|end|> \xc2\xbd"));
}

std::string LoadError(const GgufWriter& writer) {
  const TemporaryFile file(writer.Bytes());
  return ErrorMessage([&] { LoadAll(file.path()); });
}

TEST(HostileGguf, TinyModelItselfLoads) { EXPECT_EQ(LoadError(TinyModel()), ""); }

// llama.cpp PR 18674: the byte count wraps to 0.
TEST(HostileGguf, DimensionThatWrapsTheByteCount) {
  const uint64_t huge = (uint64_t{1} << 42) + 1;
  EXPECT_THAT(GgufError(GgufWriter().RawTensor("w", {huge, huge}, kFloat32, 0).Bytes()),
              HasSubstr("more elements"));
  EXPECT_THAT(GgufError(GgufWriter().RawTensor("w", {uint64_t{1} << 62}, kFloat32, 0).Bytes()),
              HasSubstr("more bytes"));
  EXPECT_THAT(GgufError(GgufWriter().RawTensor("w", {huge}, kFloat32, 0).Bytes()),
              HasSubstr("bytes are missing"));
}

// llama.cpp PR 26690: heap read past the end.
TEST(HostileGguf, ScoresOfOneByteElements) {
  GgufWriter writer = TinyModel();
  writer.RawArray("tokenizer.ggml.scores", GgufType::kUint8, 259, std::string(259, '\1'));
  EXPECT_THAT(
      LoadError(writer),
      HasSubstr("tokenizer.ggml.scores is an array of uint8; it must be an array of float"));
}

TEST(HostileGguf, TokenTypesOfOneByteElements) {
  GgufWriter writer = TinyModel();
  writer.Remove("tokenizer.ggml.token_type");
  writer.RawArray("tokenizer.ggml.token_type", GgufType::kUint8, 259, std::string(259, '\1'));
  EXPECT_THAT(LoadError(writer), HasSubstr("tokenizer.ggml.token_type must be an array of int32"));
}

TEST(HostileGguf, TokenTypesOfAnotherCount) {
  GgufWriter writer = TinyModel();
  writer.Remove("tokenizer.ggml.token_type").Int32s("tokenizer.ggml.token_type", {1, 1});
  EXPECT_THAT(LoadError(writer), HasSubstr("has 2 elements for 259 tokens"));
}

// llama.cpp PR 25969: write before a table, uncaught exception.
TEST(HostileGguf, ByteTokensThatAreNoBytes) {
  for (const std::string token : {"<0x-1>", "<0xZZ>", "<0x1>", "<0x+1>", "<0x123>", "", "<0x 1>"}) {
    GgufWriter writer = TinyModel();
    writer.Remove("tokenizer.ggml.tokens")
        .Remove("tokenizer.ggml.token_type")
        .Remove("llama.vocab_size");
    std::vector<std::string> tokens(259);
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = std::to_string(i) + "t";
    tokens[5] = token;
    std::vector<int32_t> types(259, 1);
    types[5] = 6;
    writer.Strings("tokenizer.ggml.tokens", tokens).Int32s("tokenizer.ggml.token_type", types);
    EXPECT_THAT(LoadError(writer), HasSubstr("is marked as a byte but is not written as one"))
        << token;
  }
}

// llama.cpp PR 25821: out-of-bounds write in arrays of a fixed number of layers.
TEST(HostileGguf, MoreBlocksThanAnyModelHas) {
  for (const uint32_t blocks : {0u, 1025u, UINT32_MAX}) {
    GgufWriter writer = TinyModel();
    writer.Remove("llama.block_count").Uint32("llama.block_count", blocks);
    EXPECT_THAT(LoadError(writer), HasSubstr("it must be from 1 to 1024")) << blocks;
  }
}

// ggml PR 1516, ollama 17042: gigabytes allocated for a file of 160 bytes. The Errors come before
// any allocation.
TEST(HostileGguf, StringOfOneGibibyteInASmallFile) {
  const MemoryLimit limit(64 << 20);
  GgufWriter writer;
  writer.RawValue("general.name", GgufType::kString, Raw(uint64_t{1} << 30) + "short");
  EXPECT_THAT(GgufError(writer.Bytes()), HasSubstr("bytes are missing"));
  GgufWriter key;
  key.claimed_values = 1;
  EXPECT_THAT(GgufError(key.Bytes() + Raw(uint64_t{1} << 30) + "short"),
              HasSubstr("a metadata key is 1073741824 bytes"));
}

TEST(HostileGguf, ArrayOfTwoToTheThirtyInASmallFile) {
  const MemoryLimit limit(64 << 20);
  for (const GgufType type : {GgufType::kString, GgufType::kUint8, GgufType::kFloat64}) {
    for (const uint64_t count : {uint64_t{1} << 30, uint64_t{1} << 61, UINT64_MAX}) {
      EXPECT_THAT(GgufError(GgufWriter().RawArray("a", type, count, "1234").Bytes()),
                  HasSubstr("bytes are left"));
    }
  }
}

TEST(HostileGguf, HugeNumbersOfTensorsAndValues) {
  const MemoryLimit limit(64 << 20);
  for (const uint64_t count : {uint64_t{1} << 30, uint64_t{1} << 60, UINT64_MAX}) {
    GgufWriter tensors;
    tensors.claimed_tensors = count;
    EXPECT_THAT(GgufError(tensors.Bytes()),
                HasSubstr("it claims " + std::to_string(count) + " tensors"));
    GgufWriter values;
    values.claimed_values = count;
    EXPECT_THAT(GgufError(values.Bytes()),
                HasSubstr("it claims " + std::to_string(count) + " metadata values"));
  }
}

TEST(HostileGguf, AlignmentThatIsHugeOrNoPowerOfTwo) {
  for (const uint32_t alignment : {0u, 1u, 4u, 24u, 33u, 1u << 30, UINT32_MAX}) {
    GgufWriter writer;
    writer.Uint32("general.alignment", alignment).Float32Tensor("w", {1}, {1});
    EXPECT_THAT(GgufError(writer.Bytes()), HasSubstr("it must be a power of two")) << alignment;
  }
}

// llama.cpp PR 26318: process aborted.
TEST(HostileGguf, AlignmentOfAnotherType) {
  GgufWriter wide;
  wide.RawValue("general.alignment", GgufType::kUint64, Raw<uint64_t>(32));
  EXPECT_THAT(GgufError(wide.Bytes()), HasSubstr("general.alignment is uint64; it must be uint32"));
  GgufWriter array;
  array.RawArray("general.alignment", GgufType::kUint32, 1, Raw<uint32_t>(32));
  EXPECT_THAT(GgufError(array.Bytes()), HasSubstr("uint32 array; it must be uint32"));
}

// llama.cpp PR 26318: padding to the alignment wraps, neighbours are overwritten.
TEST(HostileGguf, SizeOrOffsetNearTheMaximum) {
  const uint64_t almost = (uint64_t{INT64_MAX} / 4) - 2;
  EXPECT_THAT(GgufError(GgufWriter().RawTensor("w", {almost}, kFloat32, 0).Bytes()),
              HasSubstr("bytes are missing"));
  const uint64_t offset = UINT64_MAX - 31;
  EXPECT_THAT(GgufError(GgufWriter().RawTensor("w", {16}, kFloat32, offset).Bytes()),
              HasSubstr("bytes are missing"));
  EXPECT_THAT(GgufError(GgufWriter().RawTensor("w", {almost}, kFloat32, offset).Bytes()),
              HasSubstr("bytes are missing"));
}

TEST(HostileGguf, TensorsThatOverlapOrLieAskew) {
  GgufWriter overlap;
  overlap.RawTensor("a", {16}, kFloat32, 0)
      .RawTensor("b", {16}, kFloat32, 32)
      .RawData(std::string(96, '\0'));
  EXPECT_THAT(GgufError(overlap.Bytes()), HasSubstr("tensors 'a' and 'b' overlap"));
  GgufWriter askew;
  askew.RawTensor("a", {1}, kFloat32, 4).RawData(std::string(96, '\0'));
  EXPECT_THAT(GgufError(askew.Bytes()), HasSubstr("not a multiple of the alignment 32"));
}

TEST(HostileGguf, ImpossibleTensors) {
  const auto error = [](const std::vector<uint64_t>& dimensions, uint32_t type) {
    return GgufError(
        GgufWriter().RawTensor("w", dimensions, type, 0).RawData(std::string(4096, '\0')).Bytes());
  };
  EXPECT_THAT(error({}, kFloat32), HasSubstr("0 dimensions"));
  EXPECT_THAT(error({1, 1, 1, 1, 1}, kFloat32), HasSubstr("5 dimensions"));
  EXPECT_THAT(error({4, 0}, kFloat32), HasSubstr("a dimension of 0"));
  EXPECT_THAT(error({static_cast<uint64_t>(-3)}, kFloat32), HasSubstr("a dimension of -3"));
  EXPECT_THAT(error({255}, kQ4K), HasSubstr("not whole Q4_K blocks of 256"));
  EXPECT_THAT(error({256}, 4), HasSubstr("type number 4, which is not supported"));
  EXPECT_THAT(error({256}, UINT32_MAX), HasSubstr("is not supported"));
  GgufWriter rank;
  rank.claimed_tensors = 1;
  EXPECT_THAT(GgufError(rank.Bytes() + RawString("w") + Raw(UINT32_MAX) + std::string(64, '\1')),
              HasSubstr("dimensions"));
  EXPECT_THAT(GgufError(GgufWriter().RawTensor(std::string(65, 'w'), {1}, kFloat32, 0).Bytes()),
              HasSubstr("65 bytes long"));
}

TEST(HostileGguf, BlocksThatAreNotWholeOrNotThere) {
  for (const kernels::BlockFormat& format : kernels::BlockFormats()) {
    SCOPED_TRACE(format.name);
    const auto elements = static_cast<uint64_t>(format.elements);
    const auto error = [&](uint64_t columns, int64_t bytes) {
      return GgufError(GgufWriter()
                           .RawTensor("w", {columns}, static_cast<uint32_t>(format.type), 0)
                           .RawData(std::string(static_cast<size_t>(bytes), '\xff'))
                           .Bytes());
    };
    EXPECT_EQ(error(2 * elements, 2 * format.bytes), "");
    EXPECT_THAT(error(2 * elements, 2 * format.bytes - 1), HasSubstr("1 bytes are missing"));
    if (format.elements > 1) {
      EXPECT_THAT(error(2 * elements - 1, 2 * format.bytes),
                  HasSubstr("not whole " + std::string(format.name) + " blocks of"));
    }
  }
}

TEST(HostileGguf, NamesThatStandTwice) {
  EXPECT_THAT(GgufError(GgufWriter().Uint32("k", 1).Uint32("k", 2).Bytes()),
              HasSubstr("'k' occurs twice"));
  EXPECT_THAT(LoadError(TinyMetadata().Float32Tensor("w", {1}, {1}).Float32Tensor("w", {1}, {1})),
              HasSubstr("tensor 'w' occurs twice"));
}

TEST(HostileGguf, ValuesOfImpossibleTypes) {
  EXPECT_THAT(GgufError(GgufWriter().RawValue("k", GgufType{13}, "12345678").Bytes()),
              HasSubstr("unknown type number 13"));
  EXPECT_THAT(GgufError(GgufWriter().RawArray("k", GgufType::kArray, 1, "12345678").Bytes()),
              HasSubstr("array of arrays"));
  EXPECT_THAT(GgufError(GgufWriter().RawArray("k", GgufType{99}, 1, "12345678").Bytes()),
              HasSubstr("unknown type number 99"));
  EXPECT_THAT(GgufError(GgufWriter().RawValue("k", GgufType::kBool, "\2").Bytes()),
              HasSubstr("neither true nor false"));
  EXPECT_THAT(GgufError(GgufWriter().Uint32("", 1).Bytes()), HasSubstr("key is empty"));
}

TEST(HostileGguf, OtherVersionsAndByteOrders) {
  GgufWriter writer;
  writer.version = 1;
  EXPECT_THAT(GgufError(writer.Bytes()),
              HasSubstr("GGUF version 1 is not supported (2 and 3 are)"));
  writer.version = 0x03000000;
  EXPECT_THAT(GgufError(writer.Bytes()), HasSubstr("big-endian"));
  EXPECT_THAT(GgufError("GGUX" + writer.Bytes().substr(4)), HasSubstr("not a GGUF file"));
  EXPECT_THAT(GgufError("GG"),
              HasSubstr("the file ends inside the first 4 bytes: 2 bytes are missing"));
}

TEST(HostileGguf, TokenizersThatContradictThemselves) {
  const auto with_merges = [](const std::vector<std::string>& merges) {
    GgufWriter writer = TinyModel();
    return LoadError(
        writer.Remove("tokenizer.ggml.merges").Strings("tokenizer.ggml.merges", merges));
  };
  EXPECT_THAT(with_merges({"a zzz"}), HasSubstr("merge 0 'a zzz' needs the token 'zzz'"));
  EXPECT_THAT(with_merges({"a b", "b a"}), HasSubstr("needs the token 'ba'"));
  EXPECT_THAT(with_merges({"a b", "a b"}), HasSubstr("merge 1 'a b' occurs twice"));
  EXPECT_THAT(with_merges({"ab"}), HasSubstr("is not two tokens"));
  EXPECT_THAT(with_merges({"a b c"}), HasSubstr("is not two tokens"));
  EXPECT_THAT(with_merges({""}), HasSubstr("is not two tokens"));

  GgufWriter id = TinyModel();
  EXPECT_THAT(LoadError(id.Uint32("tokenizer.ggml.eos_token_id", 259)),
              HasSubstr("eos_token_id is 259, outside"));
  GgufWriter twice = TinyModel();
  twice.Remove("tokenizer.ggml.tokens")
      .Strings("tokenizer.ggml.tokens", std::vector<std::string>(259, "x"));
  EXPECT_THAT(LoadError(twice), HasSubstr("token 1 'x' occurs twice (also as token 0)"));
  GgufWriter type = TinyModel();
  type.Remove("tokenizer.ggml.token_type")
      .Int32s("tokenizer.ggml.token_type", std::vector<int32_t>(259, 7));
  EXPECT_THAT(LoadError(type), HasSubstr("unknown type 7"));
}

// Overwrites 1 to 8 places with random bytes or with numbers that break arithmetic.
void Mutate(std::mt19937_64* random, size_t header, std::string* bytes) {
  constexpr std::array<uint64_t, 8> kNumbers = {0,
                                                1,
                                                UINT64_MAX,
                                                uint64_t{INT64_MAX},
                                                uint64_t{1} << 63,
                                                uint64_t{1} << 32,
                                                (uint64_t{1} << 42) + 1,
                                                UINT32_MAX};
  const uint64_t places = 1 + (*random)() % 8;
  for (uint64_t i = 0; i < places; ++i) {
    const size_t place = (*random)() % header;
    const bool number = (*random)() % 3 == 0;
    const uint64_t value = number ? kNumbers.at((*random)() % kNumbers.size()) : (*random)();
    const size_t width = number ? ((*random)() % 2 == 0 ? 4 : 8) : 1;
    std::memcpy(bytes->data() + place, &value, std::min(width, bytes->size() - place));
  }
}

TEST(HostileGguf, TwoThousandMutatedModels) {
  const std::string model = TinyModel().Bytes();
  const size_t header = model.find("blk.1.ffn_down.weight") + 64;
  std::mt19937_64 random(3);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = model;
    Mutate(&random, header, &bytes);
    const TemporaryFile file(bytes);
    // Anything but an Error (a crash, std::bad_alloc, std::logic_error) fails the test.
    if (!ErrorMessage([&] { LoadAll(file.path()); }).empty()) ++refused;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 2000);
}

TEST(HostileGguf, TwoThousandMutatedHeadersOfTheEmbeddedModel) {
  const MemoryMap map(ModelPath("embedded"));
  const std::string model(reinterpret_cast<const char*>(map.data()),
                          static_cast<size_t>(map.size()));
  // The names and numbers at the beginning, and the table of tensors at the end of the header: the
  // vocabulary is between them.
  constexpr size_t kHeader = 1785664;
  constexpr size_t kTensorTable = kHeader - 18000;
  std::mt19937_64 random(4);
  std::string bytes = model;
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const size_t begin = i % 2 == 0 ? 0 : kTensorTable;
    const size_t length = i % 2 == 0 ? 2000 : kHeader - kTensorTable;
    std::string window = model.substr(begin, length);
    Mutate(&random, length, &window);
    bytes.replace(begin, length, window);
    if (!GgufError(bytes).empty()) ++refused;
    bytes.replace(begin, length, model, begin, length);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_EQ(GgufError(bytes), "");
}

// A name that is not UTF-8 went on into JSON, whose library throws an exception of its own there.
TEST(HostileGguf, TextsThatAreNotUtf8) {
  EXPECT_THAT(LoadError(TinyModel().Remove("general.name").String("general.name", "a\xff")),
              HasSubstr("metadata 'general.name': not UTF-8 at byte 1"));
  EXPECT_THAT(LoadError(TinyModel().String("general.\xff", "a")),
              HasSubstr("a metadata key: not UTF-8 at byte 8"));
  EXPECT_THAT(LoadError(TinyModel().String("tokenizer.chat_template", "\xc3(")),
              HasSubstr("metadata 'tokenizer.chat_template': not UTF-8 at byte 0"));
}

}  // namespace
}  // namespace midscope
