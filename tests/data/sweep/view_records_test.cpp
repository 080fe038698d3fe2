// SPDX-License-Identifier: MIT
#include "data/sweep/sample_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "data/sweep/sweep_store.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_records.h"

namespace midscope {
namespace {

TEST(ReadForViewing, TakesOneSampleOfWhatIsLarge) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  {
    SweepStore store = SweepStore::Create(path, R"({"seed":1})", ExampleProvenance());
    for (const int64_t sample : {2, 5, 9}) store.Append(sample, ExampleSample(sample));
    store.Finish();
  }
  const int64_t keys = RunReader(path).Describe("sweep").FindAxis("key")->size;
  // The limit admits the ids but not the attention.
  const RunFile file = ReadForViewing(path, 1, 3 * keys);
  ASSERT_EQ(file.records.size(), 2U);
  EXPECT_NO_THROW(file.records[0].Check());
  EXPECT_EQ(file.records[0].FindArray("last_query_attention"), nullptr);
  EXPECT_NE(file.records[0].FindArray("token_ids"), nullptr);
  Record sample = file.records[1];
  EXPECT_EQ(sample.name, "sweep_sample");
  EXPECT_EQ(std::get<int64_t>(sample.attributes.at("sample")), 5);
  sample.attributes.erase("sample");
  sample.name = "sweep";
  ExpectSameRecord(sample, ExampleSample(5));

  EXPECT_EQ(ReadForViewing(path).records.size(), 1U) << "small: all of it";
  EXPECT_EQ(ReadForViewing(path + "::sweep", 0, 1).records.size(), 2U);
  EXPECT_NE(test::ErrorMessage(ErrorKind::kFailure, [&] { ReadForViewing(path, 3, 1); }), "");
}

}  // namespace
}  // namespace midscope
