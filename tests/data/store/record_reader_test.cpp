// SPDX-License-Identifier: MIT
#include "data/store/record_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include "core/base/error.h"
#include "data/store/run_store.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_records.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecordReader : public ::testing::Test {
 protected:
  void SetUp() override { WriteRecords(path_, ExampleRecords(), ExampleProvenance()); }

  TemporaryFolder folder_;
  std::string path_ = folder_.File("run.h5");
};

TEST_F(RecordReader, AddressesNameAFileARecordOrAnArray) {
  EXPECT_EQ(ReadRecords(path_).records.size(), 2U);
  EXPECT_EQ(ReadRecords(path_ + "::/entry").records.size(), 2U);
  for (const char* inside : {"::sweep", "::/entry/sweep", "::/sweep"}) {
    const RunFile file = ReadRecords(path_ + inside);
    ASSERT_EQ(file.records.size(), 1U) << inside;
    ExpectSameRecord(file.records[0], ExampleRecords()[1]);
  }
  for (const char* name : {"last_query_attention", "last_query_attention_record"}) {
    const RunFile file = ReadRecords(path_ + "::/entry/" + name + "/answer_nll");
    ASSERT_EQ(file.records.size(), 1U);
    const Record& part = file.records[0];
    EXPECT_NO_THROW(part.Check());
    EXPECT_EQ(part.signal, "answer_nll");
    ASSERT_EQ(part.axes.size(), 1U);
    EXPECT_EQ(part.axes[0].name, "place");
    ExpectSameData(part.arrays[0].data, std::vector<double>{2.1, 1e-300}, "answer_nll");
  }
  EXPECT_EQ(ReadRecords(path_ + "::/entry/sweep").provenance.model_path, "model.gguf");
}

TEST_F(RecordReader, AnArrayOfOneRecordNeedsNoRecord) {
  const RunFile file = ReadRecords(path_ + "::accuracy");
  ASSERT_EQ(file.records.size(), 1U);
  EXPECT_EQ(file.records[0].name, "sweep");
  EXPECT_EQ(file.records[0].signal, "accuracy");
  // A record of that name has precedence over its array.
  EXPECT_GT(ReadRecords(path_ + "::last_query_attention").records.at(0).arrays.size(), 1U);
  std::vector<Record> twice = ExampleRecords();
  twice[1].arrays[0].name = "answer_nll";
  twice[1].signal = "answer_nll";
  WriteRecords(folder_.File("twice.h5"), twice, ExampleProvenance());
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure,
                           [&] { ReadRecords(folder_.File("twice.h5") + "::answer_nll"); }),
              HasSubstr("Give one of them: last_query_attention/answer_nll, sweep/answer_nll"));
}

TEST_F(RecordReader, WrongNamesGetTheNearestOne) {
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(path_ + "::swep"); }),
              HasSubstr("'sweep'"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(path_ + "::sweep/acuracy"); }),
              HasSubstr("'accuracy'"));
  const RunReader reader(path_);
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { reader.ReadRow("sweep", "accuracy", 3); }),
              HasSubstr("row 3"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { reader.ReadRow("sweep", "accuracy", -1); }),
              HasSubstr("row -1"));
}

TEST_F(RecordReader, DescribesWithoutReading) {
  const RunReader reader(path_);
  EXPECT_THAT(reader.record_names(), ElementsAre("last_query_attention", "sweep"));
  EXPECT_TRUE(reader.Has("sweep"));
  EXPECT_FALSE(reader.Has("swee"));
  const Record frame = reader.Describe("last_query_attention");
  EXPECT_EQ(frame.arrays.size(), ExampleRecords()[0].arrays.size());
  EXPECT_EQ(ElementCount(frame.FindArray("last_logits")->data), 0);
  EXPECT_EQ(frame.FindAxis("vocabulary")->size, 50000);
  const Array row = reader.ReadRow("last_query_attention", "last_query_attention", 2);
  EXPECT_THAT(row.axes, ElementsAre("head", "key"));
  EXPECT_EQ(std::get<std::vector<float>>(row.data).front(), 16.0F);
}

TEST_F(RecordReader, OtherFilesAreNamedAsWhatTheyAre) {
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(folder_.File("none.h5")); }),
              HasSubstr("the file does not exist"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(folder_.File("")); }),
              HasSubstr("not a file"));
  WriteBytes(folder_.File("text.h5"), "hello");
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(folder_.File("text.h5")); }),
              HasSubstr("damaged"));
  WriteBytes(folder_.File("empty.h5"), "");
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(folder_.File("empty.h5")); }),
              HasSubstr("damaged"));

  const std::string foreign = folder_.File("foreign.h5");
  hid_t file = H5Fcreate(foreign.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(foreign); }),
              HasSubstr("not one that Midscope wrote"));

  file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t version = H5Aopen(file, "schema_version", H5P_DEFAULT);
  const int64_t later = kRunSchemaVersion + 1;
  H5Awrite(version, H5T_NATIVE_INT64, &later);
  H5Aclose(version);
  H5Fclose(file);
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(path_); }),
              HasSubstr("later Midscope"));
}

TEST_F(RecordReader, ACutFileIsAnErrorWhereverItIsCut) {
  const std::string whole = ReadBytes(path_);
  const std::string cut_path = folder_.File("cut.h5");
  for (size_t size = 0; size < whole.size(); size += 997) {
    WriteBytes(cut_path, whole.substr(0, size));
    EXPECT_NE(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(cut_path); }), "") << size;
  }
}

TEST_F(RecordReader, ADamagedFileIsAnErrorWhereverTheDamageIs) {
  const std::string whole = ReadBytes(path_);
  const std::string damaged_path = folder_.File("damaged.h5");
  std::mt19937 random(11);
  // Without this part, the file counts as modified deliberately.
  constexpr size_t kSealMagicBytes = 24;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = whole;
    damaged[random() % (damaged.size() - kSealMagicBytes)] ^= static_cast<char>(1 + random() % 255);
    WriteBytes(damaged_path, damaged);
    ASSERT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(damaged_path); }),
                HasSubstr("damaged"))
        << round;
  }
}

// The file is open in a notebook (h5py.File(F, "r+")).
TEST_F(RecordReader, AFileThatIsOpenForWritingIsSaidToBe) {
  const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  const std::string copy = folder_.File("copy.h5");
  WriteBytes(copy, ReadBytes(path_));
  H5Fclose(file);
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(copy); }),
              AllOf(HasSubstr("is marked as open for writing"), HasSubstr("h5clear -s ")));
  ExpectSameRecord(ReadRecords(path_).records[0], ExampleRecords()[0]);
}

TEST_F(RecordReader, AFileThatAnotherProgramChangedIsStillRead) {
  const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t note = H5Acreate2(file, "note", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(note, 0);
  H5Aclose(note);
  H5Sclose(scalar);
  H5Fclose(file);
  ExpectSameRecord(ReadRecords(path_).records[0], ExampleRecords()[0]);
}

TEST_F(RecordReader, AHugeClaimIsNotBelieved) {
  const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t group = H5Gopen2(file, "/entry/sweep", H5P_DEFAULT);
  const hsize_t sizes[] = {hsize_t{1} << 40};
  const hsize_t chunk[] = {1024};
  const hid_t space = H5Screate_simple(1, sizes, nullptr);
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(create, 1, chunk);
  H5Ldelete(group, "place", H5P_DEFAULT);
  const hid_t data_set =
      H5Dcreate2(group, "place", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT);
  ASSERT_GE(data_set, 0);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t role = H5Acreate2(data_set, "midscope_role", type, scalar, H5P_DEFAULT, H5P_DEFAULT);
  const char* axis = "axis";
  H5Awrite(role, type, &axis);
  H5Fclose(file);
  for (const hid_t id : {data_set, group, space, create, type, scalar, role}) {
    while (H5Iis_valid(id) > 0 && H5Idec_ref(id) > 0) {
    }
  }
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { ReadRecords(path_); }), HasSubstr("claims"));
}

TEST(RunAddressText, IsTakenApart) {
  const auto parts = [](const char* address) {
    const RunAddress parsed = ParseRunAddress(address);
    return parsed.path + "|" + parsed.inside;
  };
  EXPECT_EQ(parts("a.h5"), "a.h5|");
  EXPECT_EQ(parts("a.h5::/entry"), "a.h5|");
  EXPECT_EQ(parts("a.h5::/entry/x/y"), "a.h5|x/y");
  EXPECT_EQ(parts("a::b.h5::x"), "a::b.h5|x");
  EXPECT_EQ(parts("::"), "|");
}

}  // namespace
}  // namespace midscope
