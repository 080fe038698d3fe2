// SPDX-License-Identifier: MIT
#include "probes/engine/probe_batch.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/run/patch_sources.h"
#include "probes/base/record_axes.h"
#include "probes/base/record_stack.h"
#include "probes/engine/run_probe.h"
#include "probes/prompt/prompt_record.h"

namespace midscope {
namespace {

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
  const int64_t least = std::ssize(shortest->ids);
  const int64_t most = std::ssize(longest->ids);
  context.Log("probe: " + CountText(std::ssize(batch.samples), "sample") + " at " +
              CountText(std::ssize(batch.places), "place") + ": " +
              CountText(std::ssize(prompts), "run") + " of " +
              (most > least ? fmt::format("{} to ", least) : "") + CountText(most, "token"));
}

// The records of the prompts, [record][prompt]; of those run before `context` was cancelled.
std::vector<std::vector<Record>> RunPrompts(const Decoder& decoder, const ProbeBatch& batch,
                                            const std::vector<Prompt>& prompts,
                                            const Intervention& intervention,
                                            const std::vector<const ProbeType*>& types,
                                            const OptionSet& options, const JobContext& context) {
  JobContext inner = context;  // progress is counted in prompts
  inner.progress = nullptr;
  std::vector<std::vector<Record>> by_record;
  try {
    for (size_t i = 0; i < prompts.size(); ++i) {
      context.Report(
          {"probe", static_cast<int64_t>(i), static_cast<int64_t>(prompts.size()), "prompts"});
      context.ThrowIfCancelled();
      const int64_t sample = batch.samples[i / batch.places.size()];
      PatchSources sources(decoder, {[&](int64_t place) { return batch.prompt(sample, place); }});
      std::vector<Record> records =
          RunProbeTypes(decoder, prompts[i], sources.Give(intervention, prompts[i], inner), types,
                        options, inner);
      records.push_back(
          PromptRecord(prompts[i], decoder.tokenizer(), batch.places[i % batch.places.size()]));
      by_record.resize(records.size());
      for (size_t r = 0; r < records.size(); ++r) by_record[r].push_back(std::move(records[r]));
    }
  } catch (const Cancelled&) {
  }
  return by_record;
}

}  // namespace

std::vector<Record> RunProbeBatch(const Decoder& decoder, const ProbeBatch& batch,
                                  const Intervention& intervention, const ProbeRegistry& probes,
                                  const OptionSet& options, const JobContext& context,
                                  int64_t* samples_done) {
  const std::vector<const ProbeType*> types = probes.Selected(options, /*several_prompts=*/true);
  const std::vector<Prompt> prompts = MakePrompts(batch);
  for (const Prompt& prompt : prompts) CheckPromptFits(decoder.config(), prompt, intervention);
  Announce(batch, prompts, context);
  if (decoder.config().beyond_context) {
    const auto longest =
        std::max_element(prompts.begin(), prompts.end(), [](const Prompt& a, const Prompt& b) {
          return a.ids.size() + a.answer_ids.size() < b.ids.size() + b.answer_ids.size();
        });
    LogBeyondContext(decoder.config(), *longest, intervention, context);
  }
  std::vector<std::vector<Record>> by_record =
      RunPrompts(decoder, batch, prompts, intervention, types, options, context);
  const size_t done = by_record.empty() ? 0 : by_record.front().size();
  const size_t whole = done / batch.places.size();
  if (done < prompts.size() && (!samples_done || whole == 0)) throw Cancelled();
  if (samples_done) *samples_done = static_cast<int64_t>(whole);

  std::vector<int64_t> samples = batch.samples;
  samples.resize(whole);
  std::vector<Axis> leading = {ValuedAxis("sample", samples), ValuedAxis("place", batch.places)};
  leading.back().unit = "rank";
  std::vector<Record> stacked;
  for (size_t r = 0; r < by_record.size(); ++r) {
    by_record[r].resize(whole * batch.places.size());
    stacked.push_back(StackRecords(by_record[r], leading));
    by_record[r].clear();
    if (r >= types.size() || !types[r]->summarise) continue;
    std::vector<Record> together = types[r]->summarise(stacked.back());
    std::move(together.begin(), together.end(), std::back_inserter(stacked));
  }
  return stacked;
}

}  // namespace midscope
