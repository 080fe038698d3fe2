// SPDX-License-Identifier: GPL-3.0-or-later
// The command palette (Ctrl+K): the user types a few letters, and it lists the matching actions
// with their shortcuts, most recently run first. Enter runs the selected one, Esc closes the
// palette.
#pragma once

#include <QFrame>
#include <QPointer>
#include <QStringList>
#include <vector>

#include "gui/actions/palette_items.h"

class QLabel;
class QLineEdit;
class QListWidget;

namespace midscope {

class CommandPalette : public QFrame {
  Q_OBJECT

 public:
  // Hidden until Open. `parent`: the window that it covers.
  CommandPalette(ActionRegistry* registry, QWidget* parent);

  // Shows the palette with `text` in its line, such as "head ", and gives it the focus.
  void Open(const QString& text = QString());
  const std::vector<PaletteItem>& listed() const { return listed_; }
  QLineEdit* line() const { return line_; }
  QStringList recent() const { return recent_; }
  void SetRecent(const QStringList& recent) { recent_ = recent; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void List();
  void RunChosen();
  void Close();
  void NoteRecent(const QString& line);

  ActionRegistry* registry_;
  QLineEdit* line_;
  QListWidget* list_;
  QLabel* help_;
  std::vector<PaletteItem> listed_;
  QStringList recent_;              // newest first
  QPointer<QWidget> focus_before_;  // the widget that gets the focus when the palette closes
};

}  // namespace midscope
