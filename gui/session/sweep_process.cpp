// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/sweep_process.h"

#include <signal.h>
#include <unistd.h>

#include <QRegularExpression>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "gui/base/write_whole_file.h"
#include "probes/client/engine_command.h"

namespace midscope {
namespace {

constexpr int kSecondsBetweenTables = 3;
constexpr int kMillisecondsToStop = 3000;
constexpr QLatin1String kMessageStart("midscope: ");
constexpr QLatin1String kTableStart("so far ");

// The arguments with the names that files of this machine have on the engine's.
Message WordsThere(const QStringList& arguments, const std::optional<InputFile>& input,
                   SentFiles& sent) {
  const QString name =
      input ? QString::fromStdString(sent.SentText(input->text.toStdString(), ".jsonl"))
            : QString();
  Message words = Message::array();
  QString option;
  for (QString word : arguments) {
    const bool names_files = option == QLatin1String("--with") || option == QLatin1String("--task");
    option = word;
    if (names_files && input) word.replace(input->path, name);
    words.push_back(names_files ? sent.Sent(word.toStdString()) : word.toStdString());
  }
  return words;
}

}  // namespace

SweepProcess::SweepProcess(std::shared_ptr<EngineLink> link, QObject* parent)
    : QObject(parent), link_(std::move(link)), sent_(*link_) {
  process_.setProcessChannelMode(QProcess::SeparateChannels);
  connect(&process_, &QProcess::readyReadStandardError, this, &SweepProcess::ReadErrors);
  connect(&process_, &QProcess::readyReadStandardOutput, this,
          [this] { output_ += QString::fromUtf8(process_.readAllStandardOutput()); });
  connect(&process_, &QProcess::finished, this, &SweepProcess::OnFinished);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    Q_EMIT Finished(process_.program() + QStringLiteral(": ") + process_.errorString(), false);
  });
}

SweepProcess::~SweepProcess() {
  process_.disconnect(this);
  stop_there_ = true;
  if (there_.joinable()) there_.join();
  if (!running()) return;
  Stop();
  if (!process_.waitForFinished(kMillisecondsToStop)) process_.kill();
}

void SweepProcess::Start(const QStringList& arguments, bool table,
                         const std::optional<InputFile>& input) {
  if (running()) return;
  output_.clear();
  table_.clear();
  message_.clear();
  rest_.clear();
  held_ = false;
  stopped_ = false;
  if (link_->command().remote) return StartThere(arguments, input);
  if (input) WriteWholeFile("text", input->path, input->text.toStdString());
  QStringList all = arguments;
  all << QStringLiteral("--progress") << QStringLiteral("json");
  if (table) all << QStringLiteral("--watch") << QString::number(kSecondsBetweenTables);
  QString program;
  try {
    program = QString::fromStdString(FindEngineProgram());
  } catch (const Error& error) {
    Q_EMIT Finished(QString::fromUtf8(error.what()), false);
    return;
  }
  // Lowers the priority, so that the user's other work comes first.
  process_.setChildProcessModifier([] { (void)::nice(10); });
  process_.start(program, all);
}

// Lines of the program arrive as notes, its progress as progress.
void SweepProcess::StartThere(const QStringList& arguments, const std::optional<InputFile>& input) {
  stop_there_ = false;
  there_ = std::thread([this, arguments, input] {
    const auto here = [this](const std::function<void()>& function) {
#ifndef __clang_analyzer__  // which does not see that Qt owns its copy of the function
      QMetaObject::invokeMethod(this, function, Qt::QueuedConnection);
#endif
    };
    JobContext context;
    context.cancel = &stop_there_;
    context.progress = [&](const Progress& progress) {
      here([this, progress] { Q_EMIT Progressed(progress); });
    };
    context.log = [&](const std::string& line) {
      here([this, text = QString::fromStdString(line)] { ReadLine(text); });
    };
    Message answer;
    const JobOutcome outcome = RunJob(context, [&](const JobContext& job) {
      answer = link_->Call("command", {{"arguments", WordsThere(arguments, input, sent_)}}, job);
    });
    here([this, answer, outcome] {
      there_.join();
      if (answer.is_object()) output_ = QString::fromStdString(answer.value("out", ""));
      const bool failed = answer.is_object() && answer.value("status", 0) != 0;
      const QString why = outcome.end == JobEnd::kFailed ? QString::fromStdString(outcome.why)
                          : failed && !stopped_          ? message_
                                                         : QString();
      Q_EMIT Finished(why, stopped_);
    });
  });
}

void SweepProcess::Stop() {
  if (!running()) return;
  stopped_ = true;
  stop_there_ = true;
  SetHeld(false);
  Send(SIGINT);
}

void SweepProcess::Send(int signal) {
  // The process has no id yet; kill(0) would signal this process and its group.
  if (const qint64 process = process_.processId(); process > 0)
    ::kill(static_cast<pid_t>(process), signal);
}

void SweepProcess::SetHeld(bool held) {
  if (held == held_ || !running()) return;
  held_ = held;
  Send(held ? SIGSTOP : SIGCONT);
}

void SweepProcess::ReadErrors() {
  rest_ += process_.readAllStandardError();
  for (qsizetype end = rest_.indexOf('\n'); end >= 0; end = rest_.indexOf('\n')) {
    ReadLine(QString::fromUtf8(rest_.left(end)));
    rest_.remove(0, end + 1);
  }
}

std::optional<Progress> SweepProcess::ReadProgress(const QString& line) {
  if (!line.startsWith(QLatin1Char('{'))) return std::nullopt;
  try {
    const auto json = nlohmann::json::parse(line.toStdString());
    return Progress{json.at("stage"), json.value("done", int64_t{0}),
                    json.value("total", int64_t{0}), json.value("unit", "")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void SweepProcess::ReadLine(const QString& line) {
  if (const std::optional<Progress> progress = ReadProgress(line)) {
    Q_EMIT Progressed(*progress);
    return;
  }
  if (line.startsWith(kMessageStart)) {
    message_ = line.mid(kMessageStart.size());
    // The heading of a table; the progress has the newer number.
    static const QRegularExpression heading(QStringLiteral("^\\d+ of \\d+ samples$"));
    if (!heading.match(message_).hasMatch()) Q_EMIT Noted(message_);
    return;
  }
  if (line.startsWith(kTableStart)) table_ = message_ + QLatin1Char('\n');
  if (line.isEmpty()) {
    if (!table_.isEmpty()) Q_EMIT TableChanged(table_);
    return;
  }
  table_ += line + QLatin1Char('\n');
}

void SweepProcess::OnFinished(int code, QProcess::ExitStatus status) {
  ReadErrors();
  output_ += QString::fromUtf8(process_.readAllStandardOutput());
  held_ = false;
  QString failure;
  if (status == QProcess::CrashExit) {
    failure = tr("midscope: the process ended without a message");
  } else if (code != 0 && !stopped_) {
    failure = message_;
  }
  Q_EMIT Finished(failure, stopped_);
}

}  // namespace midscope
