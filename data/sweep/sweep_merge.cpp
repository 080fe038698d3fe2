// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_merge.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/store/plan_text.h"
#include "data/store/sample_rows.h"
#include "data/sweep/plan_difference.h"
#include "data/sweep/sweep_file.h"
#include "data/sweep/sweep_settings.h"

namespace midscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSettings = "settings";
constexpr const char* kSeed = "seed";

// Returns the plan without the members in which plans to join may differ, for comparison that
// ignores the order of keys.
nlohmann::json Without(Json plan, JoinedMember joined) {
  if (joined == JoinedMember::kSettings) {
    plan.erase(kSettings);
  } else {
    plan.erase(kSamplesOfPlan);
  }
  if (joined == JoinedMember::kSeeds) {
    plan.erase(kSeed);
    plan.erase(kSeedsOfPlan);
  }
  return ComparablePlan(plan);
}

JoinedMember MemberThatDiffers(const Json& a, const Json& b) {
  if (a.value(kSettings, Json()) != b.value(kSettings, Json())) return JoinedMember::kSettings;
  return a.value(kSeed, Json()) != b.value(kSeed, Json()) ? JoinedMember::kSeeds
                                                          : JoinedMember::kSamples;
}

// Appends `elements` to the list `list` of the plan. Throws Error (usage), which names `input`, if
// the list already contains one of them.
void AddElements(const char* list, const Json& elements, const std::string& input, Json& plan) {
  const std::string one = list == std::string(kSettings) ? "setting " : "seed ";
  for (const Json& element : elements) {
    Json& all = plan[list];
    if (std::find(all.begin(), all.end(), element) != all.end()) {
      throw UsageError(input, one + element.dump() + " is in another input too",
                       list == std::string(kSettings)
                           ? "Give each setting once"
                           : "Join the files of each seed first, then those of all seeds");
    }
    all.push_back(element);
  }
}

// Returns the keys whose values differ between two plans, as text: "seed (1 and 2), model_hash".
std::string Differences(const Json& a, const Json& b) {
  std::set<std::string> keys;
  for (const auto& [key, value] : a.items()) keys.insert(key);
  for (const auto& [key, value] : b.items()) keys.insert(key);
  std::string text;
  for (const std::string& key : keys) {
    const Json left = a.value(key, Json());
    const Json right = b.value(key, Json());
    if (left == right) continue;
    constexpr size_t kLongest = 60;
    const std::string both = left.dump() + " and " + right.dump();
    text += (text.empty() ? "" : ", ") + key;
    if (both.size() <= kLongest) text.append(" (").append(both).append(")");
  }
  return text;
}

// Raises the process' limit of open files if it is too low for `files` inputs open at once.
void AllowOpenFiles(size_t files) {
  constexpr rlim_t kOfEach = 2;  // per input: results file and journal
  constexpr rlim_t kOfOthers = 64;
  const rlim_t needed = kOfEach * files + kOfOthers;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

SweepMerge::SweepMerge(const std::vector<std::string>& inputs, RepeatedSamples repeated) {
  if (inputs.empty()) throw UsageError("merge", "there is nothing to join");
  AllowOpenFiles(inputs.size());
  std::vector<Json> plans;
  for (const std::string& path : inputs) {
    inputs_.push_back(SweepStore::OpenForReading(path));
    plans.push_back(ParsePlan(path, inputs_.back().plan_json()));
    if (provenance_.created.empty()) provenance_ = inputs_.back().provenance();
  }
  Json plan = plans.front();
  first_numbers_.assign(inputs.size(), 0);
  for (size_t i = 1; i < plans.size(); ++i) {
    if (i == 1) joined_ = MemberThatDiffers(plan, plans[i]);
    if (Without(plan, joined_) != Without(plans[i], joined_)) {
      throw UsageError(
          inputs[i],
          "it does not match " + inputs.front() + ": they differ in " + Differences(plan, plans[i]),
          "Files can be joined that differ only in their samples, only in their settings, or only "
          "in their seeds");
    }
    const int64_t before = plan.value(kSamplesOfPlan, int64_t{0});
    const int64_t more = plans[i].value(kSamplesOfPlan, int64_t{0});
    switch (joined_) {
      case JoinedMember::kSettings:
        AddElements(kSettings, plans[i].value(kSettings, Json::array()), inputs[i], plan);
        break;
      case JoinedMember::kSeeds:
        if (i == 1) plan[kSeedsOfPlan] = {plan[kSeed]};
        AddElements(kSeedsOfPlan, {plans[i].value(kSeed, Json())}, inputs[i], plan);
        first_numbers_[i] = before;
        plan[kSamplesOfPlan] = before + more;
        break;
      case JoinedMember::kSamples:
        plan[kSamplesOfPlan] = std::max(before, more);
        break;
    }
  }
  plan_json_ = plans.size() == 1 ? inputs_.front().plan_json() : plan.dump();
  JoinSamples(joins_settings() ? RepeatedSamples::kTakeFirst : repeated);
  if (joins_settings()) CheckSameSamples();
  if (joined_ == JoinedMember::kSeeds) CheckSeedMatters();
}

void SweepMerge::JoinSamples(RepeatedSamples repeated) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (const int64_t own : inputs_[i].finished()) {
      const int64_t sample = first_numbers_[i] + own;
      const auto [place, added] = holders_.try_emplace(sample, i);
      if (added || repeated == RepeatedSamples::kTakeFirst) continue;
      throw UsageError(inputs_[i].path(),
                       fmt::format("sample {} is in {} too", sample, inputs_[place->second].path()),
                       "Join files of disjoint samples");
    }
    for (const auto& [own, message] : inputs_[i].failures()) {
      failures_.emplace(first_numbers_[i] + own, message);
    }
  }
  for (const auto& [sample, input] : holders_) {
    if (!joins_settings()) failures_.erase(sample);
  }
}

// Throws if inputs of different seeds have the same first sample: the task then does not depend on
// the seed, and each sample would be counted several times.
void SweepMerge::CheckSeedMatters() const {
  const auto texts = [](const SweepStore& input) {
    std::vector<ArrayData> all;
    if (input.finished().empty()) return all;
    const auto is_text = [](const std::string& name) {
      return std::find(std::begin(kSampleTexts), std::end(kSampleTexts), name) !=
                 std::end(kSampleTexts) ||
             name == "prompt_tokens";
    };
    for (Array& array : input.ReadSample(*input.finished().begin(), is_text).arrays) {
      all.push_back(std::move(array.data));
    }
    return all;
  };
  const std::vector<ArrayData> first = texts(inputs_.front());
  for (size_t i = 1; i < inputs_.size() && !first.empty(); ++i) {
    if (*inputs_[i].finished().begin() != *inputs_.front().finished().begin() ||
        texts(inputs_[i]) != first) {
      continue;
    }
    throw UsageError(inputs_[i].path(),
                     "its samples are those of " + inputs_.front().path() +
                         ": the task does not depend on the seed",
                     "Join files of disjoint samples");
  }
}

void SweepMerge::CheckSameSamples() const {
  for (const SweepStore& input : inputs_) {
    for (const auto& [sample, holder] : holders_) {
      if (input.finished().contains(sample)) continue;
      throw UsageError(
          input.path(),
          fmt::format("it lacks sample {}, which {} has", sample, inputs_[holder].path()),
          "Complete it with --resume first: settings are compared on the same samples");
    }
  }
}

std::vector<int64_t> SweepMerge::samples() const {
  std::vector<int64_t> samples;
  samples.reserve(holders_.size());
  for (const auto& [sample, input] : holders_) samples.push_back(sample);
  return samples;
}

Record SweepMerge::ReadSample(int64_t sample, const ArrayFilter& wanted) const {
  const JoinedPart part = PartOf(sample);
  Record record = part.input.ReadSample(part.sample, wanted);
  for (size_t i = 1; joins_settings() && i < inputs_.size(); ++i) {
    JoinSettings(record, inputs_[i].ReadSample(sample, wanted), fmt::format("sample {}", sample));
  }
  return record;
}

void SweepMerge::Write(const std::string& path, const Provenance& provenance,
                       const std::vector<Record>& extra) const {
  SweepContents contents;
  contents.plan_json = plan_json_;
  contents.provenance = provenance;
  contents.ragged_axes = SweepStoreOptions().ragged_axes;
  for (const auto& [number, input] : holders_) {
    const Record sample = FlattenSample(ReadSample(number), contents.ragged_axes);
    const Record frame = SampleFrame(sample, contents.ragged_axes);
    if (contents.ragged_sizes.empty()) contents.frame = frame;
    CheckSameFrame(fmt::format("{}: sample {}", inputs_[input].path(), number), frame,
                   contents.frame);
    contents.ragged_sizes[number] = RaggedSizes(sample, contents.ragged_axes);
  }
  contents.load = [this](int64_t sample) { return ReadSample(sample); };
  contents.failures = failures_;
  contents.extra = extra;
  WriteSweepFile(path, contents);
}

Record MergedFromRecord(const SweepMerge& merge) {
  std::vector<std::string> files;
  std::vector<std::string> created;
  std::vector<std::string> commands;
  std::vector<int64_t> samples;
  for (const SweepStore& input : merge.inputs()) {
    files.push_back(std::filesystem::path(input.path()).filename().string());
    created.push_back(input.provenance().created);
    commands.push_back(input.provenance().command);
    samples.push_back(static_cast<int64_t>(input.finished().size()));
  }
  Record record;
  record.name = "merged_from";
  record.axes = {{"input", static_cast<int64_t>(files.size()), "", {}, {}}};
  record.arrays = {{"input_file", {"input"}, std::move(files), "", "file that was joined"},
                   {"input_created", {"input"}, std::move(created), "", "when it was begun"},
                   {"input_command", {"input"}, std::move(commands), "", "what made it"},
                   {"input_samples", {"input"}, std::move(samples), "", "samples that it held"}};
  record.attributes["joined"] = JoinedMemberName(merge.joined());
  return record;
}

std::string JoinedMemberName(JoinedMember member) {
  if (member == JoinedMember::kSettings) return "settings";
  return member == JoinedMember::kSeeds ? "seeds" : "samples";
}

}  // namespace midscope
