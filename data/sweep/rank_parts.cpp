// SPDX-License-Identifier: MIT
#include "data/sweep/rank_parts.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "data/sweep/plan_difference.h"
#include "data/sweep/sweep_journal.h"
#include "data/sweep/sweep_virtual.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

int64_t NextNumber(const std::string& path) {
  const std::set<int64_t> numbers = RankNumbers(path);
  return numbers.empty() ? 0 : *numbers.rbegin() + 1;
}

void FoldJournal(const SharedSweep& sweep, const std::string& file) {
  if (!HasJournal(file)) return;
  SweepStoreOptions options;
  options.resume = true;
  options.growing = kSamplesOfPlan;
  SweepStore::Create(file, sweep.plan_json, sweep.provenance, options).Finish();
}

bool IsVirtual(const std::string& path) {
  return fs::exists(path) && !RunReader(path).parts().empty();
}

// Makes the file of a single-process sweep a part (run.h5.rankN) of the sweep by a hard link.
void MakePart(const std::string& path) {
  const std::vector<std::string> parts = RankParts(path);
  // True if an earlier job was killed after this function, before it joined the parts.
  const bool is_part = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    std::error_code ignored;
    return fs::equivalent(path, part, ignored);
  });
  if (is_part) return;
  const std::string part = RankPath(path, NextNumber(path));
  std::error_code failed;
  fs::create_hard_link(path, part, failed);
  if (failed) fs::rename(path, part, failed);  // the file system lacks hard links
  if (failed) throw Failure(path, "it cannot be renamed to " + part + ": " + failed.message());
}

void CheckPlan(const SharedSweep& sweep, const SweepMerge& merge) {
  const auto plan = [](const std::string& text) {
    auto json = ComparablePlan(nlohmann::json::parse(text));
    json.erase(kSamplesOfPlan);
    return json;
  };
  if (plan(sweep.plan_json) == plan(merge.plan_json())) return;
  throw Failure(
      merge.inputs().front().path(),
      "holds samples of another plan: " + FirstPlanDifference(merge.plan_json(), sweep.plan_json),
      "Resume with that plan, or move the parts away");
}

const Provenance& OriginOf(const SharedSweep& sweep, const SweepMerge& merge) {
  return merge.provenance().created.empty() ? sweep.provenance : merge.provenance();
}

void RemoveParts(const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    fs::remove(JournalPath(part));
    fs::remove(part);
  }
}

}  // namespace

EarlierParts SettleRankParts(const SharedSweep& sweep) {
  for (const std::string& part : RankParts(sweep.path)) FoldJournal(sweep, part);
  if (!IsVirtual(sweep.path)) {
    FoldJournal(sweep, sweep.path);
    if (fs::exists(sweep.path)) MakePart(sweep.path);
  }
  EarlierParts earlier;
  earlier.next = NextNumber(sweep.path);
  const std::vector<std::string> parts = RankParts(sweep.path);
  if (parts.empty()) return earlier;
  const SweepMerge merge(parts, RepeatedSamples::kTakeFirst);
  CheckPlan(sweep, merge);
  const std::vector<int64_t> samples = merge.samples();
  earlier.finished.insert(samples.begin(), samples.end());
  return earlier;
}

void JoinRankParts(const SharedSweep& sweep) {
  const std::vector<std::string> parts = RankParts(sweep.path);
  std::vector<std::string> not_needed;
  {
    const SweepMerge merge(parts, RepeatedSamples::kTakeFirst);
    const std::vector<Record> summaries = sweep.summaries(merge);
    bool points = false;
    if (merge.samples().empty()) {
      merge.Write(sweep.path, OriginOf(sweep, merge), summaries);
    } else {
      points = WriteVirtualSweep(sweep.path, merge, OriginOf(sweep, merge), summaries);
    }
    for (const SweepStore& part : merge.inputs()) {
      if (!points || part.finished().empty()) not_needed.push_back(part.path());
    }
  }
  RemoveParts(not_needed);
}

void FoldRankParts(const SharedSweep& sweep) {
  const std::vector<std::string> parts = RankParts(sweep.path);
  if (parts.empty()) return;
  std::vector<std::string> inputs = parts;
  const bool there = fs::exists(sweep.path) || HasJournal(sweep.path);
  if (there && !IsVirtual(sweep.path)) inputs.insert(inputs.begin(), sweep.path);
  {
    const SweepMerge merge(inputs, RepeatedSamples::kTakeFirst);
    CheckPlan(sweep, merge);
    merge.Write(sweep.path, OriginOf(sweep, merge), sweep.summaries(merge));
  }
  // If the process is killed before this line, duplicate samples remain; the next merge drops them.
  fs::remove(JournalPath(sweep.path));
  RemoveParts(parts);
}

}  // namespace midscope
