// SPDX-License-Identifier: MIT
// LongRoPE's factors from a file.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/formats/config_json.h"
#include "core/intervention/head_ratio_file.h"
#include "core/intervention/term_form.h"
#include "core/terms/make_term.h"
#include "core/terms/yarn_arguments.h"

namespace midscope::long_rope {
namespace {

enum class Factors { kAuto, kShort, kLong };

struct LongRope {
  std::string file;
  std::vector<double> short_factors;  // [rotary pairs]
  std::vector<double> long_factors;
  int64_t context = 0;   // trained context in tokens; 0: the model's
  double factor = 0;     // factor by which the context becomes longer; 0: the file's
  double magnitude = 0;  // factor of cos and sin; 0: by the formula, or from the file
  Factors use = Factors::kAuto;
  double file_factor = 0;     // the file's factor; 0: not stated
  double file_magnitude = 0;  // the file's magnitude; 0: not stated
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const LongRope&) const = default;
};

// Returns the digest of the factors only.
std::string Digest(const LongRope& scheme) {
  HeadRatioTable numbers;
  numbers.heads = static_cast<int64_t>(scheme.short_factors.size());
  numbers.ratios = scheme.short_factors;
  numbers.ratios.insert(numbers.ratios.end(), scheme.long_factors.begin(),
                        scheme.long_factors.end());
  return RatioDigest(numbers);
}

void ReadFile(const std::string& file, LongRope& scheme) {
  const ConfigJson whole = ConfigJson::Read(file);
  ConfigJson rope = whole;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (std::optional<ConfigJson> inner = whole.Object(key)) rope = std::move(*inner);
  }
  scheme.file = file;
  scheme.short_factors = rope.Positives("short_factor");
  scheme.long_factors = rope.Positives("long_factor");
  if (scheme.short_factors.empty() || scheme.short_factors.size() != scheme.long_factors.size()) {
    rope.Fail("short_factor and long_factor must be lists of the same length",
              "Give one factor per rotated pair in each");
  }
  constexpr const char* kOriginal = "original_max_position_embeddings";
  const ConfigJson& has_original = rope.Has(kOriginal) ? rope : whole;
  if (has_original.Has(kOriginal)) {
    scheme.context = has_original.Count(kOriginal, int64_t{1} << 24);
  }
  if (rope.Has("factor")) {
    scheme.file_factor = rope.Positive("factor");
  } else if (scheme.context > 0 && whole.Has("max_position_embeddings")) {
    scheme.file_factor =
        whole.Positive("max_position_embeddings") / static_cast<double>(scheme.context);
  }
  if (rope.Has("attention_factor")) scheme.file_magnitude = rope.Positive("attention_factor");
}

LongRope Read(const TextTerm& term, const TermForm<LongRope>& form) {
  LongRope value = ReadArguments(term, form);
  const int64_t context = value.context;
  ReadTermFile(term, [&](const std::string& file) { ReadFile(file, value); });
  if (context > 0) value.context = context;
  if (value.factor == 0 && value.file_factor == 0 && value.magnitude == 0 &&
      value.file_magnitude == 0) {
    throw ErrorAt(OnlyValue(*Find(term, "file")).column,
                  "it states neither factor nor attention_factor",
                  "Give factor=, from which the magnitude follows, or magnitude=");
  }
  CheckDigest(term, "factors", Digest(value));
  return value;
}

double Factor(const LongRope& scheme) {
  if (scheme.factor > 0) return scheme.factor;
  return scheme.file_factor > 0 ? scheme.file_factor : 1;
}

// Ding et al.'s formula, as in transformers.
double Magnitude(const LongRope& scheme, double context) {
  if (scheme.magnitude > 0) return scheme.magnitude;
  if (scheme.factor == 0 && scheme.file_magnitude > 0) return scheme.file_magnitude;
  const double factor = Factor(scheme);
  return factor > 1 ? std::sqrt(1 + std::log(factor) / std::log(context)) : 1.0;
}

void Apply(const LongRope& scheme, const TermPlans& plans) {
  const ModelConfig& config = plans.config;
  const std::string name = plans.term + "(" + scheme.file + ")";
  const auto pairs = static_cast<size_t>(config.rope_dimensions / 2);
  if (scheme.short_factors.size() != pairs) {
    throw UsageError(name, "it has factors for " + std::to_string(scheme.short_factors.size()) +
                               " pairs; the model rotates " + std::to_string(pairs));
  }
  const double context = OriginalContext(scheme.context, config);
  const bool is_long =
      scheme.use == Factors::kLong ||
      (scheme.use == Factors::kAuto && static_cast<double>(plans.positions) > context);
  const std::vector<double>& factors = is_long ? scheme.long_factors : scheme.short_factors;
  std::vector<double> frequencies = PlainFrequencies(config.rope_base, config.rope_dimensions);
  for (size_t pair = 0; pair < pairs; ++pair) frequencies[pair] /= factors[pair];
  ReplaceFrequencies(plans, {std::move(frequencies), Magnitude(scheme, context)});
}

double Stretch(const LongRope& scheme, const ModelConfig& config) {
  return Factor(scheme) * OriginalContext(scheme.context, config) /
         static_cast<double>(config.trained_context);
}

LongRope Sample(const ModelConfig& config) {
  LongRope scheme;
  scheme.short_factors.assign(static_cast<size_t>(config.rope_dimensions / 2), 1.0);
  scheme.long_factors.assign(scheme.short_factors.size(), 2.0);
  scheme.factor = 2;
  return scheme;
}

std::vector<BoundArgument<LongRope>> Arguments() {
  return {
      RequiredArgument(TermFileArgument<LongRope>(
          "JSON with short_factor and long_factor, one number per rotated pair: the rope_scaling "
          "of a model's config.json, or all of that file")),
      DigestArgument<LongRope, Digest>(
          "Of the factors in the file, as printed forms state it: a file that has changed since is "
          "refused."),
      NumberOrWordArgument<&LongRope::context>(
          "context",
          "Tokens of the original training: up to so many the short factors are used; model: the "
          "file's original_max_position_embeddings, else the model's own.",
          "model", {2, kLargestYarnContext}, "tokens"),
      NumberOrWordArgument<&LongRope::factor>(
          "factor", "How much longer the context becomes; auto: what the file states.", "auto",
          {1, kLargestRatio}),
      ChoiceArgument<&LongRope::use>("use",
                                     "auto: long factors beyond context, short ones up to it.",
                                     {"auto", "short", "long"}),
      NumberOrWordArgument<&LongRope::magnitude>(
          "magnitude",
          "Factor of cos and sin. auto: sqrt(1 + ln(factor) / ln(context)), or the file's "
          "attention_factor where factor is auto.",
          "auto", {kSmallestRatio, 100})};
}

}  // namespace

TermType Type() {
  return MakePositionTerm<LongRope>(
      {.name = "longrope",
       .summary =
           "LongRoPE: each pair's frequency is divided by a factor of its own, found by a search "
           "that is not part of this program; one list up to the original context and one beyond. "
           "Replaces the model's own base scaling.",
       .source =
           "Ding et al. 2024, arXiv 2402.13753, as transformers' rope type 'longrope' and the "
           "phi3 models have it. Their cached keys keep the short factors when text grows beyond "
           "the context; here all rows are run again.",
       .arguments = Arguments(),
       .bare_arguments = 1,
       .correct_example = "longrope(config.json)",
       .examples = {"longrope(config.json)"},
       .read = Read},
      Apply, Stretch, {.kind = SchemeKind::kReplacesFrequencies, .sample = Sample});
}

}  // namespace midscope::long_rope
