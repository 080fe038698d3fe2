// SPDX-License-Identifier: MIT
// Of a folder's experts, only those that rows chose are paged in. The model is a Mixtral with 5
// experts whose matrices have 1 MiB each, more than the system reads ahead around a page.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::SafetensorsParts;
using test::TemporaryFolder;

constexpr int64_t kExperts = 5;
constexpr int64_t kLayers = 2;

// The tiny Mixtral with a wider stream and wider experts, of random weights between 0.015 and 0.031
// of either sign.
void WidenMixtral(const TemporaryFolder& folder) {
  constexpr int64_t kHidden = 512;
  constexpr int64_t kWidth = 1024;
  auto config = nlohmann::json::parse(folder.Read("config.json"));
  const int64_t hidden = config["hidden_size"];
  const int64_t width = config["intermediate_size"];
  config["hidden_size"] = kHidden;
  config["intermediate_size"] = kWidth;
  folder.Write("config.json", config.dump());
  SafetensorsParts parts = test::ReadSafetensors(folder.Read("model.safetensors"));
  std::mt19937 random(7);
  for (auto& [name, part] : parts) {
    ASSERT_EQ(part.dtype, "BF16");
    size_t elements = 1;
    for (int64_t& side : part.shape) {
      if (side == hidden) side = kHidden;
      if (side == width) side = kWidth;
      elements *= static_cast<size_t>(side);
    }
    part.bytes.resize(2 * elements);
    for (size_t i = 0; i < elements; ++i) {
      const auto bits = static_cast<uint16_t>(0x3c80 + random() % 128 + (random() % 2 << 15));
      std::memcpy(part.bytes.data() + 2 * i, &bits, sizeof bits);
    }
  }
  folder.Write("model.safetensors", test::WriteSafetensors(parts));
}

// Where this process has mapped the file; 0: nowhere.
uint64_t MappedAt(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(path)) return std::stoull(line.substr(0, line.find('-')), nullptr, 16);
  }
  return 0;
}

// Takes the file out of the system's cache, of which it maps large pieces at once.
void Evict(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  fsync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

// Pages of [begin, end) that this process has in memory, without the 256 KiB at either end, which
// may be read together with a neighbour's.
struct Pages {
  int64_t present = 0;
  int64_t all = 0;
};

Pages PagesOf(uint64_t begin, uint64_t end) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  constexpr uint64_t kTogether = 256 << 10;
  const uint64_t first = (begin + kTogether + page - 1) / page;
  const uint64_t last = (end - kTogether) / page;
  Pages pages;
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  for (uint64_t i = first; i < last; ++i) {
    uint64_t entry = 0;
    const auto offset = static_cast<off_t>(i * sizeof entry);
    if (pread(file, &entry, sizeof entry, offset) != sizeof entry) break;
    ++pages.all;
    pages.present += static_cast<int64_t>(entry >> 63);
  }
  close(file);
  return pages;
}

// [layer][expert]: of its three matrices together.
using ExpertPages = std::array<std::array<Pages, kExperts>, kLayers>;

ExpertPages PagesOfExperts(const std::string& path, const std::string& bytes) {
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto tensors = nlohmann::json::parse(bytes.substr(sizeof header, header));
  const uint64_t data = MappedAt(path) + sizeof header + header;
  ExpertPages pages;
  for (size_t layer = 0; layer < kLayers; ++layer) {
    for (size_t expert = 0; expert < kExperts; ++expert) {
      std::ostringstream prefix;
      prefix << "model.layers." << layer << ".block_sparse_moe.experts." << expert << ".w";
      for (const char* matrix : {"1", "2", "3"}) {
        const auto& range = tensors.at(prefix.str() + matrix + ".weight").at("data_offsets");
        const Pages part =
            PagesOf(data + range[0].get<uint64_t>(), data + range[1].get<uint64_t>());
        pages[layer][expert].present += part.present;
        pages[layer][expert].all += part.all;
      }
    }
  }
  return pages;
}

TEST(PagedExperts, AreThoseThatRowsChose) {
  const TemporaryFolder folder(test::TinyModelFolder("mixtral"));
  WidenMixtral(folder);
  const std::string path = std::filesystem::canonical(folder.path() / "model.safetensors");
  const std::string bytes = folder.Read("model.safetensors");
  Evict(path);
  DecoderOptions options;
  options.weights = WeightStorage::kStored;
  const auto decoder = Decoder::Open(folder.path().string(), options);
  ASSERT_NE(MappedAt(path), 0u);
  const ExpertPages before = PagesOfExperts(path, bytes);
  if (before[0][0].all == 0) GTEST_SKIP() << "the system does not tell which pages are in memory";
  for (const auto& layer : before) {
    for (const Pages& expert : layer) EXPECT_EQ(expert.present, 0) << "opening read it";
  }

  // One row chooses two experts of each layer.
  const std::vector<int32_t> ids = {100};
  RunRequest request;
  request.ids = ids;
  decoder->RunOne(request);
  const ExpertPages after = PagesOfExperts(path, bytes);
  for (const auto& layer : after) {
    int whole = 0;
    for (const Pages& expert : layer) {
      EXPECT_TRUE(expert.present == 0 || expert.present == expert.all)
          << expert.present << " of " << expert.all;
      whole += expert.present == expert.all ? 1 : 0;
    }
    EXPECT_EQ(whole, 2);
  }
}

}  // namespace
}  // namespace midscope
