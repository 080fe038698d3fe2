// SPDX-License-Identifier: MIT
#include "core/decoder/arithmetic_choice.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "core/base/seconds_since.h"
#include "core/base/text.h"
#include "core/compute/aten_executor.h"
#include "core/compute/device_facts.h"
#include "core/compute/layer_devices.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/prepare_sequence.h"
#include "core/plan/context_limit.h"
#include "kernels/instruction_set.h"

namespace midscope {

namespace {

using Json = nlohmann::json;

// An arithmetic with a smaller speedup is not worth its lower precision.
constexpr double kLeastSpeedup = 1.05;

std::filesystem::path TimesFile() { return CacheFolder() / "dtype_times.json"; }

// Returns a mark that differs between builds: size and time of the file from which this code was
// loaded.
std::string BuildMark() {
  Dl_info info{};
  struct stat file {};
  if (dladdr(reinterpret_cast<const void*>(&BuildMark), &info) == 0 || !info.dli_fname ||
      stat(info.dli_fname, &file) != 0) {
    return "";
  }
  return std::to_string(file.st_size) + " " + std::to_string(file.st_mtim.tv_sec) + "." +
         std::to_string(file.st_mtim.tv_nsec);
}

std::string NamesOf(const std::vector<Arithmetic>& arithmetics) {
  std::vector<std::string> names;
  names.reserve(arithmetics.size());
  for (const Arithmetic& arithmetic : arithmetics) names.push_back(ArithmeticName(arithmetic));
  return Joined(names, " and ");
}

// Whether int16 products are possible: they need the file's integers and the CPU's own kernels. If
// the layer has no such products, they are not timed (TimeFirstLayer).
bool MayTakeInt16(const ModelConfig& config, const DecoderOptions& options) {
  return options.products == Products::kFloat && options.weights != WeightStorage::kExpanded &&
         options.placement.IsPlainCpu() && config.quantised_bytes > 0;
}

// Returns the candidates, from the most to the least exact.
std::vector<Arithmetic> Candidates(const ModelConfig& config, const DecoderOptions& options) {
  std::vector<Arithmetic> candidates = {{kernels::Dtype::kFloat32, options.products}};
  if (MayTakeInt16(config, options))
    candidates.push_back({kernels::Dtype::kFloat32, Products::kInt16});
  candidates.push_back({kernels::Dtype::kBFloat16, options.products});
  return candidates;
}

// Returns the key of the times, which contains everything on which they depend.
std::string TimesKey(const ModelSource& source, const DecoderOptions& options) {
  const ModelConfig& config = source.config();
  const auto expanded = [&](kernels::Dtype dtype) {
    return ResolveStorage(options.weights, config, dtype, options.products) ==
           WeightStorage::kExpanded;
  };
  return Json{
      {"cpu", CpuName()},
      {"instructions", kernels::InstructionSetName()},
      {"limits",
       {Environment("ATEN_CPU_CAPABILITY"), Environment("ONEDNN_MAX_CPU_ISA"),
        Environment("MKL_ENABLE_INSTRUCTIONS")}},
      {"threads", at::get_num_threads()},
      {"device", DeviceText(options.placement.shares.front().device)},
      {"build", BuildMark()},
      {"layer",
       {config.hidden, config.feed_forward, config.experts.count, config.experts.per_row,
        config.experts.width, config.experts.shared_width, config.heads, config.key_value_heads,
        config.head_dim, config.gated_mlp ? 1 : 0}},
      {"quantisation", config.quantisation},
      {"arithmetics", NamesOf(Candidates(config, options))},
      {"expanded", {expanded(kernels::Dtype::kFloat32), expanded(kernels::Dtype::kBFloat16)}}}
      .dump();
}

// Returns an empty object if the file does not exist or is damaged; the times are then measured
// again.
Json ReadTimes() {
  std::ifstream file(TimesFile());
  Json all = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  return all.is_object() ? all : Json::object();
}

// If two processes write at once, one loses its measurements and measures again later.
bool WriteTimes(const std::string& key, const ArithmeticTimes& times) {
  Json all = ReadTimes();
  Json entry = {{"rows", kTimedRows}};
  for (const auto& [arithmetic, seconds] : times.timed) entry[ArithmeticName(arithmetic)] = seconds;
  all[key] = entry;
  std::error_code failed;
  std::filesystem::create_directories(TimesFile().parent_path(), failed);
  const std::filesystem::path temporary = TimesFile().string() + "." + std::to_string(getpid());
  std::ofstream file(temporary);
  file << all.dump(1) << '\n';
  file.close();
  if (file) std::filesystem::rename(temporary, TimesFile(), failed);
  const bool kept = file && !failed;
  if (!kept) std::filesystem::remove(temporary, failed);  // for instance, the disk is full
  return kept;
}

// Returns nullopt if the entry is damaged. An entry without one of the arithmetics is valid: its
// model has no weights for these products.
std::optional<ArithmeticTimes> TimesOf(const Json& entry,
                                       const std::vector<Arithmetic>& arithmetics) {
  if (!entry.is_object()) return std::nullopt;
  ArithmeticTimes times;
  for (const Arithmetic& arithmetic : arithmetics) {
    const auto found = entry.find(ArithmeticName(arithmetic));
    if (found == entry.end()) continue;
    ArithmeticTimes::Timed timed{arithmetic};
    if (!found->is_array() || found->size() != timed.seconds.size()) return std::nullopt;
    for (size_t i = 0; i < timed.seconds.size(); ++i) {
      const Json& value = (*found)[i];
      if (!value.is_number() || value.get<double>() <= 0) return std::nullopt;
      timed.seconds[i] = value.get<double>();
    }
    times.timed.push_back(timed);
  }
  const bool whole = !times.timed.empty() &&
                     times.timed.front().arithmetic == arithmetics.front() &&
                     times.timed.back().arithmetic == arithmetics.back();
  return whole ? std::optional(times) : std::nullopt;
}

std::string Milliseconds(double seconds) {
  std::array<char, 32> text{};
  std::to_chars(text.begin(), text.end(), seconds * 1e3, std::chars_format::general, 3);
  return text.data() + std::string(" ms");
}

}  // namespace

double ArithmeticTimes::Speedup(const Timed& one) const {
  double logarithms = 0;
  for (size_t i = 0; i < kTimedRows.size(); ++i)
    logarithms += std::log(timed.front().seconds[i] / one.seconds[i]);
  return std::exp(logarithms / static_cast<double>(kTimedRows.size()));
}

Arithmetic ArithmeticTimes::Fastest(bool choose_products) const {
  const Timed* fastest = &timed.front();
  for (const Timed& one : timed) {
    const bool other = one.arithmetic.products != timed.front().arithmetic.products;
    if (other && !choose_products) continue;
    if (Speedup(one) > kLeastSpeedup * Speedup(*fastest)) fastest = &one;
  }
  return fastest->arithmetic;
}

std::optional<ArithmeticTimes> KnownArithmeticTimes(const ModelSource& source,
                                                    const DecoderOptions& options) {
  const Json all = ReadTimes();
  const auto entry = all.find(TimesKey(source, options));
  return entry == all.end() ? std::nullopt : TimesOf(*entry, Candidates(source.config(), options));
}

ArithmeticTimes FindArithmeticTimes(const ModelSource& source, const DecoderOptions& options,
                                    const kernels::Executor& executor, const JobContext& context) {
  if (const auto known = KnownArithmeticTimes(source, options)) return *known;
  const std::vector<Arithmetic> candidates = Candidates(source.config(), options);
  context.Log("dtype: measuring " + NamesOf(candidates) +
              " on a layer of this model (once a machine)");
  const std::vector<std::vector<double>> seconds = TimeFirstLayer(
      source, options, candidates, {kTimedRows.begin(), kTimedRows.end()}, executor, context);
  ArithmeticTimes times;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (seconds[i].empty()) continue;
    ArithmeticTimes::Timed timed{candidates[i]};
    std::copy(seconds[i].begin(), seconds[i].end(), timed.seconds.begin());
    times.timed.push_back(timed);
  }
  if (!WriteTimes(TimesKey(source, options), times)) {
    context.Log("dtype: " + TimesFile().string() +
                " cannot be written, so this is measured again next time");
  }
  return times;
}

namespace {

void LogFastest(const ArithmeticTimes& times, const DecoderOptions& options,
                const JobContext& context) {
  context.Log("dtype: auto is " + AutoDtypeText(times.Fastest(options.fastest_products)) +
              " here: " + ArithmeticTimesText(times));
}

}  // namespace

// bfloat16 can only be slower if the CPU has no instruction for it.
Arithmetic ResolveArithmetic(const ModelSource& source, const DecoderOptions& options,
                             const kernels::Executor& executor, const JobContext& context) {
  const bool needs_times = options.dtype == kernels::Dtype::kBFloat16 &&
                           options.placement.IsPlainCpu() && !kernels::HasBFloat16Products();
  const Arithmetic asked = options.arithmetic();
  if (!options.fastest_dtype && !needs_times) return asked;
  const ArithmeticTimes times = FindArithmeticTimes(source, options, executor, context);
  if (options.fastest_dtype) {
    LogFastest(times, options, context);
    return times.Fastest(options.fastest_products);
  }
  if (times.Speedup(times.timed.back()) < 1)
    context.Log("dtype: bfloat16 is slower than float32 here: " + ArithmeticTimesText(times));
  return asked;
}

ArithmeticTimes FindArithmeticTimes(const std::string& model, const DecoderOptions& options,
                                    const JobContext& context) {
  const c10::InferenceMode inference;
  if (options.threads > 0) at::set_num_threads(options.threads);
  ArithmeticTimes times = FindArithmeticTimes(*OpenModel(model), options, AtenExecutor(), context);
  LogFastest(times, options, context);
  return times;
}

std::string ArithmeticTimesText(const ArithmeticTimes& times) {
  std::string text = "a layer takes ";
  for (size_t i = 0; i < kTimedRows.size(); ++i) {
    std::vector<std::string> each;
    for (const auto& [arithmetic, seconds] : times.timed)
      each.push_back(Milliseconds(seconds[i]) + " in " + ArithmeticName(arithmetic));
    text += (i == 0 ? "" : "; ") + Joined(each, " and ") + " for " + std::to_string(kTimedRows[i]) +
            " tokens";
  }
  return text + " (" + kernels::InstructionSetName() + ")";
}

std::string AutoDtypeText(const Arithmetic& fastest) {
  return DtypeName(fastest.dtype) + (fastest.products == Products::kFloat
                                         ? ""
                                         : " with --products " + ProductsName(fastest.products));
}

namespace {

constexpr size_t kFewestPasses = 3;
constexpr size_t kMostPasses = 15;
// Time limit in seconds: beyond it, passes with this number of rows are only repeated up to
// kFewestPasses times.
constexpr double kSeconds = 0.3;

// The model's first layer as a complete model.
class FirstLayer {
 public:
  FirstLayer(const ModelSource& source, DecoderOptions options, const Arithmetic& arithmetic,
             const kernels::Executor& executor, const JobContext& context)
      : config_(source.config()), dtype_(arithmetic.dtype), executor_(executor), context_(context) {
    config_.layers = 1;
    config_.attention.resize(1);
    config_.beyond_context = true;  // the time does not depend on the meaning of positions
    // Uses the first device, because layers are usually split between devices of the same kind.
    options.placement.shares = {{options.placement.shares.front().device, 1}};
    const WeightOptions how =
        Resolved({.dtype = dtype_, .storage = options.weights, .products = arithmetic.products},
                 source.config(), options.placement);
    weights_ = LoadFirstLayer(source, how, executor, context);
    devices_ = LayerDevices(options.placement, dtype_, executor);
    PlaceWeights(devices_, executor, &weights_);
  }

  bool HasWholeNumbers() { return HasWholeNumberProducts(weights_.layers.front()); }

  // Returns the seconds for `rows` rows, or for fewer if the model has no positions for more.
  double SecondsOf(int64_t rows) {
    rows = std::min(rows, LongestRun({}, config_));
    std::vector<int32_t> ids(static_cast<size_t>(rows));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int32_t>(static_cast<int64_t>(i) % config_.vocabulary);
    RunRequest request;
    request.ids = ids;
    std::vector<SequencePass> sequences;
    sequences.push_back(PrepareSequence(request, 0, config_, dtype_, devices_.Devices()));
    JobContext quiet = context_;
    quiet.progress = nullptr;
    ForwardPass pass({config_, weights_, devices_, dtype_, rotary_, executor_}, quiet);
    const auto start = std::chrono::steady_clock::now();
    pass.Run(sequences);
    // A GPU is done when its result has been read.
    if (!devices_.Of(0).host_memory()) pass.residual().cpu();
    return SecondsSince(start);
  }

 private:
  ModelConfig config_;
  kernels::Dtype dtype_;
  const kernels::Executor& executor_;
  const JobContext& context_;
  Weights weights_;
  LayerDevices devices_;
  RotaryCache rotary_;
};

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<std::vector<double>> TimeFirstLayer(const ModelSource& source,
                                                const DecoderOptions& options,
                                                const std::vector<Arithmetic>& arithmetics,
                                                const std::vector<int64_t>& rows,
                                                const kernels::Executor& executor,
                                                const JobContext& context) {
  std::vector<std::unique_ptr<FirstLayer>> layers;
  std::vector<size_t> timed;  // indices into `arithmetics`
  for (size_t i = 0; i < arithmetics.size(); ++i) {
    auto layer = std::make_unique<FirstLayer>(source, options, arithmetics[i], executor, context);
    const bool whole_numbers = arithmetics[i].products != options.products;
    if (whole_numbers && !layer->HasWholeNumbers()) continue;
    layers.push_back(std::move(layer));
    timed.push_back(i);
  }
  std::vector<std::vector<double>> seconds(arithmetics.size());
  for (const int64_t count : rows) {
    std::vector<std::vector<double>> passes(layers.size());
    for (const auto& layer : layers) layer->SecondsOf(count);  // warm-up: memory, tables, first use
    const auto start = std::chrono::steady_clock::now();
    while (passes.front().size() < kFewestPasses ||
           (passes.front().size() < kMostPasses && SecondsSince(start) < kSeconds)) {
      for (size_t i = 0; i < layers.size(); ++i) {
        context.ThrowIfCancelled();
        passes[i].push_back(layers[i]->SecondsOf(count));
      }
    }
    for (size_t i = 0; i < passes.size(); ++i)
      seconds[timed[i]].push_back(Median(std::move(passes[i])));
  }
  return seconds;
}

}  // namespace midscope
