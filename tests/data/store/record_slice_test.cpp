// SPDX-License-Identifier: MIT
#include "data/store/record_slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_records.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Places(const std::string& text) {
  Record record;
  record.name = "r";
  record.axes = {{"layer", 30, "", {}, {}},
                 {"place", 4, "", {}, {1, 5, 10, 5}},
                 {"setting", 3, "", {"none", "pi(1.5)", "2-3"}, {}},
                 {"shift", 3, "", {}, {-2, -1, 0.5}}};
  const AxisSlice slice = ReadAxisSlice(record, text);
  return slice.axis + " " + std::to_string(slice.begin) + " " + std::to_string(slice.end);
}

TEST(AxisSliceText, IsALabelAValueOrARangeOfValues) {
  EXPECT_EQ(Places("layer=8"), "layer 8 9");
  EXPECT_EQ(Places("layer=8-25"), "layer 8 26");
  EXPECT_EQ(Places("layer=28-99"), "layer 28 30");
  EXPECT_EQ(Places("place=10"), "place 2 3");
  EXPECT_EQ(Places("place=5-10"), "place 1 4");
  EXPECT_EQ(Places("setting=pi(1.5)"), "setting 1 2");
  EXPECT_EQ(Places("setting=2-3"), "setting 2 3") << "a label is taken before a range";
  EXPECT_EQ(Places("setting=0-1"), "setting 0 2");
  EXPECT_EQ(Places("shift=-2--1"), "shift 0 2");
  EXPECT_EQ(Places("shift=0.5"), "shift 2 3");
}

TEST(AxisSliceText, ErrorsSayWhatThereIs) {
  const auto message = [](const char* text) {
    return ErrorMessage(ErrorKind::kUsage, [&] { Places(text); });
  };
  EXPECT_THAT(message("layr=8"), HasSubstr("'layer'"));
  EXPECT_THAT(message("layer=30"), HasSubstr("from 0 to 29"));
  EXPECT_THAT(message("layer=8-"), HasSubstr("no such place"));
  EXPECT_THAT(message("layer=9-8"), HasSubstr("no such place"));
  EXPECT_THAT(message("setting=none "), HasSubstr("'none'"));
  EXPECT_THAT(message("place=5"), HasSubstr("not adjacent"));
  for (const char* text : {"layer", "layer=", "=8", ""}) {
    EXPECT_THAT(message(text), HasSubstr("AXIS=PLACES")) << text;
  }
}

// The labels of a sweep contain every argument; the user typed fewer.
TEST(AxisSliceText, ASettingMayBeWrittenAsItWasGiven) {
  Record record;
  record.name = "sweep";
  record.axes = {{"setting",
                  3,
                  "",
                  {"none", "pi(1.5)", "channel(100, factor=-1, layers=all, rows=answer)"},
                  {}},
                 {"place", 3, "", {}, {1, 10, 20}}};
  record.attributes["setting_1_as_given"] = std::string("@mine.txt");
  EXPECT_EQ(ReadAxisSlice(record, "setting=@mine.txt").begin, 1);
  EXPECT_EQ(ReadAxisSlice(record, "setting=2").begin, 2);
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { ReadAxisSlice(record, "setting=pi(2)"); }),
              HasSubstr("'pi(1.5)'"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { ReadAxisSlice(record, "place=3"); }),
              HasSubstr("1, 10, 20"));
}

TEST(ReadRecordsWithSlices, CutsEveryRecordThatHasTheAxis) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  WriteRecords(path, ExampleRecords(), ExampleProvenance());
  const RunFile file = ReadRecords(path, {"layer=1-2", "key=caf\xc3\xa9"});
  const Record& record = file.records[0];
  EXPECT_NO_THROW(record.Check());
  EXPECT_THAT(record.FindAxis("layer")->values, ElementsAre(1, 2));
  EXPECT_THAT(record.FindAxis("key")->labels, ElementsAre("caf\xc3\xa9"));
  ExpectSameData(record.FindArray("last_query_attention")->data, std::vector<float>{9, 13, 17, 21},
                 "attention");
  EXPECT_EQ(ElementCount(record.FindArray("last_logits")->data), 50000);
  ExpectSameRecord(file.records[1], ExampleRecords()[1]);
  const RunFile one = ReadRecords(path + "::sweep/accuracy", {"place=5"});
  ExpectSameData(one.records[0].arrays[0].data, std::vector<double>{0.2}, "accuracy");
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { ReadRecords(path, {"lyer=1"}); }),
              HasSubstr("midscope ls"));
}

}  // namespace
}  // namespace midscope
