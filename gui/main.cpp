// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QLocale>
#include <QRawFont>
#include <QTextStream>
#include <QTimer>
#include <clocale>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/record_names.h"
#include "core/compute/process_start.h"
#include "core/terms/intervention_text.h"
#include "gui/action_script.h"
#include "gui/actions/action_registry.h"
#include "gui/base/appearance.h"
#include "gui/file_menu.h"
#include "gui/files/command_line.h"
#include "gui/main_window.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/plots/plot.h"
#include "gui/preferences.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/parameter_form.h"
#include "probes/client/engine_link.h"

namespace {

using midscope::GuiCommand;
using midscope::GuiTask;

constexpr int kUsageStatus = 2;
constexpr int kFailureStatus = 1;

int Complain(const QString& message) {
  QTextStream(stderr) << "midscope-gui: " << message << '\n';
  return kFailureStatus;
}

bool HasDisplay() {
  return !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

// Receives Qt's messages while QApplication is constructed. If that fails, Qt would abort: ends the
// program with one line instead, of which the first warning is the reason.
void EndWithoutDisplay(QtMsgType type, const QMessageLogContext& context, const QString& message) {
  static QString reason;
  const bool of_screen = QLatin1String(context.category).startsWith(QLatin1String("qt.qpa"));
  if (type != QtFatalMsg) {
    if (!of_screen) QTextStream(stderr) << qFormatLogMessage(type, context, message) << '\n';
    if (of_screen && reason.isEmpty()) reason = message;
    return;
  }
  const QString display = qEnvironmentVariable("DISPLAY", qEnvironmentVariable("WAYLAND_DISPLAY"));
  Complain(QStringLiteral("display '%1': %2. Set DISPLAY to a screen that can be reached, or use "
                          "--render or --screenshot with DISPLAY unset")
               .arg(display, reason.isEmpty() ? message.section(QLatin1Char('\n'), 0, 0) : reason));
  std::_Exit(kFailureStatus);
}

QtMessageHandler usual_messages = nullptr;

// Passes on Qt's messages. Every window that is shown without a screen would have this one.
void WithoutSizeHints(QtMsgType type, const QMessageLogContext& context, const QString& message) {
  if (!message.contains(QLatin1String("propagateSizeHints")))
    usual_messages(type, context, message);
}

void TakePicture(QApplication& app, midscope::MainWindow& window, const QString& path) {
  // Redraws for the last replies may still be queued.
  for (midscope::Plot* plot : window.plots()) plot->replot();
  const bool written = window.grab().save(path);
  app.exit(written ? 0 : Complain(QStringLiteral("'%1': it could not be written").arg(path)));
}

// Runs the actions of --do, then `done`. An error is printed and ends the program if the script
// would have ended it; otherwise it is shown on the error bar.
template <typename Done>
void RunScript(QApplication& app, midscope::MainWindow& window, const GuiCommand& command,
               Done done) {
  const QStringList lines = midscope::ActionRegistry::SplitScript(command.script);
  const bool ends = command.task == GuiTask::kScreenshot || lines.contains(QStringLiteral("quit"));
  auto* script = new midscope::ActionScript(&window, lines);
  QObject::connect(script, &midscope::ActionScript::Finished, &app, done);
  QObject::connect(script, &midscope::ActionScript::Failed, &app,
                   [&app, &window, ends](const QString& why, int status) {
                     if (!ends) return window.errors()->Add(why);
                     Complain(why);
                     app.exit(status);
                   });
  script->Start();
}

// Takes the screenshot when all requests of a model are answered, or when the first sample of a
// file is shown.
void ScreenshotAtRest(QApplication& app, midscope::MainWindow& window, const QString& path) {
  midscope::Session* session = window.session();
  // Waits a moment, because rows whose texts have changed must be laid out first.
  auto* soon = new QTimer(&app);
  soon->setSingleShot(true);
  QObject::connect(soon, &QTimer::timeout, &app,
                   [&app, &window, path] { TakePicture(app, window, path); });
  const auto take = [soon] { soon->start(0); };
  QObject::connect(session, &midscope::Session::Failed, &app,
                   [&app](const QString& why) { app.exit(Complain(why)); });
  QObject::connect(session, &midscope::Session::Stopped, &app, [session, take] {
    if (session->record(midscope::Side::kA, midscope::kOutcomeRecord) &&
        !session->has_pending_request())
      take();
  });
  QObject::connect(session, &midscope::Session::Changed, &app, [take](midscope::Changes changes) {
    if (changes & midscope::Change::kSample) take();
  });
  QObject::connect(
      window.files(), &midscope::FileMenu::ResultsOpened, &app, [&app, &window, session, take] {
        if (const QStringList errors = window.errors()->messages(); !errors.isEmpty()) {
          app.exit(Complain(errors.first()));
        } else if (!session->sample_view()) {
          take();
        }
      });
}

int RunWindow(QApplication& app, const GuiCommand& command) {
  midscope::MainWindow window(std::make_shared<midscope::EngineLink>(
      command.remote.isEmpty() ? midscope::LocalEngine()
                               : midscope::RemoteEngine(command.remote.toStdString())));
  if (command.task == GuiTask::kWindow) {
    window.Remember(midscope::FileMenu::UsualSettingsFile());
  }
  for (const auto& [name, value] : command.model_options) {
    window.model()->options()->SetText(name, value);
  }
  if (command.samples) window.session()->SetSamples(*command.samples);
  if (!command.prompt_task.isEmpty()) window.prompt_panel()->SetTask(command.prompt_task);
  window.history()->stack()->clear();  // undo starts from the task of the command line
  if (!command.setting_b.isEmpty()) {
    window.history()->Change({{}, midscope::ParseIntervention(command.setting_b.toStdString())},
                             false);
  }
  if (!command.script.isEmpty()) {
    RunScript(app, window, command, [&app, &window, &command] {
      if (command.task == GuiTask::kScreenshot) TakePicture(app, window, command.screenshot);
    });
  } else if (command.task == GuiTask::kScreenshot) {
    ScreenshotAtRest(app, window, command.screenshot);
  }
  window.show();
  if (!command.session.isEmpty()) {
    window.files()->OpenSession(command.session);
  } else if (command.open.isEmpty() && window.files()->reopens_last() && window.keeper() &&
             !window.keeper()->previous().isEmpty()) {
    window.files()->OpenSession(window.keeper()->previous());
  } else {
    window.OpenPath(command.open.isEmpty() ? QStringLiteral("embedded") : command.open);
  }
  if (!command.second.isEmpty()) window.files()->OpenSecond(command.second);
  // After a rejected request, the signal on which the screenshot waits would never be emitted.
  const QStringList refused = window.errors()->messages();
  if (command.task == GuiTask::kScreenshot && !refused.isEmpty()) return Complain(refused.first());
  return QApplication::exec();
}

// Must outlive QApplication, which removes the arguments that it has processed.
class ArgumentVector {
 public:
  explicit ArgumentVector(const QStringList& arguments) {
    for (const QString& argument : arguments) texts_.push_back(argument.toLocal8Bit());
    for (QByteArray& text : texts_) pointers_.push_back(text.data());
    count_ = static_cast<int>(pointers_.size());
    pointers_.push_back(nullptr);
  }
  int& count() { return count_; }
  char** data() { return pointers_.data(); }

 private:
  std::vector<QByteArray> texts_;
  std::vector<char*> pointers_;
  int count_ = 0;
};

// If no font is installed, Qt draws a box for each letter.
void CheckFont() {
  if (!QRawFont::fromFont(QApplication::font()).fontTable("cmap").isEmpty()) return;
  throw midscope::Failure("fonts", "none is installed, so pictures would have no readable text",
                          "Install one, such as Debian's package fonts-dejavu-core");
}

int Run(const QStringList& qt_arguments, const GuiCommand& command) {
  const bool window = command.task == GuiTask::kWindow;
  const bool chosen = !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") ||
                      !qt_arguments.filter(QStringLiteral("-platform")).isEmpty();
  if (window && !chosen && !HasDisplay()) {
    return Complain(
        QStringLiteral("display: there is none. Set DISPLAY or WAYLAND_DISPLAY, or use "
                       "--render or --screenshot, which need none"));
  }
  if (command.task == GuiTask::kRender || (!chosen && !HasDisplay())) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  ArgumentVector arguments(qt_arguments);
  qInstallMessageHandler(EndWithoutDisplay);
  QApplication app(arguments.count(), arguments.data());
  qInstallMessageHandler(nullptr);
  if (QApplication::platformName() == QLatin1String("offscreen"))
    usual_messages = qInstallMessageHandler(WithoutSizeHints);
  // Numbers are formatted as in tables and files whatever the desktop's language: in widgets, and
  // in C functions, whose locale QApplication sets.
  QLocale::setDefault(QLocale::c());
  std::setlocale(LC_NUMERIC, "C");
  QApplication::setApplicationName(QStringLiteral("midscope-gui"));
  QApplication::setApplicationVersion(QStringLiteral(MIDSCOPE_VERSION));
  CheckFont();
  if (command.task != GuiTask::kRender) return RunWindow(app, command);
  for (const QString& path : midscope::RenderFile(command.render)) {
    QTextStream(stdout) << path << '\n';
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  try {
    // Separates Qt's options first, because --session is also an option of Qt.
    const midscope::SplitArguments split =
        midscope::SplitQtArguments(midscope::ReadArguments(argc, argv));
    const GuiCommand command = midscope::ReadCommandLine(split.own);
    if (command.task == GuiTask::kPrintAndLeave) {
      QTextStream(stdout) << command.text;
      return 0;
    }
    return Run(split.qt, command);
  } catch (const midscope::Error& error) {
    Complain(QString::fromUtf8(error.what()));
    return error.kind() == midscope::ErrorKind::kUsage ? kUsageStatus : kFailureStatus;
  } catch (const std::filesystem::filesystem_error& error) {
    return Complain(QString::fromStdString(midscope::FileSystemProblem(error)));
  } catch (const std::exception& error) {
    return Complain(QString::fromStdString(midscope::BugMessage(error.what())));
  }
}
