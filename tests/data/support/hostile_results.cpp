// SPDX-License-Identifier: MIT
#include "tests/data/support/hostile_results.h"

#include <hdf5.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "data/store/hdf5_handles.h"
#include "data/store/hdf5_values.h"
#include "data/store/run_store.h"
#include "data/sweep/sweep_virtual.h"
#include "tests/data/support/example_sweep.h"

namespace midscope::test {
namespace {

using hdf5::Check;
using hdf5::Handle;
namespace fs = std::filesystem;

constexpr const char* kSweep = "entry/sweep";
constexpr const char* kEscape = "\x1b[2J\x1b]0;x\x07<img src='/etc/hostname'><b>bold</b>";
constexpr hsize_t kBombElements = hsize_t{1} << 24;

std::string PlanText(const std::string& samples, const std::string& settings) {
  return R"({"task":"list:lines=20","seed":1,"samples":)" + samples +
         R"(,"places":[1,5,10],"settings":)" + settings + "}";
}

std::string UsualPlan() { return PlanText("6", R"~(["none","pi(1.5)"])~"); }

std::string Run(const std::string& folder) { return folder + "/run.h5"; }

void WriteUsual(const std::string& folder) { WriteSweep(Run(folder), UsualPlan(), {0, 3, 5}); }

Handle OpenFile(const std::string& path) {
  return {H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "open"};
}
Handle OpenGroupAt(hid_t file, const char* path) {
  return {H5Gopen2(file, path, H5P_DEFAULT), H5Gclose, "open"};
}
Handle OpenDataSet(hid_t file, const std::string& path) {
  return {H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, "open"};
}
Handle Creation() { return {H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "create"}; }

// A variant of the usual sweep's file, changed as another program could change it.
HostileKind Changed(const std::string& name,
                    const std::function<void(hid_t file, const std::string& folder)>& change,
                    Reading reading = Reading::kRefused) {
  return {name,
          [change](const std::string& folder) {
            const hdf5::LibraryLock lock;
            WriteUsual(folder);
            const Handle file = OpenFile(Run(folder));
            change(file.id(), folder);
          },
          reading};
}

void SetText(hid_t object, const char* name, const std::string& text) {
  H5Adelete(object, name);
  hdf5::WriteAttribute(object, name, Attribute(text));
}

// Replaces a data set by another one and copies its text attributes.
Handle Replace(hid_t file, const std::string& path, hid_t type, const std::vector<hsize_t>& sizes,
               hid_t create) {
  const Handle before = OpenDataSet(file, path);
  const std::string role = hdf5::ReadTextAttribute(before.id(), "midscope_role");
  const auto axes = hdf5::ReadTextListAttribute(before.id(), "axis_names");
  Check(H5Ldelete(file, path.c_str(), H5P_DEFAULT), "delete");
  const Handle space = hdf5::Space(sizes);
  Handle made(H5Dcreate2(file, path.c_str(), type, space.id(), H5P_DEFAULT, create, H5P_DEFAULT),
              H5Dclose, "create");
  hdf5::WriteAttribute(made.id(), "midscope_role", Attribute(role));
  if (!axes.empty()) hdf5::WriteAttribute(made.id(), "axis_names", axes);
  return made;
}

HostileKind AxisOfLength(const std::string& name, hsize_t length) {
  return Changed("axis of length " + name, [length](hid_t file, const std::string&) {
    const Handle create = Creation();
    const hsize_t chunk = 1024;
    H5Pset_chunk(create.id(), 1, &chunk);
    const Handle axis = Replace(file, "entry/sweep/layer", H5T_NATIVE_INT64, {length}, create.id());
    hdf5::WriteAttribute(axis.id(), "implied", Attribute(int64_t{1}));
  });
}

// Makes all axes of a record, and its arrays, longer than any memory.
void LengthenAll(hid_t file, const std::string&) {
  const hsize_t length = hsize_t{1} << 33;
  const Handle create = Creation();
  const hsize_t chunk = 1024;
  H5Pset_chunk(create.id(), 1, &chunk);
  const Handle axis = Replace(file, "entry/sweep/place", H5T_NATIVE_INT64, {length}, create.id());
  hdf5::WriteAttribute(axis.id(), "implied", Attribute(int64_t{1}));
  const hsize_t chunks[] = {1, 1, 1024};
  const Handle create_array = Creation();
  H5Pset_chunk(create_array.id(), 3, chunks);
  for (const char* name : {"entry/sweep/answer_nll", "entry/sweep/correct"}) {
    Replace(file, name, H5T_NATIVE_DOUBLE, {3, 2, length}, create_array.id());
  }
}

HostileKind PromptOfLength(const std::string& name, int64_t tokens, Reading reading) {
  return {"prompt of " + name + " tokens",
          [tokens](const std::string& folder) {
            SweepStore store = SweepStore::Create(Run(folder), UsualPlan(), ExampleProvenance());
            Record record = ExampleSample(0);
            const std::vector<int64_t> of_tokens(3, tokens);
            record.arrays.push_back({"prompt_tokens", {"place"}, of_tokens, "", ""});
            record.arrays.push_back(
                {"gold_token_begin", {"place"}, std::vector<int64_t>{1, 1, 1}, "", ""});
            record.arrays.push_back({"gold_token_end", {"place"}, of_tokens, "", ""});
            store.Append(0, record);
            store.Finish();
          },
          reading};
}

HostileKind PlanOf(const std::string& name, const std::string& plan, Reading reading) {
  return {"plan with " + name,
          [plan](const std::string& folder) {
            WriteSweep(Run(folder), plan, {0, 3});
          },
          reading};
}

HostileKind DeepPlan(int levels) {
  return Changed(
      "plan nested " + std::to_string(levels) + " deep", [levels](hid_t file, const std::string&) {
        const Handle entry = OpenGroupAt(file, "entry");
        const auto count = static_cast<size_t>(levels);
        SetText(entry.id(), "plan_json",
                R"({"samples":)" + std::string(count, '[') + std::string(count, ']') + "}");
      });
}

HostileKind AxesTwice(const std::string& array, const std::string& axis, size_t count) {
  return Changed("axis " + axis + " twice", [=](hid_t file, const std::string&) {
    const Handle create = Creation();
    const std::vector<hsize_t> sizes(count, 3);
    Replace(file, "entry/sweep/" + array, H5T_NATIVE_DOUBLE, sizes, create.id());
    const Handle made = OpenDataSet(file, "entry/sweep/" + array);
    H5Adelete(made.id(), "axis_names");
    hdf5::WriteAttribute(made.id(), "axis_names", std::vector<std::string>(count, axis));
  });
}

HostileKind ExternalLink(const std::string& path) {
  return Changed(path + " as an external link", [path](hid_t file, const std::string& folder) {
    fs::copy(Run(folder), folder + "/other.h5");
    Check(H5Ldelete(file, path.c_str(), H5P_DEFAULT), "delete");
    Check(H5Lcreate_external("other.h5", ("/" + path).c_str(), file, path.c_str(), H5P_DEFAULT,
                             H5P_DEFAULT),
          "link");
  });
}

void StoreOutside(hid_t file, const std::string&) {
  const Handle create = Creation();
  Check(H5Pset_external(create.id(), "/etc/passwd", 0, sizeof(double) * 18), "point outside");
  Replace(file, "entry/sweep/answer_nll", H5T_NATIVE_DOUBLE, {3, 2, 3}, create.id());
}

void AddBomb(hid_t file, const std::string&) {
  const Handle create = Creation();
  const hsize_t chunk = hsize_t{1} << 20;
  H5Pset_chunk(create.id(), 1, &chunk);
  H5Pset_deflate(create.id(), 9);
  const Handle space = hdf5::Space({kBombElements});
  const Handle axis(H5Dcreate2(file, "entry/sweep/bomb", H5T_NATIVE_INT64, space.id(), H5P_DEFAULT,
                               create.id(), H5P_DEFAULT),
                    H5Dclose, "create");
  hdf5::WriteAttribute(axis.id(), "midscope_role", Attribute("axis"));
  const std::vector<int64_t> zeros(chunk, 0);
  const Handle memory = hdf5::Space({chunk});
  for (hsize_t begin = 0; begin < kBombElements; begin += chunk) {
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &begin, nullptr, &chunk, nullptr);
    H5Dwrite(axis.id(), H5T_NATIVE_INT64, memory.id(), space.id(), H5P_DEFAULT, zeros.data());
  }
}

void AddAttributes(hid_t file, const std::string&) {
  const Handle group = OpenGroupAt(file, kSweep);
  for (int64_t i = 0; i < 5000; ++i) {
    hdf5::WriteAttribute(group.id(), "a" + std::to_string(i), Attribute(i));
  }
}

// A variant in which answer_nll is a virtual data set that reads everything from file `source`.
HostileKind VirtualOver(const std::string& name, const std::string& source, hsize_t there = 3,
                        const std::string& also = "") {
  return Changed("virtual over " + name, [=](hid_t file, const std::string& folder) {
    if (!also.empty()) WriteSweep(folder + "/" + also, UsualPlan(), {0, 1});
    if (name == "a link") fs::create_symlink(Run(folder), folder + "/" + source);
    if (name == "a part of another run")
      WriteSweep(folder + "/" + source, R"({"task":"other","samples":6,"settings":[]})", {0, 3, 5});
    const Handle entry = OpenGroupAt(file, "entry");
    hdf5::WriteAttribute(entry.id(), "parts", std::vector<std::string>{source});
    std::string seal(32, '0');
    std::ifstream sealed(folder + "/" + source, std::ios::binary);
    if (sealed && sealed.seekg(-16, std::ios::end)) {
      seal.clear();
      for (int byte = sealed.get(); byte >= 0; byte = sealed.get()) {
        constexpr const char* kDigits = "0123456789abcdef";
        seal += kDigits[byte / 16];
        seal += kDigits[byte % 16];
      }
    }
    hdf5::WriteAttribute(entry.id(), "part_checksums", std::vector<std::string>{seal});
    const Handle create = Creation();
    const Handle here = hdf5::Space({3, 2, 3});
    const Handle space = hdf5::Space({there, 2, 3});
    const hsize_t begin[] = {0, 0, 0};
    const hsize_t extent[] = {std::min<hsize_t>(there, 3), 2, 3};
    H5Sselect_hyperslab(here.id(), H5S_SELECT_SET, begin, nullptr, extent, nullptr);
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin, nullptr, extent, nullptr);
    Check(H5Pset_virtual(create.id(), here.id(), source.c_str(), "/entry/sweep/answer_nll",
                         space.id()),
          "point");
    Replace(file, "entry/sweep/answer_nll", H5T_NATIVE_DOUBLE, {3, 2, 3}, create.id());
  });
}

void NameRecordOutside(hid_t file, const std::string&) {
  const Handle group = OpenGroupAt(file, kSweep);
  SetText(group.id(), "record_name", "../../outside");
}

void NameRecordTwice(hid_t file, const std::string&) {
  Check(H5Lcreate_hard(file, "entry/sweep", file, "entry/sweep_record", H5P_DEFAULT, H5P_DEFAULT),
        "link");
}

// Adds a group that contains itself, and soft links that refer to each other.
void AddCycles(hid_t file, const std::string&) {
  Check(H5Lcreate_hard(file, "entry", file, "entry/again", H5P_DEFAULT, H5P_DEFAULT), "link");
  Check(H5Lcreate_hard(file, "entry/sweep", file, "entry/sweep/again", H5P_DEFAULT, H5P_DEFAULT),
        "link");
  Check(H5Lcreate_soft("/entry/b", file, "entry/a", H5P_DEFAULT, H5P_DEFAULT), "link");
  Check(H5Lcreate_soft("/entry/a", file, "entry/b", H5P_DEFAULT, H5P_DEFAULT), "link");
}

void NumberSamplesNaN(hid_t file, const std::string&) {
  const Handle create = Creation();
  const Handle axis = Replace(file, "entry/sweep/sample", H5T_NATIVE_DOUBLE, {3}, create.id());
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double numbers[] = {none, none, 1e300};
  H5Dwrite(axis.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
}

size_t CopyThrough(unsigned, size_t, const unsigned*, size_t bytes, size_t*, void**) {
  return bytes;
}

void PackUnknown(hid_t file, const std::string&) {
  constexpr H5Z_filter_t kFilter = 305;
  const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, kFilter, 1,       1,
                               "unknown",        nullptr, nullptr, CopyThrough};
  Check(H5Zregister(&filter), "register");
  const Handle create = Creation();
  const hsize_t chunk[] = {3, 2, 3};
  H5Pset_chunk(create.id(), 3, chunk);
  H5Pset_filter(create.id(), kFilter, 0, 0, nullptr);
  const Handle made =
      Replace(file, "entry/sweep/answer_nll", H5T_NATIVE_DOUBLE, {3, 2, 3}, create.id());
  const std::vector<double> values(18, 1);
  H5Dwrite(made.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

// Every element refers to the same text of 1 MiB, 4 GiB in total.
void RepeatText(const std::string& folder) {
  constexpr hsize_t kTexts = 4096;
  WriteUsual(folder);
  haddr_t offset = 0;
  {
    const hdf5::LibraryLock lock;
    const Handle file = OpenFile(Run(folder));
    const Handle space = hdf5::Space({kTexts});
    const Handle type = hdf5::TextType();
    for (const char* name : {"entry/sweep/many", "entry/sweep/texts"}) {
      const bool axis = std::strcmp(name, "entry/sweep/many") == 0;
      const Handle made(H5Dcreate2(file.id(), name, axis ? H5T_NATIVE_INT64 : type.id(), space.id(),
                                   H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                        H5Dclose, "create");
      hdf5::WriteAttribute(made.id(), "midscope_role", Attribute(axis ? "axis" : "array"));
      if (axis) {
        hdf5::WriteAttribute(made.id(), "implied", Attribute(int64_t{1}));
        const std::vector<int64_t> zeros(kTexts, 0);
        hdf5::WriteData(made.id(), zeros);
        continue;
      }
      hdf5::WriteAttribute(made.id(), "axis_names", std::vector<std::string>{"many"});
      std::vector<std::string> texts(kTexts, "x");
      texts[0] = std::string(1 << 20, 'y');
      hdf5::WriteData(made.id(), texts);
      offset = H5Dget_offset(made.id());
    }
  }
  std::string bytes = ReadBytes(Run(folder));
  constexpr size_t kReference = 16;
  for (size_t i = 1; i < kTexts; ++i) {
    bytes.replace(offset + i * kReference, kReference, bytes, offset, kReference);
  }
  WriteBytes(Run(folder), bytes);
}

void WriteEscapes(const std::string& folder) {
  Record record = ExampleSample(0);
  record.axes[3].labels = {kEscape, "pi(1.5)"};
  record.arrays[0].description = kEscape;
  record.arrays[0].unit = kEscape;
  record.attributes["text"] = kEscape;
  std::get<std::vector<std::string>>(record.arrays[4].data)[0] = kEscape;
  Provenance provenance = ExampleProvenance();
  provenance.command = kEscape;
  nlohmann::json plan = nlohmann::json::parse(UsualPlan());
  plan["task"] = kEscape;
  SweepStore store = SweepStore::Create(Run(folder), plan.dump(), provenance);
  store.Append(0, record);
  store.Finish();
}

std::vector<HostileKind> MakeKinds() {
  std::vector<HostileKind> kinds = {
      AxisOfLength("0", 0),
      AxisOfLength("2^33", hsize_t{1} << 33),
      AxisOfLength("2^40", hsize_t{1} << 40),
      AxisOfLength("2^60", hsize_t{1} << 60),
      Changed("all sizes huge", LengthenAll),
      PromptOfLength("2^31", int64_t{1} << 31, Reading::kHarmless),
      PromptOfLength("2^60", int64_t{1} << 60, Reading::kHarmless),
      PromptOfLength("-1", -1, Reading::kHarmless),
      AxesTwice("answer_nll", "layer", 3),
      AxesTwice("answer_nll", "sample", 2),
      PlanOf("samples as text", PlanText(R"("many")", R"(["none"])"), Reading::kHarmless),
      PlanOf("samples as null", PlanText("null", R"(["none"])"), Reading::kHarmless),
      PlanOf("samples as object", PlanText("{}", R"(["none"])"), Reading::kHarmless),
      PlanOf("huge samples", PlanText("18446744073709551615", R"(["none"])"), Reading::kHarmless),
      PlanOf("settings as text", PlanText("6", R"("none")"), Reading::kHarmless),
      PlanOf("settings as null", PlanText("6", "null"), Reading::kHarmless),
      PlanOf("settings as numbers", PlanText("6", "[1,[2],{}]"), Reading::kHarmless),
      PlanOf("no object", "[1,2]", Reading::kHarmless),
      DeepPlan(5000),
      DeepPlan(30000),
      ExternalLink("entry"),
      ExternalLink("entry/provenance"),
      ExternalLink("entry/sweep"),
      ExternalLink("entry/sweep/setting_label"),
      ExternalLink("entry/sweep/answer_nll"),
      Changed("external raw storage", StoreOutside),
      Changed("filter bomb", AddBomb),
      Changed("unknown filter", PackUnknown),
      Changed("thousands of attributes", AddAttributes),
      {"one text many times", RepeatText, Reading::kPartly},
      VirtualOver("itself", "."),
      VirtualOver("its own file", "run.h5"),
      VirtualOver("a system file", "/etc/hostname"),
      VirtualOver("a file above", "../run.h5"),
      VirtualOver("a file that is not there", "none.h5"),
      VirtualOver("a link", "link.h5"),
      VirtualOver("a part of another run", "other_run.h5"),
      VirtualOver("a part that is too short", "short.h5", 3, "short.h5"),
      Changed("record name with ..", NameRecordOutside),
      Changed("a record twice", NameRecordTwice),
      Changed("cycles of links", AddCycles, Reading::kHarmless),
      Changed("NaN in sample numbers", NumberSamplesNaN, Reading::kHarmless),
      {"control characters and HTML", WriteEscapes, Reading::kHarmless}};
  for (HostileKind& kind : HostileJournals(UsualPlan())) kinds.push_back(std::move(kind));
  return kinds;
}

}  // namespace

const std::vector<HostileKind>& HostileKinds() {
  static const std::vector<HostileKind> kinds = MakeKinds();
  return kinds;
}

}  // namespace midscope::test
