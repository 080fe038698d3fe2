// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of midscope-gui.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/panels/panel_list.h"

namespace midscope {

enum class GuiTask { kWindow, kRender, kScreenshot, kPrintAndLeave };

struct GuiCommand {
  GuiTask task = GuiTask::kWindow;
  QString text;  // help or version, for kPrintAndLeave
  QString open;  // a model or a results file; "": the embedded model
  // --dtype, --weights, ...: option names and values as text (probes/model/model_options.h)
  std::vector<std::pair<std::string, std::string>> model_options;
  QString prompt_task;  // --task; "": the default
  QString setting_b;    // --with; "": none
  QString second;       // --second; "": none
  QString remote;       // --remote; "": an engine on this machine
  QString session;      // --session; "": none
  std::optional<int64_t> samples;
  QString screenshot;
  QString script;  // --do; "": none
  RenderRequest render;
};

// Converts the arguments of main(). Throws Error (usage) for an argument that is not UTF-8, such as
// a file name, because Qt would replace its bytes and then read or write another path.
QStringList ReadArguments(int count, char** arguments);

// Separates Qt's arguments (-style Fusion, -platform offscreen, ...; with one dash or two) from all
// others; both lists begin with the program's name. An option that both Qt and midscope-gui have
// (--session) goes to midscope-gui. Throws Error (usage) if a Qt option lacks its value.
struct SplitArguments {
  QStringList own;
  QStringList qt;
};
SplitArguments SplitQtArguments(const QStringList& arguments);

// Throws Error (usage), whose message names the argument, if an argument is unknown or invalid.
GuiCommand ReadCommandLine(const QStringList& arguments);

}  // namespace midscope
