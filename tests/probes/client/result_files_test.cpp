// SPDX-License-Identifier: MIT
// Results files through an engine process. Contract: records equal those that are read and written
// in this process, also where an array is larger than a frame.
#include "probes/client/result_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "data/store/run_store.h"
#include "data/sweep/sample_view.h"
#include "probes/serve/message.h"
#include "probes/serve/wire_arrays.h"
#include "tests/core/support/error_message.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string TextOfRecords(const std::vector<Record>& records) {
  HeldArrays held;
  return PackMessage(WireWriter(held).Write(records));
}

class ResultFilesTest : public ::testing::Test {
 protected:
  ResultFilesTest() { std::filesystem::create_directories(folder_); }
  ~ResultFilesTest() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = ::testing::TempDir() + "midscope_result_files";
  ResultFiles files_{
      std::make_shared<EngineLink>(EngineCommand{{MIDSCOPE_PROGRAM, "serve", "--stdio"}, false})};
};

// 40 MB: more than a reply or a request has in its frame.
Record LargeRecord() {
  constexpr int64_t kElements = 10'000'000;
  Record record{"planted", {{"element", kElements, "", {}, {}}}, {}, {}, "value"};
  std::vector<float> values(kElements);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000) / 7.0F;
  record.arrays = {{"value", {"element"}, std::move(values), "nats", "planted"}};
  record.attributes = {{"whole", int64_t{3}}, {"real", 2.0}, {"text", std::string("ä")}};
  return record;
}

TEST_F(ResultFilesTest, WritesAndReadsRecordsLargerThanAFrame) {
  const std::vector<Record> records = {LargeRecord()};
  const std::string path = folder_ + "/large.h5";
  Provenance made;
  made.model_hash = "abc";
  std::ofstream(path, std::ios::binary) << files_.FileOf(records, made);
  EXPECT_EQ(TextOfRecords(ReadRecords(path).records).size(), TextOfRecords(records).size());
  const RunFile read = files_.Read(path);
  EXPECT_EQ(read.provenance.model_hash, "abc");
  ASSERT_EQ(read.records.size(), 1);
  EXPECT_EQ(read.records[0].arrays.at(0).data, records[0].arrays[0].data);
  EXPECT_EQ(read.records[0].attributes, records[0].attributes);
}

TEST_F(ResultFilesTest, ReadsSamplesOfAFile) {
  Record record{"probe", {{"sample", 3, "", {}, {4, 5, 6}}, {"layer", 2, "", {}, {}}}, {}, {}, ""};
  record.arrays = {{"score", {"sample", "layer"}, std::vector<double>{1, 2, 3, 4, 5, 6}, "", ""}};
  const std::string path = folder_ + "/samples.h5";
  WriteRecords(path, {record}, {});
  const auto view = files_.View(path);
  const SampleView here(path);
  EXPECT_EQ(view->samples().values, here.samples().values);
  EXPECT_EQ(TextOfRecords(view->overview().records), TextOfRecords(here.Overview().records));
  EXPECT_EQ(TextOfRecords(view->Read({.sample = 1})), TextOfRecords(here.Read({.sample = 1})));
  EXPECT_THROW(view->Read({.sample = 9}), Error);
}

// The wrapper starts the engine in another folder, where it does not find this one's files.
TEST_F(ResultFilesTest, FilesOfThisMachineAreSentToAFarEngine) {
  Record record{"outcome", {{"place", 2, "", {}, {}}}, {}, {}, "score"};
  record.arrays = {{"score", {"place"}, std::vector<double>{1, 2}, "", ""}};
  WriteRecords(folder_ + "/here.h5", {record}, {});
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  ResultFiles far(std::make_shared<EngineLink>(EngineCommand{
      {"sh", "-c", "cd / && exec \"$0\" \"$@\"", MIDSCOPE_PROGRAM, "serve", "--stdio"}, true}));
  EXPECT_EQ(TextOfRecords(far.Read("here.h5").records), TextOfRecords({record}));
  EXPECT_THAT(test::ErrorMessage([&] { far.Curves({"here.h5"}, {}); }),
              AllOf(HasSubstr("-here.h5"), HasSubstr("it is not a file of midscope sweep")));
  EXPECT_THAT(test::ErrorMessage([&] { far.Read("none.h5"); }), HasSubstr("none.h5"));
  std::filesystem::resize_file(folder_ + "/here.h5", (16 << 20) + 1);
  EXPECT_THAT(test::ErrorMessage(ErrorKind::kUsage, [&] { far.Read("here.h5"); }),
              AllOf(HasSubstr("here.h5"), HasSubstr("16 MB")));
  std::filesystem::current_path(before);
}

TEST_F(ResultFilesTest, ErrorsNameTheFile) {
  EXPECT_THAT(test::ErrorMessage([&] { files_.Read(folder_ + "/none.h5"); }), HasSubstr("none.h5"));
  std::ofstream(folder_ + "/damaged.h5") << "no HDF5";
  EXPECT_THAT(test::ErrorMessage([&] { files_.View(folder_ + "/damaged.h5"); }),
              HasSubstr("damaged.h5"));
  EXPECT_THAT(test::ErrorMessage([&] { files_.Curves({folder_ + "/damaged.h5"}, {}); }),
              HasSubstr("damaged.h5"));
}

}  // namespace
}  // namespace midscope
