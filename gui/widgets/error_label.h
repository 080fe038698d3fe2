// SPDX-License-Identifier: GPL-3.0-or-later
// The error below a field: red, wrapped, hidden where there is none.
#pragma once

#include <QString>

class QLabel;
class QWidget;

namespace midscope {

QLabel* MakeErrorLabel(QWidget* parent);
// An empty text hides the label.
void ShowError(QLabel* label, const QString& text);
// The style sheet of a text that is an error.
QString ErrorStyle();

}  // namespace midscope
