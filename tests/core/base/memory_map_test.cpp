// SPDX-License-Identifier: MIT
// Files that are truncated while they are mapped: reads return zeros, the process continues, and
// CheckWhole throws.
#include "core/base/memory_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/error.h"
#include "core/decoder/decoder.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MappedFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { GuardMappedFiles(); }

  test::TemporaryFolder folder_;
};

TEST_F(MappedFiles, ACutOffFileReadsAsZerosAndSaysSo) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const auto path = folder_ / "five_pages";
  std::ofstream(path) << std::string(static_cast<size_t>(5 * page - 7), 'x');
  MemoryMap map(path);
  const MemoryMap other(path);
  std::filesystem::resize_file(path, static_cast<uintmax_t>(page + 3));
  EXPECT_EQ(map.data()[page], std::byte{'x'});
  map.CheckWhole();  // no read was beyond the end
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

// As generated code of oneDNN does: keeps data below the stack pointer, beyond what calls spare,
// and reads. Returns whether the data are what they were.
__attribute__((noinline, no_sanitize("address"))) bool KeepsDataWhileReading(
    const volatile std::byte* where) {
  constexpr int kFirst = 200;
  constexpr int kLast = 3000;
  volatile char* frame = static_cast<volatile char*>(__builtin_frame_address(0));
  for (int i = kFirst; i < kLast; ++i) *(frame - i) = 'k';
  const bool zero = *where == std::byte{0};
  bool kept = true;
  for (int i = kFirst; i < kLast; ++i) kept = kept && *(frame - i) == 'k';
  return zero && kept;
}

TEST_F(MappedFiles, ReadersKeepWhatIsBelowTheirStackPointer) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const auto path = folder_ / "five_pages";
  std::ofstream(path) << std::string(static_cast<size_t>(5 * page), 'x');
  const MemoryMap map(path);
  std::filesystem::resize_file(path, static_cast<uintmax_t>(page));
  EXPECT_TRUE(KeepsDataWhileReading(map.data() + 4 * page));
  std::thread([&] {
    UseSignalStack();
    EXPECT_TRUE(KeepsDataWhileReading(map.data() + 3 * page));
  }).join();
  // Decoders give the threads that compute one.
  bool kept = false;
  std::thread([&] {
    Decoder::Open(test::TinyModelPath("gguf-gemma2"), {.threads = 1});
    kept = KeepsDataWhileReading(map.data() + 2 * page);
  }).join();
  EXPECT_TRUE(kept);
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
