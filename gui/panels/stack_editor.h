// SPDX-License-Identifier: GPL-3.0-or-later
// Edits all terms of a setting, each with the form of its description; a menu adds terms. The
// edited terms are emitted as the setting's text, which its receiver checks.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "gui/widgets/term_fields.h"
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

  // Sets the terms without emitting Changed. Terms that are not a valid setting yet are kept where
  // the setting in force is unchanged.
  void SetIntervention(const Intervention& intervention);
  std::vector<TermText> terms() const;
  void SetOffers(const TermOffers& offers);
  // `name` of InterventionTerms(). A position scheme replaces the present one.
  void Add(const std::string& name);
  void Remove(size_t index);
  // Only terms of one kind can be reordered; between kinds the order has no meaning and the printed
  // form has its own.
  bool CanMove(size_t index, int by) const;
  void Move(size_t index, int by);

 Q_SIGNALS:
  // The whole setting as text, which may be invalid.
  void Changed(const QString& text);

 private:
  struct Entry {
    FoldBox* box = nullptr;
    TermFields* form = nullptr;
  };
  void FillMenu(QMenu* menu);
  QMenu* MakePresets();
  void Rebuild(const std::vector<TermText>& terms);
  Entry MakeEntry(size_t index, const TermText& term, bool open);
  // Shows values in the existing forms; returns false where other forms are needed.
  bool ShowValues(const std::vector<TermText>& terms);
  void RefreshTitles();
  void OnArgumentEdited(size_t index, size_t argument);
  void EmitChanged(const std::vector<TermText>& terms);

  std::vector<Entry> entries_;
  TermOffers offers_;
  Intervention shown_;
  bool draft_ = false;  // the forms differ from the setting in force
  int open_ = -1;       // the entry to unfold after entries are rebuilt; -1: unchanged
  QVBoxLayout* column_;
  QToolButton* add_;
  QToolButton* presets_;
};

}  // namespace midscope
