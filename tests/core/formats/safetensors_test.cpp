// SPDX-License-Identifier: MIT
// Contract: files that the reference implementation of safetensors rejects give an Error that
// states the fault, before memory is allocated according to a number in the file; files that it
// writes are read. Each entry of the list of files that broke other loaders has a separate test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "core/formats/folder_weights.h"
#include "core/formats/safetensors.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string File(const std::string& header, size_t data_bytes = 0, int64_t claimed = -1) {
  const uint64_t length = claimed < 0 ? header.size() : static_cast<uint64_t>(claimed);
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\1');
}

std::string Entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + offsets +
         "]}";
}

SafetensorsTensors Parse(const std::string& bytes) {
  return ParseSafetensorsHeader(std::as_bytes(std::span(bytes)), "file");
}

std::string ParseError(const std::string& bytes) {
  return ErrorMessage([&] { Parse(bytes); });
}

// One tensor "a" in a file with so many bytes of data.
std::string OneError(const std::string& entry, size_t data_bytes) {
  return ParseError(File(R"({"a":)" + entry + "}", data_bytes));
}

TEST(SafetensorsWriter, WritesWhatTheReaderReads) {
  const std::string bytes = "abcdefghijkl";
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  const TemporaryFolder folder;
  const SafetensorsTensors tensors = {{"a", {"F32", {2, 1}, data, 8}},
                                      {"b", {"BF16", {2}, data + 8, 4}}};
  WriteSafetensors(folder.path() / "file", tensors);
  const std::string written = folder.Read("file");
  const SafetensorsTensors read = Parse(written);
  ASSERT_EQ(read.size(), 2u);
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.at(name).dtype, tensor.dtype);
    EXPECT_EQ(read.at(name).shape, tensor.shape);
    EXPECT_EQ(read.at(name).bytes, tensor.bytes);
    EXPECT_EQ(std::memcmp(read.at(name).data, tensor.data, static_cast<size_t>(tensor.bytes)), 0);
  }
  EXPECT_NE(written.find(R"("__metadata__":{"format":"pt"})"), std::string::npos);
  EXPECT_EQ((written.size() - 12) % 8, 0u);  // the data begin aligned
}

// A file that cannot be written leaves neither a part of it nor changes in an earlier one.
TEST(SafetensorsWriter, LeavesTheOldFileIfItFails) {
  const TemporaryFolder folder;
  folder.Write("file", "old");
  std::filesystem::create_directory(folder.path() / "file.partial");
  const std::string message =
      ErrorMessage([&] { WriteSafetensors(folder.path() / "file", SafetensorsTensors()); });
  EXPECT_THAT(message, AllOf(HasSubstr("file: it cannot be written"), HasSubstr("directory")));
  EXPECT_EQ(folder.Read("file"), "old");
}

TEST(Safetensors, ReadsWhatTheFormatAllows) {
  const std::string header = R"({"__metadata__":{"format":"pt"},"b":)" +
                             Entry("BF16", "2,3", "4,16") + R"(,"a":)" + Entry("F32", "", "0,4") +
                             R"(,"none":)" + Entry("I64", "0,7", "16,16") + "}   ";
  const std::string bytes = File(header, 16);
  const SafetensorsTensors tensors = Parse(bytes);
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors.at("b").dtype, "BF16");
  EXPECT_EQ(tensors.at("b").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensors.at("b").bytes, 12);
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data()) + 8 + header.size();
  EXPECT_EQ(tensors.at("b").data, data + 4);
  EXPECT_TRUE(tensors.at("a").shape.empty());
  EXPECT_EQ(tensors.at("none").bytes, 0);
  EXPECT_EQ(Parse(File("{}")).size(), 0u);
  for (const char* metadata : {"null", "{}"})
    EXPECT_EQ(Parse(File(R"({"__metadata__":)" + std::string(metadata) + "}")).size(), 0u);
}

TEST(HostileSafetensors, HeaderLongerThanTheFileOrTheLimit) {
  EXPECT_THAT(ParseError(File("{}", 0, 1000)), HasSubstr("998 bytes are missing"));
  EXPECT_THAT(ParseError(File("{}", 0, 100'000'001)), HasSubstr("more than 100000000"));
  EXPECT_THAT(ParseError(File("{}", 0, INT64_MAX)), HasSubstr("more than 100000000"));
  EXPECT_THAT(ParseError(std::string(8, '\xff')), HasSubstr("more than 100000000"));
  EXPECT_THAT(ParseError("1234567"), HasSubstr("too short"));
}

TEST(HostileSafetensors, HeaderThatIsNotUtf8) {
  EXPECT_THAT(ParseError(File("{\"\xff\xfe\":1}")), HasSubstr("not UTF-8 at byte 2"));
}

TEST(HostileSafetensors, HeaderThatDoesNotBeginWithABrace) {
  EXPECT_THAT(ParseError(File("")), HasSubstr("does not begin with {"));
  EXPECT_THAT(ParseError(File(" {}")), HasSubstr("does not begin with {"));
  EXPECT_THAT(ParseError(File("[]")), HasSubstr("does not begin with {"));
}

TEST(HostileSafetensors, HeaderThatIsNotJson) {
  EXPECT_THAT(ParseError(File("{")), HasSubstr("not JSON"));
  EXPECT_THAT(ParseError(File("{}{}")), HasSubstr("not JSON"));
  EXPECT_THAT(ParseError(File(R"({"a":)" + std::string(10000, '['))), HasSubstr("an array"));
}

TEST(HostileSafetensors, RangesThatOverlap) {
  const std::string header =
      R"({"a":)" + Entry("F32", "2", "0,8") + R"(,"b":)" + Entry("F32", "2", "4,12") + "}";
  EXPECT_THAT(ParseError(File(header, 12)), HasSubstr("tensor 'b' overlaps the one before it"));
  const std::string same =
      R"({"a":)" + Entry("F32", "2", "0,8") + R"(,"b":)" + Entry("F32", "2", "0,8") + "}";
  EXPECT_THAT(ParseError(File(same, 8)), HasSubstr("overlaps"));
}

TEST(HostileSafetensors, RangesThatLeaveGaps) {
  const std::string header =
      R"({"a":)" + Entry("F32", "1", "0,4") + R"(,"b":)" + Entry("F32", "1", "8,12") + "}";
  EXPECT_THAT(ParseError(File(header, 12)), HasSubstr("tensor 'b' leaves a gap before it"));
  EXPECT_THAT(OneError(Entry("F32", "1", "4,8"), 8), HasSubstr("leaves a gap"));
  EXPECT_THAT(OneError(Entry("F32", "1", "0,4"), 6), HasSubstr("2 bytes at its end belong to no"));
  EXPECT_THAT(ParseError(File("{}", 1)), HasSubstr("1 bytes at its end"));
}

TEST(HostileSafetensors, RangesOutsideTheFile) {
  EXPECT_THAT(OneError(Entry("F32", "2", "0,8"), 4), HasSubstr("is at bytes 0 to 8 of 4"));
  EXPECT_THAT(OneError(Entry("F32", "1", "4,0"), 4), HasSubstr("is at bytes 4 to 0"));
  EXPECT_THAT(OneError(Entry("F32", "1", "18446744073709551612,18446744073709551615"), 4),
              HasSubstr("is at bytes"));
}

TEST(HostileSafetensors, RangesThatDisagreeWithShapeAndDtype) {
  EXPECT_THAT(OneError(Entry("F32", "3", "0,8"), 8), HasSubstr("shape and dtype F32 contradict"));
  EXPECT_THAT(OneError(Entry("F16", "2", "0,8"), 8), HasSubstr("contradict"));
  EXPECT_THAT(OneError(Entry("F4", "3", "0,1"), 1), HasSubstr("contradict"));
  EXPECT_THAT(OneError(Entry("F33", "2", "0,8"), 8), HasSubstr("unknown dtype 'F33'"));
  // 2^42 + 1 squared, and 2^62 float32: byte counts that wrap.
  EXPECT_THAT(OneError(Entry("F32", "4398046511105,4398046511105", "0,4"), 4),
              HasSubstr("contradict"));
  EXPECT_THAT(OneError(Entry("F32", "4611686018427387904", "0,0"), 0), HasSubstr("contradict"));
}

TEST(HostileSafetensors, HeaderOfTheWrongForm) {
  EXPECT_THAT(ParseError(File(R"({"a":1})")), HasSubstr("a number where there must be none"));
  EXPECT_THAT(ParseError(File(R"({"a":null})")), HasSubstr("null"));
  EXPECT_THAT(ParseError(File(R"({"a":{}})")), HasSubstr("must have a dtype, a shape"));
  EXPECT_THAT(ParseError(File(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0]}})")),
              HasSubstr("two data_offsets"));
  EXPECT_THAT(ParseError(File(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})")),
              HasSubstr("a negative number"));
  EXPECT_THAT(ParseError(File(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})")),
              HasSubstr("a fraction"));
  EXPECT_THAT(ParseError(File(R"({"a":{"dtype":["F32"]}})")), HasSubstr("an array"));
  EXPECT_THAT(ParseError(File(R"({"a":{"strange":1}})")), HasSubstr("unknown field 'strange'"));
  EXPECT_THAT(ParseError(File(R"({"__metadata__":{"a":1}})")), HasSubstr("a number"));
  EXPECT_THAT(ParseError(File(R"({"__metadata__":"x"})")), HasSubstr("text"));
}

TEST(HostileSafetensors, NamesThatStandTwice) {
  const std::string entry = Entry("F32", "1", "0,4");
  EXPECT_THAT(ParseError(File(R"({"a":)" + entry + R"(,"a":)" + entry + "}", 4)),
              HasSubstr("tensor 'a' occurs twice"));
  EXPECT_THAT(ParseError(File(R"({"a":{"dtype":"F32","dtype":"F16"}})")),
              HasSubstr("two fields dtype"));
  EXPECT_THAT(ParseError(File(R"({"a":{"shape":[],"shape":[]}})")), HasSubstr("two fields shape"));
}

TEST(HostileSafetensors, TwoThousandMutatedHeaders) {
  const std::string good = TemporaryFolder(MIDSCOPE_TESTS
                                           "/core/golden/tiny_models"
                                           "/qwen3")
                               .Read("model.safetensors");
  ASSERT_EQ(ParseError(good), "");
  uint64_t length = 0;
  std::memcpy(&length, good.data(), 8);
  std::mt19937_64 random(7);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = good;
    const uint64_t places = 1 + random() % 4;
    for (uint64_t j = 0; j < places; ++j) {
      const size_t place = random() % 5 == 0 ? random() % 8 : random() % (8 + length);
      if (random() % 2 == 0) {
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << random() % 8));
      } else {
        bytes[place] = "0123456789,:[]{}\"\xff"[random() % 18];
      }
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    // Anything but an Error (a crash, std::bad_alloc, a library's exception) fails the test.
    if (!ParseError(bytes).empty()) ++refused;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 2000);
}

class Index : public ::testing::Test {
 protected:
  Index()
      : folder_(MIDSCOPE_TESTS
                "/core/golden/tiny_models"
                "/olmo2") {}

  // Replaces one text of the index.
  void Replace(const std::string& from, const std::string& to) {
    std::string index = folder_.Read(kName);
    const size_t place = index.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    folder_.Write(kName, index.replace(place, from.size(), to));
  }

  // The message for the folder with one text of its index replaced.
  std::string ErrorWith(const std::string& from, const std::string& to) {
    Replace(from, to);
    return ErrorMessage([&] { FolderWeights file(folder_.path()); });
  }

  static constexpr const char* kName = "model.safetensors.index.json";
  TemporaryFolder folder_;
};

TEST_F(Index, OpensAllItsFiles) {
  const FolderWeights file(folder_.path());
  EXPECT_GT(file.maps().size(), 1u);
  EXPECT_TRUE(file.tensors().contains("model.norm.weight"));
}

TEST_F(Index, NamingFilesElsewhereIsRefused) {
  const std::string shard = "model-00001-of-00004.safetensors";
  for (const std::string name :
       {"../../other/file.safetensors", "/etc/file.safetensors", "..\\\\file.safetensors",
        "sub/file.safetensors", ".hidden.safetensors", "..", "", "passwd",
        "a\\u0000.safetensors"}) {
    const TemporaryFolder fresh(MIDSCOPE_TESTS
                                "/core/golden/tiny_models"
                                "/olmo2");
    folder_.Write(kName, fresh.Read(kName));
    EXPECT_THAT(ErrorWith(shard, name), HasSubstr("in the same folder are opened")) << name;
  }
}

// As in transformers, what the files hold decides.
TEST_F(Index, ThatContradictsTheFilesIsNoError) {
  const FolderWeights before(folder_.path());
  Replace("\"model.norm.weight\"", "\"model.other.weight\"");
  Replace("\"weight_map\": {", "\"weight_map\": {\"z\": \"model-00001-of-00004.safetensors\",");
  // A tensor that it puts into another file.
  Replace("\"model.embed_tokens.weight\": \"model-00001",
          "\"model.embed_tokens.weight\": \"model-00002");
  const FolderWeights file(folder_.path());
  EXPECT_EQ(file.tensors().size(), before.tensors().size());
  EXPECT_TRUE(file.tensors().contains("model.norm.weight"));
  EXPECT_FALSE(file.tensors().contains("z"));
}

// As in transformers, the later file's tensor counts.
TEST_F(Index, OfTwoFilesWithOneTensorTheLaterCounts) {
  const std::string first = "model-00001-of-00004.safetensors";
  const std::string last = "model-00004-of-00004.safetensors";
  test::SafetensorsParts parts = test::ReadSafetensors(folder_.Read(last));
  const test::SafetensorsParts others = test::ReadSafetensors(folder_.Read(first));
  const auto& [name, part] = *others.begin();
  parts[name] = part;
  parts[name].bytes.assign(part.bytes.size(), '\x11');
  folder_.Write(last, test::WriteSafetensors(parts));
  const FolderWeights file(folder_.path());
  EXPECT_EQ(file.tensors().at(name).data[0], std::byte{0x11});
}

TEST_F(Index, WithAMissingFileIsRefused) {
  std::filesystem::remove(folder_.path() / "model-00002-of-00004.safetensors");
  EXPECT_THAT(ErrorMessage([&] { FolderWeights file(folder_.path()); }),
              HasSubstr("model-00002-of-00004.safetensors: cannot be opened"));
}

TEST_F(Index, OfTheWrongFormIsRefused) {
  for (const std::string text : {"[]", "{}", "{\"weight_map\": 1}", "{\"weight_map\": {\"a\": 1}}",
                                 "{\"weight_map\": {}}", "{", "\xff"}) {
    folder_.Write(kName, text);
    EXPECT_NE(ErrorMessage([&] { FolderWeights file(folder_.path()); }), "") << text;
  }
}

TEST(Pickle, OtherNamesAreRefusedWithTheWayOut) {
  for (const std::string name : {"weights.bin", "model.pt", "consolidated.00.pth"}) {
    const TemporaryFolder folder;
    folder.Write(name, "PK");
    EXPECT_THAT(ErrorMessage([&] { FolderWeights file(folder.path()); }),
                AllOf(HasSubstr(name), HasSubstr("pickle"), HasSubstr("pytorch_model*.bin"),
                      HasSubstr("safetensors")));
  }
  const TemporaryFolder empty;
  EXPECT_THAT(ErrorMessage([&] { FolderWeights file(empty.path()); }),
              HasSubstr("has no model.safetensors, pytorch_model.bin or index of such files"));
}

}  // namespace
}  // namespace midscope
