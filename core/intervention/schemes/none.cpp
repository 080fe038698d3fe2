// SPDX-License-Identifier: MIT
// The model's own positions.
#include "core/intervention/schemes/schemes.h"
#include "core/plan/scheme_plans.h"

namespace midscope {
namespace {

void Apply(const NoScheme&, const SchemePlans&) {}

double Stretch(const NoScheme&, const ModelConfig&) { return 1; }

}  // namespace

SchemeType NoneScheme() {
  return MakeScheme<NoScheme>(
      {.name = "none", .summary = "Nothing is changed.", .examples = {"none"}}, Apply, Stretch,
      {.needs_rotation = false, .chooses_rows = false});
}

}  // namespace midscope
