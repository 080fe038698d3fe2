// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/hashes.h"
#include "core/base/job.h"
#include "data/formats/json_lines.h"
#include "data/store/record_reader.h"
#include "probes/base/private_folder.h"
#include "probes/serve/engine_values.h"
#include "probes/serve/message.h"
#include "probes/serve/method.h"

namespace midscope {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};
constexpr size_t kKeptLines = 200;

// Follows the lines that the process appends to a file.
class FollowedLines {
 public:
  explicit FollowedLines(const std::string& path) : file_(path, std::ios::binary) {}

  template <typename OnLine>
  void Read(const OnLine& on_line) {
    file_.clear();
    for (char byte = 0; file_.get(byte);) {
      if (byte != '\n') {
        line_ += byte;
        continue;
      }
      on_line(line_);
      line_.clear();
    }
  }

 private:
  std::ifstream file_;
  std::string line_;
};

// Starts the process. Its standard output and standard error are files and not pipes, so that it
// can go on writing after this process ends.
void Start(const std::vector<std::string>& arguments, const std::string& out,
           const std::string& err, pid_t& process) {
  std::vector<std::string> words = {"midscope"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--progress", "json"});
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kNewFile = O_WRONLY | O_CREAT | O_TRUNC;
  constexpr mode_t kOwnerOnly = 0600;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kNewFile, kOwnerOnly);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kNewFile, kOwnerOnly);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const int failed =
      ::posix_spawn(&process, "/proc/self/exe", &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    throw Failure("midscope " + (arguments.empty() ? "" : arguments.front()),
                  std::string("it cannot be started: ") + std::strerror(failed));
  }
}

void ReportLine(const std::string& line, const JobContext& context, std::deque<std::string>& last) {
  const nlohmann::json json =
      line.starts_with("{") ? nlohmann::json::parse(line, nullptr, false) : nlohmann::json();
  if (json.is_object() && json.contains("stage")) {
    context.Report({json.value("stage", ""), json.value("done", int64_t{0}),
                    json.value("total", int64_t{0}), json.value("unit", "")});
    return;
  }
  context.Log(line);
  last.push_back(line);
  if (last.size() > kKeptLines) last.pop_front();
}

std::string WholeText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Runs `midscope ARGUMENTS` and returns {status, out, err}: the exit status, the text of standard
// output and the end of the text of standard error. Progress (--progress json) and notes are
// reported to `context`. On cancellation the process gets SIGINT, and its output up to its end is
// returned. The process is in a session of its own: a sweep goes on if this process ends. Throws
// Error (failure) if the program cannot be started.
Message RunCommandProcess(const std::vector<std::string>& arguments, const JobContext& context) {
  const PrivateFolder folder;
  const std::string out = folder.File("out");
  pid_t process = 0;
  Start(arguments, out, folder.File("err"), process);
  FollowedLines lines(folder.File("err"));
  std::deque<std::string> last;
  const auto read = [&] {
    lines.Read([&](const std::string& line) { ReportLine(line, context, last); });
  };
  int status = 0;
  bool interrupted = false;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (context.cancelled() && !interrupted) {
      ::kill(process, SIGINT);
      interrupted = true;
    }
    read();
    std::this_thread::sleep_for(kPollInterval);
  }
  read();
  std::string err;
  for (const std::string& line : last) err += line + "\n";
  const int signal_base = 128;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_base + WTERMSIG(status);
  return {{"status", code}, {"out", WholeText(out)}, {"err", err}};
}

namespace fs = std::filesystem;

constexpr int64_t kMostFileBytes = int64_t{16} << 20;

Message ListFolder(EngineSession& /*session*/, const Call& call) {
  const std::string path = call.params.FindText("path").value_or(".");
  if (!IsFolder(path)) throw UsageError(path, "it is not a folder");
  Message entries = Message::array();
  std::error_code failed;
  for (fs::directory_iterator it(path, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code ignored;
    const bool folder = it->is_directory(ignored);
    entries.push_back({{"name", it->path().filename().string()},
                       {"folder", folder},
                       {"bytes", folder ? 0 : static_cast<int64_t>(it->file_size(ignored))}});
  }
  if (failed) throw Failure(path, "it cannot be read: " + failed.message());
  std::sort(entries.begin(), entries.end(),
            [](const Message& a, const Message& b) { return a["name"] < b["name"]; });
  return {{"path", fs::absolute(path).lexically_normal().string()}, {"entries", entries}};
}

RunReader& ReaderOf(EngineSession& session, const Call& call) {
  const auto found = session.files.find(Integer(call.params, "file", 0, INT64_MAX >> 1, 0));
  if (found == session.files.end()) {
    throw UsageError("file", "it is not open", "Send open_file first");
  }
  return *found->second;
}

Message OpenFile(EngineSession& session, const Call& call) {
  auto reader = std::make_unique<RunReader>(call.params.Text("path"));
  const std::lock_guard lock(session.mutex);
  Message records = Message::array();
  for (const std::string& name : reader->record_names()) {
    const Record frame = reader->Describe(name);
    Message arrays = Message::array();
    for (const Array& array : frame.arrays) arrays.push_back(array.name);
    records.push_back({{"name", name}, {"arrays", arrays}});
  }
  const int64_t file = ++session.last_file;
  Message result = {{"file", file},
                    {"records", std::move(records)},
                    {"plan", reader->plan_json()},
                    {"provenance", ProvenanceMessage(reader->provenance())}};
  session.files.emplace(file, std::move(reader));
  return result;
}

Message ReadRecord(EngineSession& session, const Call& call) {
  const std::lock_guard lock(session.mutex);
  RunReader& reader = ReaderOf(session, call);
  const std::string name = call.params.Text("record");
  if (!reader.Has(name)) throw UsageError("record '" + name + "'", "the file does not have it");
  return {{"records", WireWriter(session.held).Write(std::vector<Record>{reader.Read(name)})}};
}

Message CloseFile(EngineSession& session, const Call& call) {
  const std::lock_guard lock(session.mutex);
  session.files.erase(Integer(call.params, "file", 0, INT64_MAX >> 1, 0));
  return Message::object();
}

Message ReadArray(EngineSession& session, const Call& call) {
  const std::lock_guard lock(session.mutex);
  const auto number = [&](const char* key) {
    return Integer(call.params, key, 0, INT64_MAX >> 1, 0);
  };
  return {{"data", session.held.Read(number("handle"), number("begin"), number("count"))}};
}

Message Release(EngineSession& session, const Call& call) {
  const std::lock_guard lock(session.mutex);
  session.held.Release(Integer(call.params, "handle", 0, INT64_MAX >> 1, 0));
  return Message::object();
}

// Returns the folder of sent files, and removes those that were last sent long ago. The files are
// in the cache folder and outlive the engine, because a sweep that reads one may outlive the engine
// or be resumed later.
fs::path SentFolder() {
  constexpr auto kKept = std::chrono::days(90);
  fs::path folder = CacheFolder() / "sent";
  MakeFolder(folder, "Set XDG_CACHE_HOME to a folder that may be written to");
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, ignored);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const fs::file_time_type written = entry.last_write_time(ignored);
    if (!ignored && written < fs::file_time_type::clock::now() - kKept) {
      fs::remove_all(entry.path(), ignored);
    }
  }
  return folder;
}

Message WriteFile(EngineSession& /*session*/, const Call& call) {
  const Message& data = call.params.Need("data");
  if (!data.is_binary() || std::ssize(data.get_binary()) > kMostFileBytes) {
    throw UsageError("data",
                     fmt::format("it must be a binary of at most {} bytes", kMostFileBytes));
  }
  const std::string suffix = call.params.FindText("suffix").value_or("");
  if (suffix.find('/') != std::string::npos) throw UsageError("suffix", "it must not contain /");
  const auto& bytes = data.get_binary();
  // Names the file by its contents, so that a sweep of a file that is sent again can be resumed.
  const fs::path path =
      SentFolder() / (HashBytes(std::as_bytes(std::span(bytes.data(), bytes.size()))) + suffix);
  const PrivateFolder folder(path.parent_path());
  const std::string written = folder.File("file");
  std::ofstream file(written, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  file.close();
  std::error_code failed;
  if (file) fs::rename(written, path, failed);
  if (!file || failed) {
    throw Failure(path.string(), "it cannot be written",
                  "Check the folder's permissions and the free space");
  }
  return {{"path", path.string()}};
}

Message RunCommand(EngineSession& /*session*/, const Call& call) {
  return RunCommandProcess(TextList(call.params, "arguments"), call.job);
}

}  // namespace

std::vector<Method> FileMethods() {
  const MethodParameter file = {"file", "integer", "number that open_file returned", true};
  const MethodParameter handle = {"handle", "integer", "number in an array without data", true};
  return {{"command",
           "Runs a command of the program as a process of its own; a sweep goes on if "
           "the client leaves.",
           {{"arguments", "list of texts", "such as [\"sweep\", \"embedded\", ...]", true}},
           "status, out and err (texts of standard output and error)",
           "",
           true,
           RunCommand},
          {"list_folder",
           "Lists a folder of the engine's machine.",
           {{"path", "text", "default: the working folder"}},
           "path, entries: a list of {name, folder, bytes}",
           "",
           true,
           ListFolder},
          {"open_file",
           "Opens a results file.",
           {{"path", "text", "an HDF5 file", true}},
           "file (a number), records: a list of {name, arrays}, plan (JSON), provenance",
           "",
           true,
           OpenFile},
          {"read_record",
           "Reads a record of an open file.",
           {file, {"record", "text", "its name", true}},
           "records",
           "",
           true,
           ReadRecord},
          {"close_file", "Closes a results file.", {file}, "an empty map", "", true, CloseFile},
          {"read_array",
           "Returns bytes of an array that came without data.",
           {handle,
            {"begin", "integer", "first byte", true},
            {"count", "integer", "number of bytes", true}},
           "data: a binary",
           "",
           true,
           ReadArray},
          {"release",
           "Frees an array that came without data.",
           {handle},
           "an empty map",
           "",
           true,
           Release},
          {"write_file",
           "Writes a file on the engine's machine, at most 16 MB, for settings and tasks that read "
           "files. Its name is that of its contents: the same bytes give the same path in every "
           "session. It is removed 90 days after it was last written.",
           {{"data", "binary", "its bytes", true},
            {"suffix", "text", "end of its name, such as .csv; default none"}},
           "path",
           "",
           true,
           WriteFile}};
}

}  // namespace midscope
