// SPDX-License-Identifier: MIT
// Places with equal prompts run once, and their results are those of a run of each.
#include "probes/sweep/sweep_sample.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "probes/base/records.h"

namespace midscope {
namespace {

TaskQuestion Question(int64_t rank, std::vector<int32_t> ids) {
  TaskQuestion question;
  question.sample.gold_rank = rank;
  question.prompt.ids = std::move(ids);
  return question;
}

TEST(RepeatedPlaces, AreThoseOfOneRankAndText) {
  const std::vector<size_t> first = FirstEqualPlaces(
      {Question(1, {1, 2}), Question(1, {1, 2}), Question(2, {2, 1}), Question(1, {1, 3})});
  EXPECT_EQ(first, (std::vector<size_t>{0, 0, 2, 3}));
  EXPECT_TRUE(HasRepeatedPlaces(first));
  EXPECT_FALSE(HasRepeatedPlaces(FirstEqualPlaces({Question(0, {1}), Question(0, {1})})));
}

TEST(RepeatedPlaces, ArraysAndCallbacksCoverAllPlaces) {
  const std::vector<size_t> first = {0, 0, 2};
  SampleRequest request;
  request.questions.resize(3);
  request.places = {1, 26, 101};
  std::vector<size_t> reported;
  request.on_answer_nll = [&](size_t, size_t place, double) { reported.push_back(place); };
  const SampleRequest reduced = WithoutRepeatedPlaces(request, first);
  EXPECT_EQ(reduced.places, (std::vector<int64_t>{1, 101}));
  reduced.on_answer_nll(0, 0, 1.0);
  reduced.on_answer_nll(0, 1, 1.0);
  EXPECT_EQ(reported, (std::vector<size_t>{0, 1, 2}));

  Record record;
  record.axes = {LabelledAxis("setting", {"none", "pi(2)"}), ValuedAxis("place", reduced.places),
                 CountedAxis("choice", 2)};
  record.axes[1].unit = "rank";
  record.arrays = {
      {"answer_nll", {"setting", "place"}, std::vector<double>{1, 2, 3, 4}, "nats", ""},
      {"choice_nll",
       {"setting", "place", "choice"},
       std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8},
       "nats",
       ""},
      {"answer_text", {"place"}, std::vector<std::string>{"a", "b"}, "", ""}};
  const Record whole = WithRepeatedPlaces(record, request.places, first);
  whole.Check();
  EXPECT_EQ(std::get<std::vector<double>>(whole.arrays[0].data),
            (std::vector<double>{1, 1, 2, 3, 3, 4}));
  EXPECT_EQ(std::get<std::vector<double>>(whole.arrays[1].data),
            (std::vector<double>{1, 2, 1, 2, 3, 4, 5, 6, 5, 6, 7, 8}));
  EXPECT_EQ(std::get<std::vector<std::string>>(whole.arrays[2].data),
            (std::vector<std::string>{"a", "a", "b"}));
  EXPECT_EQ(whole.FindAxis("place")->values, (std::vector<double>{1, 26, 101}));
  EXPECT_EQ(whole.FindAxis("place")->unit, "rank");
}

}  // namespace
}  // namespace midscope
