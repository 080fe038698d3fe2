// SPDX-License-Identifier: MIT
#include "tests/data/support/mutate_results.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include "data/store/run_store.h"
#include "data/sweep/sweep_virtual.h"
#include "tests/data/support/example_sweep.h"

// HDF5's checksum for its metadata, which the library exports. With a valid checksum, damage is not
// detected by the checksum alone.
// NOLINTNEXTLINE(readability-identifier-naming): HDF5's name.
extern "C" uint32_t H5_checksum_metadata(const void* data, size_t length, uint32_t initial);

namespace midscope::test {
namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

constexpr const char* kPlan =
    R"~({"task":"list:lines=20","seed":1,"samples":6,"places":[1,5,10],"settings":["none","pi(1.5)"]})~";
constexpr size_t kSealBytes = 24;
constexpr size_t kHeadOfFile = 20000;

Record SampleWithoutAttention(int64_t sample) {
  Record record = ExampleSample(sample);
  std::erase_if(record.arrays, [](const Array& array) {
    return std::find(array.axes.begin(), array.axes.end(), "key") != array.axes.end();
  });
  std::erase_if(record.axes, [](const Axis& axis) {
    return axis.name == "key" || axis.name == "layer" || axis.name == "head";
  });
  return record;
}

// Means over samples, in the form in which a sweep stores them after its samples.
Record Means() {
  Record record;
  record.name = "outcome_means";
  record.axes = {{"setting", 2, "", {"none", "pi(1.5)"}, {}}, {"place", 3, "", {}, {1, 5, 10}}};
  record.arrays = {
      {"accuracy", {"setting", "place"}, std::vector<double>{1, 0.5, 0, 1, 1, 0.5}, "", "share"},
      {"answer_nll", {"setting", "place"}, std::vector<double>(6, 2.5), "nat", ""},
      {"samples", {}, std::vector<int64_t>{3}, "", ""}};
  record.signal = "accuracy";
  return record;
}

void WriteSweepOf(const std::string& path, const std::vector<int64_t>& samples, bool attention,
                  bool finish) {
  SweepStore store = SweepStore::Create(path, kPlan, ExampleProvenance());
  for (const int64_t sample : samples) {
    store.Append(sample, attention ? ExampleSample(sample) : SampleWithoutAttention(sample));
  }
  if (finish) store.Finish({Means()});
}

void WriteChannels(const std::string& path) {
  Record record;
  record.name = "channel_positions";
  record.axes = {{"channel", 4, "", {}, {7, 100, 215, 300}},
                 {"layer", 30, "", {}, {}},
                 {"token", 200, "", {}, {}}};
  std::vector<float> values(size_t{4} * 30 * 200);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 977) / 100;
  record.arrays = {{"hidden_state", {"channel", "layer", "token"}, values, "", "values by place"},
                   {"monotone_layers", {"channel"}, std::vector<int64_t>{1, 27, 2, 3}, "", ""},
                   {"smoothness", {"channel"}, std::vector<double>{0.5, 0.18, 0.4, 1}, "", ""}};
  record.signal = "hidden_state";
  WriteRecords(path, {record}, ExampleProvenance());
}

void WriteJoined(const std::string& folder, const std::vector<std::string>& parts) {
  std::vector<std::string> paths;
  paths.reserve(parts.size());
  for (const std::string& part : parts) paths.push_back((fs::path(folder) / part).string());
  WriteSweepOf(paths[0], {0, 5}, true, true);
  WriteSweepOf(paths[1], {3}, true, true);
  const SweepMerge merge(paths);
  WriteVirtualSweep((fs::path(folder) / "run.h5").string(), merge, merge.provenance(), {Means()});
}

uint64_t Below(Random& random, uint64_t bound) { return bound == 0 ? 0 : random() % bound; }

// The offset of a random occurrence of a signature of HDF5's structures; the size if there is none.
size_t FindStructure(const std::string& bytes, Random& random, std::string_view signature) {
  std::vector<size_t> places;
  for (size_t at = bytes.find(signature); at != std::string::npos;
       at = bytes.find(signature, at + 1)) {
    places.push_back(at);
  }
  return places.empty() ? bytes.size() : places[Below(random, places.size())];
}

void Put(std::string& bytes, size_t at, uint64_t value, size_t size) {
  if (at + size <= bytes.size()) std::memcpy(bytes.data() + at, &value, size);
}

uint64_t OddNumber(Random& random) {
  constexpr uint64_t kOdd[] = {0,
                               1,
                               2,
                               255,
                               4096,
                               uint64_t{1} << 31,
                               uint64_t{1} << 33,
                               uint64_t{1} << 40,
                               uint64_t{1} << 60,
                               UINT64_MAX,
                               UINT64_MAX - 7};
  return kOdd[Below(random, std::size(kOdd))];
}

// Computes a valid checksum for the first chunk of version 2 object headers, so that their contents
// are accepted.
void SumHeaderAgain(std::string& bytes, size_t at) {
  if (at + 8 > bytes.size()) return;
  const auto flags = static_cast<unsigned char>(bytes[at + 5]);
  size_t next = at + 6 + ((flags & 0x20U) != 0 ? 16 : 0) + ((flags & 0x10U) != 0 ? 4 : 0);
  const size_t width = size_t{1} << (flags & 3U);
  if (next + width > bytes.size()) return;
  uint64_t length = 0;
  std::memcpy(&length, bytes.data() + next, width);
  next += width;
  if (length > bytes.size() || next + length + 4 > bytes.size()) return;
  const uint32_t sum = H5_checksum_metadata(bytes.data() + at, next + length - at, 0);
  Put(bytes, next + length, sum, sizeof(sum));
}

std::string ChangeStructure(std::string& bytes, Random& random) {
  constexpr std::string_view kSignatures[] = {"GCOL", "OHDR", "OHDR", "FRHP", "FHDB", "BTHD",
                                              "BTLF", "FADB", "FAHD", "OCHK", "TREE", "HEAP"};
  const std::string_view signature = kSignatures[Below(random, std::size(kSignatures))];
  const size_t at = FindStructure(bytes, random, signature);
  if (at == bytes.size()) return "no " + std::string(signature);
  const size_t place = at + 4 + Below(random, 200);
  constexpr size_t kWidths[] = {1, 1, 2, 4, 8};
  Put(bytes, place, random() % 3 == 0 ? random() : OddNumber(random),
      kWidths[Below(random, std::size(kWidths))]);
  if (signature == "OHDR") SumHeaderAgain(bytes, at);
  return "a number in " + std::string(signature);
}

std::string ChangeBytes(std::string& bytes, Random& random) {
  const uint64_t count = 1 + Below(random, 8);
  const uint64_t range =
      random() % 10 < 7 ? std::min<uint64_t>(bytes.size(), kHeadOfFile) : bytes.size();
  for (uint64_t i = 0; i < count; ++i) {
    bytes[Below(random, range)] = static_cast<char>(random());
  }
  return std::to_string(count) + " bytes";
}

std::string CopyBlock(std::string& bytes, Random& random) {
  const uint64_t size = std::min<uint64_t>(1 + Below(random, 512), bytes.size());
  const uint64_t from = Below(random, bytes.size() - size + 1);
  const uint64_t to = Below(random, bytes.size() - size + 1);
  const std::string block = random() % 3 == 0 ? std::string(size, '\0') : bytes.substr(from, size);
  bytes.replace(to, size, block);
  return "a block";
}

// Changes a number in a text, such as a plan.
std::string ChangeText(std::string& bytes, Random& random) {
  constexpr std::string_view kWords[] = {"\"samples\":", "\"settings\":", "\"seed\":", "schema_",
                                         "axis_names",   "midscope_role", "sample",    "place",
                                         "setting",      "layer"};
  const std::string_view word = kWords[Below(random, std::size(kWords))];
  const size_t at = FindStructure(bytes, random, word);
  if (at == bytes.size()) return "no " + std::string(word);
  const size_t place = std::min(at + word.size() + Below(random, 4), bytes.size() - 1);
  constexpr char kOdd[] = {'[', '{', '"', '-', '\0', '\x1b', '/', '.', '\xff', '9'};
  const uint64_t count = std::min<uint64_t>(1 + Below(random, 6), bytes.size() - place);
  bytes.replace(place, count, count, kOdd[Below(random, std::size(kOdd))]);
  return "text behind " + std::string(word);
}

std::string Cut(std::string& bytes, Random& random) {
  bytes.resize(Below(random, bytes.size() + 1));
  return "cut to " + std::to_string(bytes.size());
}

// Computes valid checksums for a journal's entries, so that their contents are accepted.
void SumJournalAgain(std::string& bytes) {
  constexpr size_t kMark = 8;
  uint64_t length = 0;
  for (size_t at = kMark; at + 16 <= bytes.size(); at += 16 + length) {
    std::memcpy(&length, bytes.data() + at, sizeof(length));
    if (length > bytes.size() - at - 16) return;
    Put(bytes, at + 8, XXH3_64bits(bytes.data() + at + 16, length), sizeof(uint64_t));
  }
}

std::string ChangeSeal(std::string& bytes, Random& random, const std::string& seal) {
  switch (random() % 5) {
    case 0:
      bytes += seal;
      return ", seal kept";
    case 1:
      bytes += "MIDSSEAX" + seal.substr(8);
      return ", seal damaged";
    case 2:
      bytes += seal;
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
      return ", seal wrong";
    default:
      return ", seal removed";
  }
}

std::string Mutate(std::string& bytes, Random& random, bool journal) {
  std::string seal;
  if (!journal && bytes.size() > kSealBytes) {
    seal = bytes.substr(bytes.size() - kSealBytes);
    bytes.resize(bytes.size() - kSealBytes);
  }
  std::string what;
  const uint64_t rounds = 1 + Below(random, 3);
  for (uint64_t i = 0; i < rounds && !bytes.empty(); ++i) {
    what += what.empty() ? "" : ", ";
    switch (random() % 10) {
      case 0:
      case 1:
      case 2:
        what += ChangeBytes(bytes, random);
        break;
      case 3:
        what += CopyBlock(bytes, random);
        break;
      case 4:
        what += ChangeText(bytes, random);
        break;
      case 5:
        what += i == 0 ? Cut(bytes, random) : ChangeBytes(bytes, random);
        break;
      default:
        what += journal ? ChangeBytes(bytes, random) : ChangeStructure(bytes, random);
    }
  }
  if (journal && random() % 2 == 0) SumJournalAgain(bytes);
  return journal ? what : what + ChangeSeal(bytes, random, seal);
}

}  // namespace

void WriteCorpus(const std::string& folder) {
  const auto at = [&](const std::string& kind) {
    fs::create_directories(fs::path(folder) / kind);
    return (fs::path(folder) / kind / "run.h5").string();
  };
  WriteSweepOf(at("sweep"), {0, 1, 2}, false, true);
  WriteSweepOf(at("attention"), {0, 1, 2}, true, true);
  WriteRecords(at("probe"), ExampleRecords(), ExampleProvenance());
  WriteChannels(at("channels"));
  at("virtual");
  WriteJoined((fs::path(folder) / "virtual").string(), {"part1.h5", "part2.h5"});
  at("ranks");
  WriteJoined((fs::path(folder) / "ranks").string(), {"run.h5.rank0", "run.h5.rank1"});
  {
    SweepStore store = SweepStore::Create(at("journal"), kPlan, ExampleProvenance());
    store.Append(0, ExampleSample(0));
    store.Checkpoint({Means()});
    store.Append(1, ExampleSample(1));
  }
  WriteSweepOf(at("journal_alone"), {0, 1}, true, false);
}

Corpus::Corpus(const std::string& folder) {
  for (const auto& kind : fs::directory_iterator(folder)) {
    if (!kind.is_directory()) continue;
    kinds_.push_back({kind.path().filename().string(), {}});
    for (const auto& file : fs::directory_iterator(kind.path())) {
      kinds_.back().files.push_back(
          {file.path().filename().string(), ReadBytes(file.path().string())});
    }
    std::sort(kinds_.back().files.begin(), kinds_.back().files.end(),
              [](const File& a, const File& b) { return a.name < b.name; });
  }
  std::sort(kinds_.begin(), kinds_.end(),
            [](const Kind& a, const Kind& b) { return a.name < b.name; });
}

std::string Corpus::WriteMutant(uint64_t seed, const std::string& folder) const {
  Random random(seed);
  const Kind& kind = kinds_.at(seed % kinds_.size());
  const size_t damaged = Below(random, kind.files.size());
  for (const auto& old : fs::directory_iterator(folder)) fs::remove_all(old.path());
  std::string what;
  for (size_t i = 0; i < kind.files.size(); ++i) {
    std::string bytes = kind.files[i].bytes;
    const std::string& name = kind.files[i].name;
    if (i == damaged) {
      what = kind.name + "/" + name + ": " + Mutate(bytes, random, name.ends_with(".journal"));
    }
    WriteBytes((fs::path(folder) / name).string(), bytes);
  }
  return what;
}

}  // namespace midscope::test
