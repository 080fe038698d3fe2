// SPDX-License-Identifier: MIT
// Waits for the effect of a signal without sleeping.
#pragma once

#include <QDeadlineTimer>
#include <QSignalSpy>

namespace midscope {

inline constexpr int kLongestSignalWait = 10000;  // milliseconds, after which a test fails

// Processes events until `holds` returns true, checking it after each emission of the spy's signal,
// and every 50 ms, because some states are reached without it. Returns false on timeout.
template <typename Condition>
bool SpyUntil(QSignalSpy& spy, Condition holds) {
  QDeadlineTimer deadline(kLongestSignalWait);
  while (!holds()) {
    if (spy.wait(50)) deadline.setRemainingTime(kLongestSignalWait);
    if (deadline.hasExpired()) return holds();
  }
  return true;
}

}  // namespace midscope
