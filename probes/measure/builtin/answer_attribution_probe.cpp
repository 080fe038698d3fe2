// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/sums.h"
#include "core/base/utf8.h"
#include "core/decoder/captures.h"
#include "core/decoder/logit_direction.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/attribution_parts.h"
#include "probes/measure/builtin/sample_means.h"

namespace midscope {
namespace {

constexpr const char* kKeysOption = "attribution-keys";
constexpr const char* kAgainstOption = "attribution-against";
// The terms that a layer adds to the stream, in the order of the axis `part`.
enum Part : size_t { kHeads, kAttentionBias, kMlp, kParts };

// Returns the factor by which the final norm scales a row of the stream.
double NormFactor(const ModelConfig& config, std::span<const float> x) {
  const auto count = static_cast<double>(x.size());
  const double mean =
      config.norm == NormKind::kLayer ? std::accumulate(x.begin(), x.end(), 0.0) / count : 0.0;
  double squares = 0;
  for (const float value : x) squares += (value - mean) * (value - mean);
  return 1 / std::sqrt(squares / count + config.norm_epsilon);
}

// Returns a logit before the final soft cap.
double Uncapped(const ModelConfig& config, float logit) {
  const double cap = config.final_softcap;
  return cap > 0 ? cap * std::atanh(logit / cap) : double{logit};
}

class AttributionProbe : public Probe {
 public:
  explicit AttributionProbe(const ProbeInput& input)
      : decoder_(input.decoder),
        config_(input.decoder.config()),
        prompt_(input.prompt),
        against_(input.options.Text(kAgainstOption)),
        by_key_(input.options.Flag(kKeysOption)),
        parts_(config_, by_key_),
        attention_(config_) {
    const auto heads = static_cast<size_t>(config_.layers * config_.heads);
    of_head_.resize(heads);
    of_part_.resize(kParts * static_cast<size_t>(config_.layers));
    if (!by_key_) return;
    if (config_.gated_attention) {
      throw UsageError(kKeysOption,
                       "the model gates what a head has read, so that a token's share is not "
                       "its weight times its value",
                       "Leave it out: the shares of heads need no keys");
    }
    const auto keys = static_cast<size_t>(input.prompt_tokens());
    of_head_and_key_.resize(heads * keys);
    without_key_.resize(heads);
    of_key_.resize(keys);
  }

  std::vector<Hook*> Hooks() override {
    if (!by_key_) return {&parts_};
    return {&parts_, &attention_};
  }

  Record Finish(const RunResult& result) override {
    const std::span<const float> logits =
        result.Logits(static_cast<int64_t>(prompt_.ids.size()) - 1);
    tokens_ = FindComparedTokens(decoder_.tokenizer(), prompt_, logits, against_);
    const LogitDirection direction = decoder_.DirectionBetween(tokens_.token, tokens_.against);
    const double factor = NormFactor(config_, parts_.last_stream());
    std::vector<double> scaled = direction.direction;
    for (double& value : scaled) value *= factor;
    embedding_ = Dot(parts_.embedding(), scaled) * direction.of_layer.front();
    constant_ = direction.constant;
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      std::vector<double> of_layer = scaled;
      for (double& value : of_layer) value *= direction.of_layer[static_cast<size_t>(layer)];
      ReadLayer(layer, of_layer);
    }
    return MakeRecord(logits);
  }

 private:
  void ReadLayer(int64_t layer, std::span<const double> direction) {
    const auto index = static_cast<size_t>(layer);
    const auto layers = static_cast<size_t>(config_.layers);
    of_part_[kMlp * layers + index] = Dot(parts_.MlpOut(layer), direction);
    if (!config_.HasAttention(layer)) {
      of_part_[kAttentionBias * layers + index] = Dot(parts_.MixerOut(layer), direction);
      return;
    }
    const std::span<const float> z = parts_.Z(layer);
    const HeadDirections heads = decoder_.DirectionsOfHeads(layer, z, direction);
    const auto width = static_cast<size_t>(config_.HeadDim(layer));
    double sum = 0;
    for (size_t head = 0; head < static_cast<size_t>(config_.heads); ++head) {
      const std::span<const double> of_z = std::span(heads.of_z).subspan(head * width, width);
      const double value = Dot(z.subspan(head * width, width), of_z);
      const auto at = static_cast<size_t>(layer * config_.heads) + head;
      of_head_[at] = value;
      sum += value;
      if (by_key_) without_key_[at] = value - ReadKeys(layer, static_cast<int64_t>(head), of_z);
    }
    of_part_[kHeads * layers + index] = sum;
    of_part_[kAttentionBias * layers + index] =
        config_.HasMixer(layer) ? Dot(parts_.MixerOut(layer), direction) - sum : heads.constant;
  }

  // Stores the contribution of each key to the head's term; returns the sum over keys.
  double ReadKeys(int64_t layer, int64_t head, std::span<const double> of_z) {
    const std::span<const float> weights = attention_.Row(layer, head);
    const std::span<const float> values = parts_.Values(layer);
    const auto width = static_cast<size_t>(config_.KeyWidth(layer));
    const auto group = static_cast<size_t>(head / (config_.heads / config_.KeyValueHeads(layer)));
    float* out = of_head_and_key_.data() +
                 static_cast<size_t>(layer * config_.heads + head) * weights.size();
    double sum = 0;
    for (size_t key = 0; key < weights.size(); ++key) {
      if (weights[key] == 0) continue;
      const double value =
          weights[key] * Dot(values.subspan(key * width + group * of_z.size(), of_z.size()), of_z);
      out[key] = static_cast<float>(value);
      of_key_[key] += value;
      sum += value;
    }
    return sum;
  }

  Record MakeRecord(std::span<const float> logits) {
    const auto text = [&](int32_t id) {
      return DisplayText(std::string(decoder_.tokenizer().TokenText(id)));
    };
    const float of_token = logits[static_cast<size_t>(tokens_.token)];
    const float of_against = logits[static_cast<size_t>(tokens_.against)];
    const double difference = Uncapped(config_, of_token) - Uncapped(config_, of_against);
    const double sum = embedding_ + constant_ + Sum(of_part_);
    Record record;
    record.name = "answer_attribution";
    record.attributes = {{"answer_token", int64_t{tokens_.token}},
                         {"answer_token_text", text(tokens_.token)},
                         {"against_token", int64_t{tokens_.against}},
                         {"against_token_text", text(tokens_.against)},
                         {"against_rule", tokens_.rule},
                         {"embedding_attribution", embedding_},
                         {"constant_attribution", constant_},
                         {"attribution_sum", sum},
                         {"logit_difference", difference},
                         {"attribution_rounding", difference - sum}};
    if (config_.final_softcap > 0) {
      record.attributes["final_softcap"] = config_.final_softcap;
      record.attributes["capped_logit_difference"] = double{of_token} - of_against;
    }
    record.axes = {CountedAxis("layer", config_.layers), CountedAxis("head", config_.heads),
                   LabelledAxis("part", {"heads", "attention bias", "MLP"})};
    record.arrays = {{"answer_attribution",
                      {"layer", "head"},
                      std::move(of_head_),
                      "logits",
                      "what the head adds to the answer's logit over the other token's"},
                     {"attribution_of_part",
                      {"part", "layer"},
                      std::move(of_part_),
                      "logits",
                      "what the layer's heads together, its attention's bias and its MLP add; the "
                      "second includes the layer's mixer, if it has one"}};
    record.signal = "answer_attribution";
    if (by_key_) AddKeys(record);
    return record;
  }

  void AddKeys(Record& record) {
    record.axes.push_back(CountedAxis("key", static_cast<int64_t>(of_key_.size())));
    record.arrays.push_back({"answer_attribution_by_key",
                             {"layer", "head", "key"},
                             std::move(of_head_and_key_),
                             "logits",
                             "what the head adds by reading this token"});
    record.arrays.push_back({"answer_attribution_of_key",
                             {"key"},
                             std::move(of_key_),
                             "logits",
                             "what all heads add by reading this token"});
    record.arrays.push_back({"answer_attribution_without_key",
                             {"layer", "head"},
                             std::move(without_key_),
                             "logits",
                             "what the head adds beside its values as the model has them: a "
                             "compressive memory, an ablation, scaled values; else rounding"});
  }

  const Decoder& decoder_;
  const ModelConfig& config_;
  const Prompt& prompt_;
  std::string against_;
  bool by_key_;
  StreamParts parts_;
  LastQueryAttention attention_;
  ComparedTokens tokens_;
  double embedding_ = 0;
  double constant_ = 0;
  std::vector<double> of_head_;         // [layer, head]
  std::vector<double> of_part_;         // [part, layer]
  std::vector<float> of_head_and_key_;  // [layer, head, key]
  std::vector<double> without_key_;     // [layer, head]
  std::vector<double> of_key_;          // [key]
};

}  // namespace

Record AnswerAttributionByPlace(const Record& stacked) {
  const auto samples = static_cast<size_t>(AxisOf(stacked, "sample").size);
  const auto mean = [&](const char* array) {
    return MeanOverSamples(ArrayValues<double>(stacked, array), samples);
  };
  Record record;
  record.name = "answer_attribution_by_place";
  record.axes = {AxisOf(stacked, "place"), AxisOf(stacked, "layer"), AxisOf(stacked, "head"),
                 AxisOf(stacked, "part")};
  record.arrays = {{"mean_answer_attribution",
                    {"place", "layer", "head"},
                    mean("answer_attribution"),
                    "logits",
                    "what the head adds to the answer's logit over the best wrong piece's, by "
                    "place, mean over samples"},
                   {"mean_attribution_of_part",
                    {"place", "part", "layer"},
                    mean("attribution_of_part"),
                    "logits",
                    "what heads, attention biases and MLPs add, by place, mean over samples"},
                   {"mean_logit_difference",
                    {"place"},
                    mean("logit_difference"),
                    "logits",
                    "the answer's logit over the other token's, mean over samples"}};
  record.signal = "mean_answer_attribution";
  return record;
}

ProbeType AnswerAttributionProbe() {
  ProbeType type;
  type.name = "answer_attribution";
  type.summary =
      "which heads, MLPs and read tokens make the difference of the answer's logit and the best "
      "wrong piece's; the parts sum to it";
  type.source =
      "direct logit attribution: Elhage et al., 'A mathematical framework for transformer "
      "circuits', 2021; TransformerLens, ActivationCache.logit_attrs and stack_head_results";
  type.departures =
      "TransformerLens folds norms into weights and has biases of heads in none of them; here the "
      "norms' statistics are those of the run, biases are a part of their own, and the sum is "
      "given beside the run's own difference";
  type.limits =
      "direct effects alone: what a head does to later layers is theirs. Logits are before a final "
      "soft cap (gemma2), which is not linear; capped_logit_difference is after it. Output norms "
      "are held at the run's scale. Of the answer its first token; the best wrong piece is the "
      "likeliest token of other pieces that the gold lacks, without named pieces the likeliest "
      "other token. In bfloat16 attribution_rounding holds what the stream's rounding takes. "
      "Changes by the terms vector and set are not part of any term: the sum then lacks them";
  type.options = {
      FlagParameter(kKeysOption,
                    "answer_attribution also tells which token each head reads it from; keeps the "
                    "values of all layers during the run"),
      TextParameter(kAgainstOption,
                    "the wrong answer whose first token answer_attribution compares with; default: "
                    "the best wrong piece")};
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<AttributionProbe>(input); };
  type.summarise = [](const Record& stacked) -> std::vector<Record> {
    if (!stacked.FindArray("logit_difference")) return {};
    return {AnswerAttributionByPlace(stacked)};
  };
  return type;
}

}  // namespace midscope
