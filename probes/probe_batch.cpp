// SPDX-License-Identifier: MIT
#include "probes/probe_batch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "probes/prompt_record.h"
#include "probes/record_axes.h"
#include "probes/record_stack.h"
#include "probes/run_probe.h"

namespace midscope {
namespace {

std::string CountOf(size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::vector<Prompt> MakePrompts(const ProbeBatch& batch) {
  std::vector<Prompt> prompts;
  for (const int64_t sample : batch.samples) {
    for (const int64_t place : batch.places) prompts.push_back(batch.prompt(sample, place));
  }
  return prompts;
}

void Announce(const ProbeBatch& batch, const std::vector<Prompt>& prompts,
              const JobContext& context) {
  const auto [shortest, longest] = std::minmax_element(
      prompts.begin(), prompts.end(),
      [](const Prompt& a, const Prompt& b) { return a.ids.size() < b.ids.size(); });
  const size_t least = shortest->ids.size();
  const size_t most = longest->ids.size();
  context.Log("probe: " + CountOf(batch.samples.size(), "sample") + " at " +
              CountOf(batch.places.size(), "place") + ": " + CountOf(prompts.size(), "run") +
              " of " + (most > least ? std::to_string(least) + " to " : "") +
              CountOf(most, "token"));
}

}  // namespace

std::vector<Record> RunProbeBatch(const Decoder& decoder, const ProbeBatch& batch,
                                  const Intervention& intervention, const ProbeRegistry& probes,
                                  const OptionSet& options, const JobContext& context) {
  const std::vector<const ProbeType*> types = probes.Selected(options, /*several_prompts=*/true);
  const std::vector<Prompt> prompts = MakePrompts(batch);
  for (const Prompt& prompt : prompts) CheckPromptFits(decoder.config(), prompt, intervention);
  Announce(batch, prompts, context);
  JobContext inner = context;  // progress is counted in prompts
  inner.progress = nullptr;

  std::vector<std::vector<Record>> by_record;  // [record][prompt]
  for (size_t i = 0; i < prompts.size(); ++i) {
    context.Report(
        {"probe", static_cast<int64_t>(i), static_cast<int64_t>(prompts.size()), "prompts"});
    context.ThrowIfCancelled();
    std::vector<Record> records =
        RunProbeTypes(decoder, prompts[i], intervention, types, options, inner);
    records.push_back(
        PromptRecord(prompts[i], decoder.tokenizer(), batch.places[i % batch.places.size()]));
    by_record.resize(records.size());
    for (size_t r = 0; r < records.size(); ++r) by_record[r].push_back(std::move(records[r]));
  }

  std::vector<Axis> leading = {ValuedAxis("sample", batch.samples),
                               ValuedAxis("place", batch.places)};
  leading.back().unit = "rank";
  std::vector<Record> stacked;
  for (size_t r = 0; r < by_record.size(); ++r) {
    stacked.push_back(StackRecords(by_record[r], leading));
    by_record[r].clear();
    if (r >= types.size() || !types[r]->summarise) continue;
    std::vector<Record> together = types[r]->summarise(stacked.back());
    std::move(together.begin(), together.end(), std::back_inserter(stacked));
  }
  return stacked;
}

}  // namespace midscope
