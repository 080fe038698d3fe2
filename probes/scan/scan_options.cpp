// SPDX-License-Identifier: MIT
#include "probes/scan/scan_options.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/base/parameter_kinds.h"
#include "core/terms/intervention_text.h"
#include "probes/base/number_list.h"

namespace midscope {
namespace {

bool Takes(const ScanKind& kind, const std::string& option) {
  return std::find(kind.options.begin(), kind.options.end(), option) != kind.options.end();
}

// "of heads, groups: " for an option that these take.
std::string OfKinds(const std::string& option) {
  std::string text;
  for (const ScanKind& kind : ScanKinds()) {
    if (Takes(kind, option)) text += (text.empty() ? "of " : ", ") + kind.name;
  }
  return text + ": ";
}

// Throws Error (usage) for an option of another kind than the one that is scanned.
void CheckKindOptions(const OptionSet& options, const ScanKind& kind) {
  for (const ScanKind& other : ScanKinds()) {
    for (const std::string& option : other.options) {
      if (Takes(kind, option) || !options.IsSet(option)) continue;
      throw UsageError("option --" + option, "it has no effect with --over " + kind.name,
                       "Leave it out");
    }
  }
}

std::vector<int64_t> Numbers(const OptionSet& options, const std::string& option) {
  if (!options.IsSet(option)) return {};
  return ParseNumberList("option --" + option, options.Text(option), 0,
                         std::numeric_limits<int64_t>::max());
}

}  // namespace

std::vector<Parameter> ScanParameters() {
  std::vector<std::string> kinds;
  std::string what = "what to go over";
  std::string terms = "the term that is scanned, with a placeholder; default";
  for (const ScanKind& kind : ScanKinds()) {
    kinds.push_back(kind.name);
    what += (kinds.size() == 1 ? ": " : ", ") + kind.name + " (" + kind.help + ")";
    terms += (kinds.size() == 1 ? ": " : ", ") + kind.term;
  }
  return {ChoiceParameter("over", what, kinds),
          TextParameter("with", terms),
          TextParameter("layers", OfKinds("layers") + "8-25; default: all"),
          TextParameter("channels", OfKinds("channels") + "96-103,215; default: all"),
          TextParameter("pairs", OfKinds("pairs") + "0-7,31; default: all"),
          TextListParameter("span", OfKinds("span") +
                                        "the name of a passage, may be given more than once; "
                                        "default: gold, question, of layer_spans last too")};
}

ScanRange ReadScanRange(const OptionSet& options) {
  const ScanKind& kind = FindScanKind(options.Text("over"));
  CheckKindOptions(options, kind);
  ScanRange range;
  if (options.IsSet("layers")) {
    // Read as the terms read it.
    const std::string text = "channel(0, factor=1, layers=" + options.Text("layers") + ")";
    range.layers = ParseIntervention(text).Find<ChannelScaling>()->layers;
  }
  range.channels = Numbers(options, "channels");
  range.rotary_pairs = Numbers(options, "pairs");
  range.spans = options.TextList("span");
  if (range.spans.empty()) {
    range.spans = {"gold", "question"};
    if (kind.name == "layer_spans") range.spans.emplace_back("last");
  }
  return range;
}

}  // namespace midscope
