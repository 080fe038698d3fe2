// SPDX-License-Identifier: MIT
// Writes a probe's file (also as NPZ), a sweep's file, and the same sweep as a virtual file over
// two parts to a folder, so that check_hdf5.py and the notebooks can read them with other programs.
#include <exception>
#include <fstream>
#include <iostream>

#include "data/export/npz.h"
#include "data/store/run_store.h"
#include "data/sweep/sweep_virtual.h"
#include "tests/data/support/example_sweep.h"

constexpr const char* kPlan = R"({"seed":1})";

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: data_write_example FOLDER\n";
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1];
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    midscope::WriteRecords((folder / "probe.h5").string(), midscope::ExampleRecords(),
                           midscope::ExampleProvenance());
    std::ofstream npz(folder / "probe.npz", std::ios::binary);
    midscope::WriteNpz(midscope::ExampleRecords().front(), npz);
    midscope::WriteSweep((folder / "sweep.h5").string(), kPlan, {0, 3, 5});
    midscope::WriteSweep((folder / "part1.h5").string(), kPlan, {0, 5});
    midscope::WriteSweep((folder / "part2.h5").string(), kPlan, {3});
    const midscope::SweepMerge merge(
        {(folder / "part1.h5").string(), (folder / "part2.h5").string()});
    midscope::WriteVirtualSweep((folder / "virtual.h5").string(), merge, merge.provenance(), {});
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
