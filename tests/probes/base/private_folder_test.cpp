// SPDX-License-Identifier: MIT
// Temporary folders. Contract: readable by their user alone, and gone with their files.
#include "probes/base/private_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

TEST(PrivateFolderTest, IsDeletedWithItsFiles) {
  fs::path path;
  {
    const PrivateFolder folder(::testing::TempDir(), ".hidden-");
    path = folder.path();
    EXPECT_THAT(path.filename().string(), ::testing::StartsWith(".hidden-"));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    std::ofstream(folder.File("file")) << "text";
    EXPECT_TRUE(fs::exists(path / "file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolderTest, IsKeptOnRequest) {
  std::string file;
  {
    PrivateFolder folder;
    file = folder.File("file");
    std::ofstream(file) << "text";
    folder.Keep();
  }
  EXPECT_TRUE(fs::exists(file));
  fs::remove_all(fs::path(file).parent_path());
}

TEST(PrivateFolderTest, AMissingParentIsAnError) {
  EXPECT_THAT(test::ErrorMessage(ErrorKind::kFailure, [] { PrivateFolder("/no/such/folder"); }),
              ::testing::HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace midscope
