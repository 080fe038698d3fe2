// SPDX-License-Identifier: MIT
#include "probes/engine/kept_prompts.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "data/sweep/plan_difference.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".h5";

void CheckPlan(const std::string& file, const std::string& stored, const std::string& asked) {
  const std::string difference = FirstPlanDifference(stored, asked);
  if (difference.empty()) return;
  throw Failure(file, "holds a prompt of another plan: " + difference,
                "Resume with that plan, or write to another file");
}

}  // namespace

KeptPrompts::KeptPrompts(const std::string& file, std::string plan_json, Provenance provenance,
                         bool resume)
    : folder_(FolderOf(file)),
      plan_json_(std::move(plan_json)),
      provenance_(std::move(provenance)) {
  std::error_code failed;
  if (!resume && fs::exists(folder_, failed)) {
    throw UsageError(folder_, "there are prompts of an unfinished batch",
                     "Give --resume to continue, --overwrite, or another --out");
  }
  MakeFolder(folder_);
  // Checks the plan in only one file here; the plans in other files are checked when they are read.
  const std::string kept = PlanIn(file);
  if (!kept.empty()) CheckPlan(folder_, kept, plan_json_);
}

std::string KeptPrompts::PlanIn(const std::string& file) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(FolderOf(file), failed)) {
    if (entry.path().extension() == kEnding) return RunReader(entry.path().string()).plan_json();
  }
  return "";
}

std::string KeptPrompts::FileOf(const PromptKey& prompt) const {
  return fmt::format("{}/sample_{}_place_{}{}", folder_, prompt.first, prompt.second, kEnding);
}

bool KeptPrompts::Has(const PromptKey& prompt) const {
  std::error_code ignored;
  return fs::exists(FileOf(prompt), ignored);
}

void KeptPrompts::Keep(const PromptKey& prompt, std::vector<Record> records) {
  // Not compressed, because the file is read only once and compression takes longer than writing.
  WriteRecords(FileOf(prompt), records, provenance_,
               {.overwrite = true, .gzip_level = 0, .plan_json = plan_json_});
}

std::vector<Record> KeptPrompts::Take(const PromptKey& prompt) {
  const std::string file = FileOf(prompt);
  RunFile read = ReadRecords(file);
  CheckPlan(file, read.plan_json, plan_json_);
  return std::move(read.records);
}

void KeptPrompts::Remove() const {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace midscope
