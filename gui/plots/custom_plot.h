// SPDX-License-Identifier: GPL-3.0-or-later
// Includes QCustomPlot. Its header uses Qt's keywords, which Midscope disables because they clash
// with names in other libraries, so this header defines them during the include.
#pragma once

#include <QObject>

#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

namespace midscope {

// The operators of QCustomPlot's flags, which those of this namespace's flags would hide.
using ::operator|;

}  // namespace midscope
