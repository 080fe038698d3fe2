// SPDX-License-Identifier: MIT
#include "data/export/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/data/support/example_records.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;

std::string Csv(const Record& record) {
  std::ostringstream out;
  WriteCsv(record, out);
  return out.str();
}

TEST(Export, CsvHasOneRowAnElement) {
  Record record;
  record.name = "r";
  record.axes = {{"place", 2, "", {}, {1, 20}},
                 {"setting", 2, "", {"none", "a,\"b\""}, {}},
                 {"unused", 3, "", {}, {}}};
  record.arrays = {
      {"nll", {"setting", "place"}, std::vector<float>{0.1F, 2, std::nanf(""), 1e20F}, "", ""},
      {"right", {"place"}, std::vector<uint8_t>{1, 0}, "", ""},
      {"text", {}, std::vector<std::string>{"x\ny"}, "", ""}};
  EXPECT_EQ(Csv(record),
            "array,place,setting,value\r\n"
            "nll,1,none,0.1\r\n"
            "nll,20,none,2\r\n"
            "nll,1,\"a,\"\"b\"\"\",\r\n"
            "nll,20,\"a,\"\"b\"\"\",1e+20\r\n"
            "right,1,,true\r\n"
            "right,20,,false\r\n"
            "text,,,\"x\ny\"\r\n");
}

TEST(Export, CsvOfOneAxisHasOneColumnAnArray) {
  Record record;
  record.name = "r";
  record.axes = {{"place", 2, "", {}, {1, 20}}, {"unused", 3, "", {}, {}}};
  record.arrays = {{"nll", {"place"}, std::vector<float>{0.1F, std::nanf("")}, "", ""},
                   {"right", {"place"}, std::vector<uint8_t>{1, 0}, "", ""},
                   {"text", {"place"}, std::vector<std::string>{"x\ny", "a,b"}, "", ""}};
  EXPECT_EQ(Csv(record),
            "place,nll,right,text\r\n"
            "1,0.1,true,\"x\ny\"\r\n"
            "20,,false,\"a,b\"\r\n");
}

// The CSV of one array has the same form for any axes.
TEST(Export, CsvOfOneArrayIsInLongForm) {
  Record record;
  record.name = "r";
  record.axes = {{"rank", 2, "", {}, {}}};
  record.arrays = {{"logit", {"rank"}, std::vector<float>{3, 1}, "", ""}};
  EXPECT_EQ(Csv(record), "array,rank,value\r\nlogit,0,3\r\nlogit,1,1\r\n");
}

TEST(Export, JsonHoldsEverything) {
  std::ostringstream out;
  WriteJson(ExampleRecords(), ExampleProvenance(), out);
  const nlohmann::json json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["provenance"]["seed"], -7);
  EXPECT_EQ(json["provenance"]["command"], ExampleProvenance().command);
  const auto& probe = json["records"][0];
  EXPECT_EQ(probe["name"], "last_query_attention");
  EXPECT_EQ(probe["attributes"]["mean"], 0.1);
  EXPECT_EQ(probe["axes"][2]["labels"][3], "a,\"b\"\n");
  EXPECT_EQ(probe["axes"][6]["values"], nlohmann::json({0.5, 0.25}));
  const auto& attention = probe["arrays"][0];
  EXPECT_EQ(attention["shape"], nlohmann::json({3, 2, 4}));
  EXPECT_EQ(attention["data"][2][1][3], 23.0);
  EXPECT_TRUE(attention["data"][0][1][1].is_null()) << "NaN";
  EXPECT_THAT(out.str(), HasSubstr("null,0.1,7")) << "float32 in its shortest form";
  EXPECT_EQ(probe["arrays"][1]["data"][3], INT64_MIN);
  EXPECT_EQ(probe["arrays"][4]["data"], nlohmann::json({true, false}));
  EXPECT_EQ(probe["arrays"][7]["data"], nlohmann::json::array());
  EXPECT_EQ(probe["arrays"][8]["data"], 12.5);
}

TEST(Export, BytesThatAreNoTextStillMakeValidJson) {
  Record record;
  record.name = "r";
  record.arrays = {{"text", {}, std::vector<std::string>{"\xe2\x82"}, "", ""}};
  std::ostringstream out;
  WriteJson({record}, {}, out);
  EXPECT_TRUE(nlohmann::json::accept(out.str()));
}

}  // namespace
}  // namespace midscope
