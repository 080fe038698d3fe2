// SPDX-License-Identifier: MIT
#include "core/decoder/dtype_choice.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/cache_folder.h"
#include "core/base/environment.h"
#include "core/compute/aten_executor.h"
#include "core/compute/device_facts.h"
#include "core/decoder/layer_timing.h"
#include "kernels/instruction_set.h"

namespace midscope {
namespace {

using Json = nlohmann::json;

// One that is faster by less is not worth its lower precision.
constexpr double kLeastSpeedup = 1.05;

std::filesystem::path TimesFile() { return CacheFolder() / "dtype_times.json"; }

// Differs between builds: size and time of the file that this code was loaded from.
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

// What the times depend on.
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
      {"products", ProductsName(options.products)},
      {"expanded", {expanded(kernels::Dtype::kFloat32), expanded(kernels::Dtype::kBFloat16)}}}
      .dump();
}

// An empty object where there is no such file, or one that is damaged: it is measured anew.
Json ReadTimes() {
  std::ifstream file(TimesFile());
  Json all = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  return all.is_object() ? all : Json::object();
}

// Of two processes that write at once, one loses what it measured, and measures again later.
bool WriteTimes(const std::string& key, const DtypeTimes& times) {
  Json all = ReadTimes();
  all[key] = {{"rows", kTimedRows}, {"float32", times.float32}, {"bfloat16", times.bfloat16}};
  std::error_code failed;
  std::filesystem::create_directories(TimesFile().parent_path(), failed);
  const std::filesystem::path temporary = TimesFile().string() + "." + std::to_string(getpid());
  std::ofstream file(temporary);
  file << all.dump(1) << '\n';
  file.close();
  if (!file) return false;
  std::filesystem::rename(temporary, TimesFile(), failed);
  return !failed;
}

bool ReadSeconds(const Json& entry, const char* name,
                 std::array<double, kTimedRows.size()>& seconds) {
  const auto found = entry.find(name);
  if (found == entry.end() || !found->is_array() || found->size() != seconds.size()) return false;
  for (size_t i = 0; i < seconds.size(); ++i) {
    const Json& value = (*found)[i];
    if (!value.is_number() || value.get<double>() <= 0) return false;
    seconds[i] = value.get<double>();
  }
  return true;
}

std::string Milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g ms", seconds * 1e3);
  return text;
}

}  // namespace

double DtypeTimes::Speedup() const {
  double logarithms = 0;
  for (size_t i = 0; i < kTimedRows.size(); ++i) logarithms += std::log(float32[i] / bfloat16[i]);
  return std::exp(logarithms / static_cast<double>(kTimedRows.size()));
}

kernels::Dtype DtypeTimes::Fastest() const {
  return Speedup() > kLeastSpeedup ? kernels::Dtype::kBFloat16 : kernels::Dtype::kFloat32;
}

std::optional<DtypeTimes> KnownDtypeTimes(const ModelSource& source,
                                          const DecoderOptions& options) {
  const Json all = ReadTimes();
  const auto entry = all.find(TimesKey(source, options));
  DtypeTimes times;
  if (entry == all.end() || !entry->is_object() || !ReadSeconds(*entry, "float32", times.float32) ||
      !ReadSeconds(*entry, "bfloat16", times.bfloat16)) {
    return std::nullopt;
  }
  return times;
}

DtypeTimes FindDtypeTimes(const ModelSource& source, const DecoderOptions& options,
                          const kernels::Executor& executor, const JobContext& context) {
  if (const auto known = KnownDtypeTimes(source, options)) return *known;
  context.Log("dtype: measuring float32 and bfloat16 on a layer of this model (once a machine)");
  const std::vector<std::vector<double>> seconds =
      TimeFirstLayer(source, options, {kernels::Dtype::kFloat32, kernels::Dtype::kBFloat16},
                     {kTimedRows.begin(), kTimedRows.end()}, executor, context);
  DtypeTimes times;
  for (size_t i = 0; i < kTimedRows.size(); ++i) {
    times.float32[i] = seconds[0][i];
    times.bfloat16[i] = seconds[1][i];
  }
  if (!WriteTimes(TimesKey(source, options), times)) {
    context.Log("dtype: " + TimesFile().string() +
                " can't be written, so this is measured again next time");
  }
  return times;
}

namespace {

void LogFastest(const DtypeTimes& times, const JobContext& context) {
  const bool narrow = times.Fastest() == kernels::Dtype::kBFloat16;
  context.Log(std::string("dtype: auto is ") + (narrow ? "bfloat16" : "float32") +
              " here: " + DtypeTimesText(times));
}

}  // namespace

// bfloat16 can only be slower where the CPU has no instruction for it.
kernels::Dtype ResolveDtype(const ModelSource& source, const DecoderOptions& options,
                            const kernels::Executor& executor, const JobContext& context) {
  const bool needs_times = options.dtype == kernels::Dtype::kBFloat16 &&
                           options.placement.IsPlainCpu() && !kernels::HasBFloat16Products();
  if (!options.fastest_dtype && !needs_times) return options.dtype;
  const DtypeTimes times = FindDtypeTimes(source, options, executor, context);
  if (options.fastest_dtype) {
    LogFastest(times, context);
    return times.Fastest();
  }
  if (times.Speedup() < 1)
    context.Log("dtype: bfloat16 is slower than float32 here: " + DtypeTimesText(times));
  return options.dtype;
}

DtypeTimes FindDtypeTimes(const std::string& model, const DecoderOptions& options,
                          const JobContext& context) {
  const c10::InferenceMode inference;
  if (options.threads > 0) at::set_num_threads(options.threads);
  const DtypeTimes times = FindDtypeTimes(*OpenModel(model), options, AtenExecutor(), context);
  LogFastest(times, context);
  return times;
}

std::string DtypeTimesText(const DtypeTimes& times) {
  std::string text = "a layer takes ";
  for (size_t i = 0; i < kTimedRows.size(); ++i) {
    text += (i == 0 ? "" : "; ") + Milliseconds(times.float32[i]) + " in float32 and " +
            Milliseconds(times.bfloat16[i]) + " in bfloat16 for " + std::to_string(kTimedRows[i]) +
            " tokens";
  }
  return text + " (" + kernels::InstructionSetName() + ")";
}

}  // namespace midscope
