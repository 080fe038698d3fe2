// SPDX-License-Identifier: MIT
// Folders in quantised formats, made by make_quantised_models.py. Contract: logits are those of
// transformers with the dequantised weights within 1e-5 of the largest (float32), whether matrices
// are stored as blocks or expanded; blocks hold the values exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/compute/arithmetic.h"
#include "core/decoder/decoder.h"
#include "core/model/folder_model.h"
#include "core/model/quantised_folder.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using kernels::Dtype;
using test::ChangeConfig;
using test::Difference;
using test::ErrorMessage;
using test::ErrorWith;
using test::Largest;
using test::ReadSafetensors;
using test::SafetensorsPart;
using test::SafetensorsParts;
using test::TemporaryFolder;
using test::WriteSafetensors;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

const std::filesystem::path models_folder = MIDSCOPE_TESTS "/core/golden/quantised_models";
constexpr const char* kUp = "model.layers.0.mlp.up_proj.";

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(models_folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

SafetensorsParts PartsOf(const std::string& name) {
  return ReadSafetensors(TemporaryFolder(models_folder / name).Read("model.safetensors"));
}

// The message of opening and loading the model after a change of its tensors.
template <typename Change>
std::string OpenError(const std::string& name, const Change& change) {
  const TemporaryFolder folder(models_folder / name);
  SafetensorsParts parts = ReadSafetensors(folder.Read("model.safetensors"));
  change(parts);
  folder.Write("model.safetensors", WriteSafetensors(parts));
  return ErrorMessage(
      [&] { Decoder::Open(folder.path().string(), {.dtype = Dtype::kFloat32, .threads = 1}); });
}

class QuantisedFolder : public ::testing::TestWithParam<std::string> {};

TEST_P(QuantisedFolder, LogitsAreThoseOfTransformers) {
  const Json expected = Json::parse(std::ifstream(models_folder / GetParam() / "expected.json"));
  for (const WeightStorage weights : {WeightStorage::kStored, WeightStorage::kExpanded}) {
    const auto decoder =
        Decoder::Open((models_folder / GetParam()).string(),
                      {.dtype = Dtype::kFloat32, .threads = 1, .weights = weights});
    const auto ids = expected["ids"].get<std::vector<int32_t>>();
    RunRequest request;
    request.ids = ids;
    request.first_logit_row = 0;
    const RunResult result = decoder->RunOne(request);
    for (size_t i = 0; i < expected["rows"].size(); ++i) {
      const auto logits = expected["logits"][i].get<std::vector<float>>();
      EXPECT_LE(Difference(result.Logits(expected["rows"][i]), logits), 1e-5 * Largest(logits));
    }
  }
}

// Each tensor of a matrix is needed, with its dtype and shape, but for those without which the
// matrix has the usual order of groups, or no zeros.
TEST_P(QuantisedFolder, RefusesPartsThatDoNotFit) {
  for (const auto& entry : PartsOf(GetParam())) {
    const std::string& name = entry.first;
    const SafetensorsPart& part = entry.second;
    if (name.find("up_proj") == std::string::npos && name.find("qkv") == std::string::npos)
      continue;
    const bool is_optional = name.ends_with("input_scale") || name.ends_with("weight_format") ||
                             name.ends_with("g_idx") || name.ends_with("zero_point");
    const std::string without =
        OpenError(GetParam(), [&](SafetensorsParts& parts) { parts.erase(name); });
    EXPECT_EQ(without.empty(), is_optional) << name << ": " << without;
    if (name.ends_with("input_scale")) continue;
    if (name.ends_with("weight_format")) continue;
    EXPECT_NE(OpenError(GetParam(),
                        [&](SafetensorsParts& parts) {
                          parts[name] = {part.dtype, {0, int64_t{1} << 62}, ""};
                        }),
              "")
        << name;
    EXPECT_NE(OpenError(GetParam(),
                        [&](SafetensorsParts& parts) {
                          parts[name].dtype = "F64";
                          parts[name].shape = {1, static_cast<int64_t>(part.bytes.size())};
                          parts[name].bytes.resize(part.bytes.size() * 8);
                        }),
              "")
        << name;
    if (part.shape.size() != 2 || part.shape[0] == 1) continue;
    EXPECT_NE(
        OpenError(GetParam(),
                  [&](SafetensorsParts& parts) {
                    SafetensorsPart& shorter = parts[name];
                    shorter.bytes.resize(part.bytes.size() / part.shape[0] * (part.shape[0] - 1));
                    --shorter.shape[0];
                  }),
        "")
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, QuantisedFolder, ::testing::ValuesIn(Names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Groups of whole blocks whose scales binary16 holds stay as small as the file has them.
TEST(QuantisedFolders, StoresExactBlocks) {
  const std::vector<std::array<const char*, 3>> formats = {
      {"gptq", "GPTQ, 4 bits", "Q4_0"},
      {"gptq-zeros", "GPTQ, 4 bits", "F32"},
      {"gptq-act-order", "GPTQ, 4 bits", "F32"},
      {"gptq-8-bits-fused", "GPTQ, 8 bits", "Q8_0"},
      {"awq", "AWQ, 4 bits", "Q8_0"},
      {"packed", "int4", "Q4_0"},
      {"packed-zeros", "int4", "Q8_0"},
      {"int8", "int8", "Q8_0"},
      {"fp8-blocks", "FP8", "F32"},
      {"nf4", "NF4", "F32"},
      {"llm-int8", "int8", "F32"}};
  for (const auto& [name, scheme, format] : formats) {
    const TemporaryFolder folder(models_folder / name);
    const auto model = OpenFolderModel(folder.path());
    EXPECT_EQ(model->config().quantisation, scheme) << name;
    EXPECT_EQ(ResolveStorage(WeightStorage::kStored, model->config(), Dtype::kFloat32),
              std::string_view(format) == "F32" ? WeightStorage::kExpanded : WeightStorage::kStored)
        << name;
    const TensorRef& key = *model->Find("0.key");
    EXPECT_EQ(key.format.name, format) << name;
    // The second key-value row of a fused matrix is not its second row.
    const std::string config = folder.Read("config.json");
    const ConfigJson json = ConfigJson::Parse(config, "config.json");
    SafetensorsParts parts = ReadSafetensors(folder.Read("model.safetensors"));
    SafetensorsTensors tensors;
    for (const auto& [tensor, part] : parts) {
      tensors[tensor] = {part.dtype, part.shape,
                         reinterpret_cast<const std::byte*>(part.bytes.data()),
                         static_cast<int64_t>(part.bytes.size())};
    }
    const bool is_fused = std::string_view(name).ends_with("fused");
    const QuantisedMatrices matrices =
        TakeQuantised(ReadQuantisation(*json.Object("quantization_config")), name, &tensors);
    const QuantisedMatrix& matrix = matrices.at(std::string("model.layers.0.self_attn.") +
                                                (is_fused ? "qkv_proj.weight" : "k_proj.weight"));
    const int64_t before = is_fused ? model->config().heads * model->config().head_dim : 0;
    std::vector<float> stored(static_cast<size_t>(key.columns));
    std::vector<float> row(stored.size());
    for (int64_t r = 0; r < key.rows; ++r) {
      kernels::Dequantise(key.format.type, key.Row(r), key.columns, stored.data());
      matrix.Row(before + r, row.data());
      ASSERT_EQ(stored, row) << name << " row " << r;
    }
  }
}

// Loading frees matrices that it has expanded; others may be read later.
TEST(QuantisedFolders, ComputesFreedMatricesAgain) {
  const auto model = OpenFolderModel(models_folder / "awq");
  const auto bytes = [&] {
    const TensorRef& up = *model->Find("0.up");
    return std::vector<std::byte>(up.data, up.data + up.rows * up.row_bytes);
  };
  const std::vector<std::byte> first = bytes();
  model->DontNeed(*model->Find("0.up"));
  EXPECT_EQ(bytes(), first);
  // Other weights in the place of the file's need only its shapes.
  const auto random = OpenModel((models_folder / "awq").string() + "@init");
  EXPECT_EQ(random->Find("0.up")->format.name, "F32");
}

TEST(QuantisedFolders, NamesWhatDoesNotFit) {
  const std::string up = kUp;
  EXPECT_THAT(OpenError("gptq", [&](SafetensorsParts& parts) { parts.erase(up + "scales"); }),
              AllOf(HasSubstr("mlp.up_proj.scales"), HasSubstr("is missing")));
  const auto set_group = [&](int64_t column, int32_t group) {
    return OpenError("gptq-act-order", [&](SafetensorsParts& parts) {
      std::memcpy(parts[up + "g_idx"].bytes.data() + column * 4, &group, sizeof group);
    });
  };
  EXPECT_THAT(set_group(3, 2), HasSubstr("names group 2 for column 3; there are 2 groups"));
  EXPECT_THAT(set_group(31, -1), HasSubstr("names group -1 for column 31"));
  EXPECT_THAT(OpenError("awq",
                        [&](SafetensorsParts& parts) {
                          for (const char* part : {"scales", "qzeros"}) {
                            SafetensorsPart& tensor = parts[up + part];
                            tensor.shape[0] = 3;
                            tensor.bytes = tensor.bytes + tensor.bytes + tensor.bytes;
                          }
                        }),
              HasSubstr("has 3 groups, which do not divide 32 columns evenly"));
  EXPECT_THAT(OpenError("packed",
                        [&](SafetensorsParts& parts) {
                          const int64_t columns = int64_t{1} << 61;
                          std::memcpy(parts[up + "weight_shape"].bytes.data() + 8, &columns, 8);
                        }),
              HasSubstr("states the shape [64, 2305843009213693952]"));
  EXPECT_THAT(OpenError("packed",
                        [&](SafetensorsParts& parts) {
                          const int64_t columns = 40;  // 6.4 bits
                          std::memcpy(parts[up + "weight_shape"].bytes.data() + 8, &columns, 8);
                        }),
              HasSubstr("neither 4 nor 8 bits"));
  EXPECT_THAT(OpenError("nf4",
                        [&](SafetensorsParts& parts) {
                          const std::string text =
                              R"({"shape":[1073741824,1073741824],"blocksize":32})";
                          parts[up + "weight.quant_state.bitsandbytes__nf4"] = {
                              "U8", {static_cast<int64_t>(text.size())}, text};
                        }),
              HasSubstr("which is not supported"));
  EXPECT_THAT(OpenError("nf4",
                        [&](SafetensorsParts& parts) {
                          parts[up + "weight.quant_state.bitsandbytes__nf4"].bytes[0] = '[';
                        }),
              HasSubstr("bitsandbytes__nf4"));
  EXPECT_THAT(OpenError("fp8-rows",
                        [&](SafetensorsParts& parts) { parts[up + "weight"].bytes[5] = '\x7f'; }),
              AllOf(HasSubstr("mlp.up_proj.weight"), HasSubstr("not finite")));
  EXPECT_THAT(OpenError("llm-int8",
                        [&](SafetensorsParts& parts) { parts[up + "weight_format"].bytes[0] = 1; }),
              HasSubstr("weight_format"));
}

TEST(QuantisedFolders, NeedsTheScheme) {
  for (const char* name : {"gptq", "packed"}) {
    const TemporaryFolder folder(models_folder / name);
    ChangeConfig(folder, {{"quantization_config", nullptr}});
    EXPECT_THAT(ErrorMessage([&] { OpenFolderModel(folder.path()); }),
                AllOf(HasSubstr("is quantised, but config.json has no quantization_config"),
                      HasSubstr("quantize_config.json")));
  }
}

TEST(QuantisedFolders, RefusesOtherSchemesByName) {
  const auto error = [](const Json& settings) {
    return ErrorWith("llama", {{"quantization_config", settings}});
  };
  EXPECT_THAT(error({{"quant_method", "aqlm"}}),
              AllOf(HasSubstr("'aqlm'"), HasSubstr(".gguf"), HasSubstr("dequantize()")));
  EXPECT_THAT(error({{"quant_method", "gptq"}, {"bits", 3}}), HasSubstr("gptq with 3 bits"));
  EXPECT_THAT(error({{"quant_method", "gptq"}, {"bits", 4}, {"is_marlin_format", true}}),
              HasSubstr("'marlin'"));
  EXPECT_THAT(error({{"quant_method", "gptq"}, {"bits", 4}, {"checkpoint_format", "bitblas"}}),
              HasSubstr("'bitblas' (supported: gptq, gptq_v2)"));
  EXPECT_THAT(error({{"quant_method", "awq"}, {"bits", 4}, {"version", "GEMV"}}),
              HasSubstr("'gemv'"));
  EXPECT_THAT(error({{"quant_method", "compressed-tensors"}, {"format", "nvfp4-pack-quantized"}}),
              HasSubstr("'nvfp4-pack-quantized'"));
  EXPECT_THAT(error({{"quant_method", "compressed-tensors"},
                     {"format", "pack-quantized"},
                     {"sparsity_config", {{"format", "sparse-bitmask"}}}}),
              HasSubstr("sparse matrices"));
  EXPECT_THAT(error({{"quant_method", "compressed-tensors"},
                     {"format", "pack-quantized"},
                     {"transform_config", {{"config_groups", {{"u", 1}}}}}}),
              HasSubstr("transforms"));
  EXPECT_THAT(error({{"quant_method", "fp8"}, {"weight_block_size", {128, 0}}}),
              HasSubstr("weight_block_size must hold two positive integers"));
  EXPECT_THAT(ErrorWith("gpt-oss", {{"quantization_config", {{"quant_method", "awq"}}}}),
              HasSubstr("another way than MXFP4"));
}

// Schemes store rows of outputs, but these families have [inputs, outputs], which may be square.
TEST(QuantisedFolders, RefusesMatricesThatAreStoredTransposed) {
  const TemporaryFolder folder(test::TinyModelFolder("gpt2"));
  ChangeConfig(folder, {{"quantization_config",
                         {{"quant_method", "bitsandbytes"}, {"load_in_8bit", true}}}});
  SafetensorsParts parts = ReadSafetensors(folder.Read("model.safetensors"));
  const auto matrix = std::find_if(parts.begin(), parts.end(), [](const auto& part) {
    return part.first.ends_with("h.0.attn.c_proj.weight");
  });
  ASSERT_NE(matrix, parts.end());
  const int64_t size = matrix->second.shape[0];
  const std::string base = matrix->first.substr(0, matrix->first.size() - 6);
  matrix->second = {"I8", {size, size}, std::string(static_cast<size_t>(size * size), '\1')};
  parts[base + "SCB"] = {"F32", {size}, std::string(static_cast<size_t>(size * 4), '\0')};
  folder.Write("model.safetensors", WriteSafetensors(parts));
  EXPECT_THAT(ErrorMessage([&] { OpenFolderModel(folder.path()); }),
              AllOf(HasSubstr("c_proj.weight"), HasSubstr("is quantised, which is not supported")));
}

TEST(QuantisedFolders, SaysThatActivationsAreNotQuantised) {
  for (const char* name : {"fp8-blocks", "llm-int8"}) {
    const std::vector<std::string> notes = OpenFolderModel(models_folder / name)->config().notes;
    ASSERT_EQ(notes.size(), 1u) << name;
    EXPECT_THAT(notes[0], HasSubstr("activations are not rounded"));
  }
  EXPECT_TRUE(OpenFolderModel(models_folder / "awq")->config().notes.empty());
}

}  // namespace
}  // namespace midscope
