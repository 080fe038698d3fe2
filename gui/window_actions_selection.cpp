// SPDX-License-Identifier: GPL-3.0-or-later
// Actions that choose what all panels show: head, pins, channel, place, tokens, and what the head
// map shows and paints.
#include <QStringList>
#include <QUndoStack>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/parameter.h"
#include "core/base/record_names.h"
#include "gui/actions/action_registry.h"
#include "gui/base/display_text.h"
#include "gui/base/prompt_text.h"
#include "gui/base/record_access.h"
#include "gui/main_window.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/outcome/answer_facts.h"
#include "gui/panels/prompt/document_bar.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/selection.h"
#include "gui/window_actions.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

namespace {

// Throws Error (usage) unless the text is an integer from `least` to `most`.
int64_t ReadWhole(const QString& thing, const QString& text, int64_t least, int64_t most) {
  bool read = false;
  const qint64 number = text.trimmed().toLongLong(&read);
  if (!read || number < least || number > most) {
    throw UsageError(thing.toStdString() + " '" + text.toStdString() + "'", "there is none",
                     "Give " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

// Unpins heads that the open model lacks, and replaces such a selected head by the nearest one:
// they are of another model, or of a session file.
void DropMissingHeads(const Session& session, Selection* selection) {
  const auto& model = session.live().model;
  if (!model) return;
  const auto nearest = [&model](HeadId head) {
    return NearestHead(head, model->config.layers, model->config.heads);
  };
  std::vector<PinnedHead> pins = selection->pinned();
  std::erase_if(pins, [&](const PinnedHead& pin) { return !(nearest(pin.head) == pin.head); });
  selection->RestorePins(pins);
  if (!(nearest(selection->head()) == selection->head()))
    selection->Choose(nearest(selection->head()));
}

}  // namespace

QStringList WindowActions::Places() const {
  QStringList places;
  for (const Record& prompt : window_->session()->prompts()) {
    const int64_t place = IntegerAttribute(prompt, "place", 0);
    if (place > 0) places << QString::number(place);
  }
  return places;
}

void WindowActions::AddSelection() {
  Session* session = window_->session();
  Selection* selection = window_->selection();
  connect(session, &Session::Changed, this, [session, selection](Changes changes) {
    if (changes & Change::kModel) DropMissingHeads(*session, selection);
  });
  connect(selection, &Selection::HeadChanged, this,
          [session, selection] { DropMissingHeads(*session, selection); });
  const QString menu = QStringLiteral("view");
  Parameter head = TextParameter("head", "a head, such as L12H3");
  head.kind = ParameterKind::kHeads;
  actions_->Add("head", menu, tr("&Head…"), tr("Shows the attention of a head, such as L12H3"),
                {.argument = Required(head)}, [this](const QString& text) {
                  window_->selection()->Choose(HeadOfModel(text));
                  last_panel_ = window_->FindPanel(QStringLiteral("attention"));
                });
  actions_->Add("pin", menu, tr("&Pin a head…"),
                tr("Keeps a head, such as L12H3, on the screen in its own colour; again: "
                   "takes the pin away"),
                {.argument = Required(head)},
                [this](const QString& text) { Pin(HeadOfModel(text)); });
  actions_->Add("unpin-all", menu, tr("&Unpin all heads"), tr("Takes the pins of all heads away"),
                [this](const QString&) { window_->selection()->SetPinned({}); });
  actions_->Add("channel", menu, tr("C&hannel…"),
                tr("Shows a channel of the residual stream by position"),
                {.argument = Required(WholeNumberParameter("channel", "a number", 0, 1 << 20))},
                [this](const QString& text) {
                  const auto& model = window_->session()->live().model;
                  const int64_t last = model ? model->config.hidden - 1 : 1 << 20;
                  ChooseChannel(ReadWhole(tr("channel"), text, 0, last));
                  last_panel_ = window_->FindPanel(QStringLiteral("channel"));
                });
  actions_->Add("place", menu, tr("&Place of the answer…"),
                tr("Shows the prompt with the gold passage at that place"),
                {.argument = Required(WholeNumberParameter("place", "counted from 1", 1, 1 << 20)),
                 .offers = [this] { return Places(); }},
                [this](const QString& text) {
                  if (!Places().contains(text)) {
                    throw UsageError(
                        "place " + text.toStdString(), "no prompt has it",
                        "Places: " + Places().join(QStringLiteral(", ")).toStdString());
                  }
                  window_->ChoosePlace(text.toLongLong());
                });
}

// Throws Error (usage) if the text is not a head, or if the open model lacks that head.
HeadId WindowActions::HeadOfModel(const QString& text) const {
  const HeadId head = ReadHeadId(text.trimmed());
  const auto& model = window_->session()->live().model;
  if (!model || NearestHead(head, model->config.layers, model->config.heads) == head) return head;
  const HeadId last{model->config.layers - 1, model->config.heads - 1};
  throw UsageError("head " + text.toStdString(), "the model does not have it",
                   "Its heads are L0H0 to " + HeadText(last).toStdString());
}

void WindowActions::Pin(HeadId head) {
  Selection* selection = window_->selection();
  if (!selection->PinOf(head) && selection->pinned().size() >= Selection::kMostPins) {
    throw UsageError("pin " + HeadText(head).toStdString(),
                     std::to_string(Selection::kMostPins) + " heads are pinned",
                     "Unpin one first, or run unpin-all");
  }
  selection->TogglePin(head);
}

void WindowActions::ChooseChannel(qint64 channel) {
  Session* session = window_->session();
  const int64_t before = session->channel();
  session->SetChannel(channel);
  window_->choices()->AddChannel(before, channel);
}

int64_t WindowActions::LastToken() const {
  const Record* prompt = window_->session()->prompt();
  if (!prompt) throw UsageError("tokens", "no prompt is shown", "Open a model first");
  return AxisSize(*prompt, "token") - 1;
}

void WindowActions::AddTokens() {
  const QString menu = QStringLiteral("view");
  actions_->Add(
      "lock-token", menu, tr("&Lock a token…"),
      tr("Marks the token at a position in all panels; again: releases it"),
      {.argument = Required(WholeNumberParameter("position", "counted from 0", 0, 1 << 30))},
      [this](const QString& text) {
        window_->selection()->LockToken(ReadWhole(tr("token"), text, 0, LastToken()));
      });
  actions_->Add(
      "query", menu, tr("Attention from a &token…"),
      tr("Shows what the token at a position attends to; the last one: the usual view"),
      {.argument = Required(WholeNumberParameter("position", "counted from 0", 0, 1 << 30))},
      [this](const QString& text) {
        window_->session()->SetQueryRow(ReadWhole(tr("token"), text, 0, LastToken()));
      });
  actions_->Add("range", menu, tr("&Range of tokens…"),
                tr("Selects tokens, such as 50:60 (50 to 59), in all panels"),
                {.argument = Required(TextParameter("tokens", "such as 50:60"))},
                [this](const QString& text) { SelectRange(text); });
  actions_->Add("release", menu, tr("R&elease tokens"),
                tr("Neither a locked token nor a range: what Esc does in a plot"),
                [this](const QString&) { window_->selection()->Release(); });
}

void WindowActions::SelectRange(const QString& text) {
  const QStringList ends = text.split(QLatin1Char(':'));
  const int64_t tokens = LastToken() + 1;
  if (ends.size() != 2) {
    throw UsageError("range '" + text.toStdString() + "'", "it is not a begin and an end",
                     "Give positions, such as 50:60");
  }
  const int64_t begin = ReadWhole(tr("begin of a range"), ends[0], 0, tokens - 1);
  const int64_t end = ReadWhole(tr("end of a range"), ends[1], begin + 1, tokens);
  window_->selection()->SetRange(begin, end);
}

void WindowActions::AddMap() {
  const QString menu = QStringLiteral("view");
  auto* map = window_->panel<HeadMapPanel>();
  actions_->Add("quantity", menu, tr("&Quantity of the head map…"),
                tr("What the map of heads shows, such as gold"),
                {.argument = Required(TextParameter("quantity", "such as gold")),
                 .offers = [map] { return map->quantity_ids(); }},
                [this, map](const QString& id) {
                  if (!map->quantity_ids().contains(id)) {
                    throw UsageError("quantity '" + id.toStdString() + "'",
                                     "the map does not have it now",
                                     "It has " + map->quantity_ids().join(tr(", ")).toStdString());
                  }
                  map->ChooseQuantity(id.toStdString());
                  last_panel_ = map;
                });
  actions_->Add("ratio", QStringLiteral("edit"), tr("Position &ratio of a head of B…"),
                tr("Sets ratios of heads of B, such as L12H3=1.5, or L12H3=1.5,L12H4=1.2"),
                {.argument = Required(TextParameter("ratios", "such as L12H3=1.5"))},
                [this](const QString& text) { SetRatios(text); });
}

// Sets all ratios, or none if one of them cannot be read.
void WindowActions::SetRatios(const QString& text) {
  std::vector<std::pair<HeadId, double>> ratios;
  for (const QString& part : text.split(QLatin1Char(','))) {
    bool read = false;
    const double ratio = part.section(QLatin1Char('='), 1).trimmed().toDouble(&read);
    if (!read) {
      throw UsageError("ratio '" + part.trimmed().toStdString() + "'",
                       "it is not a head and a number",
                       "Give a head and its ratio, such as L12H3=1.5");
    }
    ratios.emplace_back(HeadOfModel(part.section(QLatin1Char('='), 0, 0)), ratio);
  }
  window_->panel<HeadMapPanel>()->SetRatios(ratios);
}

// Actions that request another prompt: the task, its sample and seed, own text with its gold
// passage.

namespace {

constexpr int64_t kLargestNumber = 2147483647;

}  // namespace

// Changes fields of the panel and runs its request, as one undo step.
void WindowActions::AskPrompt(const QString& name,
                              const std::function<void(PromptFields&)>& change) {
  PromptPanel* panel = window_->prompt_panel();
  PromptFields fields = panel->fields();
  change(fields);
  if (fields == panel->fields()) return window_->Run();
  QUndoStack* stack = window_->history()->stack();
  stack->beginMacro(name);
  panel->SetFields(fields);
  window_->Run();
  stack->endMacro();
}

// Requests the previous or next sample of the task; no effect for own text and files without
// samples.
void WindowActions::StepSample(int step) {
  const PromptFields fields = window_->prompt_panel()->fields();
  if (window_->session()->shows_file() || fields.page != 0) return;
  if (fields.sample + step >= 0) ChooseSample(fields.sample + step);
}

void WindowActions::AddPrompt() {
  connect(window_->samples(), &SampleBar::StepRequested, this, &WindowActions::StepSample);
  const QString run = QStringLiteral("run");
  actions_->Add("task", run, tr("&Task…"),
                tr("Selects another task, such as kv:pairs=10, and runs it"),
                {.argument = Required(TextParameter("task", "a task, such as list:lines=20"))},
                [this](const QString& task) {
                  AskPrompt(tr("task %1").arg(task), [&task](PromptFields& fields) {
                    fields.page = 0;
                    fields.task = task;
                  });
                });
  actions_->Add("append-generated", run, tr("Append t&he generated text"),
                tr("Makes A's prompt with the text generated after it your own text, so "
                   "that each of its tokens can be looked at"),
                [this](const QString&) { AppendGenerated(); });
  actions_->Add(
      "sample", run, tr("Sa&mple…"),
      tr("Selects another sample of the task and runs it; of a file: shows it"),
      {.argument = Required(WholeNumberParameter("sample", "counted from 0", 0, kLargestNumber))},
      [this](const QString& text) { ChooseSample(text.toLongLong()); });
  actions_->Add("gold", run, tr("Gold &passage…"),
                tr("Marks the first occurrence of these words in your own text as gold"),
                {.argument = Required(TextParameter("words", "words of the text"))},
                [this](const QString& words) {
                  if (!window_->prompt_panel()->editor()->MarkWords(words)) {
                    throw UsageError("gold '" + words.toStdString() + "'",
                                     "your own text does not have these words",
                                     "Give words exactly as in the text");
                  }
                });
}

// The text of A's prompt as it was sent, with its gold passage, and the generated text.
void WindowActions::AppendGenerated() {
  const Session& session = *window_->session();
  const QStringList generated = GeneratedTokens(session.record(Side::kA, kGenerationRecord));
  if (generated.isEmpty() || !session.ready())
    throw UsageError("generated text", "there is none for A", "Press Generate first");
  const PromptText shown = ReadPromptText(session.prompt());
  AskPrompt(tr("prompt with the generated text"), [&](PromptFields& fields) {
    fields.page = 1;
    fields.text = {shown.text + generated.join(QString())};
    if (!shown.gold.empty())
      fields.text.gold = {shown.begins[shown.gold.begin], shown.begins[shown.gold.end]};
    fields.question.clear();
    fields.answer.clear();
    fields.format = OptionSet(PromptFormatOptions()).ToJson();
  });
}

void WindowActions::ChooseSample(qint64 sample) {
  Session* session = window_->session();
  if (session->sample_view()) {
    SampleChoice choice = session->sample_choice();
    choice.sample = sample;
    return session->ChooseSample(choice);
  }
  AskPrompt(tr("sample %1").arg(sample), [sample](PromptFields& fields) {
    fields.page = 0;
    fields.sample = static_cast<int>(sample);
  });
}

}  // namespace midscope
