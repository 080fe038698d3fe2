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

// What differs from float32 with products in float.
std::string ArithmeticName(const Arithmetic& arithmetic) {
  return arithmetic.products == Products::kFloat ? DtypeName(arithmetic.dtype)
                                                 : ProductsName(arithmetic.products);
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
  for (const auto& [arithmetic, distance] : facts.distances)
    json[ArithmeticName(arithmetic) + "_to_float32"] = DistanceJson(distance);
  return json;
}

std::string DtypesText(const DtypeFacts& facts) {
  if (!facts.times) return "not measured yet (info --dtypes)";
  std::string text = DtypeName(facts.times->Fastest()) + ": " + DtypeTimesText(*facts.times);
  for (const auto& [arithmetic, distance] : facts.distances) {
    const bool products = arithmetic.products != Products::kFloat;
    text += DistanceText((products ? "--products " : "") + ArithmeticName(arithmetic), distance);
  }
  return text;
}

}  // namespace midscope::cli
