// SPDX-License-Identifier: MIT
#include "probes/cli/text/outcome_svg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "probes/cli/text/html_page.h"

namespace midscope::cli {
namespace {

// Sizes of the picture, in pixels.
constexpr int kPictureWidth = 640;
constexpr int kPictureHeight = 400;
constexpr int kLeftMargin = 64;
constexpr int kRightMargin = 24;
constexpr int kTopMargin = 40;
constexpr int kLegendLine = 20;
constexpr int kBottomMargin = 56;

// Colours that colour-blind readers can distinguish (Okabe and Ito, 2008), as in the window.
constexpr std::array kCurveColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7"};

constexpr int kValueTicks = 5;

// The vertical axis, from 0 to a multiple of a round step.
class ValueAxis {
 public:
  ValueAxis(double largest, double top, double bottom) : top_(top), bottom_(bottom) {
    constexpr double kTenth = 10;
    const double rough = std::max(largest, 1e-9) / kValueTicks;
    const double power = std::pow(kTenth, std::floor(std::log10(rough)));
    step_ = kTenth * power;
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor * power >= rough) {
        step_ = factor * power;
        break;
      }
    }
    end_ = step_ * std::max(1.0, std::ceil(largest / step_));
  }
  double step() const { return step_; }
  double end() const { return end_; }
  double Pixel(double value) const { return bottom_ - (bottom_ - top_) * value / end_; }

 private:
  double top_;
  double bottom_;
  double step_ = 1;
  double end_ = 1;
};

double LargestValue(const std::vector<OutcomeCurve>& curves) {
  double largest = 0;
  for (const OutcomeCurve& curve : curves) {
    for (const double value : curve.values) {
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  }
  return largest;
}

std::string SvgText(double x, double y, const std::string& attributes, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes,
                     HtmlText(text));
}

std::string SvgLine(double x1, double y1, double x2, double y2, const std::string& colour) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
      y2, colour);
}

// Returns a curve as SVG: its points, and segments between neighbours with finite values.
std::string CurveSvg(const OutcomeCurve& curve, const std::vector<double>& x, const ValueAxis& axis,
                     const std::string& colour) {
  std::string path;
  std::string points;
  bool connected = false;
  for (size_t i = 0; i < std::min(x.size(), curve.values.size()); ++i) {
    const bool finite = std::isfinite(curve.values[i]);
    if (finite) {
      const double y = axis.Pixel(curve.values[i]);
      path += fmt::format("{}{:.1f} {:.1f}", connected ? "L" : "M", x[i], y);
      points += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", x[i], y,
                            colour);
    }
    connected = finite;
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path,
                     colour) +
         points;
}

}  // namespace

std::string OutcomeSvg(const std::string& title, const std::string& unit,
                       const std::vector<std::string>& places,
                       const std::vector<OutcomeCurve>& curves) {
  constexpr double kHalf = 0.5;
  const double top = kTopMargin + kLegendLine * static_cast<double>(curves.size());
  const double bottom = kPictureHeight - kBottomMargin;
  const double right = kPictureWidth - kRightMargin;
  const ValueAxis axis(LargestValue(curves), top, bottom);
  std::string body = SvgText(kLeftMargin, 24, "font-size=\"15\" font-weight=\"bold\"", title);
  for (int i = 0; i * axis.step() <= axis.end() * (1 + 1e-9); ++i) {
    const double y = axis.Pixel(i * axis.step());
    body += SvgLine(kLeftMargin, y, right, y, i == 0 ? "#444444" : "#dddddd");
    body += SvgText(kLeftMargin - 8, y + 4, "text-anchor=\"end\"",
                    fmt::format("{:g}", i * axis.step()));
  }
  std::vector<double> x;
  for (size_t i = 0; i < places.size(); ++i) {
    x.push_back(kLeftMargin + (right - kLeftMargin) * (static_cast<double>(i) + kHalf) /
                                  static_cast<double>(places.size()));
    body += SvgText(x.back(), bottom + 20, "text-anchor=\"middle\"", places[i]);
  }
  body += SvgText((kLeftMargin + right) * kHalf, bottom + 42, "text-anchor=\"middle\"",
                  "place of the gold piece");
  body +=
      SvgText(0, 0,
              fmt::format("text-anchor=\"middle\" transform=\"translate(18 {:.1f}) rotate(-90)\"",
                          (top + bottom) * kHalf),
              unit);
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string colour = kCurveColours[i % kCurveColours.size()];
    const double y = kTopMargin + kLegendLine * (static_cast<double>(i) + kHalf);
    body += fmt::format("<circle cx=\"{}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", kLeftMargin + 4,
                        y - 4, colour);
    body += SvgText(kLeftMargin + 16, y, "", curves[i].name);
    body += CurveSvg(curves[i], x, axis, colour);
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
             "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"13\">\n"
             "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
             kPictureWidth, kPictureHeight) +
         body + "</svg>\n";
}

}  // namespace midscope::cli
