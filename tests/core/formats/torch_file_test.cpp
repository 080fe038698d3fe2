// SPDX-License-Identifier: MIT
// Contract: files written by torch.save load with the same bits as in torch.load; a folder's
// pytorch_model.bin is used if it has no safetensors. MIDSCOPE_TORCH_FILES names another folder
// made by make_torch_files.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/memory_map.h"
#include "core/base/text.h"
#include "core/formats/folder_weights.h"
#include "core/formats/torch_file.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/torch_writer.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::TemporaryFolder;
using test::WriteTorch;
using test::WriteZip;
using test::ZipPart;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Hex(const SafetensorsTensor& tensor) {
  return Hexadecimal(
      {reinterpret_cast<const unsigned char*>(tensor.data), static_cast<size_t>(tensor.bytes)});
}

TEST(TorchFile, LoadsTheBitsOfTorchLoad) {
  const char* other = std::getenv("MIDSCOPE_TORCH_FILES");
  const std::filesystem::path folder =
      other != nullptr ? other : MIDSCOPE_TESTS "/core/golden/torch_files";
  std::ifstream file(folder / "expected.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  int64_t compared = 0;
  for (const auto& [name, tensors] : expected.items()) {
    const MemoryMap map(folder / name);
    std::deque<std::vector<std::byte>> copies;
    const SafetensorsTensors loaded = ReadTorchFile(map.bytes(), name, &copies);
    EXPECT_EQ(loaded.size(), tensors.size()) << name;
    for (const auto& [key, wanted] : tensors.items()) {
      ASSERT_TRUE(loaded.contains(key)) << name << " " << key;
      const SafetensorsTensor& tensor = loaded.at(key);
      EXPECT_EQ(tensor.dtype, wanted[0]) << name << " " << key;
      EXPECT_EQ(tensor.shape, wanted[1].get<std::vector<int64_t>>()) << name << " " << key;
      EXPECT_EQ(Hex(tensor), wanted[2]) << name << " " << key;
      ++compared;
    }
  }
  RecordProperty("files", static_cast<int>(expected.size()));
  EXPECT_GT(compared, 40);
}

// A contiguous tensor stays in the map, also where several share a storage.
TEST(TorchFile, CopiesOnlyWhatIsNotContiguous) {
  const std::string storage = test::pickle::Storage("FloatStorage", "0", 6);
  const std::string pickle =
      test::pickle::Dictionary({{"whole", test::pickle::Tensor(storage, 0, {2, 3}, {3, 1})},
                                {"row", test::pickle::Tensor(storage, 3, {1, 3}, {99, 1})},
                                {"transposed", test::pickle::Tensor(storage, 0, {3, 2}, {1, 3})}});
  const std::string bytes = WriteZip(test::TorchParts(pickle, {"abcdefghijklmnopqrstuvwx"}));
  std::deque<std::vector<std::byte>> copies;
  const SafetensorsTensors tensors =
      ReadTorchFile(std::as_bytes(std::span(bytes)), "file", &copies);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(tensors.at("transposed").data, copies[0].data());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(copies[0].data()), 24),
            "abcdmnopefghqrstijkluvwx");
  EXPECT_EQ(tensors.at("row").data, tensors.at("whole").data + 12);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  EXPECT_EQ(tensors.at("whole").data, begin + bytes.find("abcd"));
}

test::SafetensorsParts Parts(const std::string& names) {
  test::SafetensorsParts parts;
  for (const char name : names) parts[{name}] = {"F32", {1}, std::string(4, name)};
  return parts;
}

std::string Names(const std::filesystem::path& folder) {
  std::string names;
  const FolderWeights weights(folder);
  for (const auto& [name, tensor] : weights.tensors()) names += name;
  return names;
}

TEST(FolderWeights, PrefersSafetensorsAndSingleFilesAsTransformersDoes) {
  const TemporaryFolder folder;
  folder.Write("pytorch_model-00001-of-00002.bin", WriteTorch(Parts("a")));
  folder.Write("pytorch_model-00002-of-00002.bin", WriteTorch(Parts("bc")));
  folder.Write("pytorch_model.bin.index.json",
               R"({"weight_map": {"a": "pytorch_model-00001-of-00002.bin",
                  "b": "pytorch_model-00002-of-00002.bin",
                  "c": "pytorch_model-00002-of-00002.bin"}})");
  EXPECT_TRUE(HasWeights(folder.path()));
  EXPECT_EQ(Names(folder.path()), "abc");
  EXPECT_EQ(ShardNames(folder.path() / "pytorch_model.bin.index.json").size(), 2u);
  folder.Write("pytorch_model.bin", WriteTorch(Parts("d")));
  EXPECT_EQ(Names(folder.path()), "d");
  EXPECT_TRUE(FolderWeights(folder.path()).pickled());
  folder.Write("model.safetensors", test::WriteSafetensors(Parts("e")));
  EXPECT_EQ(Names(folder.path()), "e");
  EXPECT_FALSE(FolderWeights(folder.path()).pickled());
}

TEST(FolderWeights, IndexOfPickledFilesNamesOnlySuchFilesOfItsFolder) {
  const TemporaryFolder folder;
  for (const std::string name : {"../pytorch_model.bin", "model.safetensors", "a.pt", "/x.bin"}) {
    folder.Write("pytorch_model.bin.index.json", R"({"weight_map": {"a": ")" + name + "\"}}");
    EXPECT_THAT(ErrorMessage([&] { FolderWeights file(folder.path()); }),
                HasSubstr("only files ending in .bin in the same folder"))
        << name;
  }
}

// Every other form is refused with its name and a way out.
TEST(TorchFile, OtherFormsAreRefusedByName) {
  const auto error = [](const std::string& bytes) {
    std::deque<std::vector<std::byte>> copies;
    return ErrorMessage(
        [&] { ReadTorchFile(std::as_bytes(std::span(bytes)), "pytorch_model.bin", &copies); });
  };
  EXPECT_THAT(error("\x80\x02\x8a\nl\xfc\x9c"),
              AllOf(HasSubstr("pytorch_model.bin: "), HasSubstr("before version 1.6"),
                    HasSubstr("torch.save(torch.load(FILE), FILE)")));
  EXPECT_THAT(error(std::string(257, '\0') + "ustar"), HasSubstr("tar archive"));
  EXPECT_THAT(error("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("Git LFS"));
  EXPECT_THAT(error("GGUF"), HasSubstr("not a zip archive"));
  const std::string pickle = test::pickle::Dictionary({});
  std::vector<ZipPart> parts = test::TorchParts(pickle, {});
  parts.push_back({"a/constants.pkl", "x", 0, 8});
  EXPECT_THAT(error(WriteZip(parts)), HasSubstr("TorchScript"));
  parts.back() = {"b/data.pkl", "x"};
  EXPECT_THAT(error(WriteZip(parts)), HasSubstr("two entries data.pkl"));
  parts.pop_back();
  parts[1].bytes = "big";
  EXPECT_THAT(error(WriteZip(parts)), HasSubstr("big-endian"));
  EXPECT_THAT(error(WriteZip({{"a/b", "c"}})), HasSubstr("without data.pkl"));
  EXPECT_THAT(error(WriteZip(test::TorchParts(pickle, {}))), HasSubstr("an empty dictionary"));
}

// transformers does not look into them either.
TEST(TorchFile, DictionariesAroundAStateDictAreRefusedWithTheirKeys) {
  const std::string pickle = test::pickle::Dictionary(
      {{"epoch", test::pickle::Integer(3)}, {"state_dict", "}"}, {"model", "}"}});
  const std::string bytes = WriteZip(test::TorchParts(pickle, {}));
  std::deque<std::vector<std::byte>> copies;
  EXPECT_THAT(
      ErrorMessage([&] { ReadTorchFile(std::as_bytes(std::span(bytes)), "file", &copies); }),
      AllOf(HasSubstr("'epoch', 'state_dict', 'model'"),
            HasSubstr("torch.save(model.state_dict()")));
}

}  // namespace
}  // namespace midscope
