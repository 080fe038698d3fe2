// SPDX-License-Identifier: MIT
// Rotary tables for tokens whose position differs from their row. Internal to core.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/compute/rotary_cache.h"
#include "core/plan/attention_edits.h"

namespace midscope {

// The tables of one pass, made once for all layers that share them.
class MovedTables {
 public:
  using Table = std::shared_ptr<const RotaryCache::Table>;

  // `table`, which is filled, with its first `rows` rows permuted: row t holds the angles of token
  // t's position.
  Table Get(const Table& table, const std::vector<MovedTokens>& moved, int64_t rows);

 private:
  struct Entry {
    Table from;  // keeps the address from being reused
    std::vector<MovedTokens> moved;
    int64_t rows;
    Table to;
  };
  std::vector<Entry> entries_;
};

}  // namespace midscope
