// SPDX-License-Identifier: MIT
// A paint device that records which texts are drawn, and where. Everything else is ignored.
#pragma once

#include <QPaintDevice>
#include <QPaintEngine>
#include <QPolygonF>
#include <QString>
#include <vector>

namespace midscope {

struct DrawnText {
  QString text;
  QPolygonF outline;  // of the line of text, in pixels of the device; rotated with the text
};

class TextRecorder : public QPaintDevice {
 public:
  // `dots_per_inch`: must be that of the screen, because plots are laid out for it.
  TextRecorder(QSize size, int dots_per_inch) : size_(size), dots_per_inch_(dots_per_inch) {}

  const std::vector<DrawnText>& texts() const { return engine_.texts; }
  QPaintEngine* paintEngine() const override { return &engine_; }

 protected:
  int metric(PaintDeviceMetric metric) const override {
    switch (metric) {
      case PdmWidth:
        return size_.width();
      case PdmHeight:
        return size_.height();
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return dots_per_inch_;
      case PdmDevicePixelRatio:
        return 1;
      case PdmDevicePixelRatioScaled:
        return static_cast<int>(devicePixelRatioFScale());
      case PdmDepth:
        return 32;
      default:
        return QPaintDevice::metric(metric);
    }
  }

 private:
  struct Engine : QPaintEngine {
    Engine() : QPaintEngine(AllFeatures) {}
    bool begin(QPaintDevice* /*device*/) override { return true; }
    bool end() override { return true; }
    void updateState(const QPaintEngineState& /*state*/) override {}
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {
    }
    void drawPath(const QPainterPath& /*path*/) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    Type type() const override { return User; }
    // The height of the lower-case letters and of digits, not of the line with its spacing.
    void drawTextItem(const QPointF& at, const QTextItem& item) override {
      constexpr double kSpacing = 2;
      const QRectF box(at.x(), at.y() - item.ascent() + kSpacing, item.width(),
                       item.ascent() + item.descent() - 2 * kSpacing);
      const QRectF clip = painter()->hasClipping() ? painter()->clipBoundingRect() : QRectF(box);
      if (item.text().trimmed().isEmpty() || !clip.intersects(box)) return;
      texts.push_back({item.text(), painter()->combinedTransform().map(QPolygonF(box))});
    }
    std::vector<DrawnText> texts;
  };

  QSize size_;
  int dots_per_inch_;
  mutable Engine engine_;
};

}  // namespace midscope
