// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/notes_panel.h"

#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QTextCursor>
#include <QVBoxLayout>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

NotesPanel::NotesPanel(const PanelContext& context) : Panel(context) {
  both_ = new QStackedWidget(this);
  editor_ = Named(new QPlainTextEdit(both_), "notes");
  editor_->setAccessibleName(tr("Notes"));
  editor_->setPlaceholderText(
      tr("Notes on what is on the screen. They are kept in the session, and in saved results"));
  editor_->setTabChangesFocus(true);
  of_file_ = Named(new QPlainTextEdit(both_), "notes_of_file");
  of_file_->setAccessibleName(tr("Notes of the shown file"));
  of_file_->setReadOnly(true);
  of_file_->setPlaceholderText(tr("The file has no notes"));
  both_->addWidget(editor_);
  both_->addWidget(of_file_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2, 2, 2, 2);
  column->addWidget(both_);
  connect(editor_, &QPlainTextEdit::textChanged, this,
          [this] { session()->SetNotes(editor_->toPlainText().toStdString()); });
}

std::vector<std::string> NotesPanel::Records() { return {kPromptRecord}; }

void NotesPanel::CheckState(const JsonFields& session) { session.FindText(StateKey()); }

nlohmann::json NotesPanel::State() const {
  const std::string& notes = session()->notes();
  return notes.empty() ? nlohmann::json() : nlohmann::json(notes);
}

// Replaces the text as one step of the editor's undo.
void NotesPanel::Restore(const nlohmann::json& state) {
  const QString text =
      state.is_null() ? QString() : QString::fromStdString(state.get<std::string>());
  if (text == editor_->toPlainText()) return;
  QTextCursor all(editor_->document());
  all.select(QTextCursor::Document);
  all.insertText(text);
}

void NotesPanel::Refresh(Changes changes) {
  if (!(changes & (Change::kDocuments | Change::kPrompts | Change::kModel))) return;
  both_->setCurrentWidget(session()->shows_file() ? of_file_ : editor_);
  if (!session()->shows_file()) return;
  const Record* prompt = session()->prompt();
  const QString notes = prompt ? TextAttribute(*prompt, kNotesAttribute) : QString();
  if (notes != of_file_->toPlainText()) of_file_->setPlainText(notes);
}

}  // namespace midscope
