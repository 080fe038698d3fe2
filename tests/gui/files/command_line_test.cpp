// SPDX-License-Identifier: MIT
#include <QTest>

#include "core/base/error.h"
#include "gui/files/command_line.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class CommandLineTest : public QObject {
  Q_OBJECT

 private:
  static GuiCommand Read(const QString& line) {
    return ReadCommandLine(
        QStringLiteral("midscope-gui %1").arg(line).split(' ', Qt::SkipEmptyParts));
  }

 private Q_SLOTS:
  void Render() {
    const GuiCommand command =
        Read("--render run.h5 --out pictures --format svg,png --head L12H3 --channel 7");
    QCOMPARE(command.task, GuiTask::kRender);
    QCOMPARE(command.render.file, QString("run.h5"));
    QCOMPARE(command.render.folder, QString("pictures"));
    QCOMPARE(command.render.formats, (QStringList{"svg", "png"}));
    QCOMPARE(command.render.heads, (std::vector<HeadId>{{12, 3}}));
    QCOMPARE(Read("--render a --out b --head L1H2,L3H4").render.heads,
             (std::vector<HeadId>{{1, 2}, {3, 4}}));
    QCOMPARE(command.render.channel, int64_t{7});
    QVERIFY(command.render.reference.isEmpty());
    QCOMPARE(Read("--render a.h5 --out b --reference c.h5 --reference d.h5").render.reference,
             (QStringList{"c.h5", "d.h5"}));
  }

  void Defaults() {
    QCOMPARE(Read("").task, GuiTask::kWindow);
    QCOMPARE(Read("--render a.h5 --out b").render.formats, (QStringList{"png", "svg", "pdf"}));
    QVERIFY(Read("--render a.h5 --out b").render.heads.empty());
    QCOMPARE(Read("model.gguf --dtype bfloat16").open, QString("model.gguf"));
    QCOMPARE(Read("--screenshot a.png").task, GuiTask::kScreenshot);
    QVERIFY(Read("--help").text.contains("--render"));
    QVERIFY(Read("--version").text.startsWith("midscope-gui "));
  }

  void QtsOwnArgumentsAreQts() {
    const QStringList line = {"midscope-gui", "-style",    "Fusion",     "--task",
                              "kv",           "--session", "a.midscope", "--platform=offscreen",
                              "-reverse"};
    const SplitArguments split = SplitQtArguments(line);
    QCOMPARE(split.qt,
             (QStringList{"midscope-gui", "-style", "Fusion", "--platform=offscreen", "-reverse"}));
    QCOMPARE(split.own, (QStringList{"midscope-gui", "--task", "kv", "--session", "a.midscope"}));
    QVERIFY_EXCEPTION_THROWN(SplitQtArguments({"midscope-gui", "-style"}), Error);
    const GuiCommand all = Read("--help-all");
    QCOMPARE(all.task, GuiTask::kPrintAndLeave);
    QVERIFY(all.text.contains("--render") && all.text.contains("-style <name>"));
    QVERIFY(!Read("--help").text.contains("-style <name>"));
  }

  void ModelOptionsAndSessions() {
    const GuiCommand command = Read("--session a.midscope --weights stored --device cpu:portable");
    QCOMPARE(command.session, QString("a.midscope"));
    QCOMPARE(command.model_options.size(), size_t{2});
    QCOMPARE(command.model_options[0].first + "=" + command.model_options[0].second,
             std::string("weights=stored"));
    QVERIFY(Read("--help").text.contains("--sliding-window"));
    const GuiCommand beyond = Read("--beyond-context model.gguf");
    QCOMPARE(beyond.open, QString("model.gguf"));
    QCOMPARE(beyond.model_options.size(), size_t{1});
    QCOMPARE(beyond.model_options[0].first + "=" + beyond.model_options[0].second,
             std::string("beyond-context=true"));
  }

  void ValuesAreReadByTheirDescriptions() {
    const GuiCommand command = Read("--task kv:pairs=5 --with pi(1.5) --samples 7");
    QCOMPARE(command.prompt_task, QString("kv:pairs=5"));
    QCOMPARE(command.setting_b, QString("pi(1.5)"));
    QCOMPARE(command.samples, int64_t{7});
    QCOMPARE(Read("--samples 0").samples, int64_t{0});
    QCOMPARE(Read("").samples, std::nullopt);
    QCOMPARE(Read("--task list --task kv").prompt_task, QString("kv"));  // the last value counts
    const QString help = Read("--help").text.simplified();               // Qt wraps its lines
    for (const char* option :
         {"--dtype <TEXT>", "--threads <N>", "--session <FILE>", "--task <TEXT>", "--with <TEXT>",
          "--samples <N>", "--render <FILE>", "--out <FILE>", "--format <TEXT>", "--head <TEXT>",
          "--channel <N>", "--screenshot <FILE>", "float32 | bfloat16", "default: png,svg,pdf",
          "at least 0"}) {
      QVERIFY2(help.contains(option), option);
    }
  }

  void OtherNamesOfAHead() {
    QCOMPARE(Read("--render a --out b --head attn_L12_3").render.heads,
             (std::vector<HeadId>{{12, 3}}));
    QCOMPARE(Read("--render a --out b --head l0h8").render.heads, (std::vector<HeadId>{{0, 8}}));
  }

  void MistakesAreUsageErrors_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("says");
    QTest::newRow("unknown option") << "--colour red"
                                    << "colour";
    QTest::newRow("no folder") << "--render a.h5"
                               << "--out";
    QTest::newRow("format") << "--render a.h5 --out b --format gif"
                            << "gif";
    QTest::newRow("head") << "--render a.h5 --out b --head 3"
                          << "'3' is not a head";
    QTest::newRow("channel") << "--render a.h5 --out b --channel -2"
                             << "--channel";
    QTest::newRow("samples") << "--samples few"
                             << "option --samples: 'few' is not an integer (allowed: at least 0)";
    QTest::newRow("dtype") << "--dtype float17"
                           << "float17";
    QTest::newRow("weights") << "--weights small"
                             << "stored";
    QTest::newRow("session and model") << "--session a.midscope b.gguf"
                                       << "b.gguf";
    QTest::newRow("two files") << "a.gguf b.gguf"
                               << "b.gguf";
  }

  // Qt would read or write another file.
  void ANameThatIsNotUtf8IsRefused() {
    char program[] = "midscope-gui";
    char plain[] = "caf\xc3\xa9.h5";
    char latin[] = "caf\xe9.h5";
    char* arguments[] = {program, plain, latin};
    QCOMPARE(ReadArguments(2, arguments).last(), QString::fromUtf8(plain));
    try {
      ReadArguments(3, arguments);
      QFAIL("an error was expected");
    } catch (const Error& error) {
      QCOMPARE(error.kind(), ErrorKind::kUsage);
      QVERIFY2(QString::fromUtf8(error.what()).contains("caf\\xE9.h5"), error.what());
    }
  }

  void MistakesAreUsageErrors() {
    QFETCH(QString, line);
    QFETCH(QString, says);
    try {
      Read(line);
      QFAIL("an error was expected");
    } catch (const Error& error) {
      QCOMPARE(error.kind(), ErrorKind::kUsage);
      QVERIFY2(QString::fromUtf8(error.what()).contains(says), error.what());
    }
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::CommandLineTest)
#include "command_line_test.moc"
