// SPDX-License-Identifier: GPL-3.0-or-later
// Tooltips, ranges and choices of controls, read from the descriptions of the intervention terms.
#pragma once

#include <QString>
#include <QStringList>

#include "core/terms/intervention_text.h"

class QComboBox;
class QDoubleSpinBox;
class QSpinBox;
class QWidget;

namespace midscope {

// Summary and source of a term, for a tooltip.
QString TermHelp(const char* term);
// Throws std::logic_error if there is no description of the term or argument.
const Parameter& ArgumentOf(const char* term, const char* argument);

// Sets the box's tooltip (ParameterTooltip) and, if the argument has them, its range and default.
void Describe(QDoubleSpinBox* box, const char* term, const char* argument);
void Describe(QSpinBox* box, const char* term, const char* argument);
// As above; also fills in the argument's choices.
void Describe(QComboBox* box, const char* term, const char* argument);
void Describe(QWidget* widget, const char* term, const char* argument);

}  // namespace midscope
