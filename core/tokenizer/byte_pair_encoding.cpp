// SPDX-License-Identifier: MIT
#include "core/tokenizer/byte_pair_encoding.h"

#include <queue>
#include <utility>

#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope {
namespace {

uint64_t Pair(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

// The piece's tokens as a linked list: a merge keeps the left entry and removes the right one.
struct Symbol {
  Token token;
  int32_t previous;
  int32_t next;  // -1: this is the last
  bool gone;
};

// A merge that was possible when it was added.
struct Candidate {
  int32_t rank;
  int32_t place;  // index of the left symbol
  int32_t id;     // the joined token

  // Orders by best rank, then leftmost.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : place > other.place;
  }
};

}  // namespace

size_t BytePairEncoding::PairHash::operator()(uint64_t pair) const {
  return static_cast<size_t>((pair ^ (pair >> 29)) * 0x9e3779b97f4a7c15ULL);
}

BytePairEncoding::BytePairEncoding(Alphabet alphabet, const std::vector<Merge>& merges,
                                   std::unordered_map<std::string, int32_t> whole_pieces)
    : alphabet_(std::move(alphabet)), whole_pieces_(std::move(whole_pieces)) {
  joined_.reserve(merges.size());
  int32_t index = 0;
  for (const Merge& merge : merges) {
    const int32_t rank = merge.rank < 0 ? index : merge.rank;
    joined_.insert_or_assign(Pair(merge.left, merge.right), Joined{rank, merge.joined});
    ++index;
  }
}

const BytePairEncoding::Joined* BytePairEncoding::Find(int32_t left, int32_t right) const {
  const auto found = joined_.find(Pair(left, right));
  return found == joined_.end() ? nullptr : &found->second;
}

// Appends the character's tokens, its own or those of its bytes; returns whether it has any.
bool BytePairEncoding::CutCharacter(std::string_view character, size_t begin,
                                    std::vector<Token>* symbols) const {
  const auto from = static_cast<int64_t>(begin);
  if (!alphabet_.of_characters) {
    const int32_t id = alphabet_.bytes[static_cast<unsigned char>(character[0])];
    if (id >= 0) symbols->push_back({id, from, from + 1});
    return id >= 0;
  }
  const auto own = alphabet_.characters.find(std::string(character));
  if (own != alphabet_.characters.end()) {
    symbols->push_back({own->second, from, from + static_cast<int64_t>(character.size())});
    return true;
  }
  if (alphabet_.bytes[0] < 0) return false;
  for (size_t i = 0; i < character.size(); ++i) {
    const auto at = static_cast<int64_t>(begin + i);
    symbols->push_back({alphabet_.bytes[static_cast<unsigned char>(character[i])], at, at + 1});
  }
  return true;
}

void BytePairEncoding::Cut(std::string_view piece, std::vector<Token>* symbols) const {
  symbols->reserve(piece.size());
  bool after_unknown = false;
  for (size_t i = 0; i < piece.size();) {
    const size_t length = alphabet_.of_characters ? CharacterAt(piece, i).length : 1;
    const bool known = CutCharacter(piece.substr(i, length), i, symbols);
    const auto end = static_cast<int64_t>(i + length);
    if (!known && alphabet_.unknown) {
      if (after_unknown && alphabet_.fuse_unknown) {
        symbols->back().byte_end = end;
      } else {
        symbols->push_back({*alphabet_.unknown, static_cast<int64_t>(i), end});
      }
    }
    after_unknown = !known;
    i += length;
  }
}

void BytePairEncoding::Encode(std::string_view piece, bool /*at_text_begin*/,
                              std::vector<Token>* tokens) const {
  if (!whole_pieces_.empty()) {
    const auto whole = whole_pieces_.find(std::string(piece));
    if (whole != whole_pieces_.end()) {
      tokens->push_back({whole->second, 0, static_cast<int64_t>(piece.size())});
      return;
    }
  }
  std::vector<Token> cut;
  Cut(piece, &cut);
  if (cut.empty()) return;
  std::vector<Symbol> symbols;
  symbols.reserve(cut.size());
  for (const Token& token : cut) {
    const auto place = static_cast<int32_t>(symbols.size());
    symbols.push_back({token, place - 1, place + 1, false});
  }
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
    // One of the two symbols has been merged since.
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
