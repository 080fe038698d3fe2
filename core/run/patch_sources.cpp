// SPDX-License-Identifier: MIT
#include "core/run/patch_sources.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/decoder/patch_hook.h"
#include "core/intervention/passage.h"
#include "core/plan/plan_changes.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "kernels/check.h"

namespace midscope {
namespace {

// If all values that can be patched at the rows take at most this many bytes, a source run stores
// all of them, so that patches of another kind need no further run.
constexpr int64_t kTakenTogetherBytes = int64_t{64} << 20;
// Above this size, the values of earlier patches are dropped; their sources are run again on
// request.
constexpr int64_t kMostSourceBytes = int64_t{1} << 30;

int64_t BytesOf(PatchWhat what, RowRange rows, const ModelConfig& config) {
  return config.layers * (rows.last - rows.first) * PatchWidth(what, config) *
         static_cast<int64_t>(sizeof(float));
}

Error Refused(const PatchSource& source, const std::string& reason, const std::string& remedy) {
  return UsageError("patch(from=" + source.Text() + ")", reason, remedy);
}

RowRange RowsIn(const Patch& patch, const Prompt& prompt) {
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  if (patch.span.by_rule) return PromptRows(RowsOf(patch.span.rule, tokens), tokens);
  // Only the passage is resolved: other edits of the intervention may name passages that a source
  // lacks.
  Intervention one;
  one.Add(TermOf(patch));
  const TokenSpan span = ResolvePassages(one, prompt).Find<Patch>()->span.passage;
  return {span.begin, span.end};
}

// Returns one row, the mean over rows: [layer, 1, width].
RunValues MeanOf(const RunValues& values, int64_t layers) {
  RunValues mean{1, values.width, std::vector<float>(static_cast<size_t>(layers * values.width))};
  std::vector<double> sums;
  for (int64_t layer = 0; layer < layers; ++layer) {
    sums.assign(static_cast<size_t>(values.width), 0);
    for (int64_t row = 0; row < values.rows; ++row) {
      const float* at = values.Row(layer, row);
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += at[i];
    }
    std::transform(
        sums.begin(), sums.end(), mean.values.begin() + layer * values.width,
        [&](double sum) { return static_cast<float>(sum / static_cast<double>(values.rows)); });
  }
  return mean;
}

}  // namespace

PatchSources::PatchSources(const Decoder& decoder, PatchPrompts prompts)
    : decoder_(decoder), prompts_(std::move(prompts)) {}

Intervention PatchSources::Give(const Intervention& intervention, const Prompt& prompt,
                                const JobContext& context) {
  Intervention given = intervention;
  given.Change<Patch>([&](Patch& patch) { Give(patch, prompt, context); });
  return given;
}

void PatchSources::Give(Patch& patch, const Prompt& prompt, const JobContext& context) {
  Run& run = RunOf(patch.source, prompt);
  const RowRange to = RowsIn(patch, prompt);
  const RowRange from = RowsIn(patch, run.prompt);
  const int64_t wanted = to.last - to.first;
  const int64_t there = from.last - from.first;
  const std::shared_ptr<const RunValues>& values = ValuesOf(run, patch.what, from, context);
  patch.taken = {to, 0, false, values};
  if (wanted == there) return;
  const int64_t common = std::min(wanted, there);
  switch (patch.align) {
    case PatchAlign::kNone:
      throw Refused(patch.source,
                    "the rows to be replaced are " + std::to_string(wanted) + ", the source has " +
                        std::to_string(there),
                    "Choose how they are matched: align=end, align=start or align=mean");
    case PatchAlign::kEnd:
      patch.taken.rows.first = to.last - common;
      patch.taken.first_source_row = there - common;
      break;
    case PatchAlign::kStart:
      patch.taken.rows.last = to.first + common;
      break;
    case PatchAlign::kMean:
      patch.taken.one_row = true;
      patch.taken.values =
          std::make_shared<const RunValues>(MeanOf(*values, decoder_.config().layers));
      break;
  }
}

PatchSources::Run& PatchSources::RunOf(const PatchSource& source, const Prompt& prompt) {
  const bool of_prompt = source.kind == PatchSource::Kind::kSetting;
  std::pair<std::string, std::vector<int32_t>> key{source.Text(), {}};
  if (of_prompt) key.second = prompt.ids;
  const auto known = runs_.find(key);
  if (known != runs_.end()) return known->second;
  return runs_.emplace(std::move(key), MakeRun(source, prompt)).first->second;
}

PatchSources::Run PatchSources::MakeRun(const PatchSource& source, const Prompt& prompt) const {
  switch (source.kind) {
    case PatchSource::Kind::kPlace:
    case PatchSource::Kind::kNext:
      if (!prompts_.at_place) {
        throw Refused(source, "the prompt is not a task's, so it has no other places or samples",
                      "Give --task, or the other prompt as --source-prompt-file with "
                      "from=source:NAME");
      }
      return {
          prompts_.at_place(source.place, source.kind == PatchSource::Kind::kNext ? 1 : 0), {}, {}};
    case PatchSource::Kind::kSetting: {
      Intervention setting = ParseIntervention(source.name);
      if (setting.Find<Patch>()) {
        throw Refused(source, "a source cannot itself take values of another run",
                      "Name a setting without patch");
      }
      return {prompt, ResolvePassages(setting, prompt), {}};
    }
    default:
      break;
  }
  std::string names;
  for (const auto& [name, named] : prompts_.named) {
    if (name == source.name) return {named, {}, {}};
    names += (names.empty() ? "" : ", ") + name;
  }
  throw Refused(
      source, "no prompt has this name",
      names.empty() ? "Give it as --source-prompt-file NAME=FILE" : "There are: " + names);
}

const std::shared_ptr<const RunValues>& PatchSources::ValuesOf(Run& run, PatchWhat what,
                                                               RowRange rows,
                                                               const JobContext& context) {
  const ModelConfig& config = decoder_.config();
  const auto key = [&](PatchWhat one) { return ValuesKey{one, rows.first, rows.last}; };
  const auto known = run.values.find(key(what));
  if (known != run.values.end()) return known->second;
  int64_t together = 0;
  for (const PatchWhat one : kPatchWhats) together += BytesOf(one, rows, config);
  std::vector<PatchWhat> wanted = {what};
  if (together <= kTakenTogetherBytes)
    wanted.assign(std::begin(kPatchWhats), std::end(kPatchWhats));
  if (bytes_ > kMostSourceBytes) {
    for (auto& [source, other] : runs_) other.values.clear();
    bytes_ = 0;
  }
  std::vector<std::unique_ptr<RowValues>> hooks;
  RunRequest request;
  request.ids = run.prompt.ids;
  request.intervention = run.setting;
  for (const PatchWhat one : wanted) {
    hooks.push_back(std::make_unique<RowValues>(config, one, rows));
    request.hooks.push_back(hooks.back().get());
  }
  JobContext quiet = context;
  quiet.progress = nullptr;  // it would count layers of the patched run
  decoder_.RunOne(request, quiet);
  for (size_t i = 0; i < wanted.size(); ++i) {
    bytes_ += BytesOf(wanted[i], rows, config);
    run.values[key(wanted[i])] = std::make_shared<const RunValues>(hooks[i]->Take());
  }
  return run.values.at(key(what));
}

void PatchSources::CheckKnown(const Intervention& intervention, const Prompt& prompt) const {
  for (const Patch& patch : intervention.All<Patch>()) MakeRun(patch.source, prompt);
}

AnswerScore PatchSources::ScoreOf(const PatchSource& source, const Prompt& prompt,
                                  const JobContext& context) {
  MIDSCOPE_CHECK(!prompt.answer_ids.empty(), "the prompt has no answer to score");
  const Run& run = RunOf(source, prompt);
  const std::vector<int32_t> ids = IdsToScore(run.prompt.ids, prompt.answer_ids);
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = static_cast<int64_t>(run.prompt.ids.size());
  request.intervention = run.setting;
  JobContext quiet = context;
  quiet.progress = nullptr;
  return ScoreAnswer(decoder_.RunOne(request, quiet), request.prompt_tokens, prompt.answer_ids);
}

}  // namespace midscope
