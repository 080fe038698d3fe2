// SPDX-License-Identifier: GPL-3.0-or-later
// An input for one parameter, made from its description: a check box, a number box with range and
// unit, a combo box of choices, a line of text, or a path with a button to choose it.
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
  QWidget* widget = nullptr;  // the input with the widgets beside it
  QWidget* input = nullptr;
  std::function<std::string()> text;  // Returns the text of the value; "" if none is given.
  // Shows a text. Returns false if that text needs another kind of field. May call `edited`.
  std::function<bool(const std::string&)> show;
  QSlider* slider = nullptr;  // beside the number box; null: none
};

// The format of a field's text. kTerm: for an argument of an intervention term; every value may be
// omitted, several numbers are in brackets, and paths are in quotation marks.
enum class FieldText { kValue, kTerm };

// Opens a dialog and returns the chosen path; "": none.
using ChooseFile = std::function<QString(QWidget* parent)>;

// `value`: for kTerm, the text that will be shown first. `parent` owns the widgets. `choose`: for a
// path; null: of a file of this machine.
ParameterField MakeField(const Parameter& parameter, FieldText kind, const std::string& value,
                         QWidget* parent, const std::function<void()>& edited,
                         const ChooseFile& choose = {});

// If the field is a line of text, sets texts that can be chosen instead of typed, with notes
// (TextBox::Offer).
void OfferTexts(const ParameterField& field, const QStringList& texts,
                TextBox::Notes notes = nullptr);

// The parameter's name as a label, such as "first layer".
QString FieldLabel(const Parameter& parameter);
// Help, allowed values, unit and default of the parameter, as a tooltip that wraps.
QString ParameterTooltip(const Parameter& parameter);

}  // namespace midscope
