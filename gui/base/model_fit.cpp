// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/model_fit.h"

#include <QRegularExpression>
#include <QStringList>
#include <algorithm>

#include "core/base/error.h"
#include "core/intervention/passage.h"
#include "core/plan/attention_plan.h"

namespace midscope {
namespace {

// A prompt length at which every setting that fits the model can be compiled.
constexpr int64_t kSomeTokens = 64;

// Reduces names to their letters, so that "Llama-2-7B-chat" and "llama 2 7b Chat" are equal.
QString OnlyLetters(const QString& name) {
  static const QRegularExpression others(QStringLiteral("[^a-z0-9]"));
  return name.toLower().remove(others);
}

}  // namespace

QString WhyNotOn(const Intervention& setting, const ModelConfig& config) {
  try {
    CompilePlans(WithAnyPassages(setting), config, kSomeTokens);
    return {};
  } catch (const Error& error) {
    return QString::fromUtf8(error.what());
  }
}

bool IsPublishedFor(const Preset& preset, const ModelConfig& config) {
  const QString models = QString::fromStdString(preset.models);
  if (models.startsWith(QLatin1String("as "))) {
    for (const Preset& other : InterventionPresets()) {
      if (models.mid(3).toStdString() == other.name) return IsPublishedFor(other, config);
    }
    return false;
  }
  const QString open = OnlyLetters(QString::fromStdString(config.name));
  static const QRegularExpression between(QStringLiteral("[,/]"));
  const QStringList names = models.split(between, Qt::SkipEmptyParts);
  return std::any_of(names.begin(), names.end(), [&open](const QString& each) {
    const QString name = OnlyLetters(each);
    // The second part of "7B/13B-Chat" does not name a model.
    return !name.isEmpty() && name.front().isLetter() && open.contains(name);
  });
}

}  // namespace midscope
