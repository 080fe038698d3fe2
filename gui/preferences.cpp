// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/preferences.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QSettings>
#include <QUndoStack>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/parameter.h"
#include "core/hub/model_cache.h"
#include "gui/base/appearance.h"
#include "gui/base/display_text.h"
#include "gui/file_menu.h"
#include "gui/main_window.h"
#include "gui/panels/model_panel.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"

namespace midscope {

namespace {

constexpr int kQuietTime = 2000;  // milliseconds without a change before the file is written
constexpr QLatin1String kNow("/last.midscope");
constexpr QLatin1String kBefore("/previous.midscope");

}  // namespace

SessionKeeper::SessionKeeper(Session* session, SettingHistory* history, FileMenu* files,
                             const QString& folder)
    : QObject(files), session_(session), files_(files), folder_(folder) {
  if (QFile::exists(folder_ + kNow)) {
    QFile::remove(folder_ + kBefore);
    QFile::rename(folder_ + kNow, folder_ + kBefore);
  }
  timer_.setSingleShot(true);
  timer_.setInterval(kQuietTime);
  connect(&timer_, &QTimer::timeout, this, &SessionKeeper::Write);
  connect(session_, &Session::Changed, &timer_, qOverload<>(&QTimer::start));
  // Covers steps that do not change the session: switched-off terms, pins, marks, fields.
  connect(history->stack(), &QUndoStack::indexChanged, &timer_, qOverload<>(&QTimer::start));
}

QString SessionKeeper::previous() const {
  const QString file = folder_ + kBefore;
  return QFile::exists(file) ? file : QString();
}

// A prompt that cannot be read now is stored as soon as it can be. A full disk is reported only
// when the user saves.
void SessionKeeper::Write() {
  if (!session_->live().model) return;
  ErrorText([this] {
    QDir().mkpath(folder_);
    WriteSessionFile(folder_ + kNow, files_->session());
  });
}

namespace {

constexpr char kYes[] = "true";
constexpr char kNo[] = "false";

Parameter Flag(const std::string& name, const std::string& help, bool otherwise) {
  Parameter flag = ChoiceParameter(name, help, {kYes, kNo});
  flag.default_value = otherwise ? std::string(kYes) : std::string(kNo);
  return flag;
}

Parameter AppearanceParameter() {
  std::vector<std::string> names;
  for (const Appearance each : {Appearance::kDesktop, Appearance::kLight, Appearance::kDark})
    names.push_back(AppearanceName(each).toStdString());
  Parameter parameter = ChoiceParameter("appearance", "light, dark, or as the desktop is", names);
  parameter.default_value = names.front();
  return parameter;
}

Parameter DtypeParameter() {
  std::vector<Parameter> options = OptionsBesideModel();
  const auto found = std::find_if(options.begin(), options.end(),
                                  [](const Parameter& each) { return each.name == "dtype"; });
  return *found;
}

}  // namespace

const std::vector<Preference>& Preferences() {
  static const std::vector<Preference> list = {
      {AppearanceParameter(),
       [](const MainWindow&) { return AppearanceName(CurrentAppearance()).toStdString(); },
       [](MainWindow&, const std::string& name) {
         SetAppearance(AppearanceOf(QString::fromStdString(name)));
       },
       QStringLiteral("appearance")},
      {DtypeParameter(),
       [](const MainWindow& window) {
         return ParameterText(window.model()->options()->options().Value("dtype"));
       },
       [](MainWindow& window, const std::string& dtype) {
         window.model()->options()->SetText("dtype", dtype);
       }},
      {Flag("means-by-themselves",
            "whether means over samples that take less than 10 s start by themselves", true),
       [](const MainWindow& window) {
         return window.session()->means_start_automatically() ? std::string(kYes)
                                                              : std::string(kNo);
       },
       [](MainWindow& window, const std::string& value) {
         window.session()->SetMeansStartAutomatically(value == kYes);
       },
       QStringLiteral("means_by_themselves")},
      {Flag("reopen-last", "whether a start without a model or file goes on with the last work",
            false),
       [](const MainWindow& window) {
         return window.files()->reopens_last() ? std::string(kYes) : std::string(kNo);
       },
       [](MainWindow& window, const std::string& value) {
         window.files()->SetReopensLast(value == kYes);
       },
       QStringLiteral("reopen_last")},
      {TextParameter("model-folder", "where the dialogs for models and results begin"),
       [](const MainWindow& window) { return window.files()->folder().toStdString(); },
       [](MainWindow& window, const std::string& folder) {
         window.files()->SetFolder(QString::fromStdString(folder));
       },
       QStringLiteral("model_folder")},
  };
  return list;
}

void RestorePreferences(MainWindow& window, const QSettings& stored) {
  for (const Preference& preference : Preferences()) {
    if (preference.key.isEmpty() || !stored.contains(preference.key)) continue;
    const std::string text = stored.value(preference.key).toString().toStdString();
    ErrorText([&] {
      OptionSet checked({preference.parameter});
      if (!text.empty()) checked.SetText(preference.parameter.name, text);
      preference.write(window, text);
    });
  }
}

void StorePreferences(const MainWindow& window, QSettings& stored) {
  for (const Preference& preference : Preferences()) {
    if (!preference.key.isEmpty())
      stored.setValue(preference.key, QString::fromStdString(preference.read(window)));
  }
}

PreferencesDialog::PreferencesDialog(MainWindow* window) : QDialog(window), window_(window) {
  setWindowTitle(tr("Preferences"));
  setObjectName(QStringLiteral("preferences"));
  std::vector<Parameter> parameters;
  for (const Preference& preference : Preferences()) parameters.push_back(preference.parameter);
  form_ = new ParameterForm(parameters, this, "preference_");
  OptionSet now(parameters);
  for (const Preference& preference : Preferences()) {
    const std::string value = preference.read(*window_);
    if (!value.empty() && value != ParameterText(preference.parameter.default_value))
      now.SetText(preference.parameter.name, value);
  }
  form_->SetOptions(now);
  const QSettings* stored = window_->files()->settings();
  auto* places =
      Named(new QLabel(tr("Models that are fetched: %1\nWhat the window remembers: %2")
                           .arg(QString::fromStdString(HuggingFaceCache().string()),
                                stored ? stored->fileName() : tr("nothing in this window")),
                       this),
            "preference_places");
  places->setTextInteractionFlags(Qt::TextSelectableByMouse);
  places->setWordWrap(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  auto* column = new QVBoxLayout(this);
  column->addWidget(form_);
  column->addWidget(places);
  column->addWidget(buttons);
  resize(480, sizeHint().height());
  connect(form_, &ParameterForm::Changed, this, &PreferencesDialog::Apply);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void PreferencesDialog::Apply() {
  for (const Preference& preference : Preferences()) {
    const std::string value = ParameterText(form_->options().Value(preference.parameter.name));
    if (value != preference.read(*window_))
      window_->errors()->Try([&] { preference.write(*window_, value); });
  }
  if (QSettings* stored = window_->files()->settings()) StorePreferences(*window_, *stored);
}

}  // namespace midscope
