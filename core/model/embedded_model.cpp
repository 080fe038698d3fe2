// SPDX-License-Identifier: MIT
#include "core/model/embedded_model.h"

#include "core/base/cache_folder.h"
#include "core/base/environment.h"
#include "core/base/error.h"

namespace midscope {
namespace {

constexpr const char* kFileName = "SmolLM2-135M-Instruct.Q4_1.gguf";

}  // namespace

std::filesystem::path ModelFolder() {
  if (const std::string folder = Environment("MIDSCOPE_MODELS"); !folder.empty()) return folder;
  return CacheFolder() / "models";
}

std::filesystem::path ModelPath(const std::string& model) {
  if (model != "embedded") return model;
  std::filesystem::path path = ModelFolder() / kFileName;
  if (!std::filesystem::exists(path)) {
    throw Failure("embedded model", path.string() + " is not there",
                  "Fetch it with `./midscope setup`");
  }
  return path;
}

}  // namespace midscope
