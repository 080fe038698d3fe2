// SPDX-License-Identifier: MIT
#include "data/tasks/ruler_kinds.h"

namespace midscope {
namespace {

constexpr RulerWord kWordKind = RulerWord::kWords;
constexpr RulerWord kNumberKind = RulerWord::kNumbers;
constexpr RulerWord kUuidKind = RulerWord::kUuids;
constexpr int64_t kNeedleTokens = 128;

RulerKind Niah(const std::string& name, const RulerNeedles& needles) {
  // The haystack's unit is a word for essays, otherwise a line.
  const bool essay = needles.haystack == RulerHaystack::kEssay;
  return {name, kNeedleTokens, essay ? 50 : 1, essay ? 1 : 8, true, needles, MakeRulerNeedles};
}

}  // namespace

const std::vector<RulerKind>& RulerKinds() {
  static const std::vector<RulerKind> kinds = {
      Niah("niah_single_1", {RulerHaystack::kNoise, kWordKind, kNumberKind}),
      Niah("niah_single_2", {RulerHaystack::kEssay, kWordKind, kNumberKind}),
      Niah("niah_single_3", {RulerHaystack::kEssay, kWordKind, kUuidKind}),
      Niah("niah_multikey_1", {RulerHaystack::kEssay, kWordKind, kNumberKind, 4}),
      Niah("niah_multikey_2", {RulerHaystack::kNeedles, kWordKind, kNumberKind}),
      Niah("niah_multikey_3", {RulerHaystack::kNeedles, kUuidKind, kUuidKind}),
      Niah("niah_multivalue", {RulerHaystack::kEssay, kWordKind, kNumberKind, 1, 4}),
      Niah("niah_multiquery", {RulerHaystack::kEssay, kWordKind, kNumberKind, 4, 1, 4}),
      {"vt", 30, 5, 8, false, {}, MakeRulerVariables},
      {"cwe", 120, 10, 1, false, {}, MakeRulerCommonWords},
      {"fwe", 50, 64, 1, false, {}, MakeRulerFrequentWords},
  };
  return kinds;
}

}  // namespace midscope
