// SPDX-License-Identifier: GPL-3.0-or-later
// The form of one term of a setting, made from its description: a box of choices, a number with its
// range, or a line of text per argument.
#pragma once

#include <QStringList>
#include <QWidget>
#include <functional>
#include <map>
#include <vector>

#include "gui/widgets/term_list.h"

class QFormLayout;

namespace midscope {

// Texts offered for arguments by name: names of passages, the head on the screen.
using TermOffers = std::map<std::string, QStringList>;

class TermForm : public QWidget {
  Q_OBJECT

 public:
  TermForm(const TermText& term, const TermOffers& offers, QWidget* parent = nullptr);

  TermText value() const;
  // Sets the values without emitting a signal. Returns false where a value needs another kind of
  // field: the form must then be rebuilt.
  bool SetValue(const TermText& term);
  void SetOffers(const TermOffers& offers);

 Q_SIGNALS:
  void Changed(int argument);

 private:
  struct Field {
    QWidget* widget = nullptr;
    std::function<std::string()> text;
    std::function<bool(const std::string&)> show;  // false: the field can't show it
  };
  Field MakeField(size_t argument, const std::string& value);
  Field MakeNumber(size_t argument);
  Field MakeChoice(size_t argument);
  Field MakeText(size_t argument);
  void OnArgumentEdited(size_t argument);

  const Term* term_;
  std::vector<Field> fields_;
  bool quiet_ = false;
};

}  // namespace midscope
