// SPDX-License-Identifier: MIT
// Files that somebody cuts off while they are mapped: reads give zeros, nothing ends, and who asks
// is told.
#include "core/base/memory_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/decoder/decoder.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MappedFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { GuardMappedFiles(); }
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("midscope_map_" + std::to_string(getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(MappedFiles, ACutOffFileReadsAsZerosAndSaysSo) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const auto path = folder_ / "five_pages";
  std::ofstream(path) << std::string(static_cast<size_t>(5 * page - 7), 'x');
  MemoryMap map(path);
  const MemoryMap other(path);
  std::filesystem::resize_file(path, static_cast<uintmax_t>(page + 3));
  EXPECT_EQ(map.data()[page], std::byte{'x'});
  map.CheckWhole();  // nobody has looked beyond the end
  EXPECT_EQ(map.data()[3 * page], std::byte{0});
  EXPECT_EQ(map.data()[5 * page - 8], std::byte{0});
  EXPECT_EQ(map.data()[0], std::byte{'x'});
  const auto check = [](const MemoryMap& checked) {
    return test::ErrorMessage(ErrorKind::kFailure, [&] { checked.CheckWhole(); });
  };
  EXPECT_THAT(check(map), AllOf(HasSubstr("five_pages"), HasSubstr("was cut off")));
  other.CheckWhole();  // a mapping of its own
  const MemoryMap moved = std::move(map);
  EXPECT_NE(check(moved), "");
  const MemoryMap again(path);
  again.CheckWhole();
}

TEST_F(MappedFiles, AModelThatIsCutOffFailsInsteadOfEndingTheProcess) {
  const auto path = folder_ / "model.gguf";
  std::filesystem::copy_file(test::TinyModelPath("gguf-gemma2"), path);
  DecoderOptions options;
  options.weights = WeightStorage::kStored;
  const auto decoder = Decoder::Open(path.string(), options);
  const std::vector<int32_t> ids = {1, 2, 3};
  RunRequest request;
  request.ids = ids;
  decoder->RunOne(request);
  std::filesystem::resize_file(path, 4096);
  EXPECT_THAT(test::ErrorMessage(ErrorKind::kFailure, [&] { decoder->RunOne(request); }),
              AllOf(HasSubstr("model.gguf"), HasSubstr("was cut off")));
}

}  // namespace
}  // namespace midscope
