// SPDX-License-Identifier: GPL-3.0-or-later
// QCustomPlot's header is written in Qt's keywords, which Midscope builds without (they clash with
// other libraries' names): they exist while that header is read.
#pragma once

#include <QObject>

#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach
