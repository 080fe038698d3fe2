// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt/document_bar.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenu>
#include <QSignalBlocker>
#include <QTabBar>
#include <QToolButton>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

// The settings of the records and of their `setting` axes, without duplicates.
QStringList SettingsOfFile(const SessionView& view) {
  QStringList settings = {QString::fromStdString(view.a.text)};
  if (view.differs()) settings << QString::fromStdString(view.b.text);
  for (const Record& record : view.file_records) settings += AxisLabels(record, "setting");
  settings.removeDuplicates();
  return settings;
}

// Returns nullopt if the setting has a term of another version.
std::optional<Intervention> Read(const QString& setting) {
  try {
    return ParseIntervention(setting.toStdString());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

DocumentBar::DocumentBar(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
  tabs_ = Named(new QTabBar(this), "documents");
  tabs_->setAccessibleName(tr("Model and open files"));
  tabs_->setExpanding(false);
  tabs_->setElideMode(Qt::ElideMiddle);
  tabs_->setTabsClosable(true);
  tabs_->setDrawBase(false);
  settings_ = Named(new ElidedLabel(this), "document_settings");
  use_ = Named(new QToolButton(this), "use_document_settings",
               tr("Puts settings of this file on the model, and shows the model"));
  use_->setText(tr("Use on the model"));
  use_->setPopupMode(QToolButton::InstantPopup);
  menu_ = new QMenu(use_);
  use_->setMenu(menu_);
  auto* row = WithoutMargins(new QHBoxLayout(this));
  row->addWidget(tabs_);
  row->addWidget(settings_, 1);
  row->addWidget(use_);
  connect(tabs_, &QTabBar::currentChanged, session_,
          [this](int tab) { session_->ShowDocument(tab - 1); });
  connect(tabs_, &QTabBar::tabCloseRequested, session_,
          [this](int tab) { session_->CloseDocument(tab - 1); });
  connect(menu_, &QMenu::aboutToShow, this, &DocumentBar::FillSettings);
  connect(session_, &Session::Changed, this, [this](Changes changes) {
    if (changes & (Change::kDocuments | Change::kModel | Change::kSettings)) Refresh();
  });
  Refresh();
}

void DocumentBar::Refresh() {
  const QStringList paths = session_->documents();
  setVisible(!paths.isEmpty());
  if (paths.isEmpty()) return;  // this function is called at each step of a slider
  const QSignalBlocker quiet(tabs_);
  while (tabs_->count() > paths.size() + 1) tabs_->removeTab(tabs_->count() - 1);
  while (tabs_->count() < paths.size() + 1) tabs_->addTab(QString());
  const auto& model = session_->live().model;
  tabs_->setTabText(0, model ? session_->live().ModelLabel() : tr("no model"));
  tabs_->setTabToolTip(0, tr("The open model; it goes on while a file is shown"));
  for (const QTabBar::ButtonPosition side : {QTabBar::LeftSide, QTabBar::RightSide})
    tabs_->setTabButton(0, side, nullptr);
  for (int i = 0; i < paths.size(); ++i) {
    const QString name = QFileInfo(paths[i]).fileName();
    tabs_->setTabText(i + 1, name.isEmpty() ? tr("results") : name);
    tabs_->setTabToolTip(i + 1, paths[i]);
  }
  tabs_->setCurrentIndex(session_->shown_document() + 1);
  const SessionView& shown = session_->shown();
  settings_->setVisible(shown.is_file);
  use_->setVisible(shown.is_file);
  if (!shown.is_file) return;
  QString text = tr("A: %1").arg(QString::fromStdString(shown.a.text));
  if (shown.differs()) text += tr("   B: %1").arg(QString::fromStdString(shown.b.text));
  settings_->SetText(text);
  settings_->setToolTip(SettingsOfFile(shown).join(QLatin1Char('\n')));
}

void DocumentBar::FillSettings() {
  menu_->clear();
  const SessionView& shown = session_->shown();
  const auto add = [this](const QString& title, const SettingPair& pair) {
    menu_->addAction(title, this, [this, pair] { Q_EMIT SettingsOffered(pair); });
  };
  if (shown.differs()) add(tr("A and B as in the file"), {shown.a.setting, shown.b.setting});
  const Intervention& kept = session_->live().a.setting;
  for (const QString& setting : SettingsOfFile(shown)) {
    if (const auto read = Read(setting)) add(tr("B: %1").arg(setting), {kept, *read});
  }
}

}  // namespace midscope
