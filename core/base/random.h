// SPDX-License-Identifier: MIT
// Random numbers that are the same on every machine and library: SplitMix64 (Steele, Lea and Flood,
// 2014) and unbiased draws from it. The standard library's distributions differ between libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace midscope {

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  // Creates an independent stream for each (seed, stream).
  SplitMix64(uint64_t seed, uint64_t stream) : state_(SplitMix64(seed).Next() ^ Mix(stream + 1)) {}

  uint64_t Next() { return Mix(state_ += kStep); }

  // Returns the number that Next() returns after `skipped` further calls, without advancing the
  // state.
  uint64_t At(uint64_t skipped) const { return Mix(state_ + (skipped + 1) * kStep); }

  // Returns a uniform draw from [0, bound), without bias; bound > 0.
  uint64_t Below(uint64_t bound) { return NextFrom((0 - bound) % bound) % bound; }
  // Returns the same number as Below(kBound), without a division at run time.
  template <uint64_t kBound>
  uint64_t Below() {
    return NextFrom((0 - kBound) % kBound) % kBound;
  }

  // Draws the same numbers as Below(bound), without a division per draw.
  class Bound {
   public:
    explicit Bound(uint64_t bound)
        : bound_(bound), reject_below_((0 - bound) % bound), inverse_(UINT64_MAX / bound) {}
    uint64_t Draw(SplitMix64& random) const {
      const uint64_t draw = random.NextFrom(reject_below_);
      // draw / bound, or one less.
      const auto quotient = static_cast<uint64_t>((Wide{draw} * inverse_) >> 64);
      const uint64_t rest = draw - quotient * bound_;
      return rest >= bound_ ? rest - bound_ : rest;
    }

   private:
    __extension__ using Wide = unsigned __int128;
    uint64_t bound_;
    uint64_t reject_below_;
    uint64_t inverse_;
  };

  // Returns the first `count` elements of a random permutation of `values`; count <= values.size().
  template <typename T>
  std::vector<T> Draw(std::vector<T> values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      std::swap(values[i], values[i + Below(values.size() - i)]);
    }
    values.resize(count);
    return values;
  }

 private:
  // Returns the next number that is at least `least`.
  uint64_t NextFrom(uint64_t least) {
    uint64_t draw = Next();
    while (draw < least) draw = Next();
    return draw;
  }

  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;

  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace midscope
