// SPDX-License-Identifier: MIT
#include "probes/model/provenance.h"

#include <ctime>

#include "core/model/model_text.h"
#include "kernels/instruction_set.h"
#include "probes/model/model_options.h"

namespace midscope {

std::string ProgramVersion() { return MIDSCOPE_VERSION; }

std::string LibraryVersions() {
  return "LibTorch " MIDSCOPE_LIBTORCH_VERSION ", HDF5 " MIDSCOPE_HDF5_VERSION;
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  const size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text, length};
}

Provenance ProgramProvenance(const std::string& command, int64_t seed,
                             const std::string& options_json) {
  Provenance provenance;
  provenance.version = ProgramVersion();
  provenance.created = UtcNow();
  provenance.command = command;
  provenance.seed = seed;
  provenance.options_json = options_json;
  provenance.libraries = LibraryVersions();
  return provenance;
}

Provenance MakeProvenance(const Decoder& decoder, const std::string& command, int64_t seed,
                          const std::string& options_json) {
  Provenance provenance = ProgramProvenance(command, seed, options_json);
  provenance.model_path = ShortModelText(decoder.path());
  provenance.model_hash = decoder.hash();
  provenance.architecture = decoder.config().architecture;
  provenance.dtype = DtypeName(decoder.options().dtype);
  provenance.products = ProductsName(decoder.options().products);
  provenance.weights = WeightStorageName(decoder.options().weights);
  provenance.device = PrintPlacement(decoder.options().placement);
  provenance.instructions = kernels::InstructionSetName();
  provenance.threads = decoder.options().threads;
  return provenance;
}

Provenance MakeProvenance(const ModelSource& source, kernels::Dtype dtype, const DeviceName& device,
                          int64_t threads, const std::string& command, int64_t seed,
                          const std::string& options_json) {
  Provenance provenance = ProgramProvenance(command, seed, options_json);
  provenance.model_path = ShortModelText(source.path());
  provenance.model_hash = source.Hash();
  provenance.architecture = source.config().architecture;
  provenance.dtype = DtypeName(dtype);
  provenance.weights = WeightStorageName(WeightStorage::kExpanded);
  provenance.device = PrintPlacement({{{device, source.config().layers}}});
  provenance.instructions = kernels::InstructionSetName();
  provenance.threads = threads;
  return provenance;
}

}  // namespace midscope
