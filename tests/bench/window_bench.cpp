// SPDX-License-Identifier: MIT
// Measures how long a step of the factor slider takes until it is painted, in the complete window
// with the real engine.
//
//   QT_QPA_PLATFORM=offscreen window_bench [STEPS [TASK [DTYPE [PLACES [MODE]]]]]
//
// The engine is a process, as in the window; with MIDSCOPE_BENCH_IN_PROCESS=1 it is in this one,
// for comparison, and with MIDSCOPE_TEST_REMOTE the process that this command reaches.
//
// Default: 40 steps of a channel's factor on list:lines=20 at five places (PLACES: "50%" or other
// ones), float32, the mode `explore`. Each step begins when everything from the previous one has
// been painted and no request is running. Per step, in ms:
//   first    until the attention row of the new setting is painted, at the shown place
//   whole    until the outcome of the new setting is painted, at all places
//   what_if  duration of the what-if as the engine reports it
//   thread   CPU time of the window's thread between the step and the end of painting
//   replots  number of plots that were redrawn; paint_NAME: time per plot
// and ms_poe: until the first painting of a new setting that runs every row (STEPS / 8 times, at
// least 3), with the complete outcome in ms_poe_whole; again: until a setting that was shown before
// is painted, and again_reply: until its reply. Prints one JSON object with medians and maxima.

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QLineEdit>
#include <QSlider>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/compute/process_start.h"
#include "core/terms/intervention_text.h"
#include "gui/layout/dock_area.h"
#include "gui/layout/layouts.h"
#include "gui/main_window.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/plots/plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/parameter_form.h"
#include "probes/client/client_engine.h"
#include "tests/gui/support/test_engine.h"

namespace {

using midscope::Record;
using midscope::Session;
using midscope::Side;

constexpr int kLongestWait = 600000;  // ms
constexpr int kQuiet = 120;           // ms without an event after which painting counts as done

// CPU time of this thread in milliseconds.
double Worked() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Series {
  std::vector<double> values;
  void Print(const char* name, bool last = false) {
    std::sort(values.begin(), values.end());
    const double middle = values.empty() ? 0 : values[values.size() / 2];
    const double largest = values.empty() ? 0 : values.back();
    std::printf("\"%s\": {\"median\": %.1f, \"max\": %.1f}%s", name, middle, largest,
                last ? "" : ", ");
  }
};

std::shared_ptr<midscope::Engine> EngineOfBench() {
  if (std::getenv("MIDSCOPE_BENCH_IN_PROCESS")) return midscope::MakeLocalEngine();
  return midscope::MakeClientEngine(midscope::test::TestEngine());
}

class Bench {
 public:
  Bench(const std::string& task, const std::string& dtype, const std::string& places,
        const std::string& mode)
      : window_(EngineOfBench()), session_(window_.session()) {
    session_->SetSamples(0);
    window_.model()->options()->SetText("dtype", dtype);
    window_.prompt_panel()->SetTask(QString::fromStdString(task));
    window_.prompt_panel()
        ->findChild<QLineEdit*>(QStringLiteral("places"))
        ->setText(QString::fromStdString(places));
    window_.resize(1540, 960);
    window_.show();
    const midscope::LayoutEntry* layout = midscope::FindLayout(QString::fromStdString(mode));
    if (!layout) throw midscope::UsageError("mode '" + mode + "'", "it is unknown");
    window_.docks()->SwitchTo(*layout);
    for (midscope::Plot* plot : window_.plots()) {
      QObject::connect(plot, &QCustomPlot::afterReplot, &window_, [this, plot] {
        ++replots_;
        plots_[plot->file_stem().toStdString()].values.push_back(plot->replotTime());
      });
    }
    QObject::connect(session_, &Session::WhatIfTimed, &window_,
                     [this](const midscope::WhatIfCost& cost) {
                       what_if_ = cost.seconds * 1e3;
                       replied_ = Milliseconds();
                     });
    QObject::connect(session_, &Session::Changed, &window_, [this] { changed_ = true; });
    window_.OpenPath(QStringLiteral("embedded"));
    Rest();
    SetB("channel(100, factor=1, layers=8-25)");
  }

  void Steps(int steps) {
    auto* slider = window_.findChild<QSlider*>(QStringLiteral("term_channel_factor_slider"));
    slider->setSliderDown(true);
    session_->SetPauseDelay(kLongestWait);
    Measured first, whole, what_if, thread, replots;
    for (int step = -2; step < steps; ++step) {
      Begin();
      slider->setSliderPosition((step % 2 == 0 ? 1 : -1) * (20 + 3 * (step + 3)));
      AwaitPicture();
      if (step < 0) continue;  // the first steps fill caches
      first.values.push_back(first_);
      whole.values.push_back(whole_);
      what_if.values.push_back(what_if_);
      thread.values.push_back(worked_);
      replots.values.push_back(painted_);
    }
    first.Print("first");
    whole.Print("whole");
    what_if.Print("what_if");
    thread.Print("thread");
    replots.Print("replots");
    for (auto& [name, times] : plots_) times.Print(("paint_" + name).c_str());
    SeenBefore(slider, steps);
    session_->SetPauseDelay(150);
    slider->setSliderDown(false);
    Rest();
  }

  void FullRuns(int steps) {
    Measured first, whole;
    session_->SetPauseDelay(kLongestWait);
    session_->SetReleaseDelay(kLongestWait);
    for (int step = 0; step < steps; ++step) {
      Begin();
      window_.history()->Change(
          {{},
           midscope::ParseIntervention("ms-poe(max=" + std::to_string(1.5 + 0.01 * step) + ")")},
          true);
      AwaitPicture();
      first.values.push_back(first_);
      whole.values.push_back(whole_);
    }
    first.Print("ms_poe");
    whole.Print("ms_poe_whole", true);
  }

 private:
  using Measured = Series;

  double Milliseconds() const { return static_cast<double>(clock_.nsecsElapsed()) / 1e6; }

  // Processes events until `holds` returns true, or until no event has arrived for some time.
  void Handle(const std::function<bool()>& holds) {
    QElapsedTimer waited;
    waited.start();
    while (!holds() && waited.elapsed() < kLongestWait) {
      QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
    }
    if (!holds()) throw midscope::Failure("bench", "nothing was painted");
  }

  void Rest() {
    QTimer wake;
    wake.start(20);
    Handle([this] {
      return session_->settled(Side::kA) && (!session_->differs() || session_->settled(Side::kB)) &&
             !session_->has_pending_request();
    });
    Quiet();
  }

  void Quiet() {
    QTimer wake;
    wake.start(10);
    int before = -1;
    QElapsedTimer quiet;
    quiet.start();
    Handle([&] {
      if (before != replots_) quiet.restart();
      before = replots_;
      return quiet.elapsed() > kQuiet;
    });
  }

  void SetB(const char* setting) {
    window_.history()->Change({{}, midscope::ParseIntervention(setting)}, false);
    Rest();
  }

  // A change is a queued call, which queues replots, which queue paint events.
  void Paint() {
    for (int turn = 0; turn < 4; ++turn) QApplication::processEvents();
  }

  void Begin() {
    Quiet();
    replots_ = 0;
    painted_ = 0;
    began_ = Worked();
    what_if_ = replied_ = 0;
    clock_.start();
  }

  bool Arrived(const char* name) const {
    const Record* record = session_->record(Side::kB, name);
    return record && session_->IsRequested(Side::kB, *record);
  }

  // Waits for the end of painting: processes events until none is pending.
  void AwaitPicture() {
    QTimer wake;
    wake.start(10);
    first_ = 0;
    bool painted = false;
    Handle([this, &painted] {
      if (painted || !std::exchange(changed_, false)) return painted;
      if (first_ == 0 && Arrived(midscope::kLastQueryAttention)) {
        Paint();
        first_ = Milliseconds();
      }
      if (!Arrived(midscope::kOutcomeRecord)) return false;
      Paint();
      whole_ = Milliseconds();
      worked_ = Worked() - began_;
      painted_ = replots_;
      painted = true;
      return true;
    });
  }

  // Returns to the settings of the previous steps.
  void SeenBefore(QSlider* slider, int steps) {
    Measured again, reply;
    for (int step = 0; step < steps; ++step) {
      Begin();
      slider->setSliderPosition((step % 2 == 0 ? 1 : -1) * (20 + 3 * (step + 3)));
      AwaitPicture();
      again.values.push_back(whole_);
      reply.values.push_back(replied_);
    }
    again.Print("again");
    reply.Print("again_reply");
  }

  midscope::MainWindow window_;
  Session* session_;
  QElapsedTimer clock_;
  std::map<std::string, Series> plots_;  // by file stem
  int replots_ = 0;
  bool changed_ = false;
  double what_if_ = 0;
  double replied_ = 0;
  double first_ = 0;
  double whole_ = 0;
  double began_ = 0;
  double worked_ = 0;
  double painted_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  const QApplication app(argc, argv);
  const int steps = argc > 1 ? std::atoi(argv[1]) : 40;
  try {
    Bench bench(argc > 2 ? argv[2] : "list:lines=20", argc > 3 ? argv[3] : "float32",
                argc > 4 ? argv[4] : "", argc > 5 ? argv[5] : "explore");
    std::printf("{");
    bench.Steps(steps);
    bench.FullRuns(std::max(steps / 8, 3));
    std::printf("}\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "window_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
