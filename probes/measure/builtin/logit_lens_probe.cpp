// SPDX-License-Identifier: MIT
#include "core/base/record_names.h"
#include "probes/measure/builtin/layer_lens.h"
#include "probes/measure/builtin/probes.h"

namespace midscope {

ProbeType LogitLensProbe() {
  ProbeType type;
  type.name = kLogitLensRecord;
  type.summary =
      "the last row through the final norm and output after every block: top tokens, "
      "the answer's rank";
  type.source = "nostalgebraist, 'interpreting GPT: the logit lens', 2020";
  type.departures =
      "the original notebook looks at every row, and at the block's input too; here the last "
      "prompt row and those of --lens-at after each block, of the answer its first token";
  type.limits =
      "works for every family, whatever its positions; early layers of a model whose output norm "
      "or output matrix is far from theirs say little";
  type.options = LayerLensOptions();
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return MakeLayerLens(input, kLogitLensRecord, {}); };
  type.summarise = SummariseLayerLens;
  return type;
}

}  // namespace midscope
