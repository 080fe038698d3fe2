// SPDX-License-Identifier: MIT
// Unusual paths: circular links, long names, folders without access rights, pipes, no $HOME. Tests
// that need a folder without rights are skipped if the user is exempt from access checks.
#include "core/base/file_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/base/environment.h"
#include "core/base/job.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;
using test::ErrorMessage;
using ::testing::HasSubstr;

class FileAccess : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }

  test::TemporaryFolder folder_;
};

TEST_F(FileAccess, WhatTheSystemDoesNotTellIsAnErrorWithItsReason) {
  fs::create_symlink("b", Path("a"));
  fs::create_symlink("a", Path("b"));
  EXPECT_THAT(ErrorMessage([&] { PathExists(Path("a")); }), HasSubstr("symbolic links"));
  EXPECT_THAT(ErrorMessage([&] { IsFolder(Path("a")); }), HasSubstr("symbolic links"));
  EXPECT_THAT(ErrorMessage([&] { LinkTarget(Path("a")); }), HasSubstr("symbolic links"));
  EXPECT_THAT(ErrorMessage([&] { ReadWholeFile(Path("a")); }), HasSubstr("symbolic links"));
  EXPECT_THAT(ErrorMessage([&] { PathExists(Path(std::string(300, 'x'))); }),
              HasSubstr("too long"));
  EXPECT_FALSE(PathExists(Path("missing")));
  EXPECT_FALSE(PathExists(Path("missing/inside")));
  EXPECT_TRUE(IsFolder(folder_.path()));
}

TEST_F(FileAccess, AFolderThatMayNotBeEnteredIsNoMissingFile) {
  fs::create_directory(Path("closed"));
  std::ofstream(Path("closed/file")) << "x";
  ::chmod(Path("closed").c_str(), 0);
  if (::access(Path("closed").c_str(), X_OK) == 0) GTEST_SKIP() << "root may enter every folder";
  EXPECT_THAT(ErrorMessage([&] { PathExists(Path("closed/file")); }),
              HasSubstr("Permission denied"));
  EXPECT_THAT(ErrorMessage([&] { ReadWholeFile(Path("closed/file")); }),
              HasSubstr("Permission denied"));
  ::chmod(Path("closed").c_str(), 0700);
}

// Any function of std::filesystem that throws inside a job.
TEST_F(FileAccess, AFailedCallOfTheFileSystemIsNotABugOfTheProgram) {
  const JobOutcome outcome =
      RunJob({}, [&](const JobContext&) { (void)fs::file_size(Path("missing")); });
  EXPECT_EQ(outcome.why, Path("missing") + ": No such file or directory");
  EXPECT_EQ(outcome.problem, outcome.why);
}

TEST_F(FileAccess, LinksLeadToTheirFiles) {
  fs::create_directory(Path("scratch"));
  fs::create_symlink("scratch/run.h5", Path("relative.h5"));
  fs::create_symlink(Path("relative.h5"), Path("twice.h5"));
  EXPECT_EQ(LinkTarget(Path("relative.h5")), Path("scratch/run.h5"));  // which does not exist yet
  EXPECT_EQ(LinkTarget(Path("twice.h5")), Path("scratch/run.h5"));
  EXPECT_EQ(LinkTarget(Path("plain.h5")), Path("plain.h5"));
  EXPECT_EQ(LinkTarget("plain.h5"), "plain.h5");
}

TEST_F(FileAccess, FilesAreReadWhole) {
  const std::string text(3 << 20, 'x');
  std::ofstream(Path("file")) << text;
  EXPECT_EQ(ReadWholeFile(Path("file")), text);
  EXPECT_THAT(ErrorMessage([&] { ReadWholeFile(Path("file"), 1 << 20, "1 MiB"); }),
              HasSubstr("longer than 1 MiB"));
  EXPECT_THAT(ErrorMessage([&] { ReadWholeFile(Path("missing")); }),
              HasSubstr("No such file or directory). Check the path"));
  EXPECT_THAT(ErrorMessage([&] { ReadWholeFile(Path("")); }), HasSubstr("is a folder"));
}

// Ctrl-C while no process writes to the pipe; the program's handler restarts no call.
TEST_F(FileAccess, ASignalEndsTheWaitForAPipe) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &before);
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const pthread_t reader = pthread_self();
  std::thread sender([reader] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    pthread_kill(reader, SIGUSR1);
  });
  EXPECT_THROW(ReadWholeFile(Path("pipe")), Cancelled);
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(HomeFolder, WithoutTheVariableItIsTheUsersAndNeverTheCurrentFolder) {
  const std::string home = Environment("HOME");
  const std::string cache = Environment("XDG_CACHE_HOME");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_TRUE(CacheFolder().is_absolute()) << CacheFolder();
  setenv("HOME", "relative", 1);
  EXPECT_TRUE(CacheFolder().is_absolute()) << CacheFolder();
  setenv("HOME", "/some/home", 1);
  EXPECT_EQ(CacheFolder(), "/some/home/.cache/midscope");
  setenv("XDG_CACHE_HOME", "/elsewhere", 1);
  EXPECT_EQ(CacheFolder(), "/elsewhere/midscope");
  cache.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  home.empty() ? unsetenv("HOME") : setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace midscope
