// SPDX-License-Identifier: GPL-3.0-or-later
// Runs `midscope report` for a results file, beside the window.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>
#include <memory>

namespace midscope {

class ReportProcess : public QObject {
  Q_OBJECT

 public:
  explicit ReportProcess(QObject* parent = nullptr);
  // Ends a report that is being written.
  ~ReportProcess() override;

  // Writes the report of `results` to `path`, replacing an existing file. Throws Error if the
  // program is not found, or a report is being written.
  void Start(const QString& results, const QString& path);
  // A path for a results file that exists until the next report.
  QString TemporaryResults();

 Q_SIGNALS:
  void Written(const QString& path);
  void Failed(const QString& why);

 private:
  QProcess process_;
  QString path_;
  std::unique_ptr<QTemporaryDir> folder_;
};

}  // namespace midscope
