// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/duration_text.h"

#include <QObject>
#include <cmath>

namespace midscope {
namespace {

constexpr double kMostSeconds = 90;
constexpr double kMostMinutes = 120;
constexpr double kMinute = 60;

}  // namespace

QString DurationText(double seconds) {
  if (seconds < kMostSeconds) return QObject::tr("%1 s").arg(std::ceil(seconds));
  const double minutes = seconds / kMinute;
  if (minutes < kMostMinutes) return QObject::tr("%1 min").arg(std::ceil(minutes));
  return QObject::tr("%1 h").arg(std::ceil(minutes / kMinute));
}

}  // namespace midscope
