// SPDX-License-Identifier: GPL-3.0-or-later
// The menu of a plot (right click): its picture, its numbers, the command and the Python that make
// them again.
#pragma once

#include <QObject>
#include <QPointer>
#include <functional>
#include <string>
#include <vector>

class QDockWidget;
class QMenu;

namespace midscope {

class Plot;
class Session;

// The property of a widget without a plot that names its picture (a QObject*, a Plot).
inline constexpr char kPictureProperty[] = "midscope_picture";

class PlotMenu : public QObject {
  Q_OBJECT

 public:
  explicit PlotMenu(Session* session, QObject* parent = nullptr);

  // Right clicks on plots inside the dock open the menu. `records`: those that its panel shows.
  void Watch(QDockWidget* dock, const std::vector<std::string>& records);
  // The menu of a plot; the caller deletes it. Its entries are named copy_picture, copy_data,
  // copy_command, copy_python, export_narrow, export_wide.
  QMenu* Make(Plot* plot, const std::vector<std::string>& records);

 Q_SIGNALS:
  // Something was copied or written; for the status bar.
  void Told(const QString& text);
  void Failed(const QString& why);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void CopyPicture(Plot* plot);
  void CopyCommand();
  void Export(Plot* plot, int millimetres);

  Session* session_;
};

}  // namespace midscope
