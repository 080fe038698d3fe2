// SPDX-License-Identifier: MIT
#include "probes/cli/dtype_facts_text.h"

#include <fmt/format.h>

#include <string_view>

#include "core/decoder/arithmetic_choice.h"
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
  const Arithmetic fastest = facts.times->Fastest(/*choose_products=*/true);
  Json json = {
      {"auto", DtypeName(facts.times->Fastest(/*choose_products=*/false).dtype)},
      {"auto_with_products_auto",
       {{"dtype", DtypeName(fastest.dtype)}, {"products", ProductsName(fastest.products)}}},
      {"timed_rows", kTimedRows}};
  for (const ArithmeticTimes::Timed& timed : facts.times->timed) {
    const std::string name = ArithmeticName(timed.arithmetic);
    json[name + "_seconds"] = timed.seconds;
    if (timed.arithmetic != Arithmetic()) json["speedup_of_" + name] = facts.times->Speedup(timed);
  }
  for (const auto& [arithmetic, distance] : facts.distances)
    json[ArithmeticName(arithmetic) + "_to_float32"] = DistanceJson(distance);
  return json;
}

std::string DtypesText(const DtypeFacts& facts) {
  if (!facts.times) return "not measured yet (info --dtypes)";
  const Arithmetic plain = facts.times->Fastest(/*choose_products=*/false);
  const Arithmetic fastest = facts.times->Fastest(/*choose_products=*/true);
  std::string text = AutoDtypeText(plain);
  if (fastest != plain) text += " (with --products auto: " + AutoDtypeText(fastest) + ")";
  text += ": " + ArithmeticTimesText(*facts.times);
  for (const auto& [arithmetic, distance] : facts.distances) {
    const bool products = arithmetic.products != Products::kFloat;
    text += DistanceText((products ? "--products " : "") + ArithmeticName(arithmetic), distance);
  }
  return text;
}

}  // namespace midscope::cli
