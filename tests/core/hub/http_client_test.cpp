// SPDX-License-Identifier: MIT
// Which addresses a token may be sent to. Transfers are tested in hub_fetch_test.cpp.
#include "core/hub/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::HasSubstr;

TEST(HttpClientTest, TellsOriginsApart) {
  EXPECT_EQ(HttpOrigin("https://Hub.example/a"), "https://hub.example:443");
  EXPECT_EQ(HttpOrigin("https://hub.example:443"), HttpOrigin("https://hub.example/b"));
  EXPECT_NE(HttpOrigin("http://hub.example"), HttpOrigin("https://hub.example"));
  EXPECT_NE(HttpOrigin("https://hub.example.evil"), HttpOrigin("https://hub.example"));
  for (const char* url : {"", "hub.example:x", "file:///etc/passwd", "https://"}) {
    EXPECT_THAT(ErrorMessage([&] { HttpOrigin(url); }), HasSubstr("not an http")) << url;
  }
  EXPECT_TRUE(MayCarryToken("https://hub.example"));
  EXPECT_TRUE(MayCarryToken("http://127.0.0.1:80"));
  EXPECT_FALSE(MayCarryToken("http://hub.example"));
  EXPECT_FALSE(MayCarryToken("http://127.0.0.1.evil.example"));
  EXPECT_EQ(PercentEncode("a b/ü?#%", "/"), "a%20b/%C3%BC%3F%23%25");
}

}  // namespace
}  // namespace midscope
