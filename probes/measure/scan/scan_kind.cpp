// SPDX-License-Identifier: MIT
#include "probes/measure/scan/scan_kind.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/terms/intervention_text.h"
#include "probes/base/number_list.h"

namespace midscope {

namespace {

// Returns the layers of `layers` that have attention.
std::vector<int64_t> Attending(const ModelConfig& config, const LayerSet& layers) {
  std::vector<int64_t> attending;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (layers.Contains(layer) && config.HasAttention(layer)) attending.push_back(layer);
  }
  return attending;
}

// Returns scan items for parts of layers: heads ('H') or groups ('G'); [layer, part].
std::vector<ScanItem> LayerParts(const ModelConfig& config, const LayerSet& layers, char letter) {
  std::vector<ScanItem> items;
  for (const int64_t layer : Attending(config, layers)) {
    const int64_t parts = letter == 'H' ? config.heads : config.KeyValueHeads(layer);
    for (int64_t part = 0; part < parts; ++part) {
      const std::string id = fmt::format("L{}{}{}", layer, letter, part);
      items.push_back({id, id, {layer, part}});
    }
  }
  return items;
}

ScanItem LayerItem(int64_t layer) {
  return {fmt::format("L{}", layer), std::to_string(layer), {layer}};
}

// Returns numbered scan items. `thing`: kind of item, "channel". If `chosen` is empty, all items.
std::vector<ScanItem> Numbered(const std::string& thing, std::vector<int64_t> chosen,
                               int64_t count) {
  if (chosen.empty()) {
    chosen.resize(static_cast<size_t>(count));
    std::iota(chosen.begin(), chosen.end(), int64_t{0});
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<ScanItem> items;
  items.reserve(chosen.size());
  for (const int64_t number : chosen) {
    std::string id = fmt::format("{} {}", thing, number);
    if (number >= count) {
      throw UsageError(id, "the model does not have it",
                       count > 0 ? fmt::format("It has {}s 0 to {}", thing, count - 1)
                                 : fmt::format("It has no {}s", thing));
    }
    items.push_back({std::move(id), std::to_string(number), {number}});
  }
  return items;
}

std::vector<ScanItem> Spans(const std::vector<std::string>& names) {
  std::vector<ScanItem> items;
  items.reserve(names.size());
  for (const std::string& name : names)
    items.push_back({name, name, {static_cast<int64_t>(items.size())}});
  return items;
}

std::vector<ScanItem> LayerSpans(const ModelConfig& config, const ScanRange& range) {
  std::vector<ScanItem> items;
  const std::vector<ScanItem> spans = Spans(range.spans);
  for (int64_t index = 0; index < config.layers; ++index) {
    if (!range.layers.Contains(index)) continue;
    const ScanItem layer = LayerItem(index);
    for (const ScanItem& span : spans) {
      items.push_back({layer.id + " " + span.id, layer.text, {layer.at[0], span.at[0]}, span.text});
    }
  }
  return items;
}

void ReplaceAll(const std::string& placeholder, const std::string& by, std::string& text) {
  for (size_t at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + by.size())) {
    text.replace(at, placeholder.size(), by);
  }
}

}  // namespace

const std::vector<ScanKind>& ScanKinds() {
  static const std::vector<ScanKind> kinds = {
      {"heads",
       "{head}",
       "ablate({head}, rows=answer)",
       "every query head",
       {"layer", "head"},
       [](const ModelConfig& config, const ScanRange& range) {
         return LayerParts(config, range.layers, 'H');
       },
       {"layers"}},
      {"groups",
       "{group}",
       "ablate({group}, rows=answer)",
       "every key head with the query heads that read it",
       {"layer", "group"},
       [](const ModelConfig& config, const ScanRange& range) {
         return LayerParts(config, range.layers, 'G');
       },
       {"layers"}},
      {"layers",
       "{layer}",
       "ablate(L{layer}H*, rows=answer)",
       "the attention of every layer",
       {"layer"},
       [](const ModelConfig& config, const ScanRange& range) {
         const std::vector<int64_t> layers = Attending(config, range.layers);
         std::vector<ScanItem> items(layers.size());
         std::transform(layers.begin(), layers.end(), items.begin(), LayerItem);
         return items;
       },
       {"layers"}},
      {"channels",
       "{channel}",
       "channel({channel}, factor=0)",
       "channels of the residual stream",
       {"channel"},
       [](const ModelConfig& config, const ScanRange& range) {
         return Numbered("channel", range.channels, config.hidden);
       },
       {"channels"}},
      {"rotary_pairs",
       "{pair}",
       "rotary-pairs({pair}, factor=0, rows=answer)",
       "frequencies of the rotation, in all layers",
       {"rotary_pair"},
       [](const ModelConfig& config, const ScanRange& range) {
         const bool rotary = config.positions == PositionKind::kRotary;
         return Numbered("rotary pair", range.rotary_pairs,
                         rotary ? config.rope_dimensions / 2 : 0);
       },
       {"pairs"}},
      {"spans",
       "{span}",
       "boost(span={span}, factor=0)",
       "named passages of the prompt",
       {"span"},
       [](const ModelConfig& /*config*/, const ScanRange& range) { return Spans(range.spans); },
       {"span"}},
      {"layer_spans",
       "{layer}",
       "patch(from=place:1, span={span}, layers={layer})",
       "every layer at named passages",
       {"layer", "span"},
       LayerSpans,
       {"layers", "span"},
       "{span}"},
  };
  return kinds;
}

const ScanKind& FindScanKind(std::string_view name) {
  std::vector<std::string> known;
  for (const ScanKind& kind : ScanKinds()) {
    if (kind.name == name) return kind;
    known.push_back(kind.name);
  }
  throw UsageError("scan over '" + std::string(name) + "'", "the kind is unknown",
                   KnownWordsHint(name, known));
}

std::string SpanOf(const ScanItem& item) {
  return item.at.size() == 1 ? item.id : item.id.substr(item.id.find(' ') + 1);
}

Scan MakeScan(const ScanKind& kind, const std::string& term, const ScanRange& range,
              const ModelConfig& config) {
  Scan scan{kind.name, term.empty() ? kind.term : term, kind.items(config, range)};
  for (const std::string& placeholder : {kind.placeholder, kind.second_placeholder}) {
    if (scan.term.find(placeholder) != std::string::npos) continue;
    throw UsageError(
        "term " + Quote(scan.term),
        fmt::format("it must contain {}, the placeholder of one of the {}", placeholder, kind.name),
        "Give it as in " + kind.term);
  }
  if (scan.items.empty()) {
    throw UsageError("scan over " + kind.name, "there are none of them in the given range",
                     fmt::format("The model has layers 0 to {}", config.layers - 1));
  }
  return scan;
}

std::string TermOf(const Scan& scan, const ScanItem& item) {
  const ScanKind& kind = FindScanKind(scan.kind);
  std::string text = scan.term;
  ReplaceAll(kind.placeholder, item.text, text);
  if (!kind.second_placeholder.empty()) ReplaceAll(kind.second_placeholder, item.second_text, text);
  return text;
}

std::vector<std::string> ScanSettings(const Scan& scan) {
  std::vector<std::string> settings = {scan.base.empty() ? "none" : scan.base};
  settings.reserve(scan.items.size() + 1);
  const std::string before = scan.base.empty() ? "" : scan.base + " + ";
  for (const ScanItem& item : scan.items) settings.push_back(before + TermOf(scan, item));
  return settings;
}

namespace {

bool Takes(const ScanKind& kind, const std::string& option) {
  return std::find(kind.options.begin(), kind.options.end(), option) != kind.options.end();
}

// Returns the text before an option's help with the kinds that use it: "of heads, groups: ".
std::string OfKinds(const std::string& option) {
  std::string text;
  for (const ScanKind& kind : ScanKinds()) {
    if (Takes(kind, option)) text += (text.empty() ? "of " : ", ") + kind.name;
  }
  return text + ": ";
}

// Throws Error (usage) if an option of another kind is set.
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
    // Layers are parsed in the same way as in intervention terms.
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
