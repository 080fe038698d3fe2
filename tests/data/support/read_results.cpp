// SPDX-License-Identifier: MIT
#include "tests/data/support/read_results.h"

#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>

#include "core/base/error.h"
#include "data/store/hdf5_run.h"
#include "data/store/record_reader.h"
#include "data/sweep/sample_view.h"
#include "data/sweep/sweep_journal.h"
#include "data/sweep/sweep_merge.h"
#include "data/sweep/sweep_virtual.h"

namespace midscope::test {
namespace {

constexpr int64_t kMostRead = 20;  // largest number of samples, settings and places that are read

// CPU seconds of this process and of the child processes that it has waited for.
double Computed() {
  double seconds = 0;
  for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(whose, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
  }
  return seconds;
}

void ReadSamples(const std::string& path) {
  const RunReader reader(path);
  for (const std::string& name : reader.record_names()) {
    const Record frame = reader.Describe(name);
    const Axis* samples = frame.FindAxis("sample");
    for (int64_t row = 0; samples && row < std::min(samples->size, kMostRead); ++row) {
      reader.ReadSample(name, row);
    }
  }
}

void View(const std::string& path) {
  const SampleView view(path);
  view.Overview();
  for (int64_t sample = 0; sample < std::min(view.samples().size, kMostRead); ++sample) {
    for (int64_t place = 0; place < std::min<int64_t>(view.places().size, 3); ++place) {
      view.Read({sample, 0, place});
    }
  }
}

void ReadAsSweep(const std::string& path) {
  const SweepStore store = SweepStore::OpenForReading(path);
  int64_t read = 0;
  for (const int64_t sample : store.finished()) {
    if (read++ < kMostRead) store.ReadSample(sample);
  }
}

void Merge(const std::string& path) {
  const SweepMerge merge({path});
  merge.Write(path + ".merged", merge.provenance(), {MergedFromRecord(merge)});
  std::filesystem::remove(path + ".merged");
}

}  // namespace

void ReadHere(const std::string& path) {
  try {
    const std::unique_ptr<RunSource> run = OpenRunHere(path, FileTrust::kForeign);
    for (size_t record = 0; record < run->Contents().records.size(); ++record) {
      const Record frame = run->Frame(record);
      for (const Array& array : frame.arrays) {
        IndexBox box;
        for (const std::string& axis : array.axes) box.sizes.push_back(frame.FindAxis(axis)->size);
        box.begin.resize(box.sizes.size(), 0);
        run->Values(record, array, box);
      }
    }
  } catch (const std::exception&) {
    // The fault was detected.
  }
}

ReadOutcome ReadInEveryWay(const std::string& folder) {
  const std::string path = folder + "/run.h5";
  const struct {
    const char* name;
    std::function<void()> read;
  } readers[] = {{"records", [&] { ReadRecords(path); }},
                 {"samples", [&] { ReadSamples(path); }},
                 {"view", [&] { View(path); }},
                 {"pictures", [&] { ReadForViewing(path, 0, 10); }},
                 {"sweep", [&] { ReadAsSweep(path); }},
                 {"merge", [&] { Merge(path); }},
                 {"journal", [&] { SummariseJournal(path + ".journal"); }}};
  const bool has_journal = std::filesystem::exists(path + ".journal");
  const bool has_file = std::filesystem::exists(path);
  ReadOutcome outcome;
  for (const auto& reader : readers) {
    const std::string name = reader.name;
    if (name == "journal" ? !has_journal : !has_file && name != "sweep" && name != "merge")
      continue;
    const double start = Computed();
    try {
      reader.read();
      ++outcome.read;
    } catch (const Error& error) {
      ++outcome.refused;
      if (outcome.first_error.empty()) outcome.first_error = error.what();
    } catch (const std::exception& error) {
      outcome.other = name + ": " + error.what();
    }
    outcome.longest = std::max(outcome.longest, Computed() - start);
  }
  return outcome;
}

}  // namespace midscope::test
