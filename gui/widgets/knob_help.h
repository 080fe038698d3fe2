// SPDX-License-Identifier: GPL-3.0-or-later
// Tooltips, ranges and choices from the descriptions of the intervention terms.
#pragma once

#include <QString>
#include <QStringList>

#include "core/terms/intervention_text.h"

class QComboBox;
class QDoubleSpinBox;
class QSpinBox;
class QWidget;

namespace midscope {

// Summary and source of a term, as a tooltip.
QString TermHelp(const char* term);
// Throws std::logic_error for a term or argument without description.
const Parameter& ArgumentOf(const char* term, const char* argument);

// Sets the argument's tooltip (ParameterTooltip) and, where it has them, its range and default.
void Describe(QDoubleSpinBox* box, const char* term, const char* argument);
void Describe(QSpinBox* box, const char* term, const char* argument);
// Sets its choices as well.
void Describe(QComboBox* box, const char* term, const char* argument);
void Describe(QWidget* widget, const char* term, const char* argument);

}  // namespace midscope
