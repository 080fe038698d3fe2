// SPDX-License-Identifier: MIT
#include "probes/cli/dtype_facts_text.h"

#include <fmt/format.h>

#include <string_view>

#include "core/decoder/dtype_choice.h"
#include "probes/model/model_options.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

Json DistanceJson(const ArithmeticDistance& distance) {
  return {{"prompts", distance.prompts},
          {"largest_logit_difference", distance.largest_logit},
          {"mean_logit_difference", distance.mean_logit},
          {"mean_answer_nll_difference", distance.answer_nats},
          {"same_first_token", distance.same_first}};
}

// On a line of its own.
std::string DistanceText(std::string_view name, const ArithmeticDistance& distance) {
  return fmt::format(
      "\n{:<16}  {} differs from float32 by {:.3g} in the largest logit, {:.3g} on average, {:.3g} "
      "nats in an answer; the same most likely token in {} of {} prompts",
      "", name, distance.largest_logit, distance.mean_logit, distance.answer_nats,
      distance.same_first, distance.prompts);
}

}  // namespace

nlohmann::ordered_json DtypesJson(const DtypeFacts& facts) {
  if (!facts.times) return nullptr;
  Json json = {{"auto", DtypeName(facts.times->Fastest())},
               {"speedup_of_bfloat16", facts.times->Speedup()},
               {"timed_rows", kTimedRows},
               {"float32_seconds", facts.times->float32},
               {"bfloat16_seconds", facts.times->bfloat16}};
  if (facts.bfloat16) json["bfloat16_to_float32"] = DistanceJson(*facts.bfloat16);
  if (facts.int8) json["int8_to_float32"] = DistanceJson(*facts.int8);
  return json;
}

std::string DtypesText(const DtypeFacts& facts) {
  if (!facts.times) return "not measured yet (info --dtypes)";
  std::string text = DtypeName(facts.times->Fastest()) + ": " + DtypeTimesText(*facts.times);
  if (facts.bfloat16) text += DistanceText("bfloat16", *facts.bfloat16);
  if (facts.int8) text += DistanceText("--products int8", *facts.int8);
  return text;
}

}  // namespace midscope::cli
