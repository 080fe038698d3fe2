// SPDX-License-Identifier: MIT
#include "core/model/folder_model.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/hashes.h"
#include "core/base/utf8.h"
#include "core/formats/config_json.h"
#include "core/formats/folder_weights.h"
#include "core/formats/quantised_matrix.h"
#include "core/model/changed_source.h"
#include "core/model/families/family.h"
#include "core/model/folder_tensors.h"
#include "core/model/model_shapes.h"
#include "core/model/quantisation_settings.h"
#include "core/model/quantised_folder.h"
#include "core/model/tensor_table.h"
#include "core/model/unsupported_layers.h"

namespace midscope {
namespace {

// The model that config.json describes: a family's decoder, alone or as the text part of a model of
// text and images.
struct Described {
  const Family* family = nullptr;
  const TextWrapper* wrapper = nullptr;  // null: not part of another model
  ConfigJson text;                       // configuration of the decoder
  // Settings of quantised weights; nullopt for floats and MXFP4, which the families' code reads.
  std::optional<QuantisationSettings> quantisation = std::nullopt;
};

[[noreturn]] void FailType(const ConfigJson& json, const std::string& type) {
  std::string supported;
  const auto add = [&](std::string_view name) {
    supported += (supported.empty() ? "" : ", ") + std::string(name);
  };
  for (const Family* family : Families()) add(family->model_type);
  for (const TextWrapper& wrapper : TextWrappers()) {
    if (FindTextWrappers(wrapper.model_type)[0] == &wrapper) add(wrapper.model_type);
  }
  json.Fail(
      type.empty() ? "model_type is missing" : NotSupported("model_type", type, ShownLayers(json)),
      "Supported: " + supported +
          ". How to add a family: core/model/families/README.md in Midscope's source");
}

Described FamilyOf(const ConfigJson& json) {
  const std::string type = json.Text("model_type", "");
  if (const Family* family = FindModelType(type)) return {family, nullptr, json};
  const std::vector<const TextWrapper*> wrappers = FindTextWrappers(type);
  if (wrappers.empty()) FailType(json, type);
  auto text = json.Object("text_config");
  if (!text && !wrappers[0]->flat) json.Fail("has no text_config, which describes its text part");
  if (!text) return {&wrappers[0]->family(), wrappers[0], json};
  const std::string text_type = text->Text("model_type", std::string(wrappers[0]->text_types[0]));
  std::string supported;
  for (const TextWrapper* wrapper : wrappers) {
    const auto& types = wrapper->text_types;
    if (std::find(types.begin(), types.end(), text_type) != types.end())
      return {&wrapper->family(), wrapper, *text};
    supported += (supported.empty() ? "" : ", ") + std::string(types[0]);
  }
  json.Fail("its text part has the model_type " + Quote(text_type) +
                ", which is not supported yet in a " + type + " model",
            "Supported there: " + supported);
}

ConfigJson ReadJson(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  if (!std::filesystem::exists(path)) {
    throw Failure(folder.string(), "has no config.json, so it is not a Hugging Face model",
                  "Name a folder that has one, or a .gguf file");
  }
  return ConfigJson::Read(path);
}

std::optional<QuantisationSettings> Quantisation(const ConfigJson& json,
                                                 const Described& described) {
  auto quantised = json.Object("quantization_config");
  if (!quantised) quantised = described.text.Object("quantization_config");
  if (!quantised) return std::nullopt;
  if (!described.family->takes_mxfp4) return ReadQuantisation(*quantised);
  if (quantised->Text("quant_method", "") == "mxfp4") return std::nullopt;
  json.Fail(
      "its weights are quantised (quantization_config) in another way than MXFP4, which is "
      "not supported for this family",
      "Use the model's float weights, or a quantised .gguf file");
}

Described Describe(const ConfigJson& json) {
  Described described = FamilyOf(json);
  described.quantisation = Quantisation(json, described);
  return described;
}

ModelConfig ReadConfig(const ConfigJson& json, const Described& described) {
  ModelConfig config;
  const auto& quantised = described.quantisation;
  if (quantised && quantised->quantises_activations) {
    config.notes.push_back("its scheme (" + quantised->method +
                           ") also quantises activations while a model runs; here it is applied "
                           "to weights only, and activations are not rounded");
  }
  config.architecture = described.family->name;
  config.name = json.Text("_name_or_path", "");
  described.family->read_folder(described.text, &config);
  if (const TextWrapper* wrapper = described.wrapper) {
    config.tied_embeddings =
        json.Flag("tie_word_embeddings", wrapper->tied) ||
        (wrapper->text_may_tie && described.text.Flag("tie_word_embeddings", false));
  }
  CheckModelConfig(config, json.thing());
  return config;
}

// Returns a tensor, F64 cast to F32 as in transformers; the cast copy is stored in `copies`.
FileTensor ReadTensor(const std::string& name, const SafetensorsTensor& tensor,
                      std::deque<std::vector<std::byte>>* copies) {
  FileTensor read{tensor.shape, *kernels::FindBlockFormat(0), tensor.data, tensor.bytes, name};
  const auto set_type = [&](kernels::BlockType type) {
    read.format = *kernels::FindBlockFormat(static_cast<uint32_t>(type));
  };
  if (tensor.dtype == "F32") return read;
  if (tensor.dtype == "F16") {
    set_type(kernels::BlockType::kF16);
  } else if (tensor.dtype == "BF16") {
    set_type(kernels::BlockType::kBF16);
  } else if (tensor.dtype == "F64") {
    const auto elements = static_cast<size_t>(tensor.bytes) / sizeof(double);
    std::vector<std::byte>& copy = copies->emplace_back(elements * sizeof(float));
    for (size_t i = 0; i < elements; ++i) {
      double wide = 0;
      std::memcpy(&wide, tensor.data + i * sizeof wide, sizeof wide);
      const auto value = static_cast<float>(wide);
      std::memcpy(copy.data() + i * sizeof value, &value, sizeof value);
    }
    read.data = copy.data();
    read.bytes = static_cast<int64_t>(copy.size());
  } else {
    read.unread_dtype = tensor.dtype;
  }
  return read;
}

// Whether a tensor is not a weight: old checkpoints contain masks, frequencies and positions.
bool IsPassedOver(std::string_view name, const Family& family) {
  // transformers ignores rotary frequencies in every model.
  if (name.find("rotary_emb.inv_freq") != std::string_view::npos) return true;
  return std::any_of(family.ignored_endings.begin(), family.ignored_endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// Returns the file's weights, keyed by the tensor names of the decoder's family.
FileTensors WeightsOf(const FolderWeights& file, SafetensorsTensors stored,
                      const QuantisedMatrices& matrices, const Described& described,
                      const std::string& folder, ModelConfig* config,
                      std::deque<std::vector<std::byte>>* joined) {
  FileTensors tensors;
  if (described.family->takes_mxfp4) {
    const auto copied = [&](const SafetensorsTensor& tensor) {
      file.DontNeed(tensor.data, tensor.bytes);
    };
    JoinMxfp4(folder, copied, &stored, &tensors, joined);
  }
  int64_t left_out = 0;
  int64_t left_out_bytes = 0;
  const auto add = [&](const std::string& name, int64_t bytes, const auto& read) {
    const auto own = described.wrapper == nullptr ? name : TextTensorName(name, *described.wrapper);
    if (!own) {
      ++left_out;
      left_out_bytes += bytes;
      return;
    }
    if (!tensors.emplace(*own, read()).second)
      throw Failure(folder, "has two tensors for " + Quote(*own, 120));
  };
  for (const auto& [name, tensor] : stored) {
    if (IsPassedOver(name, *described.family)) continue;  // whatever its dtype
    add(name, tensor.bytes, [&, &n = name, &t = tensor] { return ReadTensor(n, t, joined); });
  }
  for (const auto& [name, matrix] : matrices) {
    add(name, matrix.file_bytes(), [&n = name, &m = matrix] {
      FileTensor tensor{{m.rows, m.columns}, *kernels::FindBlockFormat(0), nullptr, 0, n};
      tensor.quantised = &m;
      return tensor;
    });
  }
  if (left_out > 0) {
    config->notes.push_back(fmt::format(
        "only the text part is read: {} tensors of the other parts (pictures), {} MB, are left out",
        left_out, (left_out_bytes + 500'000) / 1'000'000));
  }
  JoinNormsOfHeads(folder, &tensors, joined);
  const std::vector<TensorPlace> places = described.family->folder_tensors(described.text);
  CompleteBaseNames(places, &tensors);
  ResolveOutput(places, folder, &tensors, config);
  return tensors;
}

class FolderModel : public ModelSource {
 public:
  explicit FolderModel(const std::filesystem::path& folder)
      : FolderModel(folder, ReadJson(folder)) {}

  const ModelConfig& config() const override { return config_; }
  const TensorRef* Find(const std::string& name) const override { return table_.Find(name); }
  std::unique_ptr<Tokenizer> MakeTokenizer() const override {
    return std::make_unique<Tokenizer>(Tokenizer::FromFolder(folder_));
  }
  std::string path() const override { return folder_.string(); }
  std::string Hash() const override { return HashMaps(file_.maps()); }
  void DontNeed(const TensorRef& tensor) const override {
    file_.DontNeed(tensor.data, SpannedBytes(tensor));
  }
  void CheckWhole() const override {
    for (const MemoryMap& map : file_.maps()) map.CheckWhole();
  }

  bool has_quantised() const { return !matrices_.empty(); }
  const QuantisedRows* FindQuantised(const std::string& name) const {
    return table_.FindQuantised(name);
  }
  void DontNeedParts(const QuantisedMatrix& matrix) const {
    for (const SafetensorsTensor& part : matrix.parts) file_.DontNeed(part.data, part.bytes);
  }

 private:
  FolderModel(const std::filesystem::path& folder, const ConfigJson& json)
      : FolderModel(folder, json, Describe(json)) {}
  FolderModel(const std::filesystem::path& folder, const ConfigJson& json,
              const Described& described)
      : folder_(folder),
        config_(ReadConfig(json, described)),
        file_(folder),
        stored_(file_.tensors()),
        matrices_(TakeMatrices(described.quantisation)),
        weights_(WeightsOf(file_, std::move(stored_), matrices_, described, folder.string(),
                           &config_, &joined_)),
        table_(config_, described.family->folder_tensors(described.text), weights_, {},
               folder.string(),
               [this](const FileTensor& tensor) { file_.DontNeed(tensor.data, tensor.bytes); }) {
    CountParameters(weights_, &config_);
    weights_.clear();
    config_.copied_bytes = table_.transposed_bytes() + file_.copied_bytes();
    for (const std::vector<std::byte>& copy : joined_)
      config_.copied_bytes += static_cast<int64_t>(copy.size());
  }

  QuantisedMatrices TakeMatrices(const std::optional<QuantisationSettings>& quantisation) {
    if (!quantisation) {
      for (const auto& [name, tensor] : stored_) {
        if (!name.ends_with(".qweight") && !name.ends_with(".weight_packed")) continue;
        throw Failure(folder_.string(),
                      "tensor " + Quote(name, 120) +
                          " is quantised, but config.json has no quantization_config",
                      "Add the scheme there, for example that of quantize_config.json with "
                      "\"quant_method\": \"gptq\"");
      }
      return {};
    }
    return TakeQuantised(*quantisation, folder_.string(), &stored_);
  }

  std::filesystem::path folder_;
  ModelConfig config_;
  FolderWeights file_;
  SafetensorsTensors stored_;  // only while constructing
  QuantisedMatrices matrices_;
  std::deque<std::vector<std::byte>> joined_;  // MXFP4 matrices, norms of heads, copies of F64
  FileTensors weights_;
  TensorTable table_;
};

// A Hugging Face folder with quantised matrices, which are dequantised when they are read.
class DequantisedSource : public ChangedSource {
 public:
  DequantisedSource(std::unique_ptr<FolderModel> base, const FolderModel& folder)
      : ChangedSource(std::move(base), folder.config()), folder_(folder) {}

  std::string path() const override { return folder_.path(); }
  std::string Hash() const override { return folder_.Hash(); }

 protected:
  bool Changes(const std::string& name) const override {
    return folder_.FindQuantised(name) != nullptr;
  }
  kernels::BlockFormat FormatOf(const std::string& name) const override {
    return folder_.FindQuantised(name)->matrix->ExactFormat();
  }
  void Fill(const std::string& name, const TensorRef& from, const kernels::BlockFormat& format,
            std::byte* out) const override {
    const QuantisedRows& rows = *folder_.FindQuantised(name);
    const int64_t row_bytes = from.columns / format.elements * format.bytes;
    ForRowRanges(from.rows, from.rows * from.columns, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = from.row_order.empty() ? row : from.row_order[static_cast<size_t>(row)];
        rows.matrix->Row(rows.first_row + at, format, out + row * row_bytes);
      }
    });
    folder_.DontNeedParts(*rows.matrix);
  }

 private:
  const FolderModel& folder_;  // the base source
};

}  // namespace

ModelConfig ReadFolderConfig(const std::filesystem::path& folder) {
  const ConfigJson json = ReadJson(folder);
  return ReadConfig(json, Describe(json));
}

std::unique_ptr<ModelSource> OpenFolderModel(const std::filesystem::path& folder) {
  auto model = std::make_unique<FolderModel>(folder);
  const FolderModel& folder_model = *model;
  if (!folder_model.has_quantised()) return model;
  return std::make_unique<DequantisedSource>(std::move(model), folder_model);
}

}  // namespace midscope
