// SPDX-License-Identifier: MIT
#include "probes/model/embedded_model.h"

#include <array>
#include <cstdio>
#include <string>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/model/model_source.h"

namespace midscope {
namespace {

// Script text that CMake makes from fetch_embedded_model.py.
constexpr const char* kFetchScript =
#include "fetch_embedded_model.inc"
    ;

constexpr size_t kOutputBytes = 4096;

struct ScriptResult {
  bool done = false;
  std::string reason;
};

ScriptResult RunFetchScript(const std::filesystem::path& model) {
  const std::string given = Environment("MIDSCOPE_PYTHON");
  const std::string command =
      ShellCommand(given.empty() ? "python3" : given,
                   {"-c", kFetchScript, model.string(), CacheFolder().string()});
  FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) return {false, "no process can be started"};
  ScriptResult result;
  std::array<char, kOutputBytes> buffer{};
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), output)) > 0;) {
    result.reason.append(buffer.data(), n);
  }
  result.done = ::pclose(output) == 0;
  while (result.reason.ends_with('\n')) result.reason.pop_back();
  if (result.reason.empty()) result.reason = "python3, which fetches it, cannot be run";
  return result;
}

}  // namespace

std::filesystem::path FetchEmbeddedModel(const JobContext& job) {
  std::filesystem::path model = EmbeddedModelPath();
  if (PathExists(model)) return model;
  job.Log("fetching the embedded model (98 MB, once) into " + model.parent_path().string());
  const ScriptResult result = RunFetchScript(model);
  job.ThrowIfCancelled();
  if (!result.done) {
    throw Failure("embedded model", result.reason,
                  "Without a network, copy " + model.filename().string() + " into " +
                      model.parent_path().string());
  }
  return model;
}

}  // namespace midscope
