// SPDX-License-Identifier: MIT
// An installed Midscope can be moved: its programs and libraries find each other by relative paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Output {
  int status = 0;
  std::string text;
};

// Runs a shell command and returns its standard output and error.
Output Shell(const std::string& command) {
  Output output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return {-1, "no shell"};
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.text.append(buffer, n);
  }
  output.status = ::pclose(pipe);
  return output;
}

TEST(InstalledProgram, RunsAfterItsFolderWasMoved) {
  const TemporaryFolder folder;
  const std::string first = folder.File("first");
  const std::string moved = folder.File("moved");
  const Output installed =
      Shell("'" MIDSCOPE_CMAKE "' --install '" MIDSCOPE_BUILD "' --component toolkit --prefix '" +
            first + "'");
  ASSERT_EQ(installed.status, 0) << installed.text;
  fs::rename(first, moved);
  const Output run =
      Shell("'" + moved + "/bin/midscope' probe embedded --prompt 'The capital of France is'");
  EXPECT_EQ(run.status, 0) << run.text;
  EXPECT_THAT(run.text, HasSubstr("' Paris'"));

  // A file without its checksum, which the program reads by another process of itself.
  const std::string file = folder.File("probe.h5");
  const std::string midscope = "'" + moved + "/bin/midscope' ";
  EXPECT_EQ(Shell(midscope + "probe embedded --prompt 'One two' --out '" + file + "'").status, 0);
  constexpr int kSealBytes = 24;
  fs::resize_file(file, fs::file_size(file) - kSealBytes);
  const Output shown = Shell(midscope + "show '" + file + "'");
  EXPECT_EQ(shown.status, 0) << shown.text;
  fs::remove(moved + "/lib/libmidscope_cli.so");
  const Output lacking = Shell(midscope + "--help");
  EXPECT_EQ(WEXITSTATUS(lacking.status), 1);
  EXPECT_THAT(lacking.text,
              HasSubstr("midscope: libmidscope_cli.so: cannot open shared object file"));

  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(moved)) {
    folders.insert(entry.path().filename().string());
  }
  EXPECT_EQ(folders, (std::set<std::string>{"bin", "lib"}));
}

}  // namespace
}  // namespace midscope
