// SPDX-License-Identifier: GPL-3.0-or-later
// A form for one term of a setting, made from the term's description, with one field per argument
// (parameter_field.h).
#pragma once

#include <QString>
#include <QStringList>
#include <QWidget>
#include <map>
#include <vector>

#include "gui/widgets/parameter_field.h"
#include "gui/widgets/term_cards.h"

class QComboBox;
class QFormLayout;

namespace midscope {

struct ModelConfig;

// Suggested texts by argument name, such as names of passages or the head on the screen.
using TermOffers = std::map<std::string, QStringList>;

class TermFields : public QWidget {
  Q_OBJECT

 public:
  // `model`: its numbers of layers, heads and channels limit the fields; null: no model is open.
  TermFields(const TermText& term, const TermOffers& offers, QWidget* parent = nullptr,
             const ModelConfig* model = nullptr);

  TermText value() const;
  // Sets the values without emitting a signal. Returns false if a value needs another kind of
  // field; the form must then be rebuilt.
  bool SetValue(const TermText& term);
  void SetOffers(const TermOffers& offers);
  // Whether all fields are shown, not only those of required arguments, those with a slider, and
  // those whose value is not the default.
  bool shows_all() const { return shows_all_; }
  void ShowAll(bool all);

 Q_SIGNALS:
  // `dragging`: the change comes from a slider that is still pressed. Releasing it emits Changed
  // once more.
  void Changed(int argument, bool dragging);

 private:
  void OnArgumentEdited(size_t argument);

  const TermType* term_;
  std::vector<Parameter> arguments_;  // with ranges limited by the model
  std::vector<ParameterField> fields_;
  QFormLayout* layout_;
  bool quiet_ = false;
  bool shows_all_ = false;
};

// Icons for the choices of the argument `rows`, which show the prompt's rows and then the answer's;
// changed rows are filled.

// Sets an icon on each item whose text is a choice of `rows`: all, answer, last, last:N. Adds a
// description of the icon to the item's help.
void ShowRowPictures(QComboBox* rows);

// Summary and source of a term, for a tooltip. Throws std::logic_error if there is no such term.
QString TermHelp(const char* term);

}  // namespace midscope
