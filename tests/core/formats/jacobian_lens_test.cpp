// SPDX-License-Identifier: MIT
// Contract: a lens of torch.save has the matrices that torch.save was given, and the same ones
// after it is written as safetensors; files that are not the lens of a model are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/jacobian_lens.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/torch_writer.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::Raw;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string golden_folder = MIDSCOPE_TESTS "/core/golden/lenses/";

TEST(JacobianLens, OfTorchIsReadAndWrittenAsSafetensors) {
  const JacobianLensFile halves(golden_folder + "jlens.pt");
  const JacobianLensFile floats(golden_folder + "transformer_lens.pt");
  for (const JacobianLensFile* file : {&halves, &floats}) {
    EXPECT_EQ(file->hidden(), 36);
    EXPECT_EQ(file->prompts(), 1);
    EXPECT_THAT(file->layers(), ElementsAre(0));
    EXPECT_EQ(file->FitText(), "");
    file->CheckFits(36, 2);
  }
  const JacobianLens exact = floats.ReadAll();
  const std::vector<float> rounded = halves.Matrix(0);
  for (size_t i = 0; i < rounded.size(); ++i)
    EXPECT_NEAR(rounded[i], exact.matrices.at(0)[i], 1e-3 * std::abs(rounded[i]) + 1e-7);

  const TemporaryFolder folder;
  WriteJacobianLens(folder.path() / "lens", exact, R"({"model": "x"})");
  const JacobianLensFile written(folder.path() / "lens");
  EXPECT_EQ(written.ReadAll().matrices, exact.matrices);
  EXPECT_EQ(written.prompts(), 1);
  EXPECT_EQ(written.FitText(), R"({"model": "x"})");
}

// A pickled value: a dictionary of these entries, without the frame of a pickle.
std::string Inner(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string text = "}(";
  for (const auto& [key, value] : items) text += key + value;
  return text + "u";
}

// The pickled matrix of zeros of this shape, in storage "0".
std::string Matrix(const std::vector<int64_t>& shape, const std::string& type = "FloatStorage") {
  return test::pickle::Tensor(test::pickle::Storage(type, "0", shape[0] * shape[1]), 0, shape,
                              {shape[1], 1});
}

class JacobianLensFaults : public ::testing::Test {
 protected:
  // Returns the message for a file of torch.save with these entries and a storage of 64 bytes.
  std::string Torch(const std::vector<std::pair<std::string, std::string>>& items) {
    folder_.Write("lens.pt", test::WriteZip(test::TorchParts(test::pickle::Dictionary(items),
                                                             {std::string(64, '\0')})));
    return ErrorMessage([&] { JacobianLensFile(folder_.path() / "lens.pt"); });
  }
  std::string Safetensors(const test::SafetensorsParts& parts) {
    folder_.Write("lens.safetensors", test::WriteSafetensors(parts));
    return ErrorMessage([&] { JacobianLensFile(folder_.path() / "lens.safetensors"); });
  }

  TemporaryFolder folder_;
};

TEST_F(JacobianLensFaults, AreNamedInTorchFiles) {
  const std::string zero = test::pickle::Integer(0);
  const std::string square = Matrix({4, 4});
  EXPECT_EQ(Torch({{"J", Inner({{zero, square}})}}), "");
  EXPECT_THAT(Torch({{"jacobian_sum", Inner({{zero, square}})}, {"n_done", zero}}),
              HasSubstr("no dictionary 'J' of tensors"));
  EXPECT_THAT(Torch({{"J", square}}), HasSubstr("no dictionary 'J'"));
  EXPECT_THAT(Torch({{"J", Inner({{test::pickle::Text("0"), square}})}}),
              HasSubstr("where an integer: a tensor must be"));
  EXPECT_THAT(Torch({{"J", Inner({{zero, zero}})}}), HasSubstr("an integer: a tensor must be"));
  EXPECT_THAT(Torch({{"J", Inner({})}}), HasSubstr("it has no tensor J.LAYER"));
  EXPECT_THAT(Torch({{"J", Inner({{zero, Matrix({2, 8})}})}}),
              HasSubstr("the shape [2, 8]; it must be [2, 2]"));
  EXPECT_THAT(Torch({{"J", Inner({{zero, square}})}, {"d_model", test::pickle::Integer(5)}}),
              HasSubstr("it must be [5, 5]"));
  EXPECT_THAT(Torch({{"J", Inner({{test::pickle::Integer(-1), square}})}}),
              HasSubstr("names no layer"));
  EXPECT_THAT(Torch({{"J", Inner({{test::pickle::Integer(int64_t{1} << 40), square}})}}),
              HasSubstr("Layers are integers from 0 to 65535"));
  EXPECT_THAT(Torch({{"J", Inner({{zero, square}})}, {"n_prompts", test::pickle::Integer(-2)}}),
              HasSubstr("n_prompts is negative"));
  EXPECT_THAT(Torch({{"J", Inner({{zero, Matrix({4, 4}, "IntStorage")}})}}), HasSubstr("is I32"));
  EXPECT_THAT(Torch({{"J", test::pickle::Name("os", "system")}}), HasSubstr("os.system"));
  // 2^31 squared rows in a storage of 64 bytes.
  EXPECT_THAT(Torch({{"J", Inner({{zero, test::pickle::Tensor(
                                             test::pickle::Storage("FloatStorage", "0", 16), 0,
                                             {int64_t{1} << 31, int64_t{1} << 31}, {0, 0})}})}}),
              HasSubstr("larger than the file"));
}

TEST_F(JacobianLensFaults, AreNamedInSafetensors) {
  const std::string zeros(16, '\0');
  EXPECT_EQ(Safetensors({{"J.3", {"F32", {2, 2}, zeros}}}), "");
  EXPECT_THAT(Safetensors({{"J.03", {"F32", {2, 2}, zeros}}}), HasSubstr("'03' names no layer"));
  EXPECT_THAT(Safetensors({{"weight", {"F32", {2, 2}, zeros}}}), HasSubstr("no tensor J.LAYER"));
  EXPECT_THAT(Safetensors({{"J.0", {"F32", {4}, zeros}}}), HasSubstr("the shape [4]"));
  EXPECT_THAT(Safetensors({{"J.0", {"F32", {2, 2}, zeros}}, {"J.1", {"F16", {2, 4}, zeros}}}),
              HasSubstr("'1' has the shape [2, 4]; it must be [2, 2]"));
  EXPECT_THAT(Safetensors({{"J.0", {"F32", {0, 0}, ""}}}), HasSubstr("the shape [0, 0]"));
  folder_.Write("short", "ab");
  EXPECT_NE(ErrorMessage([&] { JacobianLensFile(folder_.path() / "short"); }), "");
}

TEST_F(JacobianLensFaults, AreNamedForAModel) {
  const JacobianLensFile file(golden_folder + "transformer_lens.pt");
  EXPECT_THAT(ErrorMessage([&] { file.CheckFits(64, 2); }),
              HasSubstr("its matrices are 36 x 36; the model's hidden size is 64"));
  EXPECT_THAT(ErrorMessage([&] { file.CheckFits(36, 1); }), HasSubstr("a matrix of layer 0"));
  EXPECT_THAT(ErrorMessage([&] { file.CheckFits(36, 3); }),
              HasSubstr("it transports to layer 1; the model's last layer is 2"));
  const float infinite = std::numeric_limits<float>::infinity();
  folder_.Write("lens", test::WriteSafetensors({{"J.0", {"F32", {1, 1}, Raw(infinite)}}}));
  const JacobianLensFile wrong(folder_.path() / "lens");
  EXPECT_THAT(ErrorMessage([&] { (void)wrong.Matrix(0); }), HasSubstr("is not finite"));
}

}  // namespace
}  // namespace midscope
