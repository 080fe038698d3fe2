// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of midscope-gui.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/files/render.h"

namespace midscope {

enum class GuiTask { kWindow, kRender, kScreenshot, kPrintAndLeave };

struct GuiCommand {
  GuiTask task = GuiTask::kWindow;
  QString text;  // kPrintAndLeave: help or version
  QString open;  // a model or a file of results; "" for the embedded model
  // --dtype, --weights, ...: texts by option name (probes/model/model_options.h)
  std::vector<std::pair<std::string, std::string>> model_options;
  QString prompt_task;  // --task; "" for the default
  QString setting_b;    // --with; "" for none
  QStringList plugins;  // --plugin
  QString session;      // --session; "" for none
  std::optional<int64_t> samples;
  QString screenshot;
  QString script;  // --do; "" for none
  RenderRequest render;
};

// The arguments of main(). Throws Error (usage) for one that is not UTF-8, such as the name of a
// file: Qt would replace its bytes, and look for or write to another path.
QStringList ReadArguments(int count, char** arguments);

// Separates Qt's own arguments (-style Fusion, -platform offscreen, ...; one dash or two) from all
// others; each list begins with the program's name. Where Qt and midscope-gui share an option's
// name (--plugin, --session), it is midscope-gui's. Throws Error (usage) for a Qt option without
// its value.
struct SplitArguments {
  QStringList own;
  QStringList qt;
};
SplitArguments SplitQtArguments(const QStringList& arguments);

// Throws Error (usage) that names the argument that is not understood.
GuiCommand ReadCommandLine(const QStringList& arguments);

}  // namespace midscope
