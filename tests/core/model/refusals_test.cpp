// SPDX-License-Identifier: MIT
// Models without a supported family (GGUF headers and folders) are rejected with a message that
// states their kinds of layers, what is supported, and the page on adding a family.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/model/gguf_model.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::ErrorWith;
using test::GgufWriter;
using test::TemporaryFile;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// A header as a converter writes it, without tensors.
GgufWriter Header(const std::string& architecture) {
  GgufWriter writer;
  writer.String("general.architecture", architecture)
      .Uint32(architecture + ".block_count", 2)
      .Uint32(architecture + ".context_length", 64)
      .Uint32(architecture + ".embedding_length", 32);
  return writer;
}

std::string Refusal(const GgufWriter& writer) {
  const TemporaryFile file(writer.Bytes());
  return ErrorMessage([&] { OpenGgufModel(file.path()); });
}

TEST(Refusals, OfGgufArchitecturesSayWhatLayersTheyHave) {
  const std::map<std::string, std::string> kinds = {
      {"mamba", "state space layers (Mamba), without attention"},
      {"mamba2", "state space layers (Mamba), without attention"},
      {"rwkv6", "recurrent layers (RWKV), without attention"},
      {"rwkv7", "recurrent layers (RWKV), without attention"},
      {"jamba", "state space layers (Mamba) beside attention layers"},
      {"kimi-linear", "linear attention (gated delta rule) beside attention layers"},
      {"bert", "encoder layers, whose tokens see those after them"},
      {"nomic-bert", "encoder layers, whose tokens see those after them"},
      {"modern-bert", "encoder layers, whose tokens see those after them"},
      {"t5encoder", "encoder layers, whose tokens see those after them"},
      {"t5", "an encoder and a decoder"},
      {"dream", "attention to tokens on both sides (diffusion of text)"}};
  for (const auto& [architecture, kind] : kinds) {
    std::string reason = "the architecture '";
    reason.append(architecture).append("' is not supported: it has ").append(kind);
    EXPECT_THAT(Refusal(Header(architecture)),
                AllOf(HasSubstr(reason), HasSubstr("Supported: llama, "), HasSubstr("gpt-oss"),
                      HasSubstr("core/model/families/README.md"), Not(HasSubstr(" yet"))));
  }
}

TEST(Refusals, OfUnknownGgufArchitecturesSayWhatTheirMetadataShows) {
  GgufWriter hybrid = Header("newnet");
  hybrid.Uint32("newnet.ssm.state_size", 16).Uint32("newnet.expert_count", 8);
  EXPECT_THAT(Refusal(hybrid),
              AllOf(HasSubstr("'newnet' is not supported yet; its configuration shows state space "
                              "layers (ssm.state_size), experts (expert_count)"),
                    HasSubstr("core/model/families/README.md")));
  EXPECT_THAT(Refusal(Header("newbert").Bool("newbert.attention.causal", false)),
              HasSubstr("shows encoder layers, whose tokens see those after them"));
  EXPECT_THAT(Refusal(Header("newdec").Bool("newdec.attention.causal", true)),
              AllOf(HasSubstr("'newdec' is not supported yet"), Not(HasSubstr("shows"))));
  // A value of another type is not shown, and is not another error.
  EXPECT_THAT(Refusal(Header("odd").String("odd.attention.causal", "no")),
              AllOf(HasSubstr("'odd' is not supported yet"), Not(HasSubstr("shows"))));
}

TEST(Refusals, OfUnknownFoldersSayWhatTheirConfigurationShows) {
  const auto refusal = [](Json more) {
    more["model_type"] = "newnet";
    return ErrorWith("llama", more);
  };
  EXPECT_THAT(refusal({{"ssm_cfg", {{"layer", "Mamba2"}}}, {"attn_layer_indices", {1, 3}}}),
              AllOf(HasSubstr("the model_type 'newnet' is not supported yet; its configuration "
                              "shows state space layers (ssm_cfg), attention in some layers alone "
                              "(attn_layer_indices)"),
                    HasSubstr("Supported: "), HasSubstr("core/model/families/README.md")));
  EXPECT_THAT(refusal({{"is_encoder_decoder", true}}), HasSubstr("an encoder and a decoder"));
  EXPECT_THAT(refusal({{"num_encoder_layers", 6}}),
              HasSubstr("an encoder and a decoder (num_encoder_layers)"));
  EXPECT_THAT(
      refusal({{"layer_types", {"linear_attention", "full_attention", "linear_attention"}}}),
      HasSubstr("shows layer_types 'full_attention' and 'linear_attention'"));
  EXPECT_THAT(refusal({{"vision_config", {{"depth", 2}}}, {"num_experts", 4}}),
              HasSubstr("shows experts (num_experts), layers for pictures (vision_config)"));
}

// Keys that most configurations have, with values that say no.
TEST(Refusals, AreNotMisledByKeysThatSayNo) {
  EXPECT_THAT(ErrorWith("llama", {{"model_type", "newnet"},
                                  {"is_encoder_decoder", false},
                                  {"num_experts", 0},
                                  {"layer_types", 7},
                                  {"vision_config", Json::object()},
                                  {"ssm_cfg", "null"}}),
              AllOf(HasSubstr("'newnet' is not supported yet"), Not(HasSubstr("shows"))));
}

}  // namespace
}  // namespace midscope
