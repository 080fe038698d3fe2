// SPDX-License-Identifier: MIT
// Passes damaged results files to readers and programs. Fails if one is ended by a signal, exits
// with a status other than 0 to 2, or takes longer than 5 s.
//
// clang-format off
//   fuzz_results readers COUNT SEED [--corpus FOLDER]    readers, in worker processes of this program
//   fuzz_results programs COUNT SEED --bin FOLDER        COUNT files through each command and picture
//   fuzz_results here COUNT SEED                         HDF5 in this program: shows what it does
//   fuzz_results kinds --bin FOLDER                      the hostile kinds through each of them
// clang-format on
//
// It does without LibTorch, as the readers do. A corpus is a folder of folders with run.h5 or
// run.h5.journal in each and what goes with it; without one it writes its own.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/data/support/example_records.h"
#include "tests/data/support/hostile_results.h"
#include "tests/data/support/mutate_results.h"
#include "tests/data/support/read_results.h"

namespace midscope::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kLongest = 5;       // largest CPU seconds of one reader or program
constexpr double kLongestWait = 60;  // largest elapsed seconds, on a machine under load

struct Options {
  std::string mode;
  int64_t count = 0;
  uint64_t seed = 1;
  std::string corpus;
  std::string programs;
};

struct Tally {
  int64_t runs = 0;
  int64_t bad = 0;
  int64_t read = 0;
  int64_t refused = 0;
  double longest = 0;

  void Bad(const std::string& what) {
    ++bad;
    std::printf("BAD %s\n", what.c_str());
    std::fflush(stdout);
  }
};

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double ComputedBy(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A worker's reply for one mutant.
struct WorkerReply {
  int64_t index = 0;
  int32_t read = 0;
  int32_t refused = 0;
  double longest = 0;
  char other[240] = {};
};

[[noreturn]] void Work(int out, const Corpus& corpus, const Options& options, int64_t first,
                       const std::string& folder) {
  for (int64_t index = first; index < options.count; ++index) {
    corpus.WriteMutant(options.seed + static_cast<uint64_t>(index), folder);
    const ReadOutcome outcome = ReadInEveryWay(folder);
    WorkerReply reply{index, outcome.read, outcome.refused, outcome.longest, {}};
    std::snprintf(reply.other, sizeof(reply.other), "%s", outcome.other.c_str());
    if (write(out, &reply, sizeof(reply)) != sizeof(reply)) _exit(1);
  }
  _exit(0);
}

// Starts a worker at mutant `first` and follows it until it ends. Returns the mutant at which to
// continue.
int64_t FollowWorker(const Corpus& corpus, const Options& options, int64_t first,
                     const std::string& folder, Tally& tally) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) std::abort();
  const pid_t worker = fork();
  if (worker == 0) {
    close(pipe_ends[0]);
    Work(pipe_ends[1], corpus, options, first, folder);
  }
  close(pipe_ends[1]);
  int64_t next = first;
  while (true) {
    pollfd waiting{pipe_ends[0], POLLIN, 0};
    const bool late = poll(&waiting, 1, static_cast<int>(kLongestWait * 1000)) == 0;
    WorkerReply reply;
    const bool told = !late && read(pipe_ends[0], &reply, sizeof(reply)) == sizeof(reply);
    if (!told) {
      if (late) kill(worker, SIGKILL);
      int status = 0;
      waitpid(worker, &status, 0);
      close(pipe_ends[0]);
      if (next >= options.count) return next;
      const std::string how = late ? "hangs" : "ended with status " + std::to_string(status);
      tally.Bad("mutant " + std::to_string(options.seed + static_cast<uint64_t>(next)) + ": " +
                how);
      ++tally.runs;
      return next + 1;
    }
    ++tally.runs;
    tally.read += reply.read;
    tally.refused += reply.refused;
    tally.longest = std::max(tally.longest, reply.longest);
    const std::string mutant =
        "mutant " + std::to_string(options.seed + static_cast<uint64_t>(next));
    if (reply.other[0] != '\0') tally.Bad(mutant + ": " + reply.other);
    if (reply.longest > kLongest) tally.Bad(mutant + ": took " + std::to_string(reply.longest));
    ++next;
    if (next % 1000 == 0) {
      std::printf("%ld mutants, %ld bad\n", static_cast<long>(next), static_cast<long>(tally.bad));
      std::fflush(stdout);
    }
  }
}

void FuzzReaders(const Corpus& corpus, const Options& options, Tally& tally) {
  const TemporaryFolder folder;
  for (int64_t next = 0; next < options.count;) {
    next = FollowWorker(corpus, options, next, folder.File(""), tally);
  }
}

// As above, without the reader process: shows the effect of such files on a process that passes
// them to HDF5.
void FuzzHere(const Corpus& corpus, const Options& options, Tally& tally) {
  const TemporaryFolder folder;
  for (int64_t i = 0; i < options.count; ++i) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(i);
    const std::string what = corpus.WriteMutant(seed, folder.File(""));
    const pid_t worker = fork();
    if (worker == 0) {
      alarm(static_cast<unsigned>(kLongest));
      const rlimit memory{rlim_t{4} << 30, rlim_t{4} << 30};
      setrlimit(RLIMIT_AS, &memory);
      ReadHere(folder.File("run.h5"));
      _exit(0);
    }
    int status = 0;
    waitpid(worker, &status, 0);
    ++tally.runs;
    if (!WIFEXITED(status))
      tally.Bad(std::to_string(seed) + " signal " + std::to_string(WTERMSIG(status)) + ": " + what);
  }
}

struct ProgramEnd {
  int status = 0;
  double computed = 0;
  bool hangs = false;
};

ProgramEnd RunProgram(const std::vector<std::string>& words, const std::string& folder) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t program = fork();
  if (program == 0) {
    const int out = open((folder + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    setenv("OMP_NUM_THREADS", "1", 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  const Clock::time_point start = Clock::now();
  ProgramEnd end;
  rusage usage{};
  while (wait4(program, &end.status, WNOHANG, &usage) == 0) {
    if (Since(start) > kLongestWait) {
      kill(program, SIGKILL);
      end.hangs = true;
    }
    usleep(2000);
  }
  end.computed = ComputedBy(usage);
  return end;
}

// Every command that reads results, applied to run.h5 in `folder`.
std::vector<std::vector<std::string>> Commands(const Options& options, const std::string& folder,
                                               uint64_t seed) {
  constexpr const char* kFormats[] = {"csv", "json", "npz"};
  const std::string program = options.programs + "/midscope";
  const std::string run = folder + "/run.h5";
  const std::string given = fs::exists(run) || seed % 2 == 0 ? run : run + ".journal";
  std::vector<std::vector<std::string>> commands = {
      {program, "ls", given},
      {program, "show", given},
      {program, "export", given, "--format", kFormats[seed % 3], "--out", folder + "/exported"},
      {program, "compare", given, options.corpus + "/attention/run.h5"},
      {program, "merge", folder + "/merged.h5", given, options.corpus + "/sweep/run.h5",
       "--overwrite"},
      {program, "merge", folder + "/one.h5", given, "--overwrite"}};
  const std::string window = options.programs + "/midscope-gui";
  if (fs::exists(window))
    commands.push_back({window, "--render", given, "--out", folder + "/pictures"});
  // Keeps only one of the two ways to merge.
  commands.erase(commands.begin() + (seed % 2 == 0 ? 4 : 5));
  return commands;
}

void RunAll(const Options& options, const std::string& folder, const std::string& name,
            uint64_t seed, std::map<std::string, Tally>& tallies) {
  for (const auto& command : Commands(options, folder, seed)) {
    const bool window = command[1] == "--render";
    Tally& tally = tallies[window ? "--render" : command[1]];
    const ProgramEnd end = RunProgram(command, folder);
    ++tally.runs;
    tally.longest = std::max(tally.longest, end.computed);
    const std::string text = ReadBytes(folder + "/out");
    const bool signalled = !WIFEXITED(end.status);
    const int status = signalled ? -1 : WEXITSTATUS(end.status);
    ++(status == 0 ? tally.read : tally.refused);
    const std::string what = std::string(name).append(": ").append(command[1]);
    if (end.hangs || end.computed > kLongest) {
      tally.Bad(what + " took " + std::to_string(end.computed) + " s");
    } else if (signalled || status > 2) {
      tally.Bad(what + " ended with " + std::to_string(end.status));
    } else if (text.find("internal error") != std::string::npos) {
      tally.Bad(std::string(what).append(": ").append(text));
    } else if (text.find('\x1b') != std::string::npos) {
      tally.Bad(what + " prints control characters");
    }
  }
}

void FuzzPrograms(const Corpus& corpus, const Options& options,
                  std::map<std::string, Tally>& tallies) {
  const TemporaryFolder folder;
  for (int64_t i = 0; i < options.count; ++i) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(i);
    corpus.WriteMutant(seed, folder.File(""));
    RunAll(options, folder.File(""), "mutant " + std::to_string(seed), seed, tallies);
  }
}

void RunKinds(const Options& options, std::map<std::string, Tally>& tallies) {
  uint64_t seed = 0;
  for (const HostileKind& kind : HostileKinds()) {
    const TemporaryFolder folder;
    kind.write(folder.File(""));
    RunAll(options, folder.File(""), kind.name, seed++, tallies);
  }
}

int Report(const std::map<std::string, Tally>& tallies) {
  int64_t bad = 0;
  for (const auto& [name, tally] : tallies) {
    std::printf("%-10s %6ld runs: %ld bad, %ld read, %ld refused, longest %.2f s\n", name.c_str(),
                static_cast<long>(tally.runs), static_cast<long>(tally.bad),
                static_cast<long>(tally.read), static_cast<long>(tally.refused), tally.longest);
    bad += tally.bad;
  }
  return bad == 0 ? 0 : 1;
}

int Run(Options options) {
  const TemporaryFolder folder;
  if (options.corpus.empty()) {
    options.corpus = folder.File("corpus");
    WriteCorpus(options.corpus);
  }
  const Corpus corpus(options.corpus);
  std::map<std::string, Tally> tallies;
  if (options.mode == "readers") FuzzReaders(corpus, options, tallies["readers"]);
  if (options.mode == "here") FuzzHere(corpus, options, tallies["here"]);
  if (options.mode == "programs") FuzzPrograms(corpus, options, tallies);
  if (options.mode == "kinds") RunKinds(options, tallies);
  if (options.mode == "one") corpus.WriteMutant(options.seed, ".");
  return Report(tallies);
}

}  // namespace
}  // namespace midscope::test

int main(int argc, char** argv) {
  midscope::test::Options options;
  std::vector<std::string> plain;
  for (int i = 1; i < argc; ++i) {
    const bool corpus = std::strcmp(argv[i], "--corpus") == 0;
    const bool programs = std::strcmp(argv[i], "--bin") == 0;
    if ((corpus || programs) && i + 1 < argc) {
      (corpus ? options.corpus : options.programs) = argv[++i];
    } else {
      plain.emplace_back(argv[i]);
    }
  }
  if (plain.empty()) {
    std::fprintf(stderr, "usage: fuzz_results readers|programs|kinds [COUNT SEED] ...\n");
    return 2;
  }
  options.mode = plain[0];
  if (plain.size() > 1) options.count = std::stoll(plain[1]);
  if (plain.size() > 2) options.seed = std::stoull(plain[2]);
  return midscope::test::Run(options);
}
