// SPDX-License-Identifier: MIT
#include "core/hub/hub_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <iterator>

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/hub/hub_listing.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

TEST(HubListing, BytesHaveOneDecimalInEveryLocale) {
  EXPECT_EQ(BytesText(999), "999 bytes");
  EXPECT_EQ(BytesText(1250), "1.2 kB");
  EXPECT_EQ(BytesText(8'449'000'000), "8.4 GB");
}

std::ptrdiff_t OpenFiles() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(FileLock, ACancelThatComesBetweenTwoLooksLeavesNothingOpen) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "lock";
  const FileLock held(path, "model", {});
  const std::ptrdiff_t before = OpenFiles();
  // The log is written before the first look at the flag.
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  context.log = [](const std::string&) { throw Cancelled(); };
  EXPECT_THROW(FileLock(path, "model", context), Cancelled);
  context.log = [&](const std::string&) { cancel = true; };
  EXPECT_THROW(FileLock(path, "model", context), Cancelled);
  EXPECT_EQ(OpenFiles(), before);
}

}  // namespace
}  // namespace midscope
