// SPDX-License-Identifier: MIT
#include "probes/base/number_list.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"
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
  EXPECT_EQ(DefaultPlaces(20), (Numbers{1, 6, 11, 15, 20}));
  EXPECT_EQ(DefaultPlaces(75), (Numbers{1, 20, 38, 57, 75}));
  EXPECT_EQ(DefaultPlaces(101), (Numbers{1, 26, 51, 76, 101})) << "quarters of tasks by depth";
  EXPECT_EQ(DefaultPlaces(6), (Numbers{1, 2, 4, 5, 6}));
  EXPECT_EQ(DefaultPlaces(5), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(DefaultPlaces(4), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(DefaultPlaces(2), (Numbers{1, 2}));
  EXPECT_EQ(DefaultPlaces(1), (Numbers{1}));
}

// The printed share is the true share of the place, not the typed one.
TEST(PlaceTexts, AreTheTrueShares) {
  const auto texts = [](const std::string& spec, const std::string& places) {
    const auto task = MakeTask(spec, 1);
    return PlaceTexts(places, ReadPlaces(places, *task), *task);
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts("kv:pairs=20", "0%,25%,7,100%"), (Texts{"0 %", "26.32 %", "7", "100 %"}));
  EXPECT_EQ(texts("mdqa:documents=5", "25%,100%"), (Texts{"25 %", "100 %"}));
  EXPECT_EQ(texts("kv:pairs=2", "25%,75%"), (Texts{"0 %", "100 %"}));
  EXPECT_EQ(texts("kv:pairs=20", "1,5"), Texts{});
  for (const int64_t pieces : {1, 2, 5, 6, 20, 75, 140}) {
    const auto task = MakeTask("kv:pairs=" + std::to_string(pieces), 1);
    for (int64_t percent = 0; percent <= 100; ++percent) {
      const std::string typed = std::to_string(percent) + "%";
      const auto places = ReadPlaces(typed, *task);
      const double share = PlaceShares(places, *task).front();
      EXPECT_EQ(PlaceTexts(typed, places, *task).front(), PercentText(share));
      EXPECT_LE(std::abs(share - 0.01 * static_cast<double>(percent)),
                pieces == 1 ? 1 : 0.5 / static_cast<double>(pieces - 1) + 1e-9);
    }
  }
}

TEST(ReadPlaces, TakeSharesInEveryTask) {
  const auto task = MakeTask("kv:pairs=20", 1);
  EXPECT_EQ(ReadPlaces("0%,25%,50%,75%,100%", *task), DefaultPlaces(20));
  EXPECT_EQ(ReadPlaces("100%,3,0%", *task), (Numbers{20, 3, 1}));
  EXPECT_EQ(ReadPlaces("", *MakeTask("kv:pairs=20,first_place=0", 1)), (Numbers{0, 5, 10, 14, 19}));
  EXPECT_EQ(ReadPlaces("0%,25%,100%", *MakeTask("kv:pairs=20,first_place=0", 1)),
            (Numbers{0, 5, 19}));
  EXPECT_EQ(ReadPlaces("0%,25%,50%,75%,100%", *MakeTask("mdqa:documents=5", 1)),
            (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(ReadPlaces("all", *MakeTask("kv:pairs=3,first_place=0", 1)), (Numbers{0, 1, 2}));
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
