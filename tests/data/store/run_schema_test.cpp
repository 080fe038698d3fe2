// SPDX-License-Identifier: MIT
// The documented schema compared with files: everything in the files is in the schema, and
// everything in the schema occurs.
#include "data/store/run_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <map>
#include <set>

#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "data/sweep/sweep_store.h"
#include "data/sweep/sweep_virtual.h"
#include "tests/data/support/example_records.h"
#include "tests/paths.h"

namespace midscope {
namespace {

std::string TextAttribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return "";
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute);
  char* text = nullptr;
  H5Aread(attribute, type, &text);
  std::string value = text ? text : "";
  H5free_memory(text);
  H5Tclose(type);
  H5Aclose(attribute);
  return value;
}

// The object's path in the schema; "" if the schema does not contain it.
std::string SchemaPath(const std::string& path, hid_t object) {
  if (path == ".") return "/";
  if (path == "entry" || path == "entry/provenance") return "/" + path;
  if (TextAttribute(object, "NX_class") == "NXdata") return "/entry/RECORD";
  const std::string role = TextAttribute(object, "midscope_role");
  if (role == "axis") return "/entry/RECORD/AXIS";
  if (role == "label") return "/entry/RECORD/AXIS_label";
  return role == "array" ? "/entry/RECORD/ARRAY" : "";
}

struct Seen {
  std::map<std::string, int> objects;
  std::map<std::pair<std::string, std::string>, int> attributes;
  std::vector<std::string> unknown;
};

herr_t NoteObject(hid_t file, const char* name, const H5O_info_t*, void* out) {
  auto& seen = *static_cast<Seen*>(out);
  const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  const std::string path = SchemaPath(name, object);
  if (path.empty()) seen.unknown.emplace_back(name);
  ++seen.objects[path];
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* attribute, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(attribute);
    return 0;
  };
  hsize_t position = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, add, &names);
  for (const std::string& attribute : names) {
    const bool index = path == "/entry/RECORD" && attribute.ends_with("_indices");
    ++seen.attributes[{path, index ? "AXIS_indices" : attribute}];
  }
  H5Oclose(object);
  return 0;
}

void Collect(const std::string& path, Seen& seen) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  ASSERT_GE(H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, NoteObject, &seen), 0);
  H5Fclose(file);
}

TEST(RunSchema, IsWhatFilesAre) {
  const TemporaryFolder folder;
  WriteRecords(folder.File("probe.h5"), ExampleRecords(), ExampleProvenance());
  {
    SweepStore store = SweepStore::Create(folder.File("sweep.h5"), R"({"seed":1})", {});
    store.Append(0, ExampleSample(0));
    store.AppendFailure(1, "too long");
    store.Finish();
  }
  Seen seen;
  Collect(folder.File("probe.h5"), seen);
  Collect(folder.File("sweep.h5"), seen);
  const SweepMerge merge({folder.File("sweep.h5")});
  WriteVirtualSweep(folder.File("virtual.h5"), merge, ExampleProvenance(), {});
  Collect(folder.File("virtual.h5"), seen);
  EXPECT_THAT(seen.unknown, ::testing::IsEmpty());
  std::set<std::pair<std::string, std::string>> described;
  for (const SchemaAttribute& attribute : SchemaAttributes()) {
    const std::pair key(attribute.object, attribute.name);
    described.insert(key);
    EXPECT_GE(seen.attributes[key], 1) << attribute.object << " @" << attribute.name;
    if (attribute.always) {
      EXPECT_EQ(seen.attributes[key], seen.objects[attribute.object])
          << attribute.object << " @" << attribute.name;
    }
  }
  // The records of ExampleRecords.
  const std::set<std::string> own = {"setting", "count", "mean", "task"};
  for (const auto& [key, count] : seen.attributes) {
    if (key.first == "/entry/RECORD" && own.contains(key.second)) continue;
    EXPECT_TRUE(described.contains(key)) << key.first << " @" << key.second;
  }
  for (const SchemaObject& object : SchemaObjects()) EXPECT_GE(seen.objects[object.path], 1);
}

TEST(RunSchema, ThePageIsUpToDate) {
  EXPECT_EQ(ReadBytes(MIDSCOPE_SCHEMA_PAGE), SchemaPage())
      << "write it anew: midscope help schema >data/SCHEMA.md";
}

// run_v1.h5 is the sweep.h5 that data_write_example wrote when the schema was first documented.
TEST(RunSchema, AFileOfVersionOneStillOpens) {
  const RunReader reader(std::string(MIDSCOPE_TESTS "/data/golden") + "/run_v1.h5");
  EXPECT_EQ(reader.plan_json(), R"({"seed":1})");
  EXPECT_EQ(reader.provenance().model_path, "model.gguf");
  ASSERT_EQ(reader.record_names(), std::vector<std::string>{"sweep"});
  const Record frame = reader.Describe("sweep");
  EXPECT_EQ(frame.FindAxis("sample")->values, (std::vector<double>{0, 3, 5}));
  for (int64_t row = 0; row < 3; ++row) {
    ExpectSameRecord(reader.ReadSample("sweep", row), ExampleSample(row == 0 ? 0 : 2 * row + 1));
  }
  SweepStore store = SweepStore::OpenForReading(reader.path());
  EXPECT_EQ(store.finished(), (std::set<int64_t>{0, 3, 5}));
}

}  // namespace
}  // namespace midscope
