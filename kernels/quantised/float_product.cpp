// SPDX-License-Identifier: MIT
#include "kernels/quantised/float_product.h"

#include <algorithm>
#include <type_traits>

#include "kernels/check.h"
#include "kernels/parallel.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantised/float_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/quantised/float_tile-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/transpose-inl.h"

#ifndef MIDSCOPE_KERNELS_FLOAT_PRODUCT_ONCE
#define MIDSCOPE_KERNELS_FLOAT_PRODUCT_ONCE
namespace midscope::kernels {

// Outputs that a thread processes at a time, in whole panels of every target; the outputs of a
// thread are a multiple of kProductGrain, so that threads get equal work even for narrow matrices.
constexpr int64_t kProductGroup = 64;
constexpr int64_t kProductGrain = 32;
// Number of inputs that are multiplied before the sums are stored: whole blocks of any type. A
// panel of weights for this many inputs fits the L1 cache while it is multiplied with many rows,
// and these rows of x fit the L2 cache.
constexpr int64_t kProductInputs = 256;
// Maximum number of inputs in the last step, which includes the remainder of a row.
constexpr int64_t kMostProductInputs = 384;
// Number of strips (of kStrip rows of x) that are multiplied with a panel before the next panel.
constexpr int64_t kStripsAtOnce = 16;

// Returns how many inputs are multiplied next if `left` remain.
inline int64_t NextInputs(int64_t left) {
  return left <= kMostProductInputs ? left : kProductInputs;
}

struct FloatWork {
  const float* panels;        // matrix as panels (FloatPanels); null: use
  const BlockMatrix* blocks;  // matrix as stored in the file
  int64_t outputs;
  int64_t inputs;
  // x in the order of reading: [step of NextInputs inputs][strip][input][row of the strip].
  const float* x;
  int64_t rows;
  void* y;
  Dtype y_dtype;
  int64_t y_stride;
  CancelFlag cancel;
};

struct FloatGroupTag {};

}  // namespace midscope::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace float_product {

static_assert(kProductGroup % kPanel == 0 && kProductGrain % kPanel == 0);

constexpr int64_t StripsOf(int64_t rows) { return (rows + kStrip - 1) / kStrip; }

// Dequantises the weights of kPanel outputs from `output` on, inputs [first, first + count), into
// panel [count][kPanel]; zeros for missing outputs. rows: working memory [kPanel][count].
void FillPanel(const BlockMatrix& weight, int64_t output, int64_t first, int64_t count, float* rows,
               float* panel) {
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(weight.type));
  const int64_t at = first / format.elements * format.bytes;
  for (int64_t o = 0; o < kPanel; ++o) {
    if (output + o < weight.rows) {
      Dequantise(format.type, weight.Row(output + o) + at, count, rows + o * count);
    } else {
      std::fill_n(rows + o * count, count, 0.0f);
    }
  }
  TransposeItems(rows, count, count, kPanel, panel, kPanel);
}

// Writes the sums [kStrip][kPanel] of a strip and a panel to y, for existing rows and outputs.
template <class Out>
HWY_INLINE void StoreStrip(const FloatWork& work, int64_t strip, int64_t output,
                           const float* sums) {
  const int64_t outputs = std::min(kPanel, work.outputs - output);
  const int64_t rows = std::min(kStrip, work.rows - strip * kStrip);
  for (int64_t r = 0; r < rows; ++r) {
    Out* to = static_cast<Out*>(work.y) + (strip * kStrip + r) * work.y_stride + output;
    const float* from = sums + r * kPanel;
    if (outputs == kPanel) {
      const D d;
      for (int64_t i = 0; i < kPanel; i += kLanes) StoreFloats(d, hn::Load(d, from + i), to + i);
    } else {
      ForEachVector(outputs, [&](auto d, int64_t i)
                                 HWY_ATTR { StoreFloats(d, hn::LoadU(d, from + i), to + i); });
    }
  }
}

// Prefetches the elements of y that StoreStrip will write.
template <class Out>
HWY_INLINE void FetchOutputs(const FloatWork& work, int64_t strip, int64_t output) {
  const int64_t rows = std::min(kStrip, work.rows - strip * kStrip);
  const Out* y = static_cast<const Out*>(work.y) + strip * kStrip * work.y_stride + output;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < kPanel; i += kLineFloats) hwy::Prefetch(y + r * work.y_stride + i);
  }
}

// One pass over strips: a panel of weights for `count` inputs, and the sums to which it is added.
struct PanelPass {
  const float* panel;  // [count][kPanel]
  int64_t output;      // first output of the panel
  int64_t first;       // first input of the panel
  int64_t count;
  float* sums;        // [strip][kStrip][kPanel]
  const float* next;  // memory of the next pass, to prefetch; null: cached
};

// Multiplies strips begin .. end - 1 by a panel. After the last inputs, writes sums to y
// immediately, so that memory is written while the CPU continues to multiply.
template <class Out>
void MultiplyStrips(const FloatWork& work, const PanelPass& pass, int64_t begin, int64_t end) {
  const int64_t strips = StripsOf(work.rows);
  const bool last = pass.first + pass.count == work.inputs;
  const int64_t lines = pass.count * kPanel / kLineFloats;
  const int64_t lines_of_strip = (lines + end - begin - 1) / (end - begin);
  const auto x_of = [&](int64_t strip) {
    return work.x + (pass.first * strips + strip * pass.count) * kStrip;
  };
  alignas(64) float finished[kStrip * kPanel];
  for (int64_t strip = begin; strip < end; ++strip) {
    for (int64_t line = 0; pass.next && line < lines_of_strip; ++line)
      hwy::Prefetch(pass.next + ((strip - begin) * lines_of_strip + line) * kLineFloats);
    // After the last strip, the next panel begins with the first strip again.
    const float* next_x = x_of(strip + 1 < end ? strip + 1 : begin);
    const int64_t rows = work.rows - strip * kStrip;
    if (last) FetchOutputs<Out>(work, strip, pass.output);
    float* before = pass.sums + strip * kStrip * kPanel;
    float* to = last ? finished : before;
    if (pass.first == 0) {
      MultiplyStrip<true>(x_of(strip), pass.panel, rows, pass.count, next_x, before, to);
    } else {
      MultiplyStrip<false>(x_of(strip), pass.panel, rows, pass.count, next_x, before, to);
    }
    if (last) StoreStrip<Out>(work, strip, pass.output, finished);
  }
}

// A thread's working memory: rows for FillPanel, panels of a group of outputs, and sums.
struct GroupMemory {
  float* rows;
  float* weights;
  float* sums;
};

// Panels of a group of outputs for inputs [first, first + count), one every `stride` floats.
struct GroupPanels {
  const float* first;
  int64_t stride;
};

GroupPanels PanelsOf(const FloatWork& work, int64_t output, int64_t panels, int64_t first,
                     int64_t count, const GroupMemory& memory) {
  if (work.panels)
    return {work.panels + output * work.inputs + first * kPanel, work.inputs * kPanel};
  for (int64_t p = 0; p < panels; ++p) {
    FillPanel(*work.blocks, output + p * kPanel, first, count, memory.rows,
              memory.weights + p * count * kPanel);
  }
  return {memory.weights, count * kPanel};
}

// Computes all rows of y for outputs output .. output + outputs - 1.
template <class Out>
void MultiplyGroup(const FloatWork& work, int64_t output, int64_t outputs,
                   const GroupMemory& memory) {
  const int64_t panels = (outputs + kPanel - 1) / kPanel;
  const int64_t strips = StripsOf(work.rows);
  for (int64_t first = 0; first < work.inputs;) {
    const int64_t count = NextInputs(work.inputs - first);
    const GroupPanels weights = PanelsOf(work, output, panels, first, count, memory);
    for (int64_t begin = 0; begin < strips; begin += kStripsAtOnce) {
      const int64_t end = std::min(begin + kStripsAtOnce, strips);
      for (int64_t p = 0; p < panels; ++p) {
        const float* panel = weights.first + p * weights.stride;
        const float* next =
            p + 1 < panels ? panel + weights.stride : weights.first + count * kPanel;
        const bool fetches = work.panels && begin == 0 && strips > 1;
        MultiplyStrips<Out>(work,
                            {panel, output + p * kPanel, first, count,
                             memory.sums + p * strips * kStrip * kPanel, fetches ? next : nullptr},
                            begin, end);
      }
    }
    first += count;
  }
}

// Returns kStrip rows of x from `row` on as float32, with zeros for missing rows: x itself for
// whole strips of float32, otherwise a copy in `work` [kStrip][columns].
template <class In>
const float* StripRows(const In* x, int64_t row, int64_t rows, int64_t columns, float* work) {
  const In* from = x + row * columns;
  if constexpr (std::is_same_v<In, float>) {
    if (row + kStrip <= rows) return from;
  }
  const int64_t there = std::min(kStrip, rows - row) * columns;
  ForEachVector(
      there, [&](auto d, int64_t i) HWY_ATTR { hn::StoreU(LoadFloats(d, from + i), d, work + i); });
  std::fill(work + there, work + kStrip * columns, 0.0f);
  return work;
}

// Packs strips begin .. end - 1 of x [rows, columns] into `out` (FloatWork::x).
template <class In>
void PackStrips(const In* x, int64_t rows, int64_t columns, int64_t begin, int64_t end, float* work,
                float* out) {
  const int64_t strips = StripsOf(rows);
  for (int64_t strip = begin; strip < end; ++strip) {
    const float* from = StripRows(x, strip * kStrip, rows, columns, work);
    for (int64_t first = 0; first < columns;) {
      const int64_t count = NextInputs(columns - first);
      float* to = out + (first * strips + strip * count) * kStrip;
      for (int64_t row = 0; row < kStrip; row += kSquare) {
        const int64_t at = std::min(row, kStrip - kSquare);
        TransposeItems(from + at * columns + first, columns, count, kSquare, to + at, kStrip);
      }
      first += count;
    }
  }
}

}  // namespace float_product

int64_t FloatProductStrip() { return float_product::kStrip; }

// Returns the number of floats of working memory that FloatProductRange needs for `rows` rows.
int64_t SumFloats(int64_t rows) {
  return float_product::StripsOf(rows) * float_product::kStrip * kProductGroup;
}

// Computes outputs begin .. end - 1 of y for all rows.
void FloatProductRange(const FloatWork& work, int64_t begin, int64_t end) {
  BorrowedScratch<FloatGroupTag> scratch;
  const int64_t rows_floats = float_product::kPanel * kMostProductInputs;
  const int64_t weight_floats = kProductGroup * kMostProductInputs;
  auto* rows = scratch.Get<float>(rows_floats + weight_floats + SumFloats(work.rows));
  const float_product::GroupMemory memory{rows, rows + rows_floats,
                                          rows + rows_floats + weight_floats};
  const auto multiply = work.y_dtype == Dtype::kFloat32 ? float_product::MultiplyGroup<float>
                                                        : float_product::MultiplyGroup<BFloat16>;
  // For few rows, reading panels limits the speed, so each is read in order of memory.
  const bool reads = work.panels && work.rows <= float_product::kFewRows;
  const int64_t group = reads ? float_product::kPanel : kProductGroup;
  for (int64_t output = begin; output < end && !Cancelled(work.cancel); output += group)
    multiply(work, output, std::min(group, end - output), memory);
}

// Fills the panels of outputs begin .. end - 1 of a matrix: [panel][inputs][kPanel].
void FillFloatPanelRange(const BlockMatrix& weight, int64_t begin, int64_t end, float* panels) {
  using float_product::kPanel;
  BorrowedScratch<FloatGroupTag> scratch;
  auto* rows = scratch.Get<float>(kPanel * kMostProductInputs);
  for (int64_t output = begin; output < end; output += kPanel) {
    for (int64_t first = 0; first < weight.columns;) {
      const int64_t count = NextInputs(weight.columns - first);
      float_product::FillPanel(weight, output, first, count, rows,
                               panels + output * weight.columns + first * kPanel);
      first += count;
    }
  }
}

// Returns the weight of an output and an input from panels.
HWY_INLINE float NumberOf(const FloatPanels& panels, int64_t output, int64_t input) {
  using float_product::kPanel;
  return panels
      .numbers[output / kPanel * kPanel * panels.inputs + input * kPanel + output % kPanel];
}

void ReadFloatPanelRange(const FloatPanels& panels, int64_t input, int64_t inputs, int64_t begin,
                         int64_t end, float* out) {
  for (int64_t output = begin; output < end; ++output) {
    for (int64_t i = 0; i < inputs; ++i) *out++ = NumberOf(panels, output, input + i);
  }
}

void PackFloatStrips(const void* x, Dtype dtype, int64_t rows, int64_t columns, int64_t begin,
                     int64_t end, float* out) {
  BorrowedScratch<FloatGroupTag> scratch;
  auto* work = scratch.Get<float>(float_product::kStrip * columns);
  if (dtype == Dtype::kFloat32) {
    float_product::PackStrips(static_cast<const float*>(x), rows, columns, begin, end, work, out);
  } else {
    float_product::PackStrips(static_cast<const BFloat16*>(x), rows, columns, begin, end, work,
                              out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(FloatProductRange);
HWY_EXPORT(PackFloatStrips);
HWY_EXPORT(FloatProductStrip);
HWY_EXPORT(FillFloatPanelRange);
HWY_EXPORT(ReadFloatPanelRange);

namespace {

bool Multiply(const FloatWork& work, const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(work.y_stride, work.outputs);
  if (work.rows <= 0) return true;
  const int64_t multiply_adds = work.rows * work.outputs * work.inputs;
  ForProduct(executor, multiply_adds, work.outputs, kProductGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(FloatProductRange)(work, begin, end);
  });
  return !Cancelled(work.cancel);
}

bool HasWholeBlocks(const BlockMatrix& weight) {
  const auto format = FindBlockFormat(static_cast<uint32_t>(weight.type));
  return format && weight.columns % format->elements == 0;
}

}  // namespace

FloatInput::FloatInput(const void* x, Dtype dtype, int64_t rows, int64_t columns,
                       const Executor& executor)
    : rows_(rows), columns_(columns) {
  const int64_t strip = HWY_DYNAMIC_DISPATCH(FloatProductStrip)();
  const int64_t strips = (rows + strip - 1) / strip;
  packed_ = scratch_.Get<float>(strips * strip * columns);
  executor.For(strips, std::max<int64_t>(RowGrain(columns) / strip, 1),
               [&](int64_t begin, int64_t end) {
                 HWY_DYNAMIC_DISPATCH(PackFloatStrips)
                 (x, dtype, rows, columns, begin, end, packed_);
               });
}

int64_t FloatPanelSize(int64_t outputs, int64_t inputs) {
  return (outputs + kProductGrain - 1) / kProductGrain * kProductGrain * inputs;
}

void FillFloatPanels(const BlockMatrix& weight, float* panels, const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK(HasWholeBlocks(weight));
  executor.For(weight.rows, kProductGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(FillFloatPanelRange)(weight, begin, end, panels);
  });
}

void ReadFloatPanels(const FloatPanels& panels, const FloatPart& part, float* out) {
  MIDSCOPE_KERNEL_CHECK_LE(part.first_output + part.outputs, panels.outputs);
  MIDSCOPE_KERNEL_CHECK_LE(part.first_input + part.inputs, panels.inputs);
  HWY_DYNAMIC_DISPATCH(ReadFloatPanelRange)
  (panels, part.first_input, part.inputs, part.first_output, part.first_output + part.outputs, out);
}

bool FloatProduct(const BlockMatrix& weight, const FloatInput& x, void* y, Dtype y_dtype,
                  int64_t y_stride, const Executor& executor, CancelFlag cancel) {
  MIDSCOPE_KERNEL_CHECK(HasWholeBlocks(weight));
  MIDSCOPE_KERNEL_CHECK_EQ(weight.columns, x.columns());
  return Multiply({nullptr, &weight, weight.rows, weight.columns, x.packed(), x.rows(), y, y_dtype,
                   y_stride, cancel},
                  executor);
}

bool FloatProduct(const FloatPanels& weight, const FloatInput& x, void* y, Dtype y_dtype,
                  int64_t y_stride, const Executor& executor, CancelFlag cancel) {
  MIDSCOPE_KERNEL_CHECK_EQ(weight.inputs, x.columns());
  return Multiply({weight.numbers, nullptr, weight.outputs, weight.inputs, x.packed(), x.rows(), y,
                   y_dtype, y_stride, cancel},
                  executor);
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
