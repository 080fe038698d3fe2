// SPDX-License-Identifier: MIT
// The requests of all hooks of one sequence, collected once before a run, so that a pass can look
// up at each point whether a hook reads it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/decoder/hooks.h"

namespace midscope {

class HookTable {
 public:
  // Throws Error if a hook would change a point that can only be read.
  HookTable(const std::vector<Hook*>& hooks, int64_t layers, const SequenceInfo& sequence);

  // Returns the rows that hooks request at the point, as one range (empty: none).
  RowRange Wanted(HookSite site, int64_t layer) const;
  // Returns the first row that hooks request at any point of the layer from `site` on (in the order
  // of HookSite); kNoRow if none.
  int64_t FirstWanted(HookSite site, int64_t layer) const;
  static constexpr int64_t kNoRow = std::numeric_limits<int64_t>::max();
  // Whether a hook may change the point.
  bool Writes(HookSite site, int64_t layer) const;
  // Whether a hook may change any point.
  bool writes() const { return writes_; }
  // Returns the requested rows of every point at which rows are requested.
  std::map<std::pair<HookSite, int64_t>, RowRange> AllWanted() const;

  // Passes the view, restricted to the requested rows, to each hook that requested some of its
  // consecutive rows.
  void Call(HookView view) const;

 private:
  struct Entry {
    Hook* hook;
    HookRequest request;
  };
  const std::vector<Entry>* Find(HookSite site, int64_t layer) const;

  std::map<std::pair<HookSite, int64_t>, std::vector<Entry>> entries_;
  bool writes_ = false;
};

}  // namespace midscope
