// SPDX-License-Identifier: MIT
// Hooks for a client of the engine process: sends activations to the client as arrays, and passes
// them to the client's callbacks, which may change them. Axes are those of TransformerLens without
// the batch axis, in order: `position` (or `query` and `key` of patterns), `head`, `channel` (or
// `dimension` inside a head, `expert`).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/record.h"
#include "core/decoder/hooks.h"
#include "core/model/model_config.h"
#include "probes/serve/message.h"

namespace midscope {

// The rows and heads of a hook point that a client requests.
struct CapturePart {
  HookPoint point;
  std::string name;  // the part's name in the request
  enum class Rows { kAll, kLast, kAnswer, kList } rows = Rows::kAll;
  std::vector<int64_t> row_list;  // row numbers for kList, ascending
  std::vector<int64_t> heads;     // requested heads; empty: all heads

  // Returns the requested rows of a sequence, ascending. kLast: the last prompt row; kAnswer: the
  // last prompt row and all rows after it.
  std::vector<int64_t> RowsOf(const SequenceInfo& sequence) const;
};

// Reads an object {point, rows, heads} or the name of a hook point. rows: "all", "last", "answer",
// a row number or a list of row numbers. Throws Error (usage) for an unknown point, a layer or head
// that the model does not have, or a negative row.
CapturePart ReadCapturePart(const Message& message, const ModelConfig& config);

// The shape and elements of an activation that a client receives: an array [row, head, ...] or, for
// patterns, [head, query, key].
struct ActivationShape {
  std::vector<std::string> axes;
  std::vector<int64_t> sizes;
  int64_t elements() const;
};

// Stores the activations of the requested hook points.
class CaptureHook : public Hook {
 public:
  CaptureHook(std::vector<CapturePart> parts, const ModelConfig& config)
      : parts_(std::move(parts)), config_(config) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;
  // Returns one record per requested part, in order, with one float32 array of the part's name.
  // Throws Error (usage) if the model never computes a requested point.
  std::vector<Record> Records() &&;

 private:
  struct Stored {
    SequenceInfo sequence;
    std::vector<int64_t> rows;   // requested
    std::vector<int64_t> heads;  // requested; {0} for activations without heads
    ActivationShape shape;       // empty until the first activation
    std::vector<float> values;
  };

  std::vector<CapturePart> parts_;
  const ModelConfig& config_;
  std::map<size_t, Stored> stored_;  // by index of the requested part
};

// Passes activations to a client, which may return changed ones.
class CallbackHook : public Hook {
 public:
  // Sends {point, first_row, array} to the client; returns null, or {array}: float32 of the same
  // shape.
  using Ask = std::function<Message(Message)>;
  CallbackHook(CapturePart part, Ask ask) : part_(std::move(part)), ask_(std::move(ask)) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

 private:
  CapturePart part_;
  Ask ask_;
  std::vector<int64_t> rows_;
};

}  // namespace midscope
