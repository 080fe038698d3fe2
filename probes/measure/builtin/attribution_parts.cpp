// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/attribution_parts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/run/scoring.h"

namespace midscope {
namespace {

void AddTokens(const Prompt& prompt, const PromptSpan& span, std::set<int32_t>& tokens) {
  for (int64_t i = span.token_begin; i < span.token_end; ++i)
    tokens.insert(prompt.ids[static_cast<size_t>(i)]);
}

// Returns the tokens that occur in pieces other than the gold passage, but not in the gold passage.
std::set<int32_t> TokensOfOtherPieces(const Prompt& prompt) {
  std::set<int32_t> others;
  const PromptSpan* gold = prompt.FindSpan("gold");
  if (!gold) return others;
  for (const PromptSpan& span : prompt.spans) {
    const bool overlaps = span.token_begin < gold->token_end && gold->token_begin < span.token_end;
    if (!overlaps && span.name != "question") AddTokens(prompt, span, others);
  }
  std::set<int32_t> own;
  AddTokens(prompt, *gold, own);
  for (const int32_t token : own) others.erase(token);
  return others;
}

int32_t FirstToken(const Tokenizer& tokenizer, const std::string& text, int32_t token) {
  const std::vector<int32_t> ids = tokenizer.EncodeIds(text);
  if (ids.empty() || ids.front() == token) {
    throw UsageError("option --attribution-against",
                     ids.empty() ? "the text has no token"
                                 : "the text starts with the token that it is compared with",
                     "Give the start of a wrong answer, with its leading space");
  }
  return ids.front();
}

}  // namespace

ComparedTokens FindComparedTokens(const Tokenizer& tokenizer, const Prompt& prompt,
                                  std::span<const float> logits, const std::string& given) {
  const std::vector<TopToken> top = TopTokens(logits, 2);
  ComparedTokens found;
  found.token = prompt.answer_ids.empty() ? top.front().id : prompt.answer_ids.front();
  if (!given.empty()) {
    found.against = FirstToken(tokenizer, given, found.token);
    found.rule = "given";
    return found;
  }
  std::set<int32_t> others = TokensOfOtherPieces(prompt);
  others.erase(found.token);
  if (!others.empty()) {
    found.against = *std::max_element(others.begin(), others.end(), [&](int32_t a, int32_t b) {
      return logits[static_cast<size_t>(a)] < logits[static_cast<size_t>(b)];
    });
    found.rule = "other pieces";
    return found;
  }
  found.against = top.front().id == found.token ? top.back().id : top.front().id;
  found.rule = "vocabulary";
  return found;
}

namespace {

// Returns all elements of the view's first row.
std::vector<float> FirstRow(const HookView& view) {
  std::vector<float> row;
  row.reserve(static_cast<size_t>(view.shape[2] * view.shape[3]));
  for (int64_t i = 0; i < view.shape[2]; ++i) {
    for (int64_t j = 0; j < view.shape[3]; ++j) row.push_back(view.At(0, 0, i, j));
  }
  return row;
}

}  // namespace

StreamParts::StreamParts(const ModelConfig& config, bool values)
    : config_(config), with_values_(values) {
  for (auto* of_layers : {&z_, &mlp_out_, &mixer_out_, &values_})
    of_layers->resize(static_cast<size_t>(config.layers));
}

HookRequest StreamParts::Request(const HookPoint& point, const SequenceInfo& sequence) {
  const HookRequest last = {HookAccess::kRead,
                            {sequence.prompt_tokens - 1, sequence.prompt_tokens}};
  switch (point.site) {
    case HookSite::kEmbed:
    case HookSite::kZ:
    case HookSite::kMlpOut:
    case HookSite::kLayerInputOut:
      return last;
    case HookSite::kAttentionOut:
      return config_.HasAttention(point.layer) && !config_.HasMixer(point.layer) ? HookRequest{}
                                                                                 : last;
    case HookSite::kResidPost:
      return point.layer + 1 == config_.layers ? last : HookRequest{};
    case HookSite::kValue: {
      if (!with_values_ || config_.SharesKeys(point.layer)) return {};
      const int64_t width = config_.KeyWidth(point.layer);
      values_[static_cast<size_t>(point.layer)].resize(
          static_cast<size_t>(sequence.prompt_tokens * width));
      return {HookAccess::kRead, {0, sequence.prompt_tokens}};
    }
    default:
      return {};
  }
}

void StreamParts::OnActivation(HookView& view) {
  const auto layer = static_cast<size_t>(std::max<int64_t>(view.point.layer, 0));
  switch (view.point.site) {
    case HookSite::kEmbed:
      embedding_ = FirstRow(view);
      break;
    case HookSite::kZ:
      z_[layer] = FirstRow(view);
      break;
    case HookSite::kMlpOut:
      mlp_out_[layer] = FirstRow(view);
      break;
    case HookSite::kAttentionOut:
      mixer_out_[layer] = FirstRow(view);
      break;
    case HookSite::kLayerInputOut: {
      const std::vector<float> added = FirstRow(view);
      for (size_t i = 0; i < added.size(); ++i) mlp_out_[layer][i] += added[i];
      break;
    }
    case HookSite::kResidPost:
      last_stream_ = FirstRow(view);
      break;
    default:
      ReadValues(view);
  }
}

namespace {

// Divides a head's value by its root mean square, as the model does.
void NormaliseHead(const ModelConfig& config, std::span<float> value) {
  double squares = 0;
  for (const float x : value) squares += static_cast<double>(x) * x;
  const double mean = squares / static_cast<double>(value.size());
  const double scale = 1 / std::sqrt(mean + config.norm_epsilon);
  for (float& x : value) x = static_cast<float>(x * scale);
}

}  // namespace

void StreamParts::ReadValues(const HookView& view) {
  const auto limit = static_cast<float>(config_.clip_qkv);
  float* out = values_[static_cast<size_t>(view.point.layer)].data() +
               view.first_row * config_.KeyWidth(view.point.layer);
  for (int64_t row = 0; row < view.rows(); ++row) {
    for (int64_t head = 0; head < view.shape[2]; ++head) {
      for (int64_t i = 0; i < view.shape[3]; ++i) {
        const float value = view.At(0, row, head, i);
        *out++ = limit > 0 ? std::clamp(value, -limit, limit) : value;
      }
      if (config_.value_norm) NormaliseHead(config_, std::span(out - view.shape[3], out));
    }
  }
}

std::span<const float> StreamParts::Z(int64_t layer) const {
  return z_[static_cast<size_t>(layer)];
}

std::span<const float> StreamParts::MlpOut(int64_t layer) const {
  return mlp_out_[static_cast<size_t>(layer)];
}

std::span<const float> StreamParts::MixerOut(int64_t layer) const {
  return mixer_out_[static_cast<size_t>(layer)];
}

std::span<const float> StreamParts::Values(int64_t layer) const {
  return values_[static_cast<size_t>(config_.KeysOf(layer))];
}

}  // namespace midscope
