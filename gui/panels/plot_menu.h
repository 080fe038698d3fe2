// SPDX-License-Identifier: GPL-3.0-or-later
// The context menu of a plot. It copies or exports the picture, its numbers, and the command and
// Python code that reproduce them.
#pragma once

#include <QDialog>
#include <QObject>
#include <string>
#include <vector>

class QDockWidget;
class QMenu;

namespace midscope {

class Plot;
class Session;

// Shows a plot as the picture that will be written, at its size on paper, and writes it.

class PictureDialog : public QDialog {
  Q_OBJECT

 public:
  // `millimetres`: width on paper. The plot must outlive the dialog.
  PictureDialog(Plot* plot, int millimetres, QWidget* parent = nullptr);

  // Writes the picture and its numbers as CSV beside it, in the format of the path's ending, and
  // closes the dialog. Throws Error if a file cannot be written.
  void Save(const QString& path);

 Q_SIGNALS:
  // Emitted when the picture was written; `text` is for the status bar.
  void Written(const QString& text);
  void Failed(const QString& why);

 private:
  void AskAndSave();

  Plot* plot_;
  int millimetres_;
};

// Property of a widget that is not a plot: the Plot that draws its picture (a QObject*).
inline constexpr char kPictureProperty[] = "midscope_picture";

class PlotMenu : public QObject {
  Q_OBJECT

 public:
  explicit PlotMenu(Session* session, QObject* parent = nullptr);

  // Opens the menu on right clicks on plots inside the dock. `records`: names of the records that
  // its panel shows.
  void Watch(QDockWidget* dock, const std::vector<std::string>& records);
  // Makes the menu of a plot; the caller deletes it. Its entries are named copy_picture, copy_data,
  // copy_command, copy_python, export_narrow, export_wide.
  QMenu* Make(Plot* plot, const std::vector<std::string>& records);

 Q_SIGNALS:
  // Emitted when something was copied or written; `text` is for the status bar.
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
