// SPDX-License-Identifier: MIT
#include "core/tokenizer/unigram.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope {
namespace {

// Difference in log probability between the least probable token and the unknown token.
constexpr double kUnknownPenalty = 10.0;

}  // namespace

Unigram::Unigram(const std::vector<std::pair<std::string, double>>& pieces,
                 const std::array<int32_t, 256>& bytes, std::optional<int32_t> unknown)
    : nodes_(1), bytes_(bytes), unknown_(unknown) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t id = 0; id < pieces.size(); ++id) {
    const auto& [text, score] = pieces[id];
    least = std::min(least, score);
    uint32_t node = 0;
    for (const char c : text) {
      const auto [child, is_new] =
          children_.try_emplace(uint64_t{node} << 8 | static_cast<unsigned char>(c),
                                static_cast<uint32_t>(nodes_.size()));
      if (is_new) nodes_.emplace_back();
      node = child->second;
    }
    if (node != 0) nodes_[node] = {static_cast<int32_t>(id), score};
  }
  unknown_score_ = least - kUnknownPenalty;
}

std::vector<Unigram::Best> Unigram::BestPath(std::string_view piece) const {
  std::vector<Best> best(piece.size() + 1);
  const auto offer = [&](size_t begin, size_t end, int32_t id, double score) {
    const double sum = best[begin].score + score;
    if (best[end].begin < 0 || sum > best[end].score)
      best[end] = {sum, static_cast<int64_t>(begin), id};
  };
  for (size_t begin = 0; begin < piece.size();) {
    const size_t character = CharacterAt(piece, begin).length;
    bool single = false;
    uint32_t node = 0;
    for (size_t end = begin; end < piece.size();) {
      const auto child =
          children_.find(uint64_t{node} << 8 | static_cast<unsigned char>(piece[end]));
      if (child == children_.end()) break;
      node = child->second;
      ++end;
      if (nodes_[node].id < 0) continue;
      offer(begin, end, nodes_[node].id, nodes_[node].score);
      single = single || end == begin + character;
    }
    if (!single) offer(begin, begin + character, -1, unknown_score_);
    begin += character;
  }
  return best;
}

void Unigram::AddUnknown(std::string_view piece, int64_t begin, int64_t end,
                         std::vector<Token>* tokens) const {
  if (bytes_[0] >= 0) {
    for (int64_t i = begin; i < end; ++i) {
      const auto byte = static_cast<unsigned char>(piece[static_cast<size_t>(i)]);
      tokens->push_back({bytes_[byte], i, i + 1});
    }
    return;
  }
  if (!unknown_) {
    throw Failure("text", "the tokenizer has no token for " +
                              Quote(piece.substr(static_cast<size_t>(begin),
                                                 static_cast<size_t>(end - begin))));
  }
  tokens->push_back({*unknown_, begin, end});
}

void Unigram::Encode(std::string_view piece, bool /*at_text_begin*/,
                     std::vector<Token>* tokens) const {
  const std::vector<Best> best = BestPath(piece);
  std::vector<Token> reversed;  // adjacent unknown tokens are joined
  for (auto end = static_cast<int64_t>(piece.size()); end > 0;) {
    const Best& last = best[static_cast<size_t>(end)];
    const bool unknown = last.id < 0 || last.id == unknown_;
    if (unknown && !reversed.empty() && reversed.back().id < 0) {
      reversed.back().byte_begin = last.begin;
    } else {
      reversed.push_back({unknown ? -1 : last.id, last.begin, end});
    }
    end = last.begin;
  }
  for (auto token = reversed.rbegin(); token != reversed.rend(); ++token) {
    if (token->id < 0) {
      AddUnknown(piece, token->byte_begin, token->byte_end, tokens);
    } else {
      tokens->push_back(*token);
    }
  }
}

}  // namespace midscope
