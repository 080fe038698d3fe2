// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/learned_positions.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "kernels/check.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

using Complex = std::complex<double>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
// Frequencies are searched at multiples of 1 / (kFiner * positions) turns per position; the best
// one is then refined.
constexpr int64_t kFiner = 4;
// Number of lowest frequencies that are fitted individually: there the spectrum does not find the
// best wave, because it cannot separate mean and wave.
constexpr int64_t kFittedFrequencies = 4 * kFiner;
constexpr double kConstant = 1e-14;  // maximum variance / squared mean of a constant
constexpr int kRefinements = 32;
constexpr int64_t kDistances = 256;  // maximum number, besides 0
constexpr int64_t kStarts = 256;     // maximum number of positions i in the mean of a distance

// Returns element `index` of `count` evenly spaced integers from 0 to `last`.
int64_t Spaced(int64_t index, int64_t count, int64_t last) {
  return count <= 1 ? 0 : index * last / (count - 1);
}

// Multiplies complex numbers without checks for infinities, which would take most of the time.
Complex Times(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Replaces x by its discrete Fourier transform; the size must be a power of two.
void Transform(std::vector<Complex>* x) {
  const size_t count = x->size();
  for (size_t i = 1, j = 0; i < count; ++i) {
    size_t bit = count >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap((*x)[i], (*x)[j]);
  }
  for (size_t length = 2; length <= count; length *= 2) {
    const Complex step = std::polar(1.0, -2 * std::numbers::pi / static_cast<double>(length));
    for (size_t first = 0; first < count; first += length) {
      Complex turn = 1;
      for (size_t i = first; i < first + length / 2; ++i, turn = Times(turn, step)) {
        const Complex odd = Times((*x)[i + length / 2], turn);
        (*x)[i + length / 2] = (*x)[i] - odd;
        (*x)[i] += odd;
      }
    }
  }
}

// The values of one dimension of a table by position, minus their mean.
struct Curve {
  std::vector<double> values;
  double squares = 0;
};

Curve CurveOf(const std::vector<float>& table, int64_t positions, int64_t dimensions,
              int64_t dimension) {
  Curve curve;
  double mean = 0;
  for (int64_t i = 0; i < positions; ++i)
    curve.values.push_back(table[static_cast<size_t>(i * dimensions + dimension)]);
  for (const double value : curve.values) mean += value / static_cast<double>(positions);
  for (double& value : curve.values) {
    value -= mean;
    curve.squares += value * value;
  }
  // For a constant dimension, only the rounding error of the mean remains.
  if (curve.squares <= kConstant * mean * mean * static_cast<double>(positions)) curve.squares = 0;
  return curve;
}

// Returns the share of the curve's sum of squares that the best fit a + b cos + c sin explains;
// `frequency` in turns per position.
double WaveShare(const Curve& curve, double frequency) {
  const Complex step = std::polar(1.0, 2 * std::numbers::pi * frequency);
  const auto count = static_cast<double>(curve.values.size());
  Complex turn = 1;
  Complex sum = 0;
  Complex of_curve = 0;
  double cos_cos = 0;
  double sin_sin = 0;
  double cos_sin = 0;
  for (const double value : curve.values) {
    sum += turn;
    of_curve += value * turn;
    cos_cos += turn.real() * turn.real();
    sin_sin += turn.imag() * turn.imag();
    cos_sin += turn.real() * turn.imag();
    turn = Times(turn, step);
  }
  // The curve's mean is 0, so the constant only subtracts the means of cosine and sine.
  cos_cos -= sum.real() * sum.real() / count;
  sin_sin -= sum.imag() * sum.imag() / count;
  cos_sin -= sum.real() * sum.imag() / count;
  const double determinant = cos_cos * sin_sin - cos_sin * cos_sin;
  if (determinant <= 1e-12 * count * count) {  // at half a turn per position, the sine is 0
    return cos_cos > 0 ? of_curve.real() * of_curve.real() / cos_cos / curve.squares : 0.0;
  }
  const double b = (of_curve.real() * sin_sin - of_curve.imag() * cos_sin) / determinant;
  const double c = (of_curve.imag() * cos_cos - of_curve.real() * cos_sin) / determinant;
  return (b * of_curve.real() + c * of_curve.imag()) / curve.squares;
}

struct Wave {
  double period = kNone;
  double share = 0;
};

// Returns the k for which a wave of k / padded turns per position fits best.
int64_t BestMultiple(const Curve& curve, const std::vector<Complex>& spectrum) {
  const auto padded = static_cast<int64_t>(spectrum.size());
  int64_t best = 1;
  double largest = -1;
  for (int64_t i = kFittedFrequencies; i <= padded / 2; ++i) {
    const double power = std::norm(spectrum[static_cast<size_t>(i)]);
    if (power <= largest) continue;
    largest = power;
    best = i;
  }
  double share = WaveShare(curve, static_cast<double>(best) / static_cast<double>(padded));
  for (int64_t i = 1; i < kFittedFrequencies; ++i) {
    const double other = WaveShare(curve, static_cast<double>(i) / static_cast<double>(padded));
    if (other <= share) continue;
    share = other;
    best = i;
  }
  return best;
}

Wave BestWave(const Curve& curve, const std::vector<Complex>& spectrum) {
  if (curve.squares <= 0) return {};
  const auto padded = static_cast<double>(spectrum.size());
  const double lowest = 1.0 / static_cast<double>(kFiner * curve.values.size());
  const auto best = static_cast<double>(BestMultiple(curve, spectrum));
  double low = std::max((best - 1) / padded, lowest);
  double high = std::min((best + 1) / padded, 0.5);
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double left = high - golden * (high - low);
  double right = low + golden * (high - low);
  double at_left = WaveShare(curve, left);
  double at_right = WaveShare(curve, right);
  for (int step = 0; step < kRefinements; ++step) {
    if (at_left > at_right) {
      high = std::exchange(right, left);
      at_right = at_left;
      left = high - golden * (high - low);
      at_left = WaveShare(curve, left);
    } else {
      low = std::exchange(left, right);
      at_left = at_right;
      right = low + golden * (high - low);
      at_right = WaveShare(curve, right);
    }
  }
  const double frequency = (low + high) / 2;
  Wave wave{1 / frequency, std::clamp(WaveShare(curve, frequency), 0.0, 1.0)};
  if (frequency < 1.001 * lowest) wave.period = kNone;
  return wave;
}

std::vector<Complex> PaddedSpectrum(const Curve& curve) {
  size_t padded = 1;
  while (padded < static_cast<size_t>(kFiner) * curve.values.size()) padded *= 2;
  std::vector<Complex> spectrum(padded);
  std::copy(curve.values.begin(), curve.values.end(), spectrum.begin());
  Transform(&spectrum);
  return spectrum;
}

// Measurements of both tables, the learned and the sinusoidal one.
struct Measured {
  std::vector<double> period, wave_share, in_order, power, similarity, centred_similarity, norm;
};

void AddWaves(const std::vector<float>& values, int64_t positions, int64_t dimensions,
              const JobContext& context, Measured* out) {
  const size_t first = out->period.size();
  std::vector<double> power(static_cast<size_t>(positions / 2));
  for (int64_t dimension = 0; dimension < dimensions; ++dimension) {
    context.ThrowIfCancelled();
    const Curve curve = CurveOf(values, positions, dimensions, dimension);
    const std::vector<Complex> spectrum = PaddedSpectrum(curve);
    const Wave wave = BestWave(curve, spectrum);
    out->period.push_back(wave.period);
    out->wave_share.push_back(wave.share);
    if (curve.squares <= 0) continue;
    // Power at integer numbers of turns within the table, from the nearest frequency of the padded
    // spectrum.
    std::vector<double> own;
    double sum = 0;
    for (size_t turns = 1; turns <= power.size(); ++turns) {
      const size_t nearest = turns * spectrum.size() / static_cast<size_t>(positions);
      own.push_back(std::norm(spectrum[std::min(nearest, spectrum.size() / 2)]));
      sum += own.back();
    }
    for (size_t i = 0; i < own.size(); ++i)
      power[i] += own[i] / sum / static_cast<double>(dimensions);
  }
  out->power.insert(out->power.end(), power.begin(), power.end());
  std::vector<double> order(out->period.begin() + static_cast<int64_t>(first), out->period.end());
  std::sort(order.begin(), order.end(), [](double a, double b) {
    return std::isnan(b) ? !std::isnan(a) : a < b;  // dimensions without a period come last
  });
  out->in_order.insert(out->in_order.end(), order.begin(), order.end());
}

double Length(std::span<const float> row) {
  double squares = 0;
  for (const float value : row) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

// Scales rows to length 1; zero rows are unchanged.
std::vector<float> UnitRows(std::vector<float> values, int64_t dimensions) {
  const auto width = static_cast<size_t>(dimensions);
  for (size_t row = 0; row < values.size(); row += width) {
    const double length = Length(std::span(values).subspan(row, width));
    if (length == 0) continue;
    for (size_t i = row; i < row + width; ++i)
      values[i] = static_cast<float>(static_cast<double>(values[i]) / length);
  }
  return values;
}

std::vector<float> LessMean(std::vector<float> values, int64_t positions, int64_t dimensions) {
  const auto width = static_cast<size_t>(dimensions);
  std::vector<double> mean(width);
  for (size_t i = 0; i < values.size(); ++i)
    mean[i % width] += values[i] / static_cast<double>(positions);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(values[i] - mean[i % width]);
  return values;
}

// Returns the mean cosine of rows i and i + distance, by distance.
std::vector<double> Similarity(const std::vector<float>& values, int64_t positions,
                               int64_t dimensions, const std::vector<int64_t>& distances) {
  const std::vector<float> rows = UnitRows(values, dimensions);
  std::vector<double> similarity;
  for (const int64_t distance : distances) {
    const int64_t starts = std::min(kStarts, positions - distance);
    double sum = 0;
    for (int64_t start = 0; start < starts; ++start) {
      const int64_t i = Spaced(start, starts, positions - distance - 1);
      const float* a = &rows[static_cast<size_t>(i * dimensions)];
      const float* b = &rows[static_cast<size_t>((i + distance) * dimensions)];
      for (int64_t d = 0; d < dimensions; ++d) sum += static_cast<double>(a[d]) * b[d];
    }
    similarity.push_back(sum / static_cast<double>(starts));
  }
  return similarity;
}

void AddTable(const std::vector<float>& values, const PositionTable& table,
              const std::vector<int64_t>& distances, const JobContext& context, Measured* out) {
  AddWaves(values, table.positions, table.dimensions, context, out);
  const auto width = static_cast<size_t>(table.dimensions);
  for (size_t row = 0; row < values.size(); row += width)
    out->norm.push_back(Length(std::span(values).subspan(row, width)));
  const auto add = [&](const std::vector<float>& rows, std::vector<double>* to) {
    const auto found = Similarity(rows, table.positions, table.dimensions, distances);
    to->insert(to->end(), found.begin(), found.end());
  };
  add(values, &out->similarity);
  add(LessMean(values, table.positions, table.dimensions), &out->centred_similarity);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

std::vector<float> SinusoidalEncoding(int64_t positions, int64_t dimensions, double base) {
  std::vector<float> encoding;
  encoding.reserve(static_cast<size_t>(positions * dimensions));
  for (int64_t position = 0; position < positions; ++position) {
    for (int64_t dimension = 0; dimension < dimensions; ++dimension) {
      const int64_t even = dimension - dimension % 2;
      const auto exponent = static_cast<double>(even);
      const double angle = static_cast<double>(position) *
                           std::pow(base, -exponent / static_cast<double>(dimensions));
      encoding.push_back(
          static_cast<float>(dimension % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  }
  return encoding;
}

Record LearnedPositions(const PositionTable& table, const JobContext& context) {
  MIDSCOPE_CHECK(table.positions >= 2 && table.dimensions >= 1, "no table of positions");
  MIDSCOPE_CHECK_EQ(table.values.size(), table.positions * table.dimensions);
  std::vector<int64_t> distances;
  const int64_t steps = std::min(kDistances + 1, table.positions);
  for (int64_t i = 0; i < steps; ++i) distances.push_back(Spaced(i, steps, table.positions - 1));
  std::vector<int64_t> turns;
  for (int64_t i = 1; i <= table.positions / 2; ++i) turns.push_back(i);

  Measured found;
  AddTable(table.values, table, distances, context, &found);
  const double median =
      Median({found.wave_share.begin(), found.wave_share.begin() + table.dimensions});
  AddTable(SinusoidalEncoding(table.positions, table.dimensions, table.base), table, distances,
           context, &found);

  Record record;
  record.name = "learned_positions";
  record.axes = {LabelledAxis("table", {"learned", "sinusoidal"}),
                 CountedAxis("dimension", table.dimensions),
                 CountedAxis("rank", table.dimensions),
                 ValuedAxis("turns", turns),
                 ValuedAxis("distance", distances),
                 CountedAxis("position", table.positions)};
  const auto add = [&](const char* name, const char* axis, std::vector<double>& values,
                       const char* unit, const char* description) {
    record.arrays.push_back({name, {"table", axis}, std::move(values), unit, description});
  };
  add("period", "dimension", found.period, "positions",
      "positions in which the wave that fits the dimension best turns once; none: longer than four "
      "tables, or constant");
  add("wave_share", "dimension", found.wave_share, "",
      "share of the dimension's variance over positions that this wave takes");
  add("period_in_order", "rank", found.in_order, "positions", "the periods, shortest first");
  add("power", "turns", found.power, "",
      "share of the variance by turns within the table, mean over dimensions");
  add("similarity", "distance", found.similarity, "",
      "cosine of the embeddings of two positions of this distance, mean over positions");
  add("centred_similarity", "distance", found.centred_similarity, "",
      "the same less the mean embedding");
  add("norm", "position", found.norm, "", "length of the position's embedding");
  record.attributes["positions"] = table.positions;
  record.attributes["dimensions"] = table.dimensions;
  record.attributes["base"] = table.base;
  record.attributes["median_wave_share"] = median;
  record.signal = "similarity";
  return record;
}

}  // namespace midscope
