// SPDX-License-Identifier: GPL-3.0-or-later
// Dialogs that choose files of the engine's machine: the desktop's own if that is this machine,
// otherwise a list of the folders there.
#pragma once

#include <QDialog>
#include <QString>
#include <QStringList>
#include <memory>

#include "probes/client/engine_link.h"

class QLabel;
class QLineEdit;
class QListWidget;

namespace midscope {

// A folder of this machine; "" if the user cancels. QFileDialog::getExistingDirectory may return a
// folder above the typed one: Qt 6.4 also selects those whose paths the typing passed through.
QString ChooseFolder(QWidget* parent, const QString& title);

// Each returns the chosen paths; "" or an empty list if the user closes the dialog. `filter`: as
// for QFileDialog, such as "Models (*.gguf);;All files (*)".
QString ChooseEngineFile(QWidget* parent, const std::shared_ptr<EngineLink>& link,
                         const QString& title, const QString& folder, const QString& filter);
QStringList ChooseEngineFiles(QWidget* parent, const std::shared_ptr<EngineLink>& link,
                              const QString& title, const QString& filter);
QString ChooseEngineFolder(QWidget* parent, const std::shared_ptr<EngineLink>& link,
                           const QString& title);

// The dialog for another machine: a line with the folder, and what is in it. A double click enters
// a folder or chooses a file.
class EngineFileDialog : public QDialog {
  Q_OBJECT

 public:
  enum class Kind { kFile, kFiles, kFolder };
  EngineFileDialog(std::shared_ptr<EngineLink> link, Kind kind, const QString& title,
                   QWidget* parent = nullptr);

  // The selected files, or the shown folder.
  QStringList chosen() const;
  // Lists the folder; an error is shown above the list, which then stays as it is.
  void Show(const QString& folder);

 private:
  const std::shared_ptr<EngineLink> link_;
  const Kind kind_;
  QString folder_;
  QLineEdit* line_;
  QLabel* problem_;
  QListWidget* list_;
};

}  // namespace midscope
