// SPDX-License-Identifier: MIT
#include "probes/client/engine_command.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "midscope";

bool IsProgram(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0;
}

// Splits a command at spaces outside quotes.
std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool begun = false;
  for (const char letter : text) {
    if (quote != 0) {
      if (letter == quote) {
        quote = 0;
      } else {
        word += letter;
      }
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
      begun = true;
    } else if (letter == ' ') {
      if (begun) words.push_back(std::exchange(word, ""));
      begun = false;
    } else {
      word += letter;
      begun = true;
    }
  }
  if (quote != 0) throw UsageError("remote " + Quote(text), "a quote is not closed");
  if (begun) words.push_back(word);
  return words;
}

std::vector<std::string> Serving(std::vector<std::string> words) {
  words.insert(words.end(), {"serve", "--stdio"});
  return words;
}

}  // namespace

std::string FindProgram(const std::string& name) {
  std::error_code failed;
  const fs::path beside = fs::read_symlink("/proc/self/exe", failed).parent_path() / name;
  if (!failed && IsProgram(beside)) return beside.string();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / name;
    if (!folder.empty() && IsProgram(program)) return program.string();
  }
  return "";
}

std::string FindEngineProgram() {
  if (const char* given = std::getenv("MIDSCOPE_PROGRAM"); given != nullptr && *given != '\0') {
    return given;
  }
  if (std::string found = FindProgram(kProgram); !found.empty()) return found;
  throw Failure("midscope", "the program of the command line is not found",
                "Set MIDSCOPE_PROGRAM, or put it beside this program or on PATH");
}

EngineCommand LocalEngine() { return {Serving({FindEngineProgram()}), false}; }

EngineCommand RemoteEngine(const std::string& remote) {
  std::vector<std::string> words = WordsOf(remote);
  if (words.size() > 1) return {Serving(std::move(words)), true};
  const size_t colon = remote.find(':');
  const std::string host = remote.substr(0, colon);
  if (words.empty() || host.empty() || host.front() == '-' || host.find('/') != std::string::npos) {
    throw UsageError(
        "remote " + Quote(remote), "it is neither a host nor a command",
        "Give user@host, user@host:PROGRAM, or a command of several words such as 'srun "
        "midscope'; a program of this machine: 'env PROGRAM'");
  }
  const std::string program = colon == std::string::npos ? "" : remote.substr(colon + 1);
  return {Serving({"ssh", "-T", host, program.empty() ? kProgram : program}), true};
}

}  // namespace midscope
