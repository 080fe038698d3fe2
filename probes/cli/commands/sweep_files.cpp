// SPDX-License-Identifier: MIT
#include "probes/cli/commands/sweep_files.h"

#include <filesystem>

#include "core/base/error.h"
#include "data/sweep/rank_parts.h"
#include "data/sweep/sweep_lock.h"
#include "data/sweep/sweep_store.h"
#include "probes/cli/console/output.h"

namespace midscope::cli {
namespace {

// Checks that the file to be extended is complete.
void CheckAddedTo(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw UsageError("option --add", file + " does not exist", "Leave --add out to make it");
  }
  if (HasJournal(file)) {
    throw UsageError(file, "its sweep is unfinished",
                     "Give --resume with its own plan first, then --add");
  }
  if (!RankParts(file).empty()) {
    throw UsageError(file, "parts of it are in other files",
                     "Copy all into one file first: midscope merge ONE.h5 " + file);
  }
}

}  // namespace

std::vector<std::string> SweepFiles(const OptionSet& options, const std::vector<SweepCell>& cells) {
  const std::string& out = options.Text("out");
  if (out.empty() || cells.size() == 1) return std::vector<std::string>(cells.size(), out);
  std::vector<std::string> files = CellFileNames(cells);
  for (std::string& file : files) file = (std::filesystem::path(out) / file).string();
  return files;
}

void CheckSweepFiles(const OptionSet& options, const std::vector<std::string>& files,
                     int64_t ranks) {
  const std::string& out = options.Text("out");
  CheckOverwrite(options);
  RefuseWithoutOut(options, "checkpoint");
  if (out.empty()) {
    if (ranks > 1) {
      throw UsageError("option --out", "several processes share a sweep through its file",
                       "Give --out RUN.h5, in a folder that all of them can access");
    }
    if (options.Flag("resume")) {
      throw UsageError("option --resume", "it needs a file to resume", "Give --out RUN.h5");
    }
    if (options.Flag("attention")) {
      throw UsageError("option --attention", "it is kept in a file only", "Give --out RUN.h5");
    }
    return;
  }
  if (files.size() > 1) MakeFolderOfFiles(out);
  const bool add = options.Flag("add");
  for (const std::string& file : files) {
    if (add) CheckAddedTo(file);
    const bool may_exist = add || options.Flag("resume") || options.Flag("overwrite");
    CheckOutputPath(file, may_exist,
                    "Give --resume to continue, --add to add to it, --overwrite, or another --out");
    const std::vector<std::string> parts = RankParts(file);
    for (const std::string& part : parts) CheckNoWriter(part);
    if (!parts.empty() && !may_exist) {
      throw UsageError(parts.front(), "there are parts of a sweep by several processes",
                       "Give --resume to continue, or another --out");
    }
  }
}

}  // namespace midscope::cli
