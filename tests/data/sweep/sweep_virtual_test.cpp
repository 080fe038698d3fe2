// SPDX-License-Identifier: MIT
// Virtual files that refer to others: they read like a copy, and report a part that has changed;
// HDF5 alone would return fill values.
#include "data/sweep/sweep_virtual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/store/record_reader.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_sweep.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

constexpr const char* kVirtualPlan =
    R"~({"task":"list","samples":12,"settings":["none","pi(1.5)"]})~";

void WriteVirtual(const std::string& path, const std::vector<std::string>& parts) {
  const SweepMerge merge(parts);
  WriteVirtualSweep(path, merge, merge.provenance(), {MergedFromRecord(merge)});
}

void WriteCopy(const std::string& path, const std::vector<std::string>& parts) {
  const SweepMerge merge(parts);
  merge.Write(path, merge.provenance(), {MergedFromRecord(merge)});
}

// Compares all data sets of all records.
void ExpectSameFile(const std::string& path, const std::string& other) {
  const RunFile file = ReadRecords(path);
  const RunFile expected = ReadRecords(other);
  EXPECT_EQ(file.plan_json, expected.plan_json);
  ASSERT_EQ(file.records.size(), expected.records.size());
  for (size_t i = 0; i < file.records.size(); ++i) {
    ExpectSameRecord(file.records[i], expected.records[i]);
  }
}

bool IsVirtual(const std::string& path, const char* data_set) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t opened = H5Dopen2(file, data_set, H5P_DEFAULT);
  const hid_t create = H5Dget_create_plist(opened);
  const bool is_virtual = H5Pget_layout(create) == H5D_VIRTUAL;
  H5Pclose(create);
  H5Dclose(opened);
  H5Fclose(file);
  return is_virtual;
}

// Three parts whose samples interleave, and the virtual file that joins them.
class SweepVirtual : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteSweep(File("a.h5"), kVirtualPlan, {0, 3, 4, 9});
    WriteSweep(File("b.h5"), kVirtualPlan, {1, 5, 7, 8});
    WriteSweep(File("50%b c.h5"), kVirtualPlan, {2, 6});
    WriteVirtual(File("all.h5"), parts());
  }
  std::string File(const std::string& name) const { return folder_.File(name); }
  std::vector<std::string> parts() const { return {File("a.h5"), File("b.h5"), File("50%b c.h5")}; }
  std::string OpeningError(const std::string& path) const {
    return ErrorMessage(ErrorKind::kFailure, [&] { const RunReader reader(path); });
  }

  TemporaryFolder folder_;
};

TEST_F(SweepVirtual, EveryDataSetIsAsInACopy) {
  WriteCopy(File("copy.h5"), parts());
  ExpectSameFile(File("all.h5"), File("copy.h5"));
  const RunReader reader(File("all.h5"));
  EXPECT_THAT(reader.parts(), ElementsAre("a.h5", "b.h5", "50%b c.h5"));
  EXPECT_THAT(RunReader(File("copy.h5")).parts(), IsEmpty());
  for (int64_t row = 0; row < 10; ++row) {
    ExpectSameRecord(reader.ReadSample("sweep", row), ExampleSample(row));
  }
  for (const char* large : {"last_query_attention", "token_ids", "key_label", "answer"}) {
    EXPECT_TRUE(IsVirtual(File("all.h5"), (std::string("/entry/sweep/") + large).c_str())) << large;
  }
  for (const char* small : {"answer_nll", "correct", "key_count", "sample", "setting_label"}) {
    EXPECT_FALSE(IsVirtual(File("all.h5"), (std::string("/entry/sweep/") + small).c_str()))
        << small;
  }
}

TEST_F(SweepVirtual, SettingsOfTheSameSamplesStandSideBySide) {
  const char* other_plan = R"~({"task":"list","samples":12,"settings":["ntk(2)","pi(3)"]})~";
  {
    SweepStore store = SweepStore::Create(File("ntk.h5"), other_plan, ExampleProvenance());
    for (const int64_t sample : {0, 3, 4, 9}) {
      Record record = ExampleSample(sample);
      record.axes[3].labels = {"ntk(2)", "pi(3)"};
      std::get<std::vector<double>>(record.arrays[0].data)[0] = -1;
      store.Append(sample, record);
    }
    store.Finish();
  }
  WriteVirtual(File("settings.h5"), {File("a.h5"), File("ntk.h5")});
  WriteCopy(File("copy.h5"), {File("a.h5"), File("ntk.h5")});
  ExpectSameFile(File("settings.h5"), File("copy.h5"));
}

// A text array over settings is in every part, each for that part's settings.
TEST_F(SweepVirtual, ArraysOverSettingsComeFromEveryPart) {
  const auto write = [&](const std::string& name, const std::vector<std::string>& settings) {
    const std::string plan =
        R"({"task":"kv","samples":3,"settings":[")" + settings.front() + R"("],"n":)" + "1}";
    SweepStore store = SweepStore::Create(File(name), plan, ExampleProvenance());
    for (int64_t sample = 0; sample < 3; ++sample) {
      Record record;
      record.name = "outcome";
      record.axes = {{"place", 2, "", {}, {}},
                     {"setting", static_cast<int64_t>(settings.size()), "", settings, {}}};
      std::vector<std::string> texts;
      for (int place = 0; place < 2; ++place) {
        for (const std::string& setting : settings) {
          texts.push_back(setting + std::to_string(place) + std::to_string(sample));
        }
      }
      const std::vector<std::string> questions = {"who?", std::to_string(sample)};
      record.arrays = {{"generated_text", {"place", "setting"}, texts, "", ""},
                       {kQuestionText, {"place"}, questions, "", ""}};
      store.Append(sample, record);
    }
    store.Finish();
  };
  write("x.h5", {"none"});
  write("y.h5", {"pi(2)", "ntk(2)", "ntk(3)"});
  WriteVirtual(File("xy.h5"), {File("x.h5"), File("y.h5")});
  WriteCopy(File("copy.h5"), {File("x.h5"), File("y.h5")});
  ExpectSameFile(File("xy.h5"), File("copy.h5"));
  EXPECT_TRUE(IsVirtual(File("xy.h5"), "/entry/sweep/generated_text"));
  EXPECT_FALSE(IsVirtual(File("xy.h5"), "/entry/sweep/question_text")) << "short texts are copied";
}

// HDF5 cannot open a file a second time in another mode, and reports no error in that case.
TEST_F(SweepVirtual, ReadsWhileItsPartsAreOpen) {
  const RunReader part(File("a.h5"));
  const RunReader whole(File("all.h5"));
  const RunReader later(File("b.h5"));
  ExpectSameRecord(whole.ReadSample("sweep", 3), ExampleSample(3));
  ExpectSameRecord(whole.ReadSample("sweep", 5), ExampleSample(5));
  ExpectSameRecord(later.ReadSample("sweep", 1), ExampleSample(5));
  ExpectSameRecord(part.ReadSample("sweep", 1), ExampleSample(3));
}

TEST_F(SweepVirtual, APartThatIsMissingOrAnotherOneIsNamed) {
  const RunReader opened(File("all.h5"));
  fs::rename(File("b.h5"), File("gone.h5"));
  EXPECT_THAT(OpeningError(File("all.h5")), AllOf(HasSubstr("/b.h5"), HasSubstr("missing")));
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { opened.ReadSample("sweep", 1); }),
              HasSubstr("/b.h5"));
  WriteSweep(File("b.h5"), kVirtualPlan, {1, 5, 7, 10});
  EXPECT_THAT(OpeningError(File("all.h5")), AllOf(HasSubstr("/b.h5"), HasSubstr("changed")));
  std::string damaged = ReadBytes(File("gone.h5"));
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  WriteBytes(File("b.h5"), damaged);
  EXPECT_THAT(OpeningError(File("all.h5")), AllOf(HasSubstr("/b.h5"), HasSubstr("damaged")));
  fs::rename(File("gone.h5"), File("b.h5"));
  EXPECT_EQ(RunReader(File("all.h5")).parts().size(), 3U);
  setenv("HDF5_VDS_PREFIX", "/nowhere", 1);
  const std::string elsewhere = OpeningError(File("all.h5"));
  unsetenv("HDF5_VDS_PREFIX");
  EXPECT_THAT(elsewhere, HasSubstr("HDF5_VDS_PREFIX"));
}

TEST_F(SweepVirtual, PartsAreFoundFromWhereItLies) {
  // Moves all files, and opens them through a link elsewhere.
  fs::create_directories(File("moved"));
  for (const char* name : {"all.h5", "a.h5", "b.h5", "50%b c.h5"}) {
    fs::rename(File(name), File("moved/") + name);
  }
  fs::create_symlink(File("moved/all.h5"), File("link.h5"));
  for (const char* name : {"moved/all.h5", "link.h5"}) {
    ExpectSameRecord(RunReader(File(name)).ReadSample("sweep", 1), ExampleSample(1));
  }
}

// A virtual file must not refer to files outside its folder.
TEST_F(SweepVirtual, PartsLieBesideItAndAreNoLinks) {
  fs::create_directories(File("parts"));
  fs::copy(File("a.h5"), File("parts/a.h5"));
  fs::create_symlink(File("a.h5"), File("link.h5"));
  for (const char* part : {"parts/a.h5", "link.h5"}) {
    EXPECT_THAT(ErrorMessage(ErrorKind::kUsage,
                             [&] {
                               WriteVirtual(File("new.h5"), {File(part), File("b.h5")});
                             }),
                AllOf(HasSubstr(part), HasSubstr("folder")));
    EXPECT_FALSE(fs::exists(File("new.h5")));
  }
  fs::rename(File("a.h5"), File("elsewhere.h5"));
  fs::create_symlink(File("elsewhere.h5"), File("a.h5"));
  EXPECT_THAT(OpeningError(File("all.h5")), AllOf(HasSubstr("/a.h5"), HasSubstr("is a link")));
}

TEST_F(SweepVirtual, WhatCannotBePointedIntoIsRefused) {
  {
    SweepStore store = SweepStore::Create(File("going.h5"), kVirtualPlan, ExampleProvenance());
    store.Append(10, ExampleSample(10));
    store.Checkpoint();
    store.Append(11, ExampleSample(11));
  }
  const auto refusal = [&](const std::string& part) {
    return ErrorMessage(ErrorKind::kUsage, [&] {
      WriteVirtual(File("new.h5"), {File("a.h5"), part});
    });
  };
  EXPECT_THAT(refusal(File("going.h5")), AllOf(HasSubstr("sample 11"), HasSubstr("journal")));
  WriteVirtual(File("two.h5"), {File("b.h5"), File("50%b c.h5")});
  EXPECT_THAT(refusal(File("two.h5")), HasSubstr("virtual"));
  // A virtual file is a valid input of a copy.
  WriteCopy(File("copy.h5"), {File("a.h5"), File("two.h5")});
  EXPECT_EQ(SweepStore::OpenForReading(File("copy.h5")).finished().size(), 10U);
}

// Resuming a sweep in a virtual file turns it into an ordinary one.
TEST_F(SweepVirtual, GoesOnAsAPlainFile) {
  SweepStoreOptions options;
  options.resume = true;
  {
    SweepStore store =
        SweepStore::Create(File("all.h5"), kVirtualPlan, ExampleProvenance(), options);
    EXPECT_EQ(store.finished().size(), 10U);
    store.Append(10, ExampleSample(10));
    store.Finish();
  }
  for (const std::string& part : parts()) fs::remove(part);
  const RunReader reader(File("all.h5"));
  EXPECT_THAT(reader.parts(), IsEmpty());
  for (const int64_t row : {0, 5, 10}) {
    ExpectSameRecord(reader.ReadSample("sweep", row), ExampleSample(row));
  }
}

TEST_F(SweepVirtual, AFileThatPointsToWhatItDoesNotNameIsRefused) {
  const hid_t file = H5Fopen(File("all.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(H5Adelete_by_name(file, "entry", "parts", H5P_DEFAULT), 0);
  ASSERT_GE(H5Adelete_by_name(file, "entry", "part_checksums", H5P_DEFAULT), 0);
  H5Fclose(file);
  const RunReader reader(File("all.h5"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { reader.Describe("sweep"); }),
              HasSubstr("not a part of it"));
}

}  // namespace
}  // namespace midscope
