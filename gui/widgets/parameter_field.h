// SPDX-License-Identifier: GPL-3.0-or-later
// The input of one parameter, made from its description: a check box, a number with range and unit,
// a box of choices, a line of text, a path with a button that chooses it.
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <string>

#include "core/base/parameter.h"
#include "gui/widgets/input_boxes.h"

class QSlider;
class QWidget;

namespace midscope {

struct ParameterField {
  QWidget* widget = nullptr;  // the input, with what is beside it
  QWidget* input = nullptr;
  std::function<std::string()> text;  // "": not given
  // false: the text needs another field. `edited` may be called.
  std::function<bool(const std::string&)> show;
  QSlider* slider = nullptr;  // beside the number; null: none
};

// The form of a field's texts. kTerm: of an argument of an intervention's term, where every value
// may be left out, several numbers are in brackets, and paths are in quotation marks.
enum class FieldText { kValue, kTerm };

// `value`: of kTerm, the text that will be shown first. The widgets belong to `parent`.
ParameterField MakeField(const Parameter& parameter, FieldText kind, const std::string& value,
                         QWidget* parent, const std::function<void()>& edited);

// Texts that can be chosen instead of typed, with notes (TextBox::Offer), where the field is a line
// of text.
void OfferTexts(const ParameterField& field, const QStringList& texts,
                TextBox::Notes notes = nullptr);

// "first layer": the parameter's name as a label.
QString FieldLabel(const Parameter& parameter);
// Help, allowed values, unit and default, as a tooltip that wraps.
QString ParameterTooltip(const Parameter& parameter);

}  // namespace midscope
