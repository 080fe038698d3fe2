// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace midscope {

// A duration that is about to be spent, rounded up: "12 s", "9 min", "3 h".
QString DurationText(double seconds);

}  // namespace midscope
