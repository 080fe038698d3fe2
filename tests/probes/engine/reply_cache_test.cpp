// SPDX-License-Identifier: MIT
#include "probes/engine/reply_cache.h"

#include <gtest/gtest.h>

#include "core/terms/intervention_text.h"

namespace midscope {
namespace {

WhatIfRequest Asked(const char* setting) {
  WhatIfRequest request;
  request.intervention = ParseIntervention(setting);
  return request;
}

WhatIfReply Numbers(size_t count, float value = 0) {
  Record record;
  record.name = "outcome";
  record.arrays = {{"a", {}, std::vector<float>(count, value), "", ""}};
  WhatIfReply reply;
  reply.records = {record};
  return reply;
}

float First(const WhatIfReply& reply) {
  return std::get<std::vector<float>>(reply.records.front().arrays.front().data).front();
}

TEST(ReplyCache, FindsByTheValueOfAllThatWasAsked) {
  ReplyCache cache(1 << 20);
  WhatIfRequest request = Asked("pi(1.5)");
  request.channels = {100};
  cache.Add(request, Numbers(4, 7));
  ASSERT_NE(cache.Find(request), nullptr);
  EXPECT_EQ(First(*cache.Find(request)), 7);
  WhatIfRequest other = Asked("pi(1.50)");  // the same value in another form
  other.channels = {100};
  EXPECT_NE(cache.Find(other), nullptr);
  other.channels = {7};
  EXPECT_EQ(cache.Find(other), nullptr);
  other = request;
  other.place = 1;
  EXPECT_EQ(cache.Find(other), nullptr);
  other = request;
  other.attention = false;
  EXPECT_EQ(cache.Find(other), nullptr);
  EXPECT_EQ(cache.Find(Asked("pi(1.6)")), nullptr);
}

TEST(ReplyCache, DropsTheLeastRecentlyUsedBeyondItsBytes) {
  ReplyCache cache(100000);
  const WhatIfRequest a = Asked("pi(1.1)");
  const WhatIfRequest b = Asked("pi(1.2)");
  const WhatIfRequest c = Asked("pi(1.3)");
  cache.Add(a, Numbers(10000));
  cache.Add(b, Numbers(10000));
  EXPECT_GT(cache.bytes(), 80000u);
  ASSERT_NE(cache.Find(a), nullptr);  // makes b the oldest
  cache.Add(c, Numbers(10000));
  EXPECT_NE(cache.Find(a), nullptr);
  EXPECT_EQ(cache.Find(b), nullptr);
  EXPECT_NE(cache.Find(c), nullptr);
  EXPECT_LE(cache.bytes(), 100000u);
  cache.Add(b, Numbers(50000));  // larger than the cache, so the others are kept
  EXPECT_EQ(cache.Find(b), nullptr);
  EXPECT_EQ(cache.size(), 2u);
}

TEST(ReplyCache, AnEqualRequestReplacesItsReply) {
  ReplyCache cache(1 << 20);
  cache.Add(Asked("none"), Numbers(100, 1));
  const size_t bytes = cache.bytes();
  cache.Add(Asked("none"), Numbers(100, 2));
  EXPECT_EQ(cache.bytes(), bytes);
  EXPECT_EQ(First(*cache.Find(Asked("none"))), 2);
}

}  // namespace
}  // namespace midscope
