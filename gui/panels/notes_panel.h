// SPDX-License-Identifier: GPL-3.0-or-later
// The user's notes: free text that is stored in the session and, with the prompt, in saved results.
// While a results file is shown, its notes are shown read-only.
#pragma once

#include "gui/panels/panel.h"

class QLabel;
class QPlainTextEdit;
class QStackedWidget;

namespace midscope {

class NotesPanel : public Panel {
  Q_OBJECT

 public:
  explicit NotesPanel(const PanelContext& context);

  static std::string StateKey() { return "notes"; }
  // The prompt record, whose attribute the notes are, so that the panel of other records omits it.
  static std::vector<std::string> Records();
  static void CheckState(const JsonFields& session);
  void Refresh(Changes changes) override;
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& state) override;

  QPlainTextEdit* editor() const { return editor_; }
  QPlainTextEdit* of_file() const { return of_file_; }

 private:
  QStackedWidget* both_;
  QPlainTextEdit* editor_;
  QPlainTextEdit* of_file_;
};

}  // namespace midscope
