// SPDX-License-Identifier: MIT
#include "data/store/run_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_records.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RunStore, RecordsReadBackAsTheyWere) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  WriteRecords(path, ExampleRecords(), ExampleProvenance());
  EXPECT_THAT(folder.Names(), ElementsAre("run.h5")) << "no temporary file stays";

  const RunFile read = ReadRecords(path);
  ASSERT_EQ(read.records.size(), 2U);
  ExpectSameRecord(read.records[0], ExampleRecords()[0]);
  ExpectSameRecord(read.records[1], ExampleRecords()[1]);
  EXPECT_EQ(read.provenance.command, ExampleProvenance().command);
  EXPECT_EQ(read.provenance.seed, -7);
  EXPECT_EQ(read.provenance.libraries, "HDF5");
  EXPECT_EQ(read.plan_json, "");
}

TEST(RunStore, EqualRunsMakeEqualFiles) {
  const TemporaryFolder folder;
  WriteRecords(folder.File("a.h5"), ExampleRecords(), ExampleProvenance());
  // HDF5 would store times, with a resolution of one second.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  WriteRecords(folder.File("b.h5"), ExampleRecords(), ExampleProvenance());
  EXPECT_TRUE(ReadBytes(folder.File("a.h5")) == ReadBytes(folder.File("b.h5")));
}

TEST(RunStore, EachArraysNameStandsOnceInTheTree) {
  const TemporaryFolder folder;
  WriteRecords(folder.File("run.h5"), ExampleRecords(), ExampleProvenance());
  std::map<std::string, int> names;
  const hid_t file = H5Fopen(folder.File("run.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const auto count = [](hid_t, const char* path, const H5O_info_t*, void* out) -> herr_t {
    const std::string text(path);
    ++(*static_cast<std::map<std::string, int>*>(out))[text.substr(text.rfind('/') + 1)];
    return 0;
  };
  ASSERT_GE(H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, count, &names), 0);
  H5Fclose(file);
  for (const Record& record : ExampleRecords()) {
    for (const Array& array : record.arrays) EXPECT_EQ(names[array.name], 1) << array.name;
  }
}

TEST(RunStore, ArraysAreChunkedCompressedAndHaveScales) {
  const TemporaryFolder folder;
  WriteRecords(folder.File("run.h5"), ExampleRecords(), ExampleProvenance());
  const hid_t file = H5Fopen(folder.File("run.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const std::string group = "/entry/last_query_attention_record/";
  const hid_t data_set = H5Dopen2(file, (group + "last_query_attention").c_str(), H5P_DEFAULT);
  ASSERT_GE(data_set, 0);
  const hid_t create = H5Dget_create_plist(data_set);
  EXPECT_EQ(H5Pget_layout(create), H5D_CHUNKED);
  EXPECT_EQ(H5Pget_nfilters(create), 2) << "shuffle and gzip";
  const char* axes[] = {"layer", "head", "key"};
  for (unsigned i = 0; i < 3; ++i) {
    const hid_t scale = H5Dopen2(file, (group + axes[i]).c_str(), H5P_DEFAULT);
    EXPECT_GT(H5DSis_scale(scale), 0);
    EXPECT_GT(H5DSis_attached(data_set, scale, i), 0);
    EXPECT_EQ(H5DSget_num_scales(data_set, i), 1);
    H5Dclose(scale);
  }
  H5Pclose(create);
  H5Dclose(data_set);
  H5Fclose(file);
}

TEST(RunStore, ALargeArrayHasChunksOfItsOuterAxes) {
  Record record;
  record.name = "big";
  record.axes = {{"layer", 30, "", {}, {}}, {"key", 100000, "", {}, {}}};
  std::vector<float> values(3000000);
  std::iota(values.begin(), values.end(), 0.0F);
  record.arrays = {{"values", {"layer", "key"}, values, "", ""}};
  const TemporaryFolder folder;
  WriteRecords(folder.File("run.h5"), {record}, {});
  const RunReader reader(folder.File("run.h5"));
  ExpectSameData(reader.ReadArray("big", "values").data, values, "values");
  const Array row = reader.ReadRow("big", "values", 29);
  EXPECT_EQ(std::get<std::vector<float>>(row.data)[99999], 2999999.0F);
  EXPECT_THAT(row.axes, ElementsAre("key"));
}

TEST(RunStore, TextThatHdf5CantHoldIsShownNotLost) {
  Record record;
  record.name = "labels";
  record.axes = {{"key", 2, "", {std::string("a\0b", 3), "\xe2\x82"}, {}}};
  record.arrays = {{"values", {"key"}, std::vector<float>{1, 2}, "", ""}};
  const TemporaryFolder folder;
  WriteRecords(folder.File("run.h5"), {record}, {});
  const std::vector<std::string> labels =
      ReadRecords(folder.File("run.h5")).records[0].axes[0].labels;
  EXPECT_THAT(labels, ElementsAre(HasSubstr("b"), HasSubstr("\\xE2")));
}

TEST(RunStore, AnExistingFileIsKeptUnlessToldOtherwise) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  WriteBytes(path, "precious");
  EXPECT_THAT(ErrorMessage([&] { WriteRecords(path, ExampleRecords(), {}); }), HasSubstr("exists"));
  EXPECT_EQ(ReadBytes(path), "precious");
  WriteOptions options;
  options.overwrite = true;
  WriteRecords(path, ExampleRecords(), {}, options);
  EXPECT_EQ(ReadRecords(path).records.size(), 2U);
}

TEST(RunStore, PlacesThatCantBeWrittenAreNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(ErrorMessage([&] { WriteRecords(folder.File("no/run.h5"), ExampleRecords(), {}); }),
              AllOf(HasSubstr("run.h5"), HasSubstr("folder")));
  WriteOptions options;
  options.overwrite = true;
  EXPECT_THAT(ErrorMessage([&] { WriteRecords(folder.File(""), ExampleRecords(), {}, options); }),
              HasSubstr("folder"));
  EXPECT_THAT(ErrorMessage([&] { WriteRecords("", ExampleRecords(), {}); }), HasSubstr("no name"));
}

TEST(RunStore, BadRecordsAreBugs) {
  const TemporaryFolder folder;
  const auto write = [&](auto change) {
    std::vector<Record> records = ExampleRecords();
    change(records);
    WriteRecords(folder.File("run.h5"), records, {});
  };
  EXPECT_THROW(write([](auto& r) { r[0].name = "a/b"; }), std::logic_error);
  EXPECT_THROW(write([](auto& r) { r[1].name = r[0].name; }), std::logic_error);
  EXPECT_THROW(write([](auto& r) { r[0].attributes["signal"] = "x"; }), std::logic_error);
  EXPECT_THROW(write([](auto& r) { r[0].attributes["key_indices"] = "x"; }), std::logic_error);
  EXPECT_THROW(write([](auto& r) { r[0].arrays[1].name = "key_label"; }), std::logic_error);
  EXPECT_THROW(write([](auto& r) { r[0].axes[0].size = 5; }), std::logic_error);
  EXPECT_TRUE(folder.Names().empty());
}

// Runs `work` in a process that cannot write files longer than `limit` bytes. Returns its exit
// status, or -1 if it crashed.
int RunLimited(rlim_t limit, const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit size{limit, limit};
    setrlimit(RLIMIT_FSIZE, &size);
    exit(work());  // not _exit, because HDF5's clean-up at exit must also succeed
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RunStore, AFullDiskGivesAnErrorAndLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  WriteRecords(folder.File("whole.h5"), ExampleRecords(), ExampleProvenance());
  const auto whole_size = std::filesystem::file_size(folder.File("whole.h5"));
  WriteBytes(path, "precious");
  constexpr int kRefused = 7;
  WriteOptions options;
  options.overwrite = true;
  for (rlim_t limit = 0; limit < whole_size; limit += whole_size / 37) {
    const int outcome = RunLimited(limit, [&] {
      try {
        WriteRecords(path, ExampleRecords(), ExampleProvenance(), options);
      } catch (const Error& error) {
        return std::string(error.what()).find("File too large") != std::string::npos ? kRefused : 1;
      }
      return 0;
    });
    ASSERT_EQ(outcome, kRefused) << "limit " << limit;
    ASSERT_EQ(ReadBytes(path), "precious");
    ASSERT_THAT(folder.Names(), ElementsAre("run.h5", "whole.h5"));
  }
  EXPECT_EQ(RunLimited(whole_size * 2,
                       [&] {
                         WriteRecords(path, ExampleRecords(), ExampleProvenance(), options);
                         return 0;
                       }),
            0);
  EXPECT_EQ(ReadRecords(path).records.size(), 2U);
}

}  // namespace
}  // namespace midscope
