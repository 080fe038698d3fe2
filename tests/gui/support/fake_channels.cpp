// SPDX-License-Identifier: MIT
// FakeEngine: channels that carry position.
#include <algorithm>
#include <numeric>
#include <utility>

#include "probes/measure/channels/channel_options.h"
#include "probes/measure/channels/channel_validation.h"
#include "probes/measure/channels/prompt_channels.h"
#include "tests/gui/support/fake_engine.h"

namespace midscope {
namespace {

constexpr int64_t kLeast = 40;  // first position of the curves
constexpr int64_t kMost = 60;
constexpr int64_t kExamples = 4;

Axis Valued(const std::string& name, const std::vector<double>& values) {
  return {name, static_cast<int64_t>(values.size()), "", {}, values};
}

// A record in which channel c is monotone in c layers, smoothest after layer 2 or 3, with mean 100
// c + 10 l + p at position p after layer l; the fit is larger by 0.5.
Record Planted(const std::vector<int64_t>& ranked) {
  Record record;
  record.name = kChannelSearchRecord;
  const std::vector<int64_t> drawn(ranked.begin(), ranked.begin() + 2);
  std::vector<double> positions(kMost - kLeast);
  std::iota(positions.begin(), positions.end(), double{kLeast});
  record.axes = {{"channel", FakeEngine::kHidden, "", {}, {}},
                 {"rank", static_cast<int64_t>(ranked.size()), "", {}, {}},
                 Valued("candidate", {drawn.begin(), drawn.end()}),
                 Valued("layer", {2, 3, 4}),
                 Valued("position", positions)};
  std::vector<int64_t> monotone(FakeEngine::kHidden, 0);
  std::vector<int64_t> trend(FakeEngine::kHidden, 0);
  std::vector<double> smoothness(FakeEngine::kHidden, 9);
  std::vector<int64_t> smoothest(FakeEngine::kHidden, -1);
  for (const int64_t channel : ranked) {
    const auto at = static_cast<size_t>(channel);
    monotone[at] = channel;
    trend[at] = channel % 2 == 0 ? 1 : -1;
    smoothness[at] = 0.25 * static_cast<double>(channel);
    smoothest[at] = 2 + channel % 2;
  }
  std::vector<float> means;
  for (const int64_t channel : drawn) {
    for (const double layer : {2., 3., 4.}) {
      for (const double position : positions) {
        means.push_back(
            static_cast<float>(100 * static_cast<double>(channel) + 10 * layer + position));
      }
    }
  }
  std::vector<float> fits = means;
  for (float& value : fits) value += 0.5F;
  const std::vector<std::string> curves = {"candidate", "layer", "position"};
  record.arrays = {{"monotone_layers", {"channel"}, monotone, "layers", ""},
                   {"trend", {"channel"}, trend, "", ""},
                   {"smoothness", {"channel"}, smoothness, "", ""},
                   {"smoothest_layer", {"channel"}, smoothest, "", ""},
                   {"ranked_channel", {"rank"}, ranked, "", ""},
                   {"hidden_mean", curves, means, "", ""},
                   {"cubic_fit", curves, fits, "", ""}};
  record.attributes = {{"layers_examined", int64_t{3}},
                       {"layer_threshold", int64_t{1}},
                       {"prompts", int64_t{24}},
                       {"tokens", kMost},
                       {"seed", int64_t{1}},
                       {"trend_skip", int64_t{10}},
                       {"smoothness_skip", int64_t{10}}};
  return record;
}

Record PlantedTrials() {
  Record record;
  record.name = kChannelValidationRecord;
  record.axes = {{"setting",
                  4,
                  "",
                  {"none", "channel(3, factor=0, layers=1-4)", "channel(8, factor=0, layers=1-4)",
                   "channel(8, factor=-0.5, layers=1-4)"},
                  {}}};
  record.arrays = {
      {"trial_channel", {"setting"}, std::vector<int64_t>{-1, 3, 8, 8}, "", ""},
      {"trial_factor", {"setting"}, std::vector<double>{1, 0, 0, -0.5}, "", ""},
      {"loss", {"setting"}, std::vector<double>{2, 1.75, 1.5, 1.25}, "nats", ""},
      {"loss_difference", {"setting"}, std::vector<double>{0, -.25, -.5, -.75}, "", ""}};
  record.attributes = {{"chosen", int64_t{3}},
                       {"setting", std::string("channel(8, factor=-0.5, layers=1-4)")},
                       {"examples", kExamples}};
  return record;
}

}  // namespace

std::vector<Record> FakeEngine::SearchChannels(const ChannelSearchRequest& request,
                                               const std::function<void(const Record&)>& partial,
                                               const JobContext& context) {
  context.Report({"hidden states", 1, 24, "prompts"});
  Record preliminary = Planted({8, 3});
  preliminary.attributes["prompts"] = int64_t{1};
  preliminary.attributes[kPlannedPrompts] = int64_t{24};
  partial(preliminary);
  control_->WaitAtGate(&FakeControl::hold_first_prompts_, context);
  std::vector<Record> records = {Planted({3, 8, 5})};
  partial(records.front());
  control_->NoteSearch(request);
  control_->WaitAtGate(&FakeControl::hold_searches_, context);
  OptionSet options(ChannelOptions());
  options.FromJson(request.options);
  if (options.Text("validate") == "none") return records;
  Record trials = PlantedTrials();
  trials.attributes["examples"] = int64_t{1};
  trials.attributes[kPlannedExamples] = kExamples;
  partial(trials);
  control_->WaitAtGate(&FakeControl::hold_trials_, context);
  records.push_back(PlantedTrials());
  return records;
}

Record FakeEngine::PromptChannels(const PromptChannelsRequest& request, const JobContext&) {
  Record record = Planted({8, 3, 5});
  record.name = kPromptChannelsRecord;
  record.attributes["prompts"] = int64_t{1};
  Stamp(request.intervention, request.place, record);
  return record;
}

}  // namespace midscope
