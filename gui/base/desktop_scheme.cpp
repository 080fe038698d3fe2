// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/desktop_scheme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>

namespace midscope {
namespace {

constexpr char kPortal[] = "org.freedesktop.portal.Desktop";
constexpr char kPortalPath[] = "/org/freedesktop/portal/desktop";
constexpr char kPortalSettings[] = "org.freedesktop.portal.Settings";
constexpr char kSpace[] = "org.freedesktop.appearance";
constexpr char kSchemeKey[] = "color-scheme";
constexpr uint kPrefersDark = 1;
constexpr uint kPrefersLight = 2;

}  // namespace

void DesktopScheme::Ask() {
  QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) return;
  bus.connect(QLatin1String(kPortal), QLatin1String(kPortalPath), QLatin1String(kPortalSettings),
              QStringLiteral("SettingChanged"), this,
              SLOT(OnChanged(QString, QString, QDBusVariant)));
  QDBusMessage call =
      QDBusMessage::createMethodCall(QLatin1String(kPortal), QLatin1String(kPortalPath),
                                     QLatin1String(kPortalSettings), QStringLiteral("Read"));
  call << QString::fromLatin1(kSpace) << QString::fromLatin1(kSchemeKey);
  // Without waiting: a desktop that is slow to answer must not keep the window from opening.
  auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
  connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher* done) {
    const QDBusPendingReply<QDBusVariant> reply = *done;
    if (!reply.isError()) Answer(reply.value().variant());
    done->deleteLater();
  });
}

void DesktopScheme::OnChanged(const QString& space, const QString& key, const QDBusVariant& value) {
  if (space == QLatin1String(kSpace) && key == QLatin1String(kSchemeKey)) Answer(value.variant());
}

// Portals wrap the number in one variant or in two.
void DesktopScheme::Answer(const QVariant& value) {
  QVariant inner = value;
  if (inner.canConvert<QDBusVariant>()) inner = inner.value<QDBusVariant>().variant();
  const uint scheme = inner.toUInt();
  Q_EMIT Answered(scheme == kPrefersDark || scheme == kPrefersLight, scheme == kPrefersDark);
}

}  // namespace midscope
