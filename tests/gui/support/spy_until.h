// SPDX-License-Identifier: MIT
// Waits for the effect of a signal without sleeping.
#pragma once

#include <QSignalSpy>

namespace midscope {

inline constexpr int kLongestSignalWait = 10000;  // milliseconds, after which a test fails

// Processes events until `holds` returns true, checking it after each emission of the spy's signal.
// Returns false on timeout.
template <typename Condition>
bool SpyUntil(QSignalSpy& spy, Condition holds) {
  while (!holds()) {
    if (!spy.wait(kLongestSignalWait)) return holds();
  }
  return true;
}

}  // namespace midscope
