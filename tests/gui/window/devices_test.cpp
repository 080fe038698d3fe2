// SPDX-License-Identifier: MIT
// Devices in the window: the list with names and memory, the description of the open model's
// device, and the offer to use the CPU if another device fails.
#include <QAbstractItemView>
#include <QComboBox>
#include <QLabel>
#include <QTest>
#include <QToolButton>

#include "core/base/error.h"
#include "core/compute/device_facts.h"
#include "core/terms/intervention_text.h"
#include "gui/panels/model_panel.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/input_boxes.h"
#include "gui/widgets/parameter_form.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/test_engine.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

// A model that runs only on the CPU: other devices are lost, or too small to open it.
class EngineOnDevices : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  static inline std::vector<OpenRequest> opened = {};
  static inline bool too_small = false;

  static DeviceFacts Gpu() {
    return {ParsePlacement("cpu:portable").shares[0].device, "Planted GPU", "9.0", 85'000'000'000,
            78'240'000'000};
  }

  ModelSummary Open(const OpenRequest& request, const JobContext& context) override {
    opened.push_back(request);
    device_ = request.device;
    if (too_small) Fail(/*lost=*/false);
    ModelSummary summary = FakeEngine::Open(request, context);
    summary.device = device_;
    summary.devices = {Gpu()};
    return summary;
  }
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override {
    Fail(/*lost=*/true);
    return FakeEngine::CaptureRun(request, context);
  }
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override {
    Fail(/*lost=*/true);
    return FakeEngine::WhatIf(request, partial, context);
  }

 private:
  void Fail(bool lost) const {
    if (device_ == "cpu") return;
    throw DeviceError(lost, "device " + device_, lost ? "it is lost" : "its memory is too small",
                      "Open the model on another one");
  }

  std::string device_;
};

class DevicesTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<EngineOnDevices> {
    QSignalSpy failed{session, &Session::Failed};
    QToolButton* action = Find<QToolButton>("error_action");

    Rig() {
      EngineOnDevices::opened.clear();
      EngineOnDevices::too_small = false;
      Show();
      window.model()->options()->SetText("device", "cpu:portable");
      window.model()->options()->SetText("dtype", "bfloat16");
      window.model()->options()->SetText("sliding-window", "off");
    }
    bool OpenUntilItFails() {
      window.OpenModel(QStringLiteral("some.gguf"));
      return SpyUntil(stopped,
                      [this] { return !failed.isEmpty() && !session->has_pending_request(); });
    }
  };

 private Q_SLOTS:
  void TheListNamesThisMachinesDevices() {
    ModelPanel panel(test::TestEngine());
    const std::vector<DeviceFacts> facts = ListDeviceFacts();
    panel.OfferDevices({QStringLiteral("cpu"), QStringLiteral("cpu:portable")}, [&facts] {
      QStringList texts;
      for (const DeviceFacts& one : facts) texts << QString::fromStdString(DeviceFactsText(one));
      return texts;
    });
    auto* box = panel.findChild<QComboBox*>("option_device");
    QCOMPARE(box->count(), static_cast<int>(facts.size()));
    // A GPU's memory is queried only when the list is opened, because the query itself allocates
    // some.
    QVERIFY(!box->itemData(0, TextBox::kNoteRole).isValid());
    box->showPopup();
    box->hidePopup();
    for (int i = 0; i < box->count(); ++i) {
      const DeviceFacts& device = facts[static_cast<size_t>(i)];
      QCOMPARE(box->itemText(i), QString::fromStdString(DeviceText(device.device)));
      // The free memory may have changed since.
      const QString note = box->itemData(i, TextBox::kNoteRole).toString();
      QVERIFY2(note.contains(QString::fromStdString(device.name)), qPrintable(note));
      QVERIFY2(note.contains("GB free"), qPrintable(note));
      // The list is wide enough for text and note; the line gets only the device.
      QVERIFY(box->view()->minimumWidth() > box->fontMetrics().horizontalAdvance(note));
      box->setCurrentIndex(i);
      QCOMPARE(panel.request().device, DeviceText(device.device));
    }
    box->setEditText("cpu=3,cpu:portable");
    QCOMPARE(panel.request().device, std::string("cpu=3,cpu:portable"));
  }

  void TheOpenModelSaysWhichDeviceAndItsMemory() {
    Rig rig;
    QVERIFY(rig.OpenUntilItFails());
    const QString text = rig.Find<QLabel>("model_text")->text();
    QVERIFY2(text.contains("on cpu:portable (Planted GPU, compute capability 9.0, 78.2 of 85.0 GB "
                           "free)"),
             qPrintable(text));
  }

  void ALostDeviceOffersTheCpu() {
    Rig rig;
    const Intervention b = ParseIntervention("pi(1.5)");
    rig.window.history()->Change({{}, b}, false);
    QVERIFY(rig.OpenUntilItFails());
    QCOMPARE(rig.window.errors()->messages().size(), 1);  // all runs report the same error
    QVERIFY(rig.window.errors()->messages()[0].startsWith("device cpu:portable: it is lost"));
    QVERIFY(rig.action->isVisible());
    QCOMPARE(rig.action->text(), QString("Open on the CPU"));

    QTest::mouseClick(rig.action, Qt::LeftButton);
    QVERIFY(rig.Settle());
    QCOMPARE(EngineOnDevices::opened.size(), size_t{2});
    const OpenRequest& request = EngineOnDevices::opened.back();
    QCOMPARE(request.device, std::string("cpu"));
    QCOMPARE(request.model, std::string("some.gguf"));
    QCOMPARE(request.dtype, std::string("bfloat16"));
    QVERIFY(!request.sliding_window);
    QVERIFY(rig.session->setting(Side::kB) == b);
    QVERIFY(rig.session->record(Side::kB, "position_awareness"));
    QCOMPARE(rig.window.model()->request().device, std::string("cpu"));
    QCOMPARE(rig.window.model()->request().dtype, std::string("bfloat16"));
    QVERIFY(!rig.window.errors()->isVisible());
  }

  void ADeviceThatIsTooSmallToOpenTheModelOffersTheCpu() {
    Rig rig;
    EngineOnDevices::too_small = true;
    QVERIFY(rig.OpenUntilItFails());
    QVERIFY(!rig.session->model());
    QVERIFY(rig.action->isVisible());
    // The request in the panel has changed in the meantime.
    rig.window.model()->SetModel("other.gguf");
    QTest::mouseClick(rig.action, Qt::LeftButton);
    QVERIFY(rig.Settle());
    QCOMPARE(EngineOnDevices::opened.back().model, std::string("some.gguf"));
    QCOMPARE(rig.window.model()->model(), QString("some.gguf"));
  }

  void OtherFailuresOfferNothing() {
    Rig rig;
    rig.window.model()->options()->SetText("device", "cpu");
    rig.control->FailNextCaptureRun("the run went wrong");
    QVERIFY(rig.OpenUntilItFails());
    QVERIFY(rig.window.errors()->isVisible());
    QVERIFY(!rig.action->isVisible());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::DevicesTest)
#include "devices_test.moc"
