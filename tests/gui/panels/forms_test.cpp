// SPDX-License-Identifier: MIT
// Forms made from descriptions: of options, and of every term of a setting.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <algorithm>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/model/model_config.h"
#include "core/terms/intervention_text.h"
#include "core/terms/presets.h"
#include "core/terms/terms.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/settings/stack_editor.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/fold_box.h"
#include "gui/widgets/input_boxes.h"
#include "gui/widgets/parameter_form.h"
#include "gui/widgets/term_cards.h"
#include "gui/widgets/term_chip.h"
#include "gui/widgets/text_line.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/settings_rig.h"
#include "tests/gui/support/test_engine.h"

namespace midscope {

Parameter Described(const std::string& name, ParameterKind type, ParameterValue by_default = {}) {
  Parameter option;
  option.name = name;
  option.kind = type;
  option.help = "what it is";
  option.default_value = std::move(by_default);
  return option;
}

// One parameter of every kind.
std::vector<Parameter> EveryKind() {
  Parameter choice = Described("kind", ParameterKind::kChoice, std::string("red"));
  choice.choices = {"red", "green"};
  Parameter whole = Described("window", ParameterKind::kWholeNumber, int64_t{256});
  whole.minimum = 1;
  whole.unit = "tokens";
  Parameter share = Described("share", ParameterKind::kNumber);
  share.minimum = 0;
  share.maximum = 1;
  return {choice,
          whole,
          share,
          Described("name", ParameterKind::kText),
          Described("loud", ParameterKind::kFlag),
          Described("spans", ParameterKind::kTextList),
          Described("file", ParameterKind::kFile)};
}

class FormsTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : SettingsRig {
    void Set(const std::string& text) { history.Change({{}, ParseIntervention(text)}, false); }
    template <typename Widget>
    Widget* Field(const char* name) {
      auto* widget = panel.findChild<QWidget*>(QString::fromLatin1(name));
      if (auto* own = qobject_cast<Widget*>(widget)) return own;
      return widget ? widget->findChild<Widget*>() : nullptr;
    }
  };

 private Q_SLOTS:
  void EveryKindOfOptionHasItsWidget() {
    ParameterForm form(EveryKind());
    QSignalSpy changed(&form, &ParameterForm::Changed);
    form.findChild<QComboBox*>("option_kind")->setCurrentText("green");
    form.findChild<NumberBox*>("option_window")->setValue(512);
    form.findChild<NumberBox*>("option_share")->setValue(0.25);
    form.findChild<QComboBox*>("option_name")->setEditText("Zo\u00eb");
    form.findChild<QCheckBox*>("option_loud")->setChecked(true);
    form.findChild<QLineEdit*>("option_spans")->setText("a=1; b=2");
    form.findChild<QLineEdit*>("option_file")->setText("/tmp/x y");
    QVERIFY(changed.size() >= 7);
    QCOMPARE(QString::fromStdString(form.Checked().ToJson()),
             QString::fromUtf8("{\"kind\":\"green\",\"window\":512,\"share\":0.25,\"name\":"
                               "\"Zo\u00eb\",\"loud\":true,\"spans\":[\"a=1\",\"b=2\"],\"file\":"
                               "\"/tmp/x y\"}"));
    ParameterForm other(EveryKind());
    other.SetOptions(form.options());
    QCOMPARE(other.Checked().ToJson(), form.options().ToJson());
    QCOMPARE(other.findChild<NumberBox*>("option_window")->text(), QString("512 tokens"));
  }

  void AnEmptyFieldShowsItsDefault() {
    ParameterForm form({TextParameter("layers", "such as 8-25; default: all")});
    QCOMPARE(form.findChild<QComboBox*>("option_layers")->lineEdit()->placeholderText(),
             QString("all"));
  }

  void WhatSaysTheDefaultIsNotSet() {
    ParameterForm form(EveryKind());
    QCOMPARE(form.Checked().ToJson(), OptionSet(EveryKind()).ToJson());
    QVERIFY(form.findChild<NumberBox*>("option_share")->empty());
    form.findChild<NumberBox*>("option_window")->setValue(300);
    QCOMPARE(ChangedOptionsText(form.options()), QString("window 300"));
    form.findChild<NumberBox*>("option_window")->setValue(256);
    QVERIFY(!form.options().IsSet("window"));
    QCOMPARE(ChangedOptionsText(form.options()), QString());
  }

  void TheModelIsOpenedWithItsOptions() {
    ModelPanel panel(test::TestEngine());
    panel.SetModel("some.gguf");
    panel.options()->SetText("dtype", "bfloat16");
    panel.options()->SetText("weights", "stored");
    panel.options()->SetText("sliding-window", "off");
    panel.options()->SetText("device", "cpu:portable");
    const OpenRequest request = panel.request();
    QCOMPARE(request.model, std::string("some.gguf"));
    QCOMPARE(request.dtype, std::string("bfloat16"));
    QCOMPARE(request.weights, std::string("stored"));
    QCOMPARE(request.device, std::string("cpu:portable"));
    QVERIFY(!request.sliding_window);
    auto* fold = panel.findChild<FoldBox*>("model_options_fold");
    QVERIFY2(fold->title().contains("device cpu:portable"), qPrintable(fold->title()));
    // The devices of the machine can be chosen.
    auto* device = panel.findChild<QComboBox*>("option_device");
    QVERIFY(device->findText("cpu:portable") >= 0);
    // Values that the command line rejects are rejected with its message, below the form and when
    // opening.
    device->setEditText("gpu");
    QVERIFY2(panel.options()->error().contains("gpu"), qPrintable(panel.options()->error()));
    QVERIFY_EXCEPTION_THROWN(panel.request(), Error);
    device->setEditText("cpu");
    QVERIFY(panel.options()->error().isEmpty());
  }

  void EveryTermHasAFormThatSaysTheSame_data() {
    QTest::addColumn<QString>("name");
    for (const TermType& term : TermTypes()) {
      if (term.name != "none" && term.name != "preset")
        QTest::newRow(term.name.c_str()) << QString::fromStdString(term.name);
    }
  }

  // Converting text to forms and back preserves it, for every term.
  void EveryTermHasAFormThatSaysTheSame() {
    QFETCH(QString, name);
    Rig rig;
    rig.panel.stack()->Add(name.toStdString());
    QCOMPARE(rig.panel.stack()->terms().size(), size_t{1});
    // The file does not exist yet; the line reports that with the column.
    if (name == "ratios" || name == "longrope" || name == "vector") {
      QVERIFY(rig.panel.text(true)->error().contains("column"));
      return;
    }
    QVERIFY2(rig.panel.text(true)->error().isEmpty(), qPrintable(rig.panel.text(true)->error()));
    const std::string text = rig.TextB();
    QVERIFY2(text.find(name.toStdString()) == 0, text.c_str());
    QCOMPARE(StackLine(rig.panel.stack()->terms()), StackLine(SplitTerms(ParseIntervention(text))));
    QCOMPARE(PrintIntervention(ParseIntervention(StackLine(rig.panel.stack()->terms()))), text);
    for (const Parameter& argument : rig.panel.stack()->terms().front().term->arguments) {
      const QString field = "term_" + name + "_" + QString::fromStdString(argument.name);
      auto* widget = rig.panel.findChild<QWidget*>(field);
      QVERIFY2(widget && !widget->toolTip().isEmpty(), qPrintable(field));
    }
  }

  void FieldsChangeTheSetting() {
    Rig rig;
    rig.Set("boost(span=gold, factor=2)");
    rig.Field<NumberBox>("term_boost_factor")->setValue(3.5);
    rig.Field<QComboBox>("term_boost_rows")->setCurrentText("last:N");
    rig.Field<QComboBox>("term_boost_span")->setEditText("\"pair 7\"");
    QCOMPARE(
        rig.TextB(),
        PrintIntervention(ParseIntervention("boost(span=\"pair 7\", factor=3.5, rows=last:16)")));
    rig.history.stack()->undo();
    QCOMPARE(rig.Field<QComboBox>("term_boost_span")->currentText(), QString("gold"));
    // Text typed into the line sets the fields.
    rig.panel.text(true)->Enter("boost(span=gold, factor=-1, rows=last:3)");
    QCOMPARE(rig.Field<NumberBox>("term_boost_factor")->Text(), std::string("-1"));
    const auto boost = rig.panel.stack()->terms()[0];
    const auto& arguments = boost.term->arguments;
    const auto rows = std::find_if(arguments.begin(), arguments.end(),
                                   [](const Parameter& one) { return one.name == "rows"; });
    QCOMPARE(boost.values[static_cast<size_t>(rows - arguments.begin())], std::string("last:3"));
  }

  void WhatCantBeReadStaysWithItsColumn() {
    Rig rig;
    rig.Set("pi(1.5) + crop(span=gold, layers=0-7)");
    const std::string before = rig.TextB();
    rig.Field<QComboBox>("term_crop_layers")->setEditText("7-x");
    QCOMPARE(rig.TextB(), before);
    const QString error = rig.panel.text(true)->error();
    QVERIFY2(error.contains("column"), qPrintable(error));
    QVERIFY(rig.panel.text(true)->edit()->text().contains("layers=7-x"));
    rig.panel.Show(rig.history.current());  // as after a reply; the draft is kept
    QCOMPARE(rig.Field<QComboBox>("term_crop_layers")->currentText(), QString("7-x"));
    rig.Field<QComboBox>("term_crop_layers")->setEditText("3");
    QVERIFY(rig.panel.text(true)->error().isEmpty());
    QCOMPARE(rig.history.current().b.Find<Crop>()->layers.Text(), std::string("3"));
  }

  void TermsAreAddedRemovedAndReordered() {
    Rig rig;
    StackEditor* stack = rig.panel.stack();
    rig.Set("pi(1.5) + crop(span=gold, layers=0-1) + crop(span=gold, layers=2-3)");
    QVERIFY(!stack->CanMove(0, 1));  // the order between kinds has no meaning
    QVERIFY(stack->CanMove(1, 1));
    QTest::keyClick(stack->chip(1)->face(), Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(rig.history.current().b.Find<Crop>()->layers.Text(), std::string("2-3"));
    stack->Add("ms-poe");  // a second scheme replaces the first
    QVERIFY(rig.history.current().b.Find<MsPoe>() != nullptr);
    QCOMPARE(stack->terms().size(), size_t{3});
    stack->Add("ablate");
    QCOMPARE(rig.history.current().b.All<Ablation>().size(), size_t{1});
    QTest::keyClick(stack->chip(1)->face(), Qt::Key_Delete);
    QCOMPARE(rig.history.current().b.All<Crop>().size(), size_t{1});
    QCOMPARE(stack->terms().size(), size_t{3});
  }

  void ArgumentsThatExcludeEachOtherGiveWay() {
    Rig rig;
    rig.Set("ms-poe(min=1.2, max=1.8, first_layer=2)");
    rig.Field<QComboBox>("term_ms-poe_layers")->setEditText("3-5");
    QVERIFY2(rig.panel.text(true)->error().isEmpty(), qPrintable(rig.panel.text(true)->error()));
    QCOMPARE(rig.history.current().b.Find<MsPoe>()->layers.Text(), std::string("3-5"));
  }

  void PresetsAreSettings() {
    Rig rig;
    rig.Set("temperature(L1H2, 1.5)");
    auto* presets = rig.panel.findChild<QToolButton*>("presets");
    QCOMPARE(presets->menu()->actions().size(),
             static_cast<qsizetype>(InterventionPresets().size()));
    presets->menu()->actions().front()->trigger();
    QCOMPARE(rig.history.current().b, ParseIntervention(InterventionPresets().front().text));
    rig.history.stack()->undo();
    QCOMPARE(rig.history.current().b.All<Temperature>().size(), size_t{1});
  }

  // The rig's model has 576 channels, so it lacks the published channel 2393.
  void PresetsThatTheModelCantTakeAreGreyWithTheReason() {
    Rig rig;
    const QList<QAction*> actions = rig.panel.findChild<QToolButton*>("presets")->menu()->actions();
    int grey = 0;
    for (qsizetype i = 0; i < actions.size(); ++i) {
      const Preset& preset = InterventionPresets()[static_cast<size_t>(i)];
      const bool wide = preset.text.find("channel(") == 0 && preset.name != "channel-mistral-7b";
      QVERIFY2(actions[i]->isEnabled() != wide, preset.name.c_str());
      QVERIFY(!actions[i]->text().contains("of this model"));
      if (!wide) continue;
      ++grey;
      QVERIFY2(actions[i]->toolTip().contains("Not on this model"),
               qPrintable(actions[i]->toolTip()));
      QVERIFY2(actions[i]->toolTip().contains("0-575"), qPrintable(actions[i]->toolTip()));
    }
    QVERIFY(grey >= 8);
    ModelConfig vicuna = SettingsRig::Model();
    vicuna.name = "vicuna 7b v1.5 16k";
    vicuna.hidden = 4096;
    rig.panel.SetModel(vicuna);
    int own = 0;
    for (const QAction* action : actions) own += action->text().contains("of this model") ? 1 : 0;
    QVERIFY2(own >= 2, qPrintable(QString::number(own)));
    QVERIFY(rig.panel.findChild<QToolButton*>("presets")->menu()->actions().front()->isEnabled());
  }

  void FieldsFitTheKindsOfArguments() {
    Rig rig;
    rig.Set("channel(100, factor=-1)");
    QCOMPARE(rig.Field<NumberBox>("term_channel_channel")->decimals(), 0);
    QVERIFY(rig.Field<NumberBox>("term_channel_factor")->decimals() > 0);
    // Several numbers are edited as text.
    rig.Set("infini(segment=64, gate=[0.1,0.2])");
    QCOMPARE(rig.Field<QComboBox>("term_infini_gate")->currentText(), QString("[0.1,0.2]"));
    rig.Set("yarn(4)");
    auto* context = rig.Field<QComboBox>("term_yarn_context");
    QCOMPARE(context->currentText(), QString("model"));
    context->setCurrentIndex(1);  // an entry for a number, which is in the box beside it
    QVERIFY2(rig.TextB().find("context=16") != std::string::npos, rig.TextB().c_str());
    rig.panel.text(true)->Enter("yarn(4, context=2048)");
    QCOMPARE(context->currentIndex(), 1);
    rig.Set("move(span=gold, to=begin)");
    rig.Field<QComboBox>("term_move_to")->setCurrentText("shift:N");
    QVERIFY2(rig.TextB().find("to=shift:16") != std::string::npos, rig.TextB().c_str());
  }

  void AFormShowsItsFirstFieldsAndTheOthersOnRequest() {
    ParameterForm form({TextParameter("first", "one"), TextParameter("other", "two")});
    form.ShowFirst({"first"});
    form.show();
    auto* other = form.findChild<QWidget*>("option_other");
    QVERIFY(form.findChild<QWidget*>("option_first")->isVisible() && !other->isVisible());
    form.findChild<QPushButton*>("more_options")->click();
    QVERIFY(other->isVisible());
  }

  // A field that does not apply is hidden, and its option is not set.
  void FieldsThatDoNotApplyAreHidden() {
    ParameterForm form({ChoiceParameter("over", "one", {"heads", "channels"}),
                        TextParameter("channels", "two"), TextParameter("with", "three")});
    form.SetLabels({{"with", "change of each"}});
    form.SetApplies([](const std::string& name, const OptionSet& options) {
      return name != "channels" || options.Text("over") == "channels";
    });
    form.show();
    auto* channels = form.findChild<QWidget*>("option_channels");
    QVERIFY(!channels->isVisible());
    form.SetText("over", "channels");
    QVERIFY(channels->isVisible());
    form.SetText("channels", "7");
    QVERIFY(form.Checked().IsSet("channels"));
    form.SetText("over", "heads");
    QVERIFY(!channels->isVisible());
    QVERIFY(!form.Checked().IsSet("channels"));
    bool labelled = false;
    for (const QLabel* label : form.findChildren<QLabel*>())
      labelled = labelled || label->text() == "change of each";
    QVERIFY(labelled);
  }

  void NumbersAreExact() {
    NumberBox box({0, 1e12, false, true});
    for (const std::string text : {"", "0.1", "500000", "1.25", "0"}) {
      box.SetText(text);
      QCOMPARE(box.Text(), text);
    }
    box.SetText("-3");  // out of range: the value is kept
    QCOMPARE(box.Text(), std::string("0"));
    box.stepBy(1);
    QCOMPARE(box.Text(), std::string("0.1"));
    box.stepBy(2);
    QCOMPARE(box.Text(), std::string("0.3"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::FormsTest)
#include "forms_test.moc"
