// SPDX-License-Identifier: MIT
// A task's text line and its fields update each other, and neither loses the contents of the other.
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/widgets/input_boxes.h"
#include "gui/widgets/task_form.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class TaskFormTest : public QObject {
  Q_OBJECT

 private:
  struct Rig {
    PromptPanel panel;
    TaskForm* form = panel.findChild<TaskForm*>();
    QComboBox* line = panel.findChild<QComboBox*>("task");
    QComboBox* name = panel.findChild<QComboBox*>("task_name");

    template <typename Widget>
    Widget* Field(const char* parameter) {
      return panel.findChild<Widget*>(QStringLiteral("task_parameter_") + QLatin1String(parameter));
    }
    QString Sent() const { return QString::fromStdString(panel.prompt_request().task); }
  };

 private Q_SLOTS:
  void AFieldChangesTheText() {
    Rig rig;
    QCOMPARE(rig.line->currentText(), QString("list:lines=20"));
    QSignalSpy edited(&rig.panel, &PromptPanel::Edited);
    rig.Field<NumberBox>("lines")->setValue(30);
    QCOMPARE(rig.line->currentText(), QString("list:lines=30"));
    QCOMPARE(rig.Sent(), QString("list:lines=30"));
    QCOMPARE(edited.size(), qsizetype{1});
    // A default that the user has set stays in the text, because a task over a file has another
    // default.
    rig.line->setEditText("kv:file=/no/such,file.jsonl");
    rig.Field<NumberBox>("pairs")->setValue(80);
    rig.Field<NumberBox>("pairs")->setValue(75);
    QCOMPARE(rig.line->currentText(), QString("kv:pairs=75,file=/no/such,file.jsonl"));
    rig.Field<NumberBox>("query_aware")->setValue(1);
    QCOMPARE(rig.line->currentText(),
             QString("kv:pairs=75,query_aware=1,file=/no/such,file.jsonl"));
  }

  void TheTextChangesTheFields() {
    Rig rig;
    rig.line->setEditText("lines:lines=40,score=first");
    QCOMPARE(rig.name->currentText(), QString("lines"));
    QCOMPARE(rig.Field<NumberBox>("lines")->Text(), std::string("40"));
    QCOMPARE(rig.Field<QComboBox>("score")->currentText(), QString("first"));
    QCOMPARE(rig.line->currentText(), QString("lines:lines=40,score=first"));
    rig.line->setEditText("lines:lines=41");
    QCOMPARE(rig.Field<QComboBox>("score")->currentText(), QString("last"));
    QVERIFY(rig.form->error().isEmpty());
    // A file name alone is a task; it is kept as typed until a field is edited.
    rig.line->setEditText("/no/such.jsonl");
    QCOMPARE(rig.name->currentText(), QString("jsonl"));
    QCOMPARE(rig.Field<QLineEdit>("file")->text(), QString("/no/such.jsonl"));
    QCOMPARE(rig.Sent(), QString("/no/such.jsonl"));
  }

  void ABadTextStaysWithItsError() {
    Rig rig;
    rig.line->setEditText("lines:lines=40,score=best");
    const QString error = rig.form->error();
    QVERIFY2(error.contains("score") && error.contains("last | first"), qPrintable(error));
    QCOMPARE(rig.line->currentText(), QString("lines:lines=40,score=best"));
    QCOMPARE(rig.Sent(), QString("lines:lines=40,score=best"));
    // The fields show the last valid task, and cannot overwrite the text.
    QCOMPARE(rig.name->currentText(), QString("list"));
    QVERIFY(!rig.Field<NumberBox>("lines")->isEnabled());
    QCOMPARE(rig.Field<NumberBox>("lines")->Text(), std::string("20"));
    rig.line->setEditText("lines:lines=40,score=first");
    QVERIFY(rig.form->error().isEmpty());
    QVERIFY(rig.Field<NumberBox>("lines")->isEnabled());
    QCOMPARE(rig.Field<NumberBox>("lines")->Text(), std::string("40"));
  }

  void ARequiredFileIsAskedFor() {
    Rig rig;
    rig.name->setCurrentText("longbench");
    QCOMPARE(rig.line->currentText(), QString("longbench"));
    QVERIFY2(rig.form->error().contains("file=PATH"), qPrintable(rig.form->error()));
    rig.Field<QLineEdit>("file")->setText("/no/such, file.jsonl");
    QCOMPARE(rig.line->currentText(), QString("longbench:file=/no/such, file.jsonl"));
    QVERIFY2(rig.form->error().isEmpty(), qPrintable(rig.form->error()));
    rig.Field<NumberBox>("tokens")->setValue(3500);
    QCOMPARE(rig.line->currentText(), QString("longbench:tokens=3500,file=/no/such, file.jsonl"));
  }

  void EveryTaskHasAFieldForEachParameter_data() {
    QTest::addColumn<QString>("name");
    for (const TaskType& task : Tasks())
      QTest::newRow(task.name.c_str()) << QString::fromStdString(task.name);
  }

  void EveryTaskHasAFieldForEachParameter() {
    QFETCH(QString, name);
    Rig rig;
    rig.name->setCurrentText(name == "kv" ? "list" : "kv");
    rig.name->setCurrentText(name);
    QCOMPARE(rig.line->currentText(), name);
    for (const TaskType& task : Tasks()) {
      if (QString::fromStdString(task.name) != name) continue;
      for (const Parameter& parameter : task.parameters) {
        auto* field = rig.Field<QWidget>(parameter.name.c_str());
        QVERIFY2(field && !field->toolTip().isEmpty(), parameter.name.c_str());
      }
    }
  }

  void ARequestShowsItsTask() {
    Rig rig;
    PromptRequest request;
    request.task = "kv:pairs=12,query_aware=1";
    rig.panel.SetPrompt(request);
    QCOMPARE(rig.Field<NumberBox>("pairs")->Text(), std::string("12"));
    QCOMPARE(rig.Sent(), QString("kv:pairs=12,query_aware=1"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::TaskFormTest)
#include "task_form_test.moc"
