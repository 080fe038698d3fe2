// SPDX-License-Identifier: MIT
#include "core/byte_pair_encoding.h"

#include <queue>

namespace midscope {
namespace {

uint64_t Pair(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

// Tokens of the piece as a list: a join keeps the left place and takes the right one out.
struct Symbol {
  Token token;
  int32_t previous;
  int32_t next;  // -1: last
  bool gone;
};

// A join that was possible when it was found.
struct Candidate {
  int32_t rank;
  int32_t place;  // of the left symbol
  int32_t id;     // of the joined token

  // Best rank first, then leftmost.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : place > other.place;
  }
};

}  // namespace

size_t BytePairEncoding::PairHash::operator()(uint64_t pair) const {
  return static_cast<size_t>((pair ^ (pair >> 29)) * 0x9e3779b97f4a7c15ULL);
}

BytePairEncoding::BytePairEncoding(const std::array<int32_t, 256>& byte_tokens,
                                   const std::vector<Merge>& merges)
    : byte_tokens_(byte_tokens) {
  joined_.reserve(merges.size());
  int32_t rank = 0;
  for (const Merge& merge : merges)
    joined_.emplace(Pair(merge.left, merge.right), Joined{rank++, merge.joined});
}

const BytePairEncoding::Joined* BytePairEncoding::Find(int32_t left, int32_t right) const {
  const auto found = joined_.find(Pair(left, right));
  return found == joined_.end() ? nullptr : &found->second;
}

void BytePairEncoding::Encode(std::string_view piece, int64_t offset,
                              std::vector<Token>* tokens) const {
  std::vector<Symbol> symbols;
  symbols.reserve(piece.size());
  for (size_t i = 0; i < piece.size(); ++i) {
    const int32_t id = byte_tokens_[static_cast<unsigned char>(piece[i])];
    if (id < 0) continue;
    const int64_t begin = offset + static_cast<int64_t>(i);
    const auto place = static_cast<int32_t>(symbols.size());
    symbols.push_back({{id, begin, begin + 1}, place - 1, place + 1, false});
  }
  if (symbols.empty()) return;
  symbols.back().next = -1;

  std::vector<Candidate> storage;
  storage.reserve(symbols.size());
  std::priority_queue<Candidate> candidates(std::less<Candidate>(), std::move(storage));
  const auto consider = [&](int32_t place) {
    if (place < 0 || symbols[place].next < 0) return;
    const Joined* joined = Find(symbols[place].token.id, symbols[symbols[place].next].token.id);
    if (joined != nullptr) candidates.push({joined->rank, place, joined->id});
  };
  for (size_t i = 0; i < symbols.size(); ++i) consider(static_cast<int32_t>(i));

  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = symbols[best.place];
    if (left.gone || left.next < 0) continue;
    Symbol& right = symbols[left.next];
    const Joined* joined = Find(left.token.id, right.token.id);
    // One of the two was joined with something else since.
    if (joined == nullptr || joined->id != best.id) continue;
    left.token = {best.id, left.token.byte_begin, right.token.byte_end};
    right.gone = true;
    left.next = right.next;
    if (left.next >= 0) symbols[left.next].previous = best.place;
    consider(left.previous);
    consider(best.place);
  }
  for (int32_t place = 0; place >= 0; place = symbols[place].next)
    tokens->push_back(symbols[place].token);
}

}  // namespace midscope
