// SPDX-License-Identifier: MIT
#include "probes/serve/capture_hooks.h"

#include <algorithm>
#include <cstring>
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

const char* InnerAxis(const HookView& view) {
  if (view.dimensions == 4) return "dimension";
  return view.point.site == HookSite::kExpertWeights ? "expert" : "channel";
}

// An element of a view by what a client's array is indexed with.
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

// The rows of the view that are among `rows`, as indices into the view.
std::vector<int64_t> RowsInView(const HookView& view, const std::vector<int64_t>& rows) {
  std::vector<int64_t> found;
  for (int64_t row = 0; row < view.rows(); ++row) {
    if (std::binary_search(rows.begin(), rows.end(), view.first_row + row)) found.push_back(row);
  }
  return found;
}

RowRange RangeOf(const std::vector<int64_t>& rows) {
  return rows.empty() ? RowRange{} : RowRange{rows.front(), rows.back() + 1};
}

}  // namespace

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
      std::vector<int64_t> inside;
      std::copy_if(row_list.begin(), row_list.end(), std::back_inserter(inside),
                   [&](int64_t row) { return row < sequence.rows; });
      return inside;
    }
  }
  std::vector<int64_t> all(static_cast<size_t>(std::max<int64_t>(0, last - first)));
  std::iota(all.begin(), all.end(), first);
  return all;
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
    if (!HasHeads(part.point.site) && !HoldsPattern(part.point.site)) {
      throw UsageError(thing, "it has no heads", "Leave heads out");
    }
    const int64_t heads = IsKeyOrValue(part.point.site) ? config.key_value_heads : config.heads;
    part.heads = ReadIndices(whole["heads"], thing + ", heads", heads - 1);
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
    const bool headed = view.dimensions == 4;
    std::vector<int64_t> heads = part.heads;
    if (headed && heads.empty()) {
      heads.resize(static_cast<size_t>(IsKeyOrValue(part.point.site) ? config_.key_value_heads
                                                                     : config_.heads));
      std::iota(heads.begin(), heads.end(), 0);
    }
    const auto rows = std::ssize(stored.rows);
    const int64_t inner = view.IsPattern() ? stored.sequence.rows : InnerOf(view);
    if (stored.shape.sizes.empty()) {
      if (view.IsPattern()) {
        stored.shape = {{"head", "query", "key"}, {std::ssize(heads), rows, inner}};
      } else if (headed) {
        stored.shape = {{"position", "head", "dimension"}, {rows, std::ssize(heads), inner}};
      } else {
        stored.shape = {{"position", InnerAxis(view)}, {rows, inner}};
      }
      const int64_t elements = std::accumulate(stored.shape.sizes.begin(), stored.shape.sizes.end(),
                                               int64_t{1}, std::multiplies<>());
      stored.values.assign(static_cast<size_t>(elements), 0);
    }
    if (!headed) heads = {0};
    for (const int64_t row : RowsInView(view, stored.rows)) {
      const int64_t to_row =
          std::lower_bound(stored.rows.begin(), stored.rows.end(), view.first_row + row) -
          stored.rows.begin();
      for (int64_t to_head = 0; to_head < std::ssize(heads); ++to_head) {
        const int64_t head = heads[static_cast<size_t>(to_head)] - (headed ? view.first_head : 0);
        if (head < 0 || head >= HeadsOf(view)) continue;
        const int64_t first = view.IsPattern() ? (to_head * rows + to_row) * inner
                                               : (to_row * std::ssize(heads) + to_head) * inner;
        float* to = stored.values.data() + first;
        CopyRow(view, row, head, to);
      }
    }
  }
}

void CaptureHook::CopyRow(const HookView& view, int64_t row, int64_t head, float* to) {
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

std::vector<Record> CaptureHook::Records() && {
  std::vector<Record> records;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Stored& stored = stored_[i];
    if (stored.shape.sizes.empty()) {
      throw UsageError("hook point " + Quote(parts_[i].name),
                       stored.rows.empty() ? "none of the rows is in the prompt"
                                           : "this model does not compute it",
                       "core/decoder/hooks.h lists the points and their limits");
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
  const std::vector<int64_t> rows = RowsInView(view, rows_);
  if (rows.empty()) return;
  const bool headed = view.dimensions == 4;
  std::vector<int64_t> heads;
  for (int64_t head = 0; head < HeadsOf(view); ++head) {
    const auto& wanted = part_.heads;
    const int64_t number = head + (headed ? view.first_head : 0);
    if (wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), number)) {
      heads.push_back(head);
    }
  }
  if (heads.empty()) return;
  const int64_t inner = InnerOf(view);
  std::vector<float> values;
  const auto each = [&](const auto& element) {
    const auto row_then_head = [&](int64_t row, int64_t head) {
      for (int64_t i = 0; i < inner; ++i) element(row, head, i);
    };
    if (view.IsPattern()) {
      for (const int64_t head : heads) {
        for (const int64_t row : rows) row_then_head(row, head);
      }
    } else {
      for (const int64_t row : rows) {
        for (const int64_t head : heads) row_then_head(row, head);
      }
    }
  };
  each([&](int64_t row, int64_t head, int64_t i) {
    values.push_back(ElementOf(view, row, head, i));
  });
  const auto row_count = std::ssize(rows);
  const auto head_count = std::ssize(heads);
  Message shape = {row_count, inner};
  Message dims = {"position", InnerAxis(view)};
  if (view.IsPattern()) {
    shape = {head_count, row_count, inner};
    dims = {"head", "query", "key"};
  } else if (headed) {
    shape = {row_count, head_count, inner};
    dims = {"position", "head", "dimension"};
  }
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const Message answer = ask_({{"point", part_.name},
                               {"first_row", view.first_row + rows.front()},
                               {"array",
                                {{"dtype", "float32"},
                                 {"shape", shape},
                                 {"dims", dims},
                                 {"data", Message::binary(std::move(bytes))}}}});
  if (answer.is_null()) return;
  const WireNumbers changed = ReadNumbers(answer, "hook at " + part_.name);
  if (changed.values.size() != values.size()) {
    throw UsageError(
        "hook at " + part_.name,
        fmt::format("it returned {} numbers for {}", changed.values.size(), values.size()),
        "Return None, or an array of the shape that it was given");
  }
  auto next = changed.values.begin();
  each([&](int64_t row, int64_t head, int64_t i) {
    SetElement(view, row, head, i, static_cast<float>(*next++));
  });
}

}  // namespace midscope
