// SPDX-License-Identifier: MIT
// Unusual paths: circular links, long names, folders without rights, links to files, pipes, files
// of another type than their name suggests. No message reports them as a bug.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTiny = MIDSCOPE_TESTS "/core/golden/tiny_models/llama";

void ExpectRefusedFor(const Arguments& words, const std::string& reason) {
  const ProgramRun run = RunMidscope(words);
  const std::string line = ::testing::PrintToString(words);
  EXPECT_TRUE(run.status == 1 || run.status == 2) << line << run.status;
  EXPECT_THAT(run.err, HasSubstr(reason)) << line;
  EXPECT_THAT(run.err, Not(HasSubstr("bug"))) << line;
}

// The commands that write or read a path, applied to this path.
std::vector<Arguments> CommandsAt(const std::string& path) {
  const Arguments sweep = {"sweep", kTiny, "--task", "kv:pairs=1", "--samples", "1"};
  const Arguments prompt = {kTiny, "--prompt", "x", "--out", path};
  return {With(sweep, {"--out", path}),
          With(sweep, {"--out", path, "--resume"}),
          With({"probe"}, prompt),
          With({"generate"}, prompt),
          {"scan", kTiny, "--task", "kv:pairs=1", "--samples", "1", "--out", path},
          {"channels", kTiny, "--validate", "none", "--out", path},
          {"merge", path, path},
          {"probe", path, "--prompt", "x"},
          {"probe", kTiny, "--prompt-file", path},
          {"probe", kTiny, "--task", "jsonl:file=" + path},
          {"probe", kTiny, "--prompt", "x", "--chat", "--chat-template", path},
          {"curves", path},
          {"show", path},
          {"ls", path},
          {"compare", path, path},
          {"export", path, "--format", "csv"},
          {"info", path}};
}

TEST(ProgramPaths, ACircleOfLinksAndALongName) {
  const TemporaryFolder folder;
  fs::create_symlink("b", folder.File("a"));
  fs::create_symlink("a", folder.File("b"));
  for (const Arguments& words : CommandsAt(folder.File("a")))
    ExpectRefusedFor(words, "symbolic link");
  for (const Arguments& words : CommandsAt(folder.File(std::string(300, 'x'))))
    ExpectRefusedFor(words, "name too long");
}

TEST(ProgramPaths, AFolderThatMayNotBeEntered) {
  const TemporaryFolder folder;
  fs::create_directory(folder.File("closed"));
  ::chmod(folder.File("closed").c_str(), 0);
  if (::access(folder.File("closed").c_str(), X_OK) == 0)
    GTEST_SKIP() << "root may enter every folder";
  for (const Arguments& words : CommandsAt(folder.File("closed/x.h5")))
    ExpectRefusedFor(words, "Permission denied");
  std::ofstream(folder.File("file")) << "{}";
  ::chmod(folder.File("file").c_str(), 0);
  ExpectRefusedFor({"show", folder.File("file")}, "Permission denied");
  ExpectRefusedFor({"probe", kTiny, "--prompt-file", folder.File("file")}, "Permission denied");
}

// Results are often stored on another disk, with a link to them.
TEST(ProgramPaths, ALinkIsWrittenWhereItLeads) {
  const TemporaryFolder folder;
  fs::create_directory(folder.File("scratch"));
  const std::string link = folder.File("run.h5");
  const std::string target = folder.File("scratch/run.h5");
  fs::create_symlink(target, link);
  const Arguments sweep = {"sweep",   "embedded",   "--task", "list:lines=2",
                           "--score", "likelihood", "--out",  link};
  RunWell(With(sweep, {"--samples", "1"}));
  EXPECT_TRUE(fs::is_symlink(link) && fs::is_regular_file(target));
  RunWell(With(sweep, {"--samples", "2", "--resume"}));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_THAT(RunWell({"ls", target}).out, HasSubstr("2 of 2 samples"));
  RunWell({"probe", kTiny, "--prompt", "x", "--out", link, "--overwrite"});
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_THAT(RunWell({"ls", target}).out, HasSubstr("::/entry/prompt/"));
  RunWell({"export", target, "--format", "json", "--out", folder.File("a.json")});
  fs::create_symlink("a.json", folder.File("b.json"));
  RunWell({"export", target, "--out", folder.File("b.json"), "--overwrite"});
  EXPECT_TRUE(fs::is_symlink(folder.File("b.json")));
}

// Whether the process handles SIGINT and sleeps in a system call.
bool WaitsForInput(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  bool sleeps = false;
  bool handles = false;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) sleeps = line.starts_with("State:\tS");
    if (line.starts_with("SigCgt:"))
      handles = (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
  }
  return sleeps && handles;
}

// No process writes to the pipe, and the first Ctrl-C ends the wait. A plan is read before anything
// else.
TEST(ProgramPaths, AnInterruptEndsTheWaitForAPipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.File("plan.toml").c_str(), 0600), 0);
  RunningProgram running({"sweep", kTiny, "--plan", folder.File("plan.toml")});
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  // Several times, because the program may sleep for a moment before it opens the pipe.
  for (int seen = 0; seen < 5 && running.Running(); pause())
    seen = WaitsForInput(running.process()) ? seen + 1 : 0;
  running.Signal(SIGINT);
  for (int i = 0; i < 1000 && running.Running(); ++i) pause();
  EXPECT_FALSE(running.Running());
  running.Signal(SIGKILL);
  const ProgramRun run = running.Wait();
  EXPECT_EQ(run.status, 130);
  EXPECT_THAT(run.err, HasSubstr("interrupted"));
}

TEST(ProgramPaths, AModelThatIsNotWholeIsNamedByWhatIsMissing) {
  const TemporaryFolder folder;
  fs::copy(kTiny, folder.File("model"));
  ExpectRefusedFor({"info", folder.File("model/config.json")}, "Name its folder: ");
  fs::rename(folder.File("model/model.safetensors"),
             folder.File("model/model-00001-of-00002.safetensors"));
  ExpectRefusedFor({"info", folder.File("model")},
                   "has 1 safetensors files, but no model.safetensors.index.json");
  std::ofstream(folder.File("model/config.json")) << "{\n \"model_type\": }";
  ExpectRefusedFor({"info", folder.File("model")},
                   "it is not JSON, or a damaged one, from line 2, character 16 on");
}

TEST(ProgramPaths, ANameThatIsNotUtf8) {
  const TemporaryFolder folder;
  const std::string lines = folder.File("caf\xe9.jsonl");
  std::ofstream(lines) << "{\"question\": \"x\", \"answers\": [\"y\"]}\n";
  ExpectRefusedFor({"probe", kTiny, "--task", lines}, "names of files included");
  const std::string file = folder.File("caf\xe9.h5");
  RunWell({"probe", kTiny, "--prompt", "x", "--out", file});
  RunWell({"show", file});
  if (!MIDSCOPE_HAS_GUI) return;
  ExpectRefusedFor({"export", file, "--format", "svg", "--out", folder.File("pictures")},
                   "is not UTF-8");
  const std::string plain = folder.File("plain.h5");
  fs::copy(file, plain);
  ExpectRefusedFor({"export", plain, "--format", "svg", "--out", folder.File("d\xe9")},
                   "is not UTF-8");
  size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(folder.File(""))) folders += entry.is_directory();
  EXPECT_EQ(folders, 2U);  // the folders pictures and d\xe9
}

TEST(ProgramPaths, PicturesWithoutAFontAreRefused) {
  if (!MIDSCOPE_HAS_GUI) GTEST_SKIP();
  const TemporaryFolder folder;
  const std::string file = folder.File("probe.h5");
  RunWell({"probe", kTiny, "--prompt", "x", "--out", file});
  std::ofstream(folder.File("fonts.conf")) << "<?xml version=\"1.0\"?><fontconfig></fontconfig>";
  setenv("FONTCONFIG_FILE", folder.File("fonts.conf").c_str(), 1);
  ExpectRefusedFor({"export", file, "--format", "svg", "--out", folder.File("pictures")},
                   "fonts-dejavu-core");
  unsetenv("FONTCONFIG_FILE");
}

}  // namespace
}  // namespace midscope
