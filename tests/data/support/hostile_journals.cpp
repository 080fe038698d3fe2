// SPDX-License-Identifier: MIT
#include <xxhash.h>

#include <nlohmann/json.hpp>

#include "data/sweep/sweep_store.h"
#include "tests/data/support/example_records.h"
#include "tests/data/support/hostile_results.h"

namespace midscope::test {
namespace {

std::string JournalRun(const std::string& folder) { return folder + "/run.h5"; }

// A journal of these MessagePack entries, each with a valid checksum.
std::string JournalOf(const std::vector<std::string>& entries) {
  std::string journal(kJournalMark);
  journal.resize(kJournalHeadBytes);
  for (const std::string& entry : entries) {
    const uint64_t head[] = {entry.size(), XXH3_64bits(entry.data(), entry.size())};
    journal.append(reinterpret_cast<const char*>(head), sizeof(head));
    journal += entry;
  }
  return journal;
}

std::string Packed(const nlohmann::json& json) {
  const std::vector<uint8_t> bytes = nlohmann::json::to_msgpack(json);
  return {bytes.begin(), bytes.end()};
}

HostileKind Journal(const std::string& name, const std::function<std::string()>& contents,
                    Reading reading = Reading::kRefused) {
  return {"journal " + name,
          [contents](const std::string& folder) {
            WriteBytes(JournalRun(folder) + ".journal", contents());
          },
          reading};
}

std::string SampleEntry(int64_t size) {
  return Packed(
      {{"kind", "sample"},
       {"sample", 0},
       {"record",
        {{"name", "sweep"},
         {"signal", ""},
         {"axes", {{"place", size, "", nlohmann::json::array(), nlohmann::json::binary({})}}},
         {"arrays", nlohmann::json::array()},
         {"attributes", nlohmann::json::object()}}}});
}

}  // namespace

std::vector<HostileKind> HostileJournals(const std::string& sweep_plan) {
  const std::string plan = Packed({{"kind", "plan"}, {"text", sweep_plan}});
  return {
      Journal("nested deep",
              [=] {
                return JournalOf({plan, std::string(100000, '\x91')});
              }),
      Journal("of a huge list",
              [=] {
                return JournalOf({plan, "\xdd\xff\xff\xff\xff"});
              }),
      Journal("of a huge binary",
              [=] {
                return JournalOf({plan, "\xc6\xff\xff\xff\xff"});
              }),
      Journal("of a huge axis",
              [=] {
                return JournalOf({plan, SampleEntry(INT64_MAX / 2)});
              }),
      Journal(
          "of a huge length", [=] { return JournalOf({plan}) + std::string(16, '\xff') + "abc"; },
          Reading::kHarmless),
      Journal(
          "without a plan", [] { return JournalOf({SampleEntry(2)}); }, Reading::kPartly),
      Journal(
          "that is a head alone", [] { return JournalOf({}); }, Reading::kPartly),
      Journal("of a deep plan",
              [] {
                return JournalOf({Packed({{"kind", "plan"}, {"text", std::string(100000, '[')}})});
              }),
      {"journal with flipped bits",
       [sweep_plan](const std::string& folder) {
         SweepStore store = SweepStore::Create(JournalRun(folder), sweep_plan, ExampleProvenance());
         for (const int64_t sample : {0, 1, 2}) store.Append(sample, ExampleSample(sample));
         std::string bytes = ReadBytes(JournalRun(folder) + ".journal");
         bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
         WriteBytes(JournalRun(folder) + ".journal", bytes);
       },
       Reading::kHarmless}};
}

}  // namespace midscope::test
