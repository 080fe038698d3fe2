// SPDX-License-Identifier: GPL-3.0-or-later
// Tooltips, ranges and choices of knobs out of the one description of the intervention terms.
#pragma once

#include <QString>
#include <QStringList>

#include "core/intervention/intervention_text.h"

class QComboBox;
class QDoubleSpinBox;
class QSpinBox;
class QWidget;

namespace midscope {

// Summary and source of a term, for a tooltip.
QString TermHelp(const char* term);
// What an argument means, for a tooltip.
QString ArgumentHelp(const TermArgument& argument);
// Throws std::logic_error for what is not described.
const TermArgument& ArgumentOf(const char* term, const char* argument);

// The argument's help as tooltip and, where it has them, its range and default.
void Describe(QDoubleSpinBox* box, const char* term, const char* argument);
void Describe(QSpinBox* box, const char* term, const char* argument);
// Its choices, too.
void Describe(QComboBox* box, const char* term, const char* argument);
void Describe(QWidget* widget, const char* term, const char* argument);

}  // namespace midscope
