// SPDX-License-Identifier: MIT
// Items that a scan can go over: heads, groups of heads, layers, channels, rotary pairs, passages.
// Each kind is a value in the list: a name, a placeholder of its items in a term, and the term that
// is scanned by default.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"

namespace midscope {

// One head, layer, channel ...
struct ScanItem {
  std::string id;                // "L3H2", "L3", "channel 100", "gold"
  std::string text;              // what replaces the placeholder: "L3H2", "3", "100", "gold"
  std::vector<int64_t> at;       // its place on each axis of the kind: layer 3, head 2
  std::string second_text = {};  // what replaces the second placeholder
  bool operator==(const ScanItem&) const = default;
};

// Which of them are scanned.
struct ScanRange {
  LayerSet layers;
  std::vector<int64_t> channels;      // empty: all
  std::vector<int64_t> rotary_pairs;  // empty: all
  std::vector<std::string> spans;     // names of passages
  bool operator==(const ScanRange&) const = default;
};

struct ScanKind {
  std::string name;         // "heads"
  std::string placeholder;  // "{head}"
  std::string term;         // the default: "ablate({head}, rows=answer)"
  std::string help;
  std::vector<std::string> axes;  // {"layer", "head"}
  // Throws Error (usage) for what the model does not have.
  std::function<std::vector<ScanItem>(const ModelConfig& config, const ScanRange& range)> items;
  // The options that choose among them: "layers", "channels", "pairs", "span".
  std::vector<std::string> options;
  std::string second_placeholder = {};  // "{span}" of layer_spans; "": there is one alone
};

const std::vector<ScanKind>& ScanKinds();

// The passage of an item of a kind with an axis `span`: "gold" of "L3 gold".
std::string SpanOf(const ScanItem& item);

// Throws Error (usage) with the known names.
const ScanKind& FindScanKind(std::string_view name);

// The scan of a sweep: its first setting is `none`, and setting 1 + i is `term` for items[i].
struct Scan {
  std::string kind;
  std::string term;  // "ablate({head}, rows=answer)"
  std::vector<ScanItem> items;
};

// Throws Error (usage): a term without the kind's placeholder, no items.
Scan MakeScan(const ScanKind& kind, const std::string& term, const ScanRange& range,
              const ModelConfig& config);

// The scan's term for one of its items: "ablate(L3H2, rows=answer)".
std::string TermOf(const Scan& scan, const ScanItem& item);

// `none` and the terms, in the scan's order.
std::vector<std::string> ScanSettings(const Scan& scan);

// Range of a scan, as described options: of `midscope scan` and of the window's form.

// over, with, layers, channels, pairs, span.
std::vector<Parameter> ScanParameters();

// The range in these options. Throws Error (usage): a text that cannot be read, an option of
// another kind than the one that is scanned.
ScanRange ReadScanRange(const OptionSet& options);

}  // namespace midscope
