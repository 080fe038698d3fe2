// SPDX-License-Identifier: MIT
#include "data/store/file_seal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/text.h"

namespace midscope {
namespace {

struct Seal {
  char magic[8] = {'M', 'I', 'D', 'S', 'S', 'E', 'A', 'L'};
  XXH128_canonical_t checksum{};
};
static_assert(sizeof(Seal) == 24);

int64_t SizeOf(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? status.st_size : -1;
}

std::optional<XXH128_canonical_t> ChecksumOf(int descriptor, int64_t size) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> buffer(1 << 20);
  for (int64_t offset = 0; offset < size;) {
    const auto wanted = std::min<int64_t>(size - offset, static_cast<int64_t>(buffer.size()));
    const ssize_t count = pread(descriptor, buffer.data(), static_cast<size_t>(wanted), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    XXH3_128bits_update(state.get(), buffer.data(), static_cast<size_t>(count));
    offset += count;
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state.get()));
  return canonical;
}

// Returns the number of bytes before the seal, i.e. the file size minus the size of a seal.
int64_t SizeBeforeSeal(int descriptor) {
  return SizeOf(descriptor) - static_cast<int64_t>(sizeof(Seal));
}

std::optional<Seal> SealIn(int descriptor) {
  Seal found;
  const int64_t size = SizeBeforeSeal(descriptor);
  if (size < 0 || pread(descriptor, &found, sizeof(found), size) != sizeof(found)) {
    return std::nullopt;
  }
  if (std::memcmp(found.magic, Seal().magic, sizeof(found.magic)) != 0) return std::nullopt;
  return found;
}

SealState StateOf(int descriptor, int64_t largest) {
  const int64_t size = SizeBeforeSeal(descriptor);
  const std::optional<Seal> found = SealIn(descriptor);
  if (!found) return SealState::kNone;
  if (size > largest) return SealState::kUnchecked;
  const auto checksum = ChecksumOf(descriptor, size);
  const bool agrees =
      checksum && std::memcmp(&*checksum, &found->checksum, sizeof(found->checksum)) == 0;
  return agrees ? SealState::kIntact : SealState::kBroken;
}

}  // namespace

int SealFile(int descriptor) {
  const int64_t size = SizeOf(descriptor);
  const auto checksum = ChecksumOf(descriptor, size);
  if (!checksum) return errno != 0 ? errno : EIO;
  Seal seal;
  seal.checksum = *checksum;
  const ssize_t written = pwrite(descriptor, &seal, sizeof(seal), size);
  if (written < 0) return errno;
  return written == sizeof(seal) ? 0 : ENOSPC;
}

SealState CheckSeal(const std::string& path, int64_t largest) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SealState::kNone;  // opening the file later reports the reason
  const SealState state = StateOf(descriptor, largest);
  close(descriptor);
  return state;
}

std::string ReadSeal(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "";
  const std::optional<Seal> seal = SealIn(descriptor);
  close(descriptor);
  return seal ? Hexadecimal(seal->checksum.digest) : "";
}

}  // namespace midscope
