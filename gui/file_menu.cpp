// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/file_menu.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <QStandardPaths>
#include <QUndoStack>
#include <utility>

#include "core/base/parameter.h"
#include "core/model/model_text.h"
#include "gui/actions/action_registry.h"
#include "gui/files/result_file.h"
#include "gui/files/view_state.h"
#include "gui/layout/dock_area.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/panel.h"
#include "gui/panels/panel_list.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/parameter_form.h"
#include "gui/widgets/selection.h"

namespace midscope {
namespace {

constexpr int kRecentFiles = 9;  // one per key from Ctrl+1 to Ctrl+9
constexpr QLatin1String kRecentKey("recent_files");
constexpr QLatin1String kModelOptionsKey("model_options");
// Prefix that names the failed operation for the error bar.
constexpr QLatin1String kOpening("open ");
constexpr QLatin1String kSessionEnding(".midscope");

// Decides by the extension or the HDF5 signature, because a sweep's file may have any name.
bool IsResults(const QString& path) {
  if (path.endsWith(QLatin1String(".h5")) || path.contains(QLatin1String(".h5::"))) return true;
  QFile file(path);
  return QFileInfo(path).isFile() && file.open(QIODevice::ReadOnly) &&
         file.read(8) == QByteArrayLiteral("\x89HDF\r\n\x1a\n");
}

}  // namespace

FileMenu::FileMenu(FileMenuContext context, QWidget* parent)
    : QObject(parent),
      context_(std::move(context)),
      parent_(parent),
      recent_menu_(std::make_unique<QMenu>(tr("Re&cent"))),
      opener_(
          this,
          [files = context_.session->files_of_engine()](const QString& path, const JobContext&,
                                                        const auto& deliver) {
            deliver(ReadResults(files, path));
          },
          [this](const QString& path, OpenedResults& results) { ShowResults(path, results); }) {
  Register();
  FillRecent();
  connect(context_.session, &Session::Changed, this, [this](Changes changes) {
    if (changes & Change::kModel) NoteModel();
    const bool waits = !waiting_view_.is_null() || !rest_of_view_.is_null();
    const SessionView& live = context_.session->live();
    if (waits && !context_.session->opening() && !live.prompts.empty())
      QMetaObject::invokeMethod(this, "RestoreWaitingView", Qt::QueuedConnection);
  });
  connect(&report_, &ReportProcess::Written, this,
          [this](const QString& path) { Q_EMIT StatusChanged(tr("%1 written").arg(path)); });
  connect(&report_, &ReportProcess::Failed, this, [this](const QString& why) {
    Q_EMIT StatusChanged(QString());
    context_.errors->Add(why, QStringLiteral("report"));
  });
}

FileMenu::~FileMenu() = default;

void FileMenu::Register() {
  const QString file = QStringLiteral("file");
  using Choose = std::function<QString()>;
  // If the argument is empty, the action opens a file dialog.
  const auto add = [this, &file](const char* id, const QString& title, const QString& help,
                                 const QKeySequence& key, const Choose& choose,
                                 void (FileMenu::*use)(const QString&)) {
    context_.actions->Add(id, file, title, help,
                          {.shortcut = key, .argument = FileParameter("file", "path of the file")},
                          [this, choose, use](const QString& given) {
                            const QString path = given.isEmpty() ? choose() : given;
                            if (!path.isEmpty()) (this->*use)(path);
                          });
  };
  const auto link = context_.session->files_of_engine().link();
  const auto from = [this, link](const QString& title, const QString& filter) -> Choose {
    return [=, this] { return ChooseEngineFile(parent_, link, title, folder_, filter); };
  };
  const auto to = [this](const QString& title, const QString& name,
                         const QString& filter) -> Choose {
    return [=, this] { return QFileDialog::getSaveFileName(parent_, title, name, filter); };
  };
  const QString models = tr("Models (*.gguf);;All files (*)");
  const QString sessions = tr("Sessions (*.midscope)");
  add("open-model", tr("&Open model…"), tr("Opens a GGUF file; a folder by its path"),
      QKeySequence::Open, from(tr("Open a model"), models), &FileMenu::OpenPath);
  add("second", tr("Open a second &model…"),
      tr("Opens a second model for B, in a process of its own: both models run the same text"), {},
      from(tr("Open a second model for B"), models), &FileMenu::OpenSecond);
  add(
      "adapter", tr("Open an &adapter for B…"),
      tr("B is A's model with a LoRA adapter: a folder, or FOLDER:SCALE"), {},
      [this, link] { return ChooseEngineFolder(parent_, link, tr("Open an adapter")); },
      &FileMenu::OpenAdapter);
  add("open-results", tr("Open &results…"), tr("Shows a file of probes, sweeps, scans or curves"),
      QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O),
      from(tr("Open results"), tr("Results (*.h5);;All files (*)")), &FileMenu::OpenResults);
  add(
      "open-session", tr("Open se&ssion…"),
      tr("Restores the requests and the layout of a session file"), {},
      [this, sessions] {
        return QFileDialog::getOpenFileName(parent_, tr("Open a session"), folder_, sessions);
      },
      &FileMenu::OpenSession);
  add("save-results", tr("&Save results…"), tr("Writes what is on the screen as HDF5"),
      QKeySequence::Save, to(tr("Save results"), QStringLiteral("run.h5"), tr("Results (*.h5)")),
      &FileMenu::SaveResultsTo);
  add("report", tr("Re&port…"),
      tr("Writes one HTML page: question, answers, pictures, tables, method, provenance, commands"),
      {}, to(tr("Write a report"), QStringLiteral("report.html"), tr("Pages (*.html)")),
      &FileMenu::WriteReport);
  add(
      "save-session", tr("Sa&ve session…"),
      tr("Writes model, prompt, settings, selection and layout as a text file"),
      QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S),
      [choose = to(tr("Save the session"), QStringLiteral("session") + kSessionEnding, sessions)] {
        const QString path = choose();
        const bool complete = path.isEmpty() || path.endsWith(kSessionEnding);
        return complete ? path : path + kSessionEnding;
      },
      &FileMenu::SaveSession);
  Session* session = context_.session;
  QAction* close = context_.actions->Add("close-second", file, tr("Close the second mode&l"),
                                         tr("B is a setting of A's model again"),
                                         [session](const QString&) { session->CloseSecond(); });
  close->setEnabled(false);
  connect(session, &Session::Changed, close, [session, close](Changes changes) {
    if (changes & Change::kModel) close->setEnabled(session->second());
  });
  context_.actions->Add(
      "next-document", file, tr("&Next document"),
      tr("The model, then each open file of results, in turn"),
      {.shortcut = QKeySequence(Qt::CTRL | Qt::Key_Tab)}, [session](const QString&) {
        const int next = session->shown_document() + 1;
        session->ShowDocument(next < session->documents().size() ? next : Session::kModelDocument);
      });
  context_.actions->Add(
      "close-document", file, tr("&Close document"),
      tr("Closes the shown file of results; the model stays"), {.shortcut = QKeySequence::Close},
      [session](const QString&) { session->CloseDocument(session->shown_document()); });
}

QString FileMenu::UsualSettingsFile() {
  return QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation) +
         QStringLiteral("/window.ini");
}

void FileMenu::Remember(const QString& file) {
  settings_ = std::make_unique<QSettings>(file, QSettings::IniFormat);
  recent_ = settings_->value(kRecentKey).toStringList().mid(0, kRecentFiles);
  FillRecent();
  const QString options = settings_->value(kModelOptionsKey).toString();
  if (options.isEmpty()) return;
  context_.errors->Try([this, &options] {
    OptionSet remembered(OptionsBesideModel());
    remembered.FromJson(options.toStdString());
    context_.model->options()->SetOptions(remembered);
  });
}

void FileMenu::NoteModel() {
  const auto& model = context_.session->live().model;
  if (!model || context_.session->shows_file()) return;
  const QString name = context_.model->model();
  if (name == noted_model_) return;  // the same model is shown again after a file
  noted_model_ = name;
  if (QFileInfo::exists(name)) NoteRecent(name);
  if (!settings_) return;
  settings_->setValue(kModelOptionsKey,
                      QString::fromStdString(context_.model->options()->options().ToJson()));
}

QString FileMenu::LastingPath(const QString& path) const {
  const QFileInfo file(path);
  const bool remote = context_.session->files_of_engine().link()->command().remote;
  return remote && !file.exists() ? path : file.absoluteFilePath();
}

void FileMenu::NoteRecent(const QString& path) {
  const QString lasting = LastingPath(path);
  recent_.removeAll(lasting);
  recent_.prepend(lasting);
  recent_ = recent_.mid(0, kRecentFiles);
  FillRecent();
  if (settings_) settings_->setValue(kRecentKey, recent_);
}

void FileMenu::FillRecent() {
  recent_menu_->clear();
  recent_menu_->setEnabled(!recent_.isEmpty());
  for (int i = 0; i < recent_.size(); ++i) {
    const QString path = recent_[i];
    QAction* action = recent_menu_->addAction(
        QStringLiteral("&%1  %2").arg(i + 1).arg(QFileInfo(path).fileName()), this,
        [this, path] { OpenPath(path); });
    action->setShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)));
    action->setToolTip(path);
  }
  recent_menu_->setToolTipsVisible(true);
}

void FileMenu::OpenPath(const QString& path) {
  context_.errors->Try([this, &path] {
    if (path.endsWith(kSessionEnding)) {
      OpenSession(path);
    } else if (IsResults(path)) {
      OpenResults(path);
    } else {
      context_.model->SetModel(path);
      Q_EMIT OpenRequested();
    }
  });
}

void FileMenu::OpenPaths(const QStringList& paths) {
  QStringList first;
  QStringList results;
  for (const QString& path : paths)
    (!path.endsWith(kSessionEnding) && IsResults(path) ? results : first) << path;
  for (const QString& path : first.mid(1)) {
    context_.errors->Add(tr("'%1': one model or session can be open; '%2' is being opened")
                             .arg(path, QFileInfo(first.front()).fileName()));
  }
  if (!first.isEmpty()) OpenPath(first.front());
  waiting_documents_ += results;
  if (!opening()) OpenWaiting();
}

void FileMenu::OpenResults(const QString& path) {
  opening_ = path;
  Q_EMIT StatusChanged(tr("Opening %1…").arg(QFileInfo(path).fileName()));
  opener_.Ask(path);
}

void FileMenu::ShowResults(const QString& path, OpenedResults& results) {
  if (path != opening_) return;
  opening_.clear();
  Q_EMIT StatusChanged(QString());
  if (results.failure.isEmpty()) {
    context_.errors->Succeed(kOpening + path);
    context_.session->ShowView(std::move(results.view), results.samples);
    context_.session->FlushChanges();
    NoteRecent(path);
  } else {
    context_.errors->Add(results.failure, kOpening + path);
  }
  OpenWaiting();
  Q_EMIT ResultsOpened();
}

// Opens the next results file of the session; after the last one, shows the document that the
// session showed.
void FileMenu::OpenWaiting() {
  if (!waiting_documents_.isEmpty()) return OpenResults(waiting_documents_.takeFirst());
  if (const auto shown = std::exchange(document_to_show_, std::nullopt)) {
    context_.session->ShowDocument(static_cast<int>(context_.session->documents().indexOf(*shown)));
  }
}

// Runs as soon as the prompts are shown, because panels discard the view of other prompts; later
// changes by the user are kept. Values that need records are restored when the records arrive.
void FileMenu::RestoreWaitingView() {
  const nlohmann::json view = std::exchange(waiting_view_, nullptr);
  if (!view.is_null()) rest_of_view_ = RestoreView(view, context_.panels, context_.selection);
  if (rest_of_view_.is_null() || !context_.session->live().a.settled) return;
  RestoreRest(std::exchange(rest_of_view_, nullptr), context_.panels);
}

void FileMenu::OpenSession(const QString& path) {
  context_.errors->Try([this, &path] {
    Apply(ReadSessionFile(path));
    NoteRecent(path);
  });
}

SavedSession FileMenu::session() const {
  const SessionView& current = context_.session->live();
  SavedSession saved;
  saved.model = context_.model->model().toStdString();
  saved.model_options = context_.model->options()->Checked();
  saved.prompt_request = context_.prompt->prompt_request();
  const Session* second = context_.session->second();
  if (second && second->open_request())
    saved.second_model = ModelPanel::SecondText(*second->open_request()).toStdString();
  if (!current.prompts.empty()) saved.place_index = static_cast<int64_t>(current.place);
  saved.settings = {current.a.setting, current.b.setting, context_.history->current().off_a,
                    context_.history->current().off_b};
  saved.marks = context_.session->marks()->State();
  saved.kept = context_.tried->KeptTexts();
  saved.layout = context_.docks->State().toBase64().toStdString();
  saved.view =
      waiting_view_.is_null() ? ViewState(context_.panels, *context_.selection) : waiting_view_;
  if (waiting_view_.is_null() && !rest_of_view_.is_null()) AddRest(rest_of_view_, saved.view);
  for (const QString& path : context_.session->documents())
    saved.documents.push_back(LastingPath(path).toStdString());
  saved.shown_document = context_.session->shown_document();
  for (size_t i = 0; i < context_.panels.size(); ++i) {
    nlohmann::json state = context_.panels[i]->State();
    if (!state.is_null()) saved.panels[PanelList()[i].state_key] = std::move(state);
  }
  return saved;
}

void FileMenu::Apply(const SavedSession& saved) {
  Session* current = context_.session;
  context_.model->SetModel(QString::fromStdString(saved.model));
  context_.model->options()->SetOptions(saved.model_options);
  context_.prompt->SetPrompt(saved.prompt_request);
  current->Cancel();
  for (size_t i = 0; i < context_.panels.size(); ++i) {
    const auto state = saved.panels.find(PanelList()[i].state_key);
    context_.panels[i]->Restore(state == saved.panels.end() ? nlohmann::json() : state->second);
  }
  // A state of another version of the window is ignored; the layout is then unchanged.
  if (!saved.layout.empty())
    context_.docks->Restore(QByteArray::fromBase64(QByteArray::fromStdString(saved.layout)));
  current->marks()->Restore(saved.marks);
  for (int letter = 0; letter < TriedSettings::kMostKept; ++letter) {
    const auto at = static_cast<size_t>(letter);
    context_.tried->KeepAs(letter, at < saved.kept.size() ? saved.kept[at] : std::string());
  }
  waiting_view_ = saved.view;
  rest_of_view_ = nullptr;
  if (saved.place_index >= 0) current->PreferPlace(static_cast<size_t>(saved.place_index));
  context_.history->Change(saved.settings, false);
  context_.history->stack()->clear();  // undo starts from the session
  Q_EMIT OpenRequested();
  if (saved.second_model.empty()) {
    current->CloseSecond();
  } else {
    OpenSecond(QString::fromStdString(saved.second_model));
  }
  while (!current->documents().isEmpty()) current->CloseDocument(0);
  waiting_documents_.clear();
  for (const std::string& path : saved.documents)
    waiting_documents_ << QString::fromStdString(path);
  document_to_show_ = waiting_documents_.value(static_cast<qsizetype>(saved.shown_document));
  OpenWaiting();
}

void FileMenu::SaveSession(const QString& path) {
  context_.errors->Try([this, &path] {
    WriteSessionFile(path, session());
    NoteRecent(path);
  });
}

void FileMenu::OpenSecond(const QString& model) {
  context_.errors->Try(
      [this, &model] { context_.session->OpenSecond(context_.model->SecondRequest(model)); },
      QStringLiteral("second model"));
}

void FileMenu::OpenAdapter(const QString& adapter) {
  context_.errors->Try(
      [this, &adapter] {
        const std::optional<OpenRequest>& first = context_.session->open_request();
        OpenRequest request = first ? *first : context_.model->request();
        request.model = WithAdapterText(request.model, adapter.toStdString());
        context_.session->OpenSecond(request);
      },
      QStringLiteral("second model"));
}

void FileMenu::SaveResultsTo(const QString& path) {
  context_.errors->Try([this, &path] {
    const QString left_out = SaveResults(*context_.session, path);
    if (!left_out.isEmpty()) context_.errors->Add(left_out);
  });
}

void FileMenu::WriteReport(const QString& path) {
  context_.errors->Try(
      [this, &path] {
        QString results = context_.session->shown().path;
        if (!context_.session->shows_file()) {
          results = report_.TemporaryResults();
          SaveResults(*context_.session, results);
        } else if (!QFileInfo::exists(results) &&
                   context_.session->files_of_engine().link()->command().remote) {
          throw Failure("report", "'" + results.toStdString() + "' is on the engine's machine",
                        "Run midscope report there");
        }
        report_.Start(results, path);
        Q_EMIT StatusChanged(tr("Writing %1…").arg(QFileInfo(path).fileName()));
      },
      QStringLiteral("report"));
}

void FileMenu::ChooseExport() {
  const QString folder = ChooseFolder(parent_, tr("Export all plots as PNG, SVG and PDF into"));
  if (!folder.isEmpty()) Q_EMIT ExportRequested(folder);
}

}  // namespace midscope
