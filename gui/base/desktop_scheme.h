// SPDX-License-Identifier: GPL-3.0-or-later
// Asks the desktop's portal whether it is dark, and follows its changes. Qt 6.4 has no colorScheme.
#pragma once

#include <QDBusVariant>
#include <QObject>

namespace midscope {

class DesktopScheme : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Answered is emitted when the portal has answered, and again whenever the desktop changes. No
  // answer where there is no portal.
  void Ask();

 Q_SIGNALS:
  // `known`: whether the desktop prefers one of the two.
  void Answered(bool known, bool dark);

 private Q_SLOTS:
  void OnChanged(const QString& space, const QString& key, const QDBusVariant& value);

 private:
  void Answer(const QVariant& value);
};

}  // namespace midscope
