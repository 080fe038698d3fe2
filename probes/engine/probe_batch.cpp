// SPDX-License-Identifier: MIT
#include "probes/engine/probe_batch.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/patch_sources.h"
#include "probes/base/record_stack.h"
#include "probes/base/records.h"
#include "probes/engine/run_probe.h"
#include "probes/prompt/prompt_fits.h"
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

// Runs the prompts of a batch one by one; stores what is equal for all of them.
struct PromptRunner {
  const Decoder& decoder;
  const ProbeBatch& batch;
  const Intervention& intervention;
  const std::vector<const ProbeType*> types;
  const OptionSet& options;

  std::vector<Record> Run(const PromptKey& key, const JobContext& context) const {
    const int64_t sample = key.first;
    const int64_t place = key.second;
    const Prompt prompt = batch.prompt(sample, place);
    PatchSources sources(decoder, {[&](int64_t at, int64_t samples_on) {
                           return batch.prompt(sample + samples_on, at);
                         }});
    std::vector<Record> records = RunProbeTypes(
        decoder, prompt, sources.Give(intervention, prompt, context), types, options, context);
    records.push_back(PromptRecord(prompt, decoder.tokenizer(), place));
    return records;
  }
};

void CheckPrompts(const Decoder& decoder, const ProbeBatch& batch, const Intervention& intervention,
                  const JobContext& context) {
  const std::vector<Prompt> prompts = MakePrompts(batch);
  for (const Prompt& prompt : prompts) CheckPromptFits(decoder.config(), prompt, intervention);
  Announce(batch, prompts, context);
  if (!decoder.config().beyond_context) return;
  const auto longest =
      std::max_element(prompts.begin(), prompts.end(), [](const Prompt& a, const Prompt& b) {
        return a.ids.size() + a.answer_ids.size() < b.ids.size() + b.answer_ids.size();
      });
  LogBeyondContext(decoder.config(), *longest, intervention, context);
}

std::set<int64_t> AllSamples(const ProbeBatch& batch) {
  return {batch.samples.begin(), batch.samples.end()};
}

}  // namespace

void RunBatchPrompts(const Decoder& decoder, const ProbeBatch& batch,
                     const Intervention& intervention, const ProbeRegistry& probes,
                     const OptionSet& options, SampleSource& source, PromptStore& store,
                     const JobContext& context) {
  const PromptRunner runner = {decoder, batch, intervention,
                               probes.Selected(options, /*several_prompts=*/true), options};
  CheckPrompts(decoder, batch, intervention, context);
  JobContext inner = context;  // progress counts prompts
  inner.progress = nullptr;
  const auto places = std::ssize(batch.places);
  int64_t done = 0;
  for (const int64_t sample : batch.samples) {
    for (const int64_t place : batch.places) done += store.Has({sample, place}) ? 1 : 0;
  }
  while (const std::optional<int64_t> sample = source.Next(context)) {
    for (const int64_t place : batch.places) {
      const PromptKey key = {*sample, place};
      if (store.Has(key)) continue;
      context.Report({"probe", done + source.done_elsewhere() * places,
                      std::ssize(batch.samples) * places, "prompts"});
      context.ThrowIfCancelled();
      store.Keep(key, runner.Run(key, inner));
      ++done;
    }
  }
}

std::vector<int64_t> FinishedSamples(const ProbeBatch& batch, const PromptStore& store) {
  std::vector<int64_t> finished;
  std::copy_if(batch.samples.begin(), batch.samples.end(), std::back_inserter(finished),
               [&](int64_t sample) {
                 return std::all_of(batch.places.begin(), batch.places.end(), [&](int64_t place) {
                   return store.Has({sample, place});
                 });
               });
  return finished;
}

std::vector<Record> StackBatch(const ProbeBatch& batch, const std::vector<int64_t>& samples,
                               const ProbeRegistry& probes, const OptionSet& options,
                               PromptStore& store) {
  const std::vector<const ProbeType*> types = probes.Selected(options, /*several_prompts=*/true);
  std::vector<std::vector<Record>> by_record;  // [record][prompt]
  for (const int64_t sample : samples) {
    for (const int64_t place : batch.places) {
      std::vector<Record> records = store.Take({sample, place});
      by_record.resize(records.size());
      for (size_t r = 0; r < records.size(); ++r) by_record[r].push_back(std::move(records[r]));
    }
  }
  std::vector<Axis> leading = {ValuedAxis("sample", samples), ValuedAxis("place", batch.places)};
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

std::vector<Record> RunProbeBatch(const Decoder& decoder, const ProbeBatch& batch,
                                  const Intervention& intervention, const ProbeRegistry& probes,
                                  const OptionSet& options, const JobContext& context,
                                  int64_t* samples_done) {
  PromptsInMemory store;
  OrderedSamples source(AllSamples(batch));
  bool cancelled = false;
  try {
    RunBatchPrompts(decoder, batch, intervention, probes, options, source, store, context);
  } catch (const Cancelled&) {
    cancelled = true;
  }
  const std::vector<int64_t> samples = FinishedSamples(batch, store);
  if (cancelled && (!samples_done || samples.empty())) throw Cancelled();
  if (samples_done) *samples_done = std::ssize(samples);
  return StackBatch(batch, samples, probes, options, store);
}

}  // namespace midscope
