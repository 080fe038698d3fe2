// SPDX-License-Identifier: MIT
// Kinds of items that can be scanned: heads, groups of heads, layers, channels, rotary pairs,
// passages. A kind has a name, a placeholder for its items in a term, and a default term.
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

// One item of a scan: a head, a layer, a channel, ...
struct ScanItem {
  std::string id;                // "L3H2", "L3", "channel 100", "gold"
  std::string text;              // replaces the placeholder: "L3H2", "3", "100", "gold"
  std::vector<int64_t> at;       // its index on each axis of the kind: layer 3, head 2
  std::string second_text = {};  // replaces the second placeholder
  bool operator==(const ScanItem&) const = default;
};

// Restricts the items that a scan runs.
struct ScanRange {
  LayerSet layers;
  std::vector<int64_t> channels;      // channels to scan; empty: all
  std::vector<int64_t> rotary_pairs;  // rotary pairs to scan; empty: all
  std::vector<std::string> spans;     // names of passages
  bool operator==(const ScanRange&) const = default;
};

struct ScanKind {
  std::string name;         // "heads"
  std::string placeholder;  // "{head}"
  std::string term;         // the default: "ablate({head}, rows=answer)"
  std::string help;
  std::vector<std::string> axes;  // {"layer", "head"}
  // Returns the items. Throws Error (usage) if the model does not have all layers or channels of
  // the range.
  std::function<std::vector<ScanItem>(const ModelConfig& config, const ScanRange& range)> items;
  // Names of the options that restrict the items: "layers", "channels", "pairs", "span".
  std::vector<std::string> options;
  std::string second_placeholder = {};  // "{span}" of layer_spans; "": none
};

const std::vector<ScanKind>& ScanKinds();

// Returns the passage of an item of a kind with an axis `span`: "gold" for "L3 gold".
std::string SpanOf(const ScanItem& item);

// Finds a kind of items by name. Throws Error (usage), which lists the known names, if there is
// none.
const ScanKind& FindScanKind(std::string_view name);

// The scan that a sweep runs. Setting 0 is `base` (or `none`); setting 1 + i is setting 0 with
// `term` applied to items[i].
struct Scan {
  std::string kind;
  std::string term;  // "ablate({head}, rows=answer)"
  std::vector<ScanItem> items;
  std::string base = {};  // "pi(1.5)"; "": none
};

// Makes a scan. Throws Error (usage) if the term does not contain the kind's placeholder, or there
// are no items.
Scan MakeScan(const ScanKind& kind, const std::string& term, const ScanRange& range,
              const ModelConfig& config);

// Returns the scan's intervention term for one item: "ablate(L3H2, rows=answer)".
std::string TermOf(const Scan& scan, const ScanItem& item);

// Returns the settings of a scan in order: `base` (or `none`), then one per item.
std::vector<std::string> ScanSettings(const Scan& scan);

// Returns the options over, with, layers, channels, pairs and span.
std::vector<Parameter> ScanParameters();

// Reads the range of a scan from the options layers, channels, pairs and span. Throws Error (usage)
// if a value is invalid or an option belongs to another kind of items.
ScanRange ReadScanRange(const OptionSet& options);

}  // namespace midscope
