// SPDX-License-Identifier: MIT
#include "probes/scan/scan_kind.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/nearest_word.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

// [layer, part of the layer]: letter 'H' or 'G'.
std::vector<ScanItem> LayerParts(const ModelConfig& config, const LayerSet& layers, char letter,
                                 int64_t parts) {
  std::vector<ScanItem> items;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    for (int64_t part = 0; part < parts && layers.Contains(layer); ++part) {
      const std::string id = fmt::format("L{}{}{}", layer, letter, part);
      items.push_back({id, id, {layer, part}});
    }
  }
  return items;
}

std::vector<ScanItem> Layers(const ModelConfig& config, const LayerSet& layers) {
  std::vector<ScanItem> items;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (!layers.Contains(layer)) continue;
    items.push_back({fmt::format("L{}", layer), std::to_string(layer), {layer}});
  }
  return items;
}

std::vector<ScanItem> Channels(const ModelConfig& config, std::vector<int64_t> channels) {
  if (channels.empty()) {
    channels.resize(static_cast<size_t>(config.hidden));
    std::iota(channels.begin(), channels.end(), int64_t{0});
  }
  std::sort(channels.begin(), channels.end());
  std::vector<ScanItem> items;
  items.reserve(channels.size());
  for (const int64_t channel : channels) {
    if (channel >= config.hidden) {
      throw UsageError(fmt::format("channel {}", channel), "the model does not have it",
                       fmt::format("It has channels 0 to {}", config.hidden - 1));
    }
    items.push_back({fmt::format("channel {}", channel), std::to_string(channel), {channel}});
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

}  // namespace

const std::vector<ScanKind>& ScanKinds() {
  static const std::vector<ScanKind> kinds = {
      {"heads",
       "{head}",
       "ablate({head}, rows=answer)",
       "every query head",
       {"layer", "head"},
       [](const ModelConfig& config, const ScanRange& range) {
         return LayerParts(config, range.layers, 'H', config.heads);
       }},
      {"groups",
       "{group}",
       "ablate({group}, rows=answer)",
       "every key head with the query heads that read it",
       {"layer", "group"},
       [](const ModelConfig& config, const ScanRange& range) {
         return LayerParts(config, range.layers, 'G', config.key_value_heads);
       }},
      {"layers",
       "{layer}",
       "ablate(L{layer}H*, rows=answer)",
       "the attention of every layer",
       {"layer"},
       [](const ModelConfig& config, const ScanRange& range) {
         return Layers(config, range.layers);
       }},
      {"channels",
       "{channel}",
       "channel({channel}, factor=0)",
       "channels of the residual stream",
       {"channel"},
       [](const ModelConfig& config, const ScanRange& range) {
         return Channels(config, range.channels);
       }},
      {"spans",
       "{span}",
       "boost(span={span}, factor=0)",
       "named passages of the prompt",
       {"span"},
       [](const ModelConfig& /*config*/, const ScanRange& range) { return Spans(range.spans); }},
  };
  return kinds;
}

const ScanKind& FindScanKind(std::string_view name) {
  std::vector<std::string> known;
  for (const ScanKind& kind : ScanKinds()) {
    if (kind.name == name) return kind;
    known.push_back(kind.name);
  }
  throw UsageError("scan over '" + std::string(name) + "'", "there is nothing of this name",
                   KnownWordsHint(name, known));
}

Scan MakeScan(const ScanKind& kind, const std::string& term, const ScanRange& range,
              const ModelConfig& config) {
  Scan scan{kind.name, term.empty() ? kind.term : term, kind.items(config, range)};
  if (scan.term.find(kind.placeholder) == std::string::npos) {
    throw UsageError(
        "term " + Quote(scan.term),
        fmt::format("it has no {}, which stands for one of the {}", kind.placeholder, kind.name),
        "Give it as in " + kind.term);
  }
  if (scan.items.empty()) {
    throw UsageError("scan over " + kind.name, "there are none of them in what was given",
                     fmt::format("The model has layers 0 to {}", config.layers - 1));
  }
  return scan;
}

std::vector<std::string> ScanSettings(const Scan& scan) {
  const std::string& placeholder = FindScanKind(scan.kind).placeholder;
  std::vector<std::string> settings = {"none"};
  settings.reserve(scan.items.size() + 1);
  for (const ScanItem& item : scan.items) {
    std::string text = scan.term;
    for (size_t at = text.find(placeholder); at != std::string::npos;
         at = text.find(placeholder, at + item.text.size())) {
      text.replace(at, placeholder.size(), item.text);
    }
    settings.push_back(std::move(text));
  }
  return settings;
}

}  // namespace midscope
