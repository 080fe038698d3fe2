// SPDX-License-Identifier: MIT
#include "probes/base/number_list.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {
namespace {

using Numbers = std::vector<int64_t>;

TEST(NumberList, ReadsNumbersAndRangesInTheirOrder) {
  EXPECT_EQ(ParseNumberList("x", "1,5,10", 1, 20), (Numbers{1, 5, 10}));
  EXPECT_EQ(ParseNumberList("x", "7, 2-4", 1, 20), (Numbers{7, 2, 3, 4}));
  EXPECT_EQ(ParseNumberList("x", "20", 1, 20), (Numbers{20}));
}

TEST(NumberList, RefusesWhatIsNoListAndNamesIt) {
  for (const char* text : {"", ",", "1,", "a", "1;2", "0", "21", "3-1", "1,1", "2-4,3", "1-", "-3",
                           "99999999999999999999", "1-9223372036854775807", "1 2", "1.5"}) {
    try {
      ParseNumberList("--places", text, 1, 20);
      ADD_FAILURE() << "'" << text << "' was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_EQ(std::string(error.what()).rfind("--places: ", 0), 0u) << error.what();
    }
  }
}

TEST(DefaultPlaces, AreFirstQuarterMiddleThreeQuartersLast) {
  EXPECT_EQ(DefaultPlaces(20), (Numbers{1, 5, 10, 15, 20}));
  EXPECT_EQ(DefaultPlaces(75), (Numbers{1, 19, 38, 56, 75}));
  EXPECT_EQ(DefaultPlaces(2), (Numbers{1, 2}));
  EXPECT_EQ(DefaultPlaces(1), (Numbers{1}));
}

TEST(ReadPlaces, TakeSharesInEveryTask) {
  const auto task = MakeTask("kv:pairs=20", 1);
  EXPECT_EQ(ReadPlaces("0%,25%,50%,75%,100%", *task), DefaultPlaces(20));
  EXPECT_EQ(ReadPlaces("100%,3,0%", *task), (Numbers{20, 3, 1}));
  EXPECT_EQ(ReadPlaces("", *MakeTask("kv:pairs=20,first_place=0", 1)), (Numbers{0, 4, 9, 14, 19}));
  EXPECT_EQ(ReadPlaces("0%,25%,100%", *MakeTask("kv:pairs=20,first_place=0", 1)),
            (Numbers{0, 4, 19}));
  try {
    ReadPlaces("0%,2%", *task);
    ADD_FAILURE() << "two shares are one place";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "places: place 1 occurs twice in '0%,2%', for task kv:pairs=20,query_aware=0 has 20 "
              "places. Give shares that are further apart");
  }
}

}  // namespace
}  // namespace midscope
