// SPDX-License-Identifier: MIT
#include "probes/engine/kept_probes.h"

#include <cstdint>
#include <iterator>
#include <utility>

#include "core/terms/intervention_text.h"
#include "probes/sweep/sample_source.h"

namespace midscope {
namespace {

std::vector<Record> Summaries(const ProbeBatch& batch, const std::vector<int64_t>& samples,
                              const ProbeRegistry& probes, const OptionSet& options,
                              PromptsInMemory prompts) {
  std::vector<Record> records = StackBatch(batch, samples, probes, options, prompts);
  std::erase_if(records, [](const Record& record) { return record.FindAxis("sample") != nullptr; });
  for (Record& record : records) {
    record.attributes["samples"] = std::ssize(samples);
    record.attributes["complete"] = int64_t{samples.size() == batch.samples.size() ? 1 : 0};
  }
  return records;
}

}  // namespace

PromptsInMemory& KeptProbes::PromptsOf(const std::string& key) {
  if (!prompts_.contains(key)) {
    if (order_.size() == kMostSettings) {
      prompts_.erase(order_.front());
      order_.erase(order_.begin());
    }
    order_.push_back(key);
  }
  return prompts_[key];
}

std::vector<Record> KeptProbes::Run(const Decoder& decoder, const ProbeBatch& batch,
                                    const Intervention& intervention, const ProbeRegistry& probes,
                                    const OptionSet& options, const OnRecord& so_far,
                                    const JobContext& context) {
  PromptsInMemory& prompts = PromptsOf(PrintIntervention(intervention) + '\n' + options.ToJson());
  const auto places = std::ssize(batch.places);
  std::vector<int64_t> done;
  for (const int64_t sample : batch.samples) {
    ProbeBatch one = batch;
    one.samples = {sample};
    const int64_t before = std::ssize(done) * places;
    JobContext inner = context;
    inner.log = nullptr;  // would announce every sample
    inner.progress = [&](const Progress& progress) {
      context.Report(
          {"probe", before + progress.done, std::ssize(batch.samples) * places, "prompts"});
    };
    OrderedSamples source(std::set<int64_t>{sample});
    RunBatchPrompts(decoder, one, intervention, probes, options, source, prompts, inner);
    done.push_back(sample);
    if (!so_far || done.size() == batch.samples.size()) continue;
    for (const Record& record : Summaries(batch, done, probes, options, prompts)) so_far(record);
  }
  return Summaries(batch, done, probes, options, prompts);
}

}  // namespace midscope
