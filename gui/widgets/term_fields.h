// SPDX-License-Identifier: GPL-3.0-or-later
// The form of one term of a setting, made from its description, with a field for each argument
// (parameter_field.h).
#pragma once

#include <QStringList>
#include <QWidget>
#include <map>
#include <vector>

#include "gui/widgets/parameter_field.h"
#include "gui/widgets/term_list.h"

class QFormLayout;

namespace midscope {

struct ModelConfig;

// Texts offered for arguments by name: names of passages, the head on the screen.
using TermOffers = std::map<std::string, QStringList>;

class TermFields : public QWidget {
  Q_OBJECT

 public:
  // `model`: its layers, heads and width are the ranges of the fields; null: no model is open.
  TermFields(const TermText& term, const TermOffers& offers, QWidget* parent = nullptr,
             const ModelConfig* model = nullptr);

  TermText value() const;
  // Sets the values without emitting a signal. Returns false where a value needs another kind of
  // field: the form must then be rebuilt.
  bool SetValue(const TermText& term);
  void SetOffers(const TermOffers& offers);

 Q_SIGNALS:
  // `dragging`: by a slider that is still pressed. Its release emits once more.
  void Changed(int argument, bool dragging);

 private:
  void OnArgumentEdited(size_t argument);

  const TermType* term_;
  std::vector<Parameter> arguments_;  // with the model's ranges
  std::vector<ParameterField> fields_;
  bool quiet_ = false;
};

}  // namespace midscope
