// SPDX-License-Identifier: GPL-3.0-or-later
// All terms of a setting, one below the other, each with the form that its description makes; a
// menu adds further ones. What the forms say goes out as the setting's line of text: whether it can
// be read is for the line to say.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "gui/widgets/term_form.h"
#include "gui/widgets/term_list.h"

class QMenu;
class QToolButton;
class QVBoxLayout;

namespace midscope {

class FoldBox;

class StackEditor : public QWidget {
  Q_OBJECT

 public:
  explicit StackEditor(QWidget* parent = nullptr);

  // Says nothing to anybody. Terms that do not make a setting yet are left as they are where the
  // setting in force is the same as before.
  void SetIntervention(const Intervention& intervention);
  std::vector<TermText> terms() const;
  void SetOffers(const TermOffers& offers);
  // `name` of InterventionTerms(). A position scheme takes the place of the one that there is.
  void Add(const std::string& name);
  void Remove(size_t index);
  // Terms of one kind keep their order; between kinds it means nothing, and the printed form has
  // an order of its own.
  bool CanMove(size_t index, int by) const;
  void Move(size_t index, int by);

 Q_SIGNALS:
  // The whole setting as text, which may not be readable.
  void Changed(const QString& text);

 private:
  struct Entry {
    FoldBox* box = nullptr;
    TermForm* form = nullptr;
  };
  void FillMenu(QMenu* menu);
  QMenu* MakePresets();
  void Rebuild(const std::vector<TermText>& terms);
  Entry MakeEntry(size_t index, const TermText& term, bool open);
  // Shows values in the forms that there are; false where other forms are needed.
  bool ShowValues(const std::vector<TermText>& terms);
  void RefreshTitles();
  void OnArgumentEdited(size_t index, size_t argument);
  void EmitChanged(const std::vector<TermText>& terms);

  std::vector<Entry> entries_;
  TermOffers offers_;
  Intervention shown_;
  bool draft_ = false;  // what the forms say is not (yet) the setting in force
  int open_ = -1;       // the entry to unfold when entries are made anew; -1: as they were
  QVBoxLayout* column_;
  QToolButton* add_;
  QToolButton* presets_;
};

}  // namespace midscope
