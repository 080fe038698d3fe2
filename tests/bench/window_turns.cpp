// SPDX-License-Identifier: MIT
// Measures how long single events keep the window's thread busy, in the complete window with the
// real engine, and how long plots of a large model take to draw.
//
//   QT_QPA_PLATFORM=offscreen window_turns [FILE.h5]
//
// Phases: open (the embedded model and its first run), run (lists of 13 to 15 lines), drag (a
// channel's factor), sweep (six samples, in a separate process), and, if a results file is given,
// file (it is opened, and some of its samples are shown). For each phase: the number of events, the
// CPU time of the window's thread in one event (the longest, ms, and its receiver), and the wall
// time (99.9th percentile and longest, ms). An event is one dispatch by the event loop, with
// everything that it calls. Finally the plots: ms to set new numbers and to draw them, for 40 x 40
// heads, 32,768 tokens, 10,000 samples.

#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QPushButton>
#include <QSlider>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/compute/process_start.h"
#include "core/terms/intervention_text.h"
#include "gui/layout/dock_area.h"
#include "gui/main_window.h"
#include "gui/panels/outcome/sweep_panel.h"
#include "gui/panels/prompt/document_bar.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/session/sweep_process.h"
#include "gui/widgets/parameter_form.h"
#include "tests/gui/support/test_engine.h"

namespace {

using midscope::Side;

constexpr int kLongestWait = 600000;  // ms
constexpr int kHeads = 40;            // number of heads and of layers
constexpr int kTokens = 32768;
constexpr int kSamples = 10000;

double ThreadMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// Measures the outermost events.
class TimedApplication : public QApplication {
 public:
  using QApplication::QApplication;

  bool notify(QObject* receiver, QEvent* event) override {
    if (depth_ > 0) return QApplication::notify(receiver, event);
    const std::string what = receiver->metaObject()->className() + std::string(" ") +
                             receiver->objectName().toStdString() + " event " +
                             std::to_string(event->type());
    QElapsedTimer wall;
    wall.start();
    const double began = ThreadMilliseconds();
    ++depth_;
    const bool handled = QApplication::notify(receiver, event);
    --depth_;
    const double worked = ThreadMilliseconds() - began;
    walls_.push_back(static_cast<double>(wall.nsecsElapsed()) / 1e6);
    if (worked > longest_) {
      longest_ = worked;
      longest_of_ = what;
    }
    return handled;
  }

  void Report(const char* phase) {
    std::sort(walls_.begin(), walls_.end());
    const double last = static_cast<double>(walls_.size()) - 1;
    const double high = walls_.empty() ? 0 : walls_[static_cast<size_t>(0.999 * last)];
    std::printf(
        "\"%s\": {\"events\": %zu, \"thread_ms\": %.1f, \"of\": \"%s\", \"wall_p99.9\": %.1f, "
        "\"wall_longest\": %.1f},\n",
        phase, walls_.size(), longest_, longest_of_.c_str(), high,
        walls_.empty() ? 0 : walls_.back());
    std::fflush(stdout);
    walls_.clear();
    longest_ = 0;
  }

 private:
  int depth_ = 0;
  double longest_ = 0;
  std::string longest_of_;
  std::vector<double> walls_;
};

// Processes events until `holds` has been true for some time.
void Handle(const std::function<bool()>& holds) {
  QTimer wake;
  wake.start(20);
  QElapsedTimer waited;
  waited.start();
  QElapsedTimer held;
  held.start();
  while (held.elapsed() < 400) {
    QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
    if (!holds()) held.restart();
    if (waited.elapsed() > kLongestWait) throw midscope::Failure("bench", "it takes too long");
  }
}

class Turns {
 public:
  explicit Turns(TimedApplication* app)
      : app_(app), window_(midscope::test::TestEngine()), session_(window_.session()) {
    window_.prompt_panel()->SetTask(QStringLiteral("list:lines=12"));
    window_.resize(1540, 960);
    window_.show();
  }

  void Model() {
    window_.OpenPath(QStringLiteral("embedded"));
    Settle();
    app_->Report("open");
    for (int lines = 13; lines <= 15; ++lines) {
      window_.prompt_panel()->SetTask(QStringLiteral("list:lines=%1").arg(lines));
      window_.Run();
      Settle();
    }
    app_->Report("run");
    window_.history()->Change(
        {{}, midscope::ParseIntervention("channel(100, factor=1, layers=8-25)")}, false);
    Settle();
    auto* slider = window_.findChild<QSlider*>(QStringLiteral("term_channel_factor_slider"));
    slider->setSliderDown(true);
    for (int step = 0; step < 30; ++step) {
      slider->setSliderPosition(100 - 5 * step);
      Handle([] { return true; });
    }
    slider->setSliderDown(false);
    Settle();
    app_->Report("drag");
  }

  void Sweep(const QString& folder) {
    auto* panel = window_.panel<midscope::SweepPanel>();
    window_.docks()->ShowPanel(panel);
    panel->form()->SetText("samples", "6");
    panel->form()->SetText("out", (folder + QStringLiteral("/sweep.h5")).toStdString());
    QApplication::processEvents();
    auto* start = panel->findChild<QPushButton*>(QStringLiteral("sweep_start"));
    start->click();
    Handle([panel] { return !panel->sweep()->running(); });
    app_->Report("sweep");
  }

  void File(const QString& path) {
    window_.OpenPath(path);
    Handle([this] { return session_->shows_file(); });
    for (int i = 0; i < 5; ++i) {
      window_.samples()->actions_of_menu().front()->trigger();
      Handle([] { return true; });
    }
    app_->Report("file");
  }

 private:
  void Settle() {
    Handle([this] {
      return session_->settled(Side::kA) && (!session_->differs() || session_->settled(Side::kB)) &&
             !session_->has_pending_request();
    });
  }

  TimedApplication* app_;
  midscope::MainWindow window_;
  midscope::Session* session_;
};

// The median over several new pictures, including setting their numbers and drawing them.
template <typename Draw>
void TimePlot(const char* name, const Draw& draw, bool last = false) {
  std::vector<double> times;
  for (int i = 0; i < 7; ++i) {
    QElapsedTimer clock;
    clock.start();
    draw(i);
    times.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
  }
  std::sort(times.begin(), times.end());
  std::printf("\"%s\": {\"median\": %.1f, \"longest\": %.1f}%s", name, times[3], times.back(),
              last ? "" : ", ");
}

void Plots() {
  std::printf("\"plots\": {");
  midscope::HeadMapPlot map;
  map.resize(500, 400);
  TimePlot("map", [&](int i) {
    midscope::HeadMap shown;
    shown.table = {std::vector<double>(size_t{kHeads} * kHeads), kHeads, kHeads};
    for (size_t at = 0; at < shown.table.values.size(); ++at)
      shown.table.values[at] = std::sin(static_cast<double>(at) * (i + 1));
    map.Show(shown);
    map.replot();
  });
  midscope::AttentionPlot attention;
  attention.resize(800, 400);
  TimePlot("attention", [&](int i) {
    QVector<double> a(kTokens);
    QVector<double> b(kTokens);
    for (int key = 0; key < kTokens; ++key) {
      a[key] = 1e-4 * (1.1 + std::sin(key * 0.7 + i));
      b[key] = 1e-4 * (1.1 + std::sin(key * 0.3 + i));
    }
    attention.SetRows(a, b);
    attention.replot();
  });
  midscope::Record hidden;
  hidden.name = "hidden_channels";
  hidden.axes = {{"layer", kHeads, "", {}, {}},
                 {"channel", 1, "", {}, {100}},
                 {"position", kTokens, "", {}, {}}};
  midscope::ChannelPlot channel;
  channel.resize(800, 400);
  midscope::ChannelPlot::View view;
  view.channel = 100;
  view.smoothing = 15;
  TimePlot("channel", [&](int i) {
    std::vector<float> values(size_t{kHeads} * kTokens);
    for (size_t at = 0; at < values.size(); ++at)
      values[at] = static_cast<float>(at % kTokens) * 1e-4F + static_cast<float>((at * 7 + i) % 13);
    hidden.arrays = {{"hidden_channel", {"layer", "channel", "position"}, values, "", ""}};
    channel.Show(&hidden, nullptr, view);
    channel.replot();
  });
  TimePlot("channel_step", [&](int i) {
    view.factor_now = 0.5 + 0.1 * i;
    channel.Show(&hidden, nullptr, view);
    channel.replot();
  });
  TimePlot("channel_replot", [&](int) { channel.replot(); });
  midscope::OutcomePlot outcome;
  outcome.resize(800, 400);
  TimePlot("outcome", [&](int i) {
    midscope::OutcomePlot::Line line;
    for (int place = 0; place < kSamples; ++place) {
      line.series.places << place;
      line.series.values << 3 + std::sin(place * 0.1 + i);
    }
    line.mean = true;
    outcome.Show({line}, midscope::Measure::kNll);
    outcome.replot();
  });
  TimePlot(
      "outcome_replot", [&](int) { outcome.replot(); }, true);
  std::printf("}");
}

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  TimedApplication app(argc, argv);
  try {
    std::printf("{");
    const QTemporaryDir folder;
    {
      Turns turns(&app);
      turns.Model();
      turns.Sweep(folder.path());
      if (argc > 1) turns.File(QString::fromLocal8Bit(argv[1]));
    }
    Plots();
    std::printf("}\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "window_turns: %s\n", error.what());
    return 1;
  }
  return 0;
}
