// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/plan/run_positions.h"
#include "core/run/scoring.h"
#include "kernels/check.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

// Number of rows whose logits are in memory at the same time: 13 MB for a vocabulary of 49,152.
constexpr int64_t kRowsAtOnce = 64;

// Reads the residual stream after the last block, for rows from `first_row` on.
class LastBlockRows : public Hook {
 public:
  LastBlockRows(const ModelConfig& config, int64_t first_row)
      : last_layer_(config.layers - 1), hidden_(config.hidden), first_row_(first_row) {}

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != HookSite::kResidPost || point.layer != last_layer_) return {};
    values_.resize(static_cast<size_t>((sequence.rows - first_row_) * hidden_));
    return {HookAccess::kRead, {first_row_, sequence.rows}};
  }
  void OnActivation(HookView& view) override {
    for (int64_t row = 0; row < view.rows(); ++row) {
      float* values = values_.data() + (view.first_row + row - first_row_) * hidden_;
      for (int64_t i = 0; i < hidden_; ++i) values[i] = view.At(0, row, i);
    }
  }
  std::span<const float> Rows(int64_t first, int64_t count) const {
    return std::span(values_).subspan(static_cast<size_t>(first * hidden_),
                                      static_cast<size_t>(count * hidden_));
  }

 private:
  int64_t last_layer_;
  int64_t hidden_;
  int64_t first_row_;
  std::vector<float> values_;
};

class TextProbe : public Probe {
 public:
  explicit TextProbe(const ProbeInput& input)
      : decoder_(input.decoder),
        ids_(input.prompt.ids),
        intervention_(input.intervention),
        context_(input.context ? *input.context : JobContext{}),
        bin_(input.options.Integer("perplexity-bin")) {
    // The default window is the trained context under every setting, so that perplexities are
    // compared over equal windows.
    const int64_t asked = input.options.Integer("window");
    window_ = asked > 0 ? asked : decoder_.config().trained_context;
    const int64_t longest = LongestRun(intervention_, decoder_.config());
    if (window_ > longest) {
      throw UsageError("option --window",
                       fmt::format("windows are to have {} tokens, {}", window_,
                                   ContextHolds(intervention_, decoder_.config())),
                       fmt::format("Give {} or fewer, a position scheme that reaches further, or "
                                   "switch on --beyond-context",
                                   longest));
    }
    if (input.prompt_tokens() < 2) {
      throw UsageError("probe 'perplexity'", "the text has one token, so nothing is predicted",
                       "Give a longer text");
    }
    stride_ = input.options.Integer("stride");
    if (stride_ >= window_ && input.prompt_tokens() > window_) {
      throw UsageError(
          "option --stride",
          fmt::format("windows of {} tokens every {} leave some without a token before them",
                      window_, stride_),
          "Give less than the window");
    }
  }

  Record Finish(const RunResult&) override {
    const std::vector<TextWindow> windows =
        SlidingWindows(static_cast<int64_t>(ids_.size()), window_, stride_);
    const int64_t tokens = std::min(window_, static_cast<int64_t>(ids_.size()));
    const int64_t longest = PositionsTaken(intervention_, tokens, tokens);
    beyond_ = IsBeyondContext(longest, intervention_, decoder_.config());
    if (beyond_) {
      context_.Warn("warning: perplexity: " +
                    BeyondContextText(longest, intervention_, decoder_.config()));
    }
    if (windows.size() > 1) {
      context_.Log(fmt::format("perplexity: {} runs, windows of {} tokens every {}", windows.size(),
                               window_, stride_));
    }
    JobContext inner = context_;  // progress counts windows
    if (windows.size() > 1) inner.progress = nullptr;
    std::vector<double> window_means;
    window_means.reserve(windows.size());
    for (size_t i = 0; i < windows.size(); ++i) {
      if (windows.size() > 1) {
        context_.Report({"perplexity", static_cast<int64_t>(i),
                         static_cast<int64_t>(windows.size()), "windows"});
      }
      window_means.push_back(RunWindow(windows[i], inner));
    }
    return MakeRecord(window_means);
  }

 private:
  // Runs a window and returns the mean negative log-likelihood of its targets.
  double RunWindow(const TextWindow& window, const JobContext& context) {
    // The logits of the row before a target predict it.
    const int64_t first_row = window.first_target - 1 - window.begin;
    LastBlockRows rows(decoder_.config(), first_row);
    RunRequest request;
    request.ids = std::span(ids_).subspan(static_cast<size_t>(window.begin),
                                          static_cast<size_t>(window.end - window.begin));
    request.intervention = intervention_;
    request.hooks = {&rows};
    decoder_.RunOne(request, context);
    const int64_t targets = window.end - window.first_target;
    const auto vocabulary = static_cast<size_t>(decoder_.config().vocabulary);
    double sum = 0;
    for (int64_t first = 0; first < targets; first += kRowsAtOnce) {
      context.ThrowIfCancelled();
      const int64_t count = std::min(kRowsAtOnce, targets - first);
      const std::vector<float> logits = decoder_.Unembed(rows.Rows(first, count), context);
      for (int64_t row = 0; row < count; ++row) {
        const int64_t target = window.first_target + first + row;
        const double nll = NegativeLogLikelihood(
            std::span(logits).subspan(static_cast<size_t>(row) * vocabulary, vocabulary),
            ids_[static_cast<size_t>(target)]);
        nll_.push_back(nll);
        context_tokens_.push_back(target - window.begin);
        sum += nll;
      }
    }
    return sum / static_cast<double>(targets);
  }

  Record MakeRecord(const std::vector<double>& window_means) const {
    std::vector<int64_t> positions(nll_.size());
    std::iota(positions.begin(), positions.end(), int64_t{1});
    const size_t bins = (nll_.size() + static_cast<size_t>(bin_) - 1) / static_cast<size_t>(bin_);
    std::vector<double> of_bin(bins);
    std::vector<int64_t> bin_tokens(bins);
    std::vector<int64_t> bin_begins(bins);
    for (size_t i = 0; i < nll_.size(); ++i) {
      const size_t bin = i / static_cast<size_t>(bin_);
      of_bin[bin] += nll_[i];
      ++bin_tokens[bin];
    }
    for (size_t bin = 0; bin < bins; ++bin) {
      of_bin[bin] = std::exp(of_bin[bin] / static_cast<double>(bin_tokens[bin]));
      bin_begins[bin] = static_cast<int64_t>(bin) * bin_ + 1;
    }
    const double mean = MeanOf(nll_);
    Record record;
    record.name = "perplexity";
    record.axes = {ValuedAxis("position", positions), ValuedAxis("bin", bin_begins)};
    record.axes.front().unit = "tokens";
    record.axes.back().unit = "tokens";
    record.arrays = {{"token_nll",
                      {"position"},
                      nll_,
                      "nats",
                      "negative log-likelihood of the token at a position of the text"},
                     {"context_tokens",
                      {"position"},
                      context_tokens_,
                      "tokens",
                      "tokens before it in its window"},
                     {"bin_perplexity",
                      {"bin"},
                      of_bin,
                      "",
                      "perplexity of the tokens from here to the next bin"},
                     {"bin_tokens", {"bin"}, bin_tokens, "tokens", "how many those are"}};
    record.attributes = {{"perplexity", std::exp(mean)},
                         {"mean_nll", mean},
                         {"window_mean_perplexity", std::exp(MeanOf(window_means))},
                         {"window", window_},
                         {"stride", stride_},
                         {"windows", static_cast<int64_t>(window_means.size())}};
    if (decoder_.config().beyond_context) {
      record.attributes["beyond_context"] = int64_t{beyond_ ? 1 : 0};
    }
    record.signal = "bin_perplexity";
    return record;
  }

  static double MeanOf(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }

  const Decoder& decoder_;
  const std::vector<int32_t>& ids_;
  const Intervention& intervention_;
  JobContext context_;
  int64_t bin_;
  int64_t window_ = 0;
  int64_t stride_ = 0;
  bool beyond_ = false;                  // whether windows exceed the context
  std::vector<double> nll_;              // [position - 1], nats
  std::vector<int64_t> context_tokens_;  // [position - 1]
};

}  // namespace

std::vector<TextWindow> SlidingWindows(int64_t tokens, int64_t window, int64_t stride) {
  MIDSCOPE_CHECK_GE(stride, 1);
  MIDSCOPE_CHECK(stride < window || tokens <= window, "a stride that leaves tokens out");
  std::vector<TextWindow> windows;
  int64_t done = 1;  // the first token has no context
  for (int64_t begin = 0; done < tokens; begin += stride) {
    const int64_t end = std::min(begin + window, tokens);
    windows.push_back({begin, end, done});
    done = end;
  }
  return windows;
}

ProbeType PerplexityProbe() {
  ProbeType type;
  type.name = "perplexity";
  type.summary = "perplexity of a text of any length, by position, with a sliding window";
  type.source =
      "CREAM, arXiv 2406.07138, and PoSE, arXiv 2309.10400: sliding windows (Press et al., arXiv "
      "2108.12409), stride 256";
  type.departures =
      "published scripts take the mean of the windows' means, in which the first window's many "
      "tokens weigh as much as a later window's few: that is window_mean_perplexity; perplexity "
      "weighs every token alike";
  type.limits =
      "every window is a prompt of its own from position 0, and the "
      "last query is its last row. The text is taken as it is; --bos puts a BOS before the first "
      "window alone";
  type.options = {
      TokensParameter("window",
                      "tokens that perplexity's windows hold, at most what the context holds "
                      "under the setting; 0: the model's trained context",
                      0, 0),
      TokensParameter("stride", "tokens between two of perplexity's windows", 1, 256),
      TokensParameter("perplexity-bin", "width of perplexity's bins of positions", 1, 256)};
  type.on_request = true;
  type.own_runs = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<TextProbe>(input); };
  return type;
}

}  // namespace midscope
