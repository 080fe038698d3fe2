// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/engine_files.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QStyle>
#include <QVBoxLayout>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/widgets/flow_layout.h"
#include "probes/serve/message.h"

namespace midscope {
namespace {

constexpr int kFolderRole = Qt::UserRole;
constexpr QSize kUsualSize{560, 420};

QStringList Choose(QWidget* parent, const std::shared_ptr<EngineLink>& link,
                   EngineFileDialog::Kind kind, const QString& title) {
  EngineFileDialog dialog(link, kind, title, parent);
  dialog.Show(QString());
  return dialog.exec() == QDialog::Accepted ? dialog.chosen() : QStringList();
}

}  // namespace

QString ChooseEngineFile(QWidget* parent, const std::shared_ptr<EngineLink>& link,
                         const QString& title, const QString& folder, const QString& filter) {
  if (!link->command().remote) return QFileDialog::getOpenFileName(parent, title, folder, filter);
  return Choose(parent, link, EngineFileDialog::Kind::kFile, title).value(0);
}

QStringList ChooseEngineFiles(QWidget* parent, const std::shared_ptr<EngineLink>& link,
                              const QString& title, const QString& filter) {
  if (!link->command().remote)
    return QFileDialog::getOpenFileNames(parent, title, QString(), filter);
  return Choose(parent, link, EngineFileDialog::Kind::kFiles, title);
}

QString ChooseFolder(QWidget* parent, const QString& title) {
  QFileDialog dialog(parent, title);
  dialog.setFileMode(QFileDialog::Directory);
  dialog.setOption(QFileDialog::ShowDirsOnly);
  if (dialog.exec() != QDialog::Accepted) return {};
  // Null if the dialog is the desktop's.
  const auto* line = dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
  const QString typed = line ? dialog.directory().absoluteFilePath(line->text()) : QString();
  return QFileInfo(typed).isDir() ? typed : dialog.selectedFiles().value(0);
}

QString ChooseEngineFolder(QWidget* parent, const std::shared_ptr<EngineLink>& link,
                           const QString& title) {
  if (!link->command().remote) return ChooseFolder(parent, title);
  return Choose(parent, link, EngineFileDialog::Kind::kFolder, title).value(0);
}

EngineFileDialog::EngineFileDialog(std::shared_ptr<EngineLink> link, Kind kind,
                                   const QString& title, QWidget* parent)
    : QDialog(parent), link_(std::move(link)), kind_(kind) {
  setWindowTitle(tr("%1 — on the engine's machine").arg(title));
  line_ = Named(new QLineEdit(this), "engine_folder", tr("The folder; Enter shows another one"));
  problem_ = new QLabel(this);
  problem_->setWordWrap(true);
  problem_->hide();
  list_ = Named(new QListWidget(this), "engine_files");
  if (kind == Kind::kFiles) list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel, this);
  auto* column = new QVBoxLayout(this);
  column->addWidget(line_);
  column->addWidget(problem_);
  column->addWidget(list_);
  column->addWidget(buttons);
  resize(kUsualSize);
  connect(line_, &QLineEdit::returnPressed, this, [this] { Show(line_->text()); });
  connect(list_, &QListWidget::itemActivated, this, [this](QListWidgetItem* item) {
    if (!item->data(kFolderRole).toBool()) return accept();
    Show(folder_ + QLatin1Char('/') + item->text());
  });
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void EngineFileDialog::Show(const QString& folder) {
  const QString why = ErrorText([&] {
    Message params = Message::object();
    if (!folder.isEmpty()) params["path"] = folder.toStdString();
    const Message answer = link_->Call("list_folder", params);
    folder_ = QString::fromStdString(answer.value("path", ""));
    line_->setText(folder_);
    list_->clear();
    const auto add = [this](const QString& name, bool is_folder) {
      auto* item = new QListWidgetItem(
          style()->standardIcon(is_folder ? QStyle::SP_DirIcon : QStyle::SP_FileIcon), name, list_);
      item->setData(kFolderRole, is_folder);
    };
    add(QStringLiteral(".."), true);
    for (const bool folders : {true, false}) {
      for (const Message& entry : answer.value("entries", Message::array())) {
        const QString name = QString::fromStdString(entry.value("name", ""));
        if (entry.value("folder", false) == folders && !name.startsWith(QLatin1Char('.')))
          add(name, folders);
      }
    }
  });
  problem_->setText(why);
  problem_->setVisible(!why.isEmpty());
}

QStringList EngineFileDialog::chosen() const {
  if (kind_ == Kind::kFolder) return {folder_};
  QStringList paths;
  for (const QListWidgetItem* item : list_->selectedItems()) {
    if (!item->data(kFolderRole).toBool()) paths << folder_ + QLatin1Char('/') + item->text();
  }
  return paths;
}

}  // namespace midscope
