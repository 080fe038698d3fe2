// SPDX-License-Identifier: MIT
#include "probes/serve/capture_hooks.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "probes/base/records.h"
#include "probes/serve/wire_arrays.h"

namespace midscope {
namespace {

// Reads a number or a list of numbers, ascending and without duplicates. Throws Error (usage).
std::vector<int64_t> ReadIndices(const Message& message, const std::string& thing, int64_t most) {
  std::vector<int64_t> indices;
  const auto add = [&](const Message& one) {
    if (!one.is_number_integer() || one.get<int64_t>() < 0 || one.get<int64_t>() > most) {
      throw UsageError(thing, fmt::format("{} is not an index from 0 to {}", one.dump(), most));
    }
    indices.push_back(one.get<int64_t>());
  };
  if (message.is_array()) {
    for (const Message& one : message) add(one);
  } else {
    add(message);
  }
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

bool IsKeyOrValue(HookSite site) { return site == HookSite::kKey || site == HookSite::kValue; }

bool HasHeads(HookSite site) {
  return site == HookSite::kQuery || IsKeyOrValue(site) || site == HookSite::kRotatedKey ||
         site == HookSite::kRotatedQuery || site == HookSite::kZ;
}

bool HoldsPattern(HookSite site) {
  return site == HookSite::kPattern || site == HookSite::kPatternUnrotated;
}

// Returns whether a point is in attention, a mixer or an MLP, before the addition to the stream.
bool IsOfMixer(HookSite site) {
  return site >= HookSite::kNormalizedAttention && site <= HookSite::kZ;
}
bool IsOfMlp(HookSite site) {
  return site >= HookSite::kNormalizedMlp && site <= HookSite::kMlpPost;
}

// Returns the number of heads of a point in this layer.
int64_t HeadsAt(const ModelConfig& config, HookPoint point) {
  if (point.site == HookSite::kEffectivePattern) return config.Mixer().heads;
  return IsKeyOrValue(point.site) ? config.KeyValueHeads(std::max<int64_t>(point.layer, 0))
                                  : config.heads;
}

const char* InnerAxis(const HookView& view) {
  if (view.dimensions == 4) return "dimension";
  return view.point.site == HookSite::kExpertWeights ? "expert" : "channel";
}

// Returns an element of a view by the indices of a client's array.
float ElementOf(const HookView& view, int64_t row, int64_t head, int64_t inner) {
  if (view.IsPattern()) return view.At(0, head, row, inner);
  return view.dimensions == 4 ? view.At(0, row, head, inner) : view.At(0, row, inner);
}

void SetElement(HookView& view, int64_t row, int64_t head, int64_t inner, float value) {
  if (view.IsPattern()) {
    view.Set(0, head, row, inner, value);
  } else if (view.dimensions == 4) {
    view.Set(0, row, head, inner, value);
  } else {
    view.Set(0, row, inner, 0, value);
  }
}

int64_t HeadsOf(const HookView& view) {
  if (view.IsPattern()) return view.shape[1];
  return view.dimensions == 4 ? view.shape[2] : 1;
}

int64_t InnerOf(const HookView& view) {
  return view.dimensions == 4 ? view.shape[3] : view.shape[2];
}

// Returns the shape of a client's array for some rows and heads of a view.
ActivationShape ShapeOf(const HookView& view, int64_t rows, int64_t heads, int64_t inner) {
  if (view.IsPattern()) return {{"head", "query", "key"}, {heads, rows, inner}};
  if (view.dimensions == 4) return {{"position", "head", "dimension"}, {rows, heads, inner}};
  return {{"position", InnerAxis(view)}, {rows, inner}};
}

// Calls visit(row, head, offset) for the absolute `rows` and `heads` that the view contains: row
// and head are indices into the view; offset is the index of their first element in the client's
// array of all `rows` and `heads`.
template <typename Visit>
void VisitRows(const HookView& view, const std::vector<int64_t>& rows,
               const std::vector<int64_t>& heads, int64_t inner, const Visit& visit) {
  const auto row_count = std::ssize(rows);
  const auto head_count = std::ssize(heads);
  const int64_t first_head = view.dimensions == 4 ? view.first_head : 0;
  for (int64_t i = 0; i < row_count; ++i) {
    const int64_t row = rows[static_cast<size_t>(i)] - view.first_row;
    if (row < 0 || row >= view.rows()) continue;
    for (int64_t j = 0; j < head_count; ++j) {
      const int64_t head = heads[static_cast<size_t>(j)] - first_head;
      if (head < 0 || head >= HeadsOf(view)) continue;
      visit(row, head, (view.IsPattern() ? j * row_count + i : i * head_count + j) * inner);
    }
  }
}

// Copies the elements of one row and head of the view, [inner].
void CopyRow(const HookView& view, int64_t row, int64_t head, float* to) {
  const int64_t inner = InnerOf(view);
  const int64_t stride = view.strides[view.dimensions == 4 ? 3 : 2];
  if (view.dtype == kernels::Dtype::kFloat32 && stride == 1) {
    const int64_t offset = view.IsPattern()       ? head * view.strides[1] + row * view.strides[2]
                           : view.dimensions == 4 ? row * view.strides[1] + head * view.strides[2]
                                                  : row * view.strides[1];
    std::memcpy(to, static_cast<const float*>(view.data) + offset,
                static_cast<size_t>(inner) * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < inner; ++i) to[i] = ElementOf(view, row, head, i);
}

// Returns `count` consecutive integers from `first` on.
std::vector<int64_t> Numbers(int64_t first, int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(std::max<int64_t>(0, count)));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

RowRange RangeOf(const std::vector<int64_t>& rows) {
  return rows.empty() ? RowRange{} : RowRange{rows.front(), rows.back() + 1};
}

}  // namespace

int64_t ActivationShape::elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> CapturePart::RowsOf(const SequenceInfo& sequence) const {
  int64_t first = 0;
  int64_t last = sequence.rows;
  switch (rows) {
    case Rows::kAll:
      break;
    case Rows::kLast:
      first = sequence.prompt_tokens - 1;
      last = sequence.prompt_tokens;
      break;
    case Rows::kAnswer:
      first = sequence.prompt_tokens - 1;
      break;
    case Rows::kList: {
      // Ascending.
      if (!row_list.empty() && row_list.back() >= sequence.rows) {
        throw UsageError("hook point " + Quote(name),
                         fmt::format("row {} is not in the prompt and its answer, which have {} "
                                     "rows, counted from 0",
                                     row_list.back(), sequence.rows),
                         "Give rows of the prompt, or \"last\"");
      }
      return row_list;
    }
  }
  return Numbers(first, last - first);
}

CapturePart ReadCapturePart(const Message& message, const ModelConfig& config) {
  const Message whole = message.is_string() ? Message{{"point", message}} : message;
  if (!whole.is_object() || !whole.contains("point") || !whole["point"].is_string()) {
    throw UsageError("hook point", "it must be a name or {point, rows, heads}",
                     "Such as blocks.12.hook_resid_post");
  }
  CapturePart part;
  part.name = whole["point"].get<std::string>();
  const std::string thing = "hook point " + Quote(part.name);
  const std::optional<HookPoint> point = ParseHookName(part.name);
  if (!point) {
    throw UsageError(thing, "it is unknown",
                     "Give a TransformerLens name, such as blocks.12.hook_resid_post");
  }
  part.point = *point;
  if (point->layer >= config.layers) {
    throw UsageError(thing, fmt::format("the model has {} layers", config.layers),
                     fmt::format("Give a layer from 0 to {}", config.layers - 1));
  }
  if (point->layer >= 0 && !config.MixesRows(point->layer) && IsOfMixer(point->site)) {
    throw UsageError(
        thing, "this layer is an MLP alone",
        fmt::format("Take blocks.{}.hook_mlp_out, or a layer that attends", point->layer));
  }
  if (point->layer >= 0 && !config.HasMlp(point->layer) && IsOfMlp(point->site)) {
    throw UsageError(thing, "this layer has no MLP",
                     fmt::format("Take blocks.{}.hook_attn_out", point->layer));
  }
  if (point->layer >= 0 && !config.HasAttention(point->layer) &&
      (HasHeads(point->site) || HoldsPattern(point->site))) {
    throw UsageError(
        thing, fmt::format("this layer has no attention: {} mixes its tokens", config.Mixer().kind),
        fmt::format("Take blocks.{}.{}, or a layer that attends", point->layer,
                    config.Mixer().heads > 0 ? "attn.hook_effective_pattern" : "hook_attn_out"));
  }
  if (point->site == HookSite::kEffectivePattern && !config.HasMixer(point->layer)) {
    throw UsageError(thing, "this layer has no mixer",
                     fmt::format("Take blocks.{}.attn.hook_pattern", point->layer));
  }
  if (point->site == HookSite::kEffectivePattern && config.Mixer().heads == 0) {
    throw UsageError(thing, "the convolution of this layer reads a few tokens, by fixed weights",
                     fmt::format("Take blocks.{}.hook_attn_out", point->layer));
  }
  if (IsKeyOrValue(point->site) && config.SharesKeys(point->layer)) {
    throw UsageError(thing, "this layer reads the keys and values of an earlier one",
                     fmt::format("Take layer {}", config.AttentionOf(point->layer).keys_of));
  }
  if (whole.contains("rows") && !whole["rows"].is_null()) {
    const Message& rows = whole["rows"];
    if (rows == "all") {
      part.rows = CapturePart::Rows::kAll;
    } else if (rows == "last") {
      part.rows = CapturePart::Rows::kLast;
    } else if (rows == "answer") {
      part.rows = CapturePart::Rows::kAnswer;
    } else if (rows.is_string()) {
      throw UsageError(thing, "rows is " + Quote(rows.get<std::string>()),
                       "Give all, last, answer, or a list of row numbers");
    } else {
      part.rows = CapturePart::Rows::kList;
      part.row_list = ReadIndices(rows, thing + ", rows", INT32_MAX);
    }
  }
  if (whole.contains("heads") && !whole["heads"].is_null()) {
    if (!HasHeads(part.point.site) && !HoldsPattern(part.point.site) &&
        part.point.site != HookSite::kEffectivePattern) {
      throw UsageError(thing, "it has no heads", "Leave heads out");
    }
    part.heads = ReadIndices(whole["heads"], thing + ", heads", HeadsAt(config, part.point) - 1);
  }
  return part;
}

HookRequest CaptureHook::Request(const HookPoint& point, const SequenceInfo& sequence) {
  RowRange all;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!(parts_[i].point == point)) continue;
    Stored& stored = stored_[i];
    stored.sequence = sequence;
    stored.rows = parts_[i].RowsOf(sequence);
    const RowRange one = RangeOf(stored.rows);
    if (one.empty()) continue;
    all =
        all.empty() ? one : RowRange{std::min(all.first, one.first), std::max(all.last, one.last)};
  }
  if (all.empty()) return {};
  return {HookAccess::kRead, all};
}

void CaptureHook::OnActivation(HookView& view) {
  for (auto& [index, stored] : stored_) {
    const CapturePart& part = parts_[index];
    if (!(part.point == view.point)) continue;
    const int64_t inner = view.IsPattern() ? stored.sequence.rows : InnerOf(view);
    if (stored.shape.sizes.empty()) {
      stored.heads = view.dimensions != 4 ? std::vector<int64_t>{0}
                     : part.heads.empty() ? Numbers(0, HeadsAt(config_, view.point))
                                          : part.heads;
      stored.shape = ShapeOf(view, std::ssize(stored.rows), std::ssize(stored.heads), inner);
      stored.values.assign(static_cast<size_t>(stored.shape.elements()), 0);
    }
    VisitRows(view, stored.rows, stored.heads, inner,
              [&, &values = stored.values](int64_t row, int64_t head, int64_t offset) {
                CopyRow(view, row, head, values.data() + offset);
              });
  }
}

std::vector<Record> CaptureHook::Records() && {
  std::vector<Record> records;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Stored& stored = stored_[i];
    if (stored.shape.sizes.empty()) {
      throw UsageError(
          "hook point " + Quote(parts_[i].name),
          stored.rows.empty() ? "none of the rows is in the prompt"
                              : "this model does not compute it",
          "Choose a point of a layer that has such a part: midscope info MODEL names them");
    }
    Record record;
    record.name = parts_[i].name;
    for (size_t axis = 0; axis < stored.shape.axes.size(); ++axis) {
      const std::string& name = stored.shape.axes[axis];
      record.axes.push_back(CountedAxis(name, stored.shape.sizes[axis]));
      if (name == "position" || name == "query") {
        record.axes.back().values.assign(stored.rows.begin(), stored.rows.end());
      }
      if (name == "head" && !parts_[i].heads.empty()) {
        record.axes.back().values.assign(parts_[i].heads.begin(), parts_[i].heads.end());
      }
    }
    record.arrays = {{parts_[i].name, stored.shape.axes, std::move(stored.values), "",
                      "activation at the hook point"}};
    record.signal = parts_[i].name;
    records.push_back(std::move(record));
  }
  return records;
}

HookRequest CallbackHook::Request(const HookPoint& point, const SequenceInfo& sequence) {
  if (!(part_.point == point)) return {};
  rows_ = part_.RowsOf(sequence);
  if (rows_.empty()) return {};
  return {HookAccess::kWrite, RangeOf(rows_)};
}

void CallbackHook::OnActivation(HookView& view) {
  std::vector<int64_t> rows;
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(rows), [&](int64_t row) {
    return row >= view.first_row && row < view.first_row + view.rows();
  });
  std::vector<int64_t> heads = Numbers(view.dimensions == 4 ? view.first_head : 0, HeadsOf(view));
  std::erase_if(heads, [&](int64_t head) {
    return !part_.heads.empty() &&
           !std::binary_search(part_.heads.begin(), part_.heads.end(), head);
  });
  if (rows.empty() || heads.empty()) return;
  const int64_t inner = InnerOf(view);
  const ActivationShape shape = ShapeOf(view, std::ssize(rows), std::ssize(heads), inner);
  std::vector<uint8_t> bytes(static_cast<size_t>(shape.elements()) * sizeof(float));
  std::vector<float> values(static_cast<size_t>(inner));
  VisitRows(view, rows, heads, inner, [&](int64_t row, int64_t head, int64_t offset) {
    CopyRow(view, row, head, values.data());
    std::memcpy(bytes.data() + static_cast<size_t>(offset) * sizeof(float), values.data(),
                values.size() * sizeof(float));
  });
  const Message answer = ask_({{"point", part_.name},
                               {"first_row", rows.front()},
                               {"array",
                                {{"dtype", "float32"},
                                 {"shape", shape.sizes},
                                 {"dims", shape.axes},
                                 {"data", Message::binary(std::move(bytes))}}}});
  if (answer.is_null()) return;
  const WireNumbers changed = ReadNumbers(answer, "hook at " + part_.name);
  if (std::ssize(changed.values) != shape.elements()) {
    throw UsageError(
        "hook at " + part_.name,
        fmt::format("it returned {} numbers for {}", changed.values.size(), shape.elements()),
        "Return None, or an array of the shape that it was given");
  }
  VisitRows(view, rows, heads, inner, [&](int64_t row, int64_t head, int64_t offset) {
    for (int64_t i = 0; i < inner; ++i) {
      SetElement(view, row, head, i,
                 static_cast<float>(changed.values[static_cast<size_t>(offset + i)]));
    }
  });
}

}  // namespace midscope
