// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt/prompt_history.h"

#include <QUndoCommand>
#include <QUndoStack>
#include <cstdlib>
#include <optional>
#include <utility>

#include "gui/session/session.h"
#include "gui/session/session_view.h"

namespace midscope {
namespace {

constexpr int kPause = 1000;  // pause in milliseconds after which typing begins a new step
constexpr qsizetype kLongest = 40;

enum class Field {
  kPage,
  kTask,
  kSeed,
  kSample,
  kPlaces,
  kFormat,
  kAnswer,
  kQuestion,
  kTextPlaces,
  kText,
  kGold,
  kPieces
};

// The first field that differs.
Field ChangedField(const PromptFields& before, const PromptFields& after) {
  if (before.page != after.page) return Field::kPage;
  if (before.task != after.task) return Field::kTask;
  if (before.seed != after.seed) return Field::kSeed;
  if (before.sample != after.sample) return Field::kSample;
  if (before.places != after.places) return Field::kPlaces;
  if (before.format != after.format) return Field::kFormat;
  if (before.answer != after.answer) return Field::kAnswer;
  if (before.question != after.question) return Field::kQuestion;
  if (before.text_places != after.text_places) return Field::kTextPlaces;
  if (before.text.text != after.text.text) return Field::kText;
  return before.text.gold != after.text.gold ? Field::kGold : Field::kPieces;
}

QString Shortened(const QString& text) {
  return text.size() > kLongest ? text.left(kLongest - 1) + QChar(0x2026) : text;
}

// The text of a step in the Edit menu.
QString EditText(const PromptFields& before, const PromptFields& after) {
  switch (ChangedField(before, after)) {
    case Field::kPage:
      return after.page == 0 ? QObject::tr("choice of a task") : QObject::tr("choice of own text");
    case Field::kTask:
      return QObject::tr("task %1").arg(Shortened(after.task));
    case Field::kSeed:
      return QObject::tr("seed %1").arg(after.seed);
    case Field::kSample:
      return QObject::tr("sample %1").arg(after.sample);
    case Field::kPlaces:
    case Field::kTextPlaces:
      return QObject::tr("places");
    case Field::kFormat:
      return QObject::tr("prompt format");
    case Field::kAnswer:
      return QObject::tr("answer");
    case Field::kQuestion:
      return QObject::tr("question");
    case Field::kText:
      return QObject::tr("own text");
    case Field::kGold:
      return QObject::tr("gold mark");
    case Field::kPieces:
      break;
  }
  return QObject::tr("pieces");
}

QString RunText(const PromptRequest& request) {
  if (request.task.empty()) return QObject::tr("run of own text");
  return QObject::tr("run of %1, sample %2")
      .arg(Shortened(QString::fromStdString(request.task)))
      .arg(request.sample);
}

// Whether the change can be a key press within continuous typing; a pasted text is a separate step.
bool IsTyping(const PromptFields& before, const PromptFields& after) {
  switch (ChangedField(before, after)) {
    case Field::kText:
      return std::abs(after.text.text.size() - before.text.text.size()) <= 1;
    case Field::kPage:
    case Field::kGold:
    case Field::kPieces:
      return false;
    default:
      return true;
  }
}

}  // namespace

// Pushed after the edit was made.
class PromptHistory::EditStep : public QUndoCommand {
 public:
  EditStep(PromptHistory* history, PromptFields before, PromptFields after, int typing)
      : QUndoCommand(EditText(before, after)),
        history_(history),
        before_(std::move(before)),
        after_(std::move(after)),
        typing_(typing) {}

  void redo() override { history_->Show(after_); }
  void undo() override { history_->Show(before_); }
  int id() const override { return 2; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* later = static_cast<const EditStep*>(other);
    if (typing_ == 0 || later->typing_ != typing_ ||
        ChangedField(before_, after_) != ChangedField(later->before_, later->after_)) {
      return false;
    }
    after_ = later->after_;
    setText(EditText(before_, after_));
    return true;
  }

 private:
  PromptHistory* history_;
  PromptFields before_;
  PromptFields after_;
  int typing_;  // 0: not part of continuous typing
};

class PromptHistory::RunStep : public QUndoCommand {
 public:
  RunStep(Session* session, PromptRequest before, PromptRequest after)
      : QUndoCommand(RunText(after)),
        session_(session),
        before_(std::move(before)),
        after_(std::move(after)),
        place_before_(session->live().place) {}

  // The first call chooses the place as any new run does.
  void redo() override {
    place_after_ ? session_->RestorePrompt(after_, *place_after_) : session_->SetPrompt(after_);
  }
  void undo() override {
    place_after_ = session_->live().place;
    session_->RestorePrompt(before_, place_before_);
  }

 private:
  Session* session_;
  PromptRequest before_;
  PromptRequest after_;
  size_t place_before_;
  std::optional<size_t> place_after_;
};

PromptHistory::PromptHistory(Session* session, PromptPanel* panel, QUndoStack* stack,
                             QObject* parent)
    : QObject(parent), session_(session), panel_(panel), stack_(stack), fields_(panel->fields()) {
  since_edit_.start();
  connect(panel_, &PromptPanel::Edited, this, &PromptHistory::OnEdited);
}

void PromptHistory::OnEdited() {
  if (showing_) return;
  PromptFields now = panel_->fields();
  if (now == fields_) return;
  const bool goes_on = since_edit_.restart() < kPause;
  if (!goes_on) ++typing_;
  const int typing = IsTyping(fields_, now) ? typing_ : 0;
  PromptFields before = std::exchange(fields_, std::move(now));
  stack_->push(new EditStep(this, std::move(before), fields_, typing));
}

void PromptHistory::Show(const PromptFields& fields) {
  fields_ = fields;
  if (panel_->fields() == fields) return;  // the step has just been made
  ++typing_;
  showing_ = true;
  panel_->SetFields(fields);
  showing_ = false;
}

void PromptHistory::Run() {
  PromptRequest request = panel_->prompt_request();
  const std::optional<PromptRequest>& asked = session_->newest_prompt_request();
  if (!asked || SamePrompts(*asked, request)) return session_->SetPrompt(request);
  stack_->push(new RunStep(session_, *asked, std::move(request)));
}

}  // namespace midscope
