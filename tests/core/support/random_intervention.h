// SPDX-License-Identifier: MIT
// Random interventions with every kind of term, for property tests. They need not be valid for any
// model; `ratios` is excluded, because it needs a file.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/intervention/intervention.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"

namespace midscope::test {

inline LayerSet RandomLayers(std::mt19937_64& random) {
  if (random() % 3 == 0) return {};
  LayerSet layers{false, {}};
  int64_t next = 0;
  for (uint64_t i = 0; i <= random() % 4; ++i) {
    const auto first = next + static_cast<int64_t>(random() % 5);
    const auto last = first + static_cast<int64_t>(random() % 4);
    layers.ranges.push_back({first, last});
    next = last + 2;
  }
  return layers;
}

inline double RandomRatio(std::mt19937_64& random, double low) {
  return std::uniform_real_distribution<double>(low, 1000)(random);
}

inline TokenSpan RandomSpan(std::mt19937_64& random) {
  static const std::vector<std::string> names = {"gold", "pair 7",   "12",  "4:6",
                                                 "a,b)", "\xc3\xa9", "none"};
  if (random() % 2 == 0) return {names[random() % names.size()]};
  const auto begin = static_cast<int64_t>(random() % 900);
  return {"", begin, begin + 1 + static_cast<int64_t>(random() % 90)};
}

inline RowChoice RandomRows(std::mt19937_64& random) {
  RowChoice rows{static_cast<ChannelRows>(random() % 4)};
  if (rows.rows == ChannelRows::kLastN) rows.last_rows = static_cast<int64_t>(1 + random() % 64);
  return rows;
}

inline std::vector<HeadName> RandomHeads(std::mt19937_64& random) {
  std::vector<HeadName> heads;
  for (uint64_t i = 0; i <= random() % 3; ++i) {
    heads.push_back(
        {static_cast<int64_t>(i), static_cast<int64_t>(random() % 40), random() % 2 == 0});
    if (random() % 4 == 0) heads.back().more = 1 + static_cast<int64_t>(random() % 9);
    if (random() % 4 == 0) heads.back() = {static_cast<int64_t>(i), 0, false, kEveryHeadAfter};
  }
  return heads;
}

inline void AddRandomEdits(std::mt19937_64& random, Intervention& intervention) {
  for (uint64_t i = 0; i < random() % 3; ++i) {
    intervention.Add(TermOf(
        Crop{RandomSpan(random), RandomLayers(random), static_cast<CropKeep>(random() % 2)}));
    Move move{RandomSpan(random), static_cast<MoveTo>(random() % 3), 0, RandomLayers(random),
              RandomRows(random)};
    if (move.to == MoveTo::kShift) move.shift = static_cast<int64_t>(random() % 2000) - 1000;
    intervention.Add(TermOf(move));
    Boost boost{RandomSpan(random), RandomRatio(random, 0.01), random() % 2 == 0,
                RandomLayers(random), RandomRows(random)};
    if (random() % 2 == 0) boost.heads = RandomHeads(random);
    intervention.Add(TermOf(boost));
    intervention.Add(TermOf(
        Ablation{RandomHeads(random), static_cast<AblateWith>(random() % 2), RandomRows(random)}));
    intervention.Add(
        TermOf(Temperature{RandomHeads(random), RandomRatio(random, 0.01), RandomRows(random)}));
  }
}

inline std::string RandomYarn(std::mt19937_64& random) {
  const double beta_slow = RandomRatio(random, 0.001);
  std::string text = "yarn(" + NumberText(RandomRatio(random, 1));
  if (random() % 2 == 0) text += ", context=" + std::to_string(1 + random() % 100000);
  text += ", form=" + std::vector<std::string>{"repo", "paper", "cream"}[random() % 3];
  text += ", beta_slow=" + NumberText(beta_slow);
  text += ", beta_fast=" + NumberText(beta_slow + RandomRatio(random, 0.001));
  if (random() % 2 == 0) {
    text += ", magnitude=" + NumberText(std::uniform_real_distribution<double>(0.01, 100)(random));
  }
  return text + ")";
}

inline Term FromText(const std::string& text) { return ParseIntervention(text).terms.front(); }

inline Term RandomPlainScheme(std::mt19937_64& random) {
  const double ratio = RandomRatio(random, 0.01);
  switch (random() % 11) {
    case 0:
      return TermOf(PositionInterpolation{ratio});
    case 1:
      return FromText("base(" +
                      NumberText(std::uniform_real_distribution<double>(2, 1e12)(random)) + ")");
    case 2:
      return FromText("ntk(" + NumberText(ratio) + ")");
    case 3:
      return FromText("dynamic-ntk(" + NumberText(ratio) + ")");
    case 4:
      return FromText("dynamic-linear");
    case 5:
      return FromText(RandomYarn(random));
    case 6:
      return FromText("nope(layers=" + RandomLayers(random).Text() + ")");
    case 7:
      return TermOf(SelfExtend{static_cast<int64_t>(1 + random() % 9000),
                               static_cast<int64_t>(1 + random() % 9000),
                               random() % 2 == 0 ? 0 : static_cast<int64_t>(2 + random() % 9000)});
    case 8:
      return FromText("ntk-by-parts(" + NumberText(1 + ratio / 2) + ")");
    case 9:
      return FromText("eabf(" +
                      NumberText(std::uniform_real_distribution<double>(2, 1e12)(random)) +
                      ", first_layer=" + std::to_string(random() % 40) + ")");
    default:
      InfiniAttention infini{
          static_cast<int64_t>(1 + random() % 9000), {}, static_cast<MemoryUpdate>(random() % 2)};
      for (uint64_t i = 0; i <= random() % 4; ++i)
        infini.gates.push_back(std::uniform_real_distribution<double>(0, 1)(random));
      return TermOf(infini);
  }
}

inline Intervention RandomIntervention(std::mt19937_64& random) {
  Intervention intervention;
  if (random() % 3 == 0) {
    intervention.Add(RandomPlainScheme(random));
  } else if (random() % 2 == 0) {
    MsPoe ms_poe;
    ms_poe.min = RandomRatio(random, 0.01);
    ms_poe.max = RandomRatio(random, 0.01);
    ms_poe.mode = static_cast<MsPoeMode>(random() % 3);
    ms_poe.order = static_cast<MsPoeOrder>(random() % 6);
    if (ms_poe.order == MsPoeOrder::kRandom) ms_poe.seed = random() >> 11;
    ms_poe.layers = RandomLayers(random);
    if (random() % 2 == 0) {
      ms_poe.layers = {false, {{static_cast<int64_t>(random() % 40), kEveryLayerAfter}}};
    }
    intervention.Add(TermOf(ms_poe));
  }
  const Term* scheme = PositionScheme(intervention);
  if (scheme && scheme->type().with_rows && random() % 2 == 0)
    intervention = WithPositionSchemeRows(intervention, RandomRows(random));
  for (uint64_t i = 0; i < random() % 4; ++i) {
    ChannelScaling scaling;
    scaling.channel = static_cast<int64_t>(i * 1000 + random() % 1000);
    scaling.factor = std::uniform_real_distribution<double>(-1000, 1000)(random);
    scaling.layers = RandomLayers(random);
    scaling.rows = RandomRows(random);
    scaling.change_value = random() % 4 == 0;
    intervention.Add(TermOf(scaling));
  }
  if (random() % 2 == 0) AddRandomEdits(random, intervention);
  return intervention;
}

}  // namespace midscope::test
