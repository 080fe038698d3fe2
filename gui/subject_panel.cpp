// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/subject_panel.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTabWidget>

#include "core/error.h"
#include "gui/prompt_editor.h"
#include "gui/record_access.h"

namespace midscope {
namespace {

constexpr int kLargestSeed = 2147483647;

}  // namespace

std::vector<int64_t> ReadPlaces(const QString& text) {
  std::vector<int64_t> places;
  for (const QString& part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    if (part.trimmed().isEmpty()) continue;
    bool read = false;
    const qlonglong place = part.trimmed().toLongLong(&read);
    if (!read || place < 1) {
      throw UsageError("places", "'" + part.trimmed().toStdString() + "' is not a place",
                       "Give whole numbers from 1 on, such as 1,5,10, or nothing for five places");
    }
    places.push_back(place);
  }
  return places;
}

SubjectPanel::SubjectPanel(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(MakeModelBox());
  auto* box = new QGroupBox(tr("What is asked"), this);
  pages_ = new QTabWidget(box);
  pages_->setObjectName(QStringLiteral("subject_pages"));
  pages_->addTab(MakeTaskPage(), tr("Task"));
  pages_->addTab(MakeTextPage(), tr("Own text"));
  place_ = new QComboBox(box);
  place_->setObjectName(QStringLiteral("place"));
  place_->setToolTip(tr("Whose prompt is on the screen; a click into the outcome chooses, too"));
  run_ = new QPushButton(tr("Run"), box);
  run_->setObjectName(QStringLiteral("run"));
  run_->setToolTip(tr("Run the model on this (F5)"));
  auto* row = new QHBoxLayout;
  row->addWidget(new QLabel(tr("gold at place"), box));
  row->addWidget(place_, 1);
  row->addWidget(run_);
  auto* box_column = new QVBoxLayout(box);
  box_column->addWidget(pages_);
  box_column->addLayout(row);
  column->addWidget(box);
  connect(run_, &QPushButton::clicked, this, &SubjectPanel::RunAsked);
  connect(place_, &QComboBox::currentIndexChanged, this, &SubjectPanel::PlaceChosen);
}

QWidget* SubjectPanel::MakeModelBox() {
  auto* box = new QGroupBox(tr("Model"), this);
  model_ = new QLineEdit(QStringLiteral("embedded"), box);
  model_->setObjectName(QStringLiteral("model"));
  model_->setToolTip(
      tr("<p>A .gguf file (also by drag and drop), or embedded: the small model "
         "that comes with Midscope</p>"));
  auto* choose = new QPushButton(tr("File…"), box);
  choose->setToolTip(tr("Choose a .gguf file (Ctrl+O)"));
  auto* open = new QPushButton(tr("Open"), box);
  open->setObjectName(QStringLiteral("open"));
  open->setToolTip(tr("Load the model"));
  dtype_ = new QComboBox(box);
  dtype_->setObjectName(QStringLiteral("dtype"));
  dtype_->addItems({QStringLiteral("float32"), QStringLiteral("bfloat16")});
  dtype_->setToolTip(
      tr("<p>Number type of weights and activations; bfloat16 needs half the "
         "memory and rounds more</p>"));
  model_text_ = new QLabel(tr("no model is open"), box);
  model_text_->setObjectName(QStringLiteral("model_text"));
  model_text_->setWordWrap(true);
  auto* first = new QHBoxLayout;
  first->addWidget(model_, 1);
  first->addWidget(choose);
  auto* second = new QHBoxLayout;
  second->addWidget(dtype_, 1);
  second->addWidget(open);
  auto* column = new QVBoxLayout(box);
  column->addLayout(first);
  column->addLayout(second);
  column->addWidget(model_text_);
  connect(choose, &QPushButton::clicked, this, &SubjectPanel::ChooseFile);
  const auto ask = [this] { Q_EMIT OpenAsked(open_request()); };
  connect(open, &QPushButton::clicked, this, ask);
  connect(model_, &QLineEdit::returnPressed, this, ask);
  return box;
}

QWidget* SubjectPanel::MakeTaskPage() {
  auto* page = new QWidget(this);
  task_ = new QComboBox(page);
  task_->setObjectName(QStringLiteral("task"));
  task_->setEditable(true);
  task_->addItems({QStringLiteral("list:lines=20"), QStringLiteral("kv:pairs=10")});
  task_->setToolTip(
      tr("<p>list: who bought what, in a list of lines. kv: pairs of random keys and "
         "values. The number of pieces may be changed</p>"));
  seed_ = new QSpinBox(page);
  seed_->setRange(0, kLargestSeed);
  seed_->setValue(1);
  seed_->setToolTip(tr("Seed of all samples"));
  sample_ = new QSpinBox(page);
  sample_->setRange(0, kLargestSeed);
  sample_->setToolTip(tr("Which sample is on the screen"));
  places_ = new QLineEdit(page);
  places_->setObjectName(QStringLiteral("places"));
  places_->setPlaceholderText(tr("first, quarter, middle, three quarters, last"));
  places_->setToolTip(tr("<p>Places of the gold piece, 1-based, such as 1,5,10,15,20</p>"));
  auto* form = new QFormLayout(page);
  form->addRow(tr("task"), task_);
  auto* numbers = new QHBoxLayout;
  numbers->addWidget(seed_, 1);
  numbers->addWidget(new QLabel(tr("sample"), page));
  numbers->addWidget(sample_, 1);
  form->addRow(tr("seed"), numbers);
  form->addRow(tr("places"), places_);
  return page;
}

QWidget* SubjectPanel::MakeTextPage() {
  auto* page = new QWidget(this);
  editor_ = new PromptEditor(page);
  auto* mark = new QPushButton(tr("Mark as gold"), page);
  mark->setObjectName(QStringLiteral("mark_gold"));
  mark->setToolTip(tr("The selected passage is the one that answers"));
  gold_text_ = new QLabel(tr("nothing is marked"), page);
  answer_ = new QLineEdit(page);
  answer_->setObjectName(QStringLiteral("answer"));
  answer_->setPlaceholderText(tr("answer, with its leading space"));
  answer_->setToolTip(
      tr("<p>What should follow the text; its likelihood is measured. Empty: "
         "nothing is measured</p>"));
  auto* row = new QHBoxLayout;
  row->addWidget(mark);
  row->addWidget(gold_text_, 1);
  auto* column = new QVBoxLayout(page);
  column->addWidget(editor_, 1);
  column->addLayout(row);
  column->addWidget(answer_);
  connect(mark, &QPushButton::clicked, editor_, &PromptEditor::MarkSelection);
  connect(editor_, &PromptEditor::GoldChanged, this, [this] {
    const auto [begin, end] = editor_->GoldBytes();
    gold_text_->setText(end > begin ? tr("bytes %1 to %2").arg(begin).arg(end)
                                    : tr("nothing is marked"));
  });
  return page;
}

void SubjectPanel::ChooseFile() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Open a model"), QString(),
                                                    tr("Models (*.gguf);;All files (*)"));
  if (path.isEmpty()) return;
  model_->setText(path);
  Q_EMIT OpenAsked(open_request());
}

OpenRequest SubjectPanel::open_request() const {
  OpenRequest request;
  request.model = model_->text().trimmed().toStdString();
  request.dtype = dtype_->currentText().toStdString();
  return request;
}

void SubjectPanel::SetModelPath(const QString& path) { model_->setText(path); }

void SubjectPanel::SetDtype(const QString& dtype) { dtype_->setCurrentText(dtype); }

void SubjectPanel::SetTask(const QString& task) { task_->setEditText(task); }

void SubjectPanel::ShowModel(const QString& description) {
  model_text_->setText(description.isEmpty() ? tr("no model is open") : description);
}

Subject SubjectPanel::subject() const {
  Subject subject;
  if (pages_->currentIndex() == 0) {
    subject.task = task_->currentText().trimmed().toStdString();
    subject.seed = static_cast<uint64_t>(seed_->value());
    subject.sample = sample_->value();
    subject.places = ReadPlaces(places_->text());
    return subject;
  }
  subject.task.clear();
  subject.text = editor_->Text().toStdString();
  const auto [begin, end] = editor_->GoldBytes();
  subject.gold_begin = begin;
  subject.gold_end = end;
  subject.answer = answer_->text().toStdString();
  if (subject.text.empty()) {
    throw UsageError("own text", "there is none", "Type or paste a text, or choose a task");
  }
  return subject;
}

void SubjectPanel::ShowPlaces(const std::vector<Record>& prompts, size_t current) {
  const QSignalBlocker quiet(place_);
  place_->clear();
  for (const Record& prompt : prompts) {
    const int64_t place = IntegerAttribute(prompt, "place", 0);
    const int64_t tokens = IntegerAttribute(prompt, "prompt_tokens", AxisSize(prompt, "token"));
    place_->addItem(place > 0 ? tr("%1  (%2 tokens)").arg(place).arg(tokens)
                              : tr("own text (%1 tokens)").arg(tokens));
  }
  place_->setCurrentIndex(prompts.empty() ? -1 : static_cast<int>(current));
}

}  // namespace midscope
