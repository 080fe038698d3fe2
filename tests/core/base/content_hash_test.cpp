// SPDX-License-Identifier: MIT
// Digests of downloaded files, compared with those of git and sha256sum.
#include "core/base/hashes.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace midscope {
namespace {

TEST(ContentHashTest, AgreesWithGitAndSha256Sum) {
  const auto digest = [](ContentHashKind kind, const std::string& text) {
    ContentHash hash(kind, static_cast<int64_t>(text.size()));
    hash.Add(std::as_bytes(std::span(text)));
    return hash.Finish();
  };
  EXPECT_EQ(digest(ContentHashKind::kGitBlob, "hello\n"),
            "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(digest(ContentHashKind::kSha256, "hello\n"),
            "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
}

}  // namespace
}  // namespace midscope
