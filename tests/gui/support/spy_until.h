// SPDX-License-Identifier: MIT
// Waiting for what a signal brings about, without sleeping.
#pragma once

#include <QSignalSpy>

namespace midscope {

inline constexpr int kLongestSignalWait = 10000;  // milliseconds; a test that gets there fails

// Handles events until `holds`, looking each time the spy's signal comes. False when it stays away.
template <typename Condition>
bool SpyUntil(QSignalSpy& spy, Condition holds) {
  while (!holds()) {
    if (!spy.wait(kLongestSignalWait)) return holds();
  }
  return true;
}

}  // namespace midscope
