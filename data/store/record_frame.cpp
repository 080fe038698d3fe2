// SPDX-License-Identifier: MIT
#include "data/store/record_frame.h"

#include <algorithm>

#include "data/store/file_structure.h"
#include "data/store/hdf5_values.h"
#include "data/store/provenance_fields.h"
#include "data/store/record_group.h"

namespace midscope {
namespace {

using hdf5::Handle;
using hdf5::Hdf5Error;

std::vector<double> ReadAxisValues(hid_t scale, const std::string& name, const FileLimits& limits) {
  const ArrayData values = hdf5::ReadData(scale, limits);
  if (const auto* whole = std::get_if<std::vector<int64_t>>(&values))
    return {whole->begin(), whole->end()};
  if (const auto* real = std::get_if<std::vector<double>>(&values)) return *real;
  throw Hdf5Error("the values of axis '" + name + "' are of another type than Midscope writes");
}

std::vector<std::string> ReadAxisLabels(hid_t group, const std::string& name,
                                        const FileLimits& limits) {
  const std::string labels_name = name + kLabelSuffix;
  if (!hdf5::HasHardLink(group, labels_name) || hdf5::IsGroup(group, labels_name)) return {};
  const Handle labels = hdf5::OpenDataSet(group, labels_name);
  if (hdf5::ReadTextAttribute(labels.id(), kRoleAttribute) != "label") return {};
  ArrayData data = hdf5::ReadData(labels.id(), limits);
  auto* texts = std::get_if<std::vector<std::string>>(&data);
  if (!texts) throw Hdf5Error("the labels of axis '" + name + "' are no texts");
  return std::move(*texts);
}

Axis ReadAxis(hid_t group, const std::string& name, hid_t scale, const FileLimits& limits) {
  Axis axis;
  axis.name = name;
  const std::vector<hsize_t> sizes = hdf5::SizesOf(hdf5::SpaceOf(scale).id());
  if (sizes.size() != 1) throw Hdf5Error("axis '" + name + "' has not one dimension");
  axis.size = static_cast<int64_t>(sizes[0]);
  axis.unit = hdf5::ReadTextAttribute(scale, "units");
  if (!hdf5::HasAttribute(scale, kImpliedAttribute))
    axis.values = ReadAxisValues(scale, name, limits);
  axis.labels = ReadAxisLabels(group, name, limits);
  return axis;
}

Array ReadArrayFrame(hid_t data_set, const std::string& name) {
  Array array;
  array.name = name;
  array.axes = hdf5::ReadTextListAttribute(data_set, kAxisNamesAttribute);
  array.unit = hdf5::ReadTextAttribute(data_set, "units");
  array.description = hdf5::ReadTextAttribute(data_set, "description");
  array.data = hdf5::DataKind(data_set);
  return array;
}

void CheckAxes(const Record& record, const Array& array, hid_t data_set) {
  const std::vector<hsize_t> sizes = hdf5::SizesOf(hdf5::SpaceOf(data_set).id());
  bool fits = sizes.size() == array.axes.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    const Axis* axis = record.FindAxis(array.axes[i]);
    fits = axis && static_cast<hsize_t>(axis->size) == sizes[i];
  }
  if (!fits) throw Hdf5Error("data set '" + array.name + "' does not fit its axes");
}

// Before any of them is read.
void CheckDataSets(hid_t group, const std::vector<FilePart>& parts,
                   const std::vector<Handle>& part_roots, const FileLimits& limits) {
  for (const std::string& name : hdf5::ChildNames(group)) {
    if (hdf5::IsGroup(group, name)) continue;
    CheckDataSet(hdf5::OpenDataSet(group, name).id(), name, parts, part_roots, limits);
  }
}

}  // namespace

Provenance ReadProvenance(hid_t entry) {
  const Handle group = hdf5::OpenGroup(entry, "provenance");
  Provenance provenance;
  ForEachField(provenance, [&](const char* name, auto& field) {
    const auto value = hdf5::ReadAttribute(group.id(), name);
    using Field = std::decay_t<decltype(field)>;
    if (const auto* held = value ? std::get_if<Field>(&*value) : nullptr) field = *held;
  });
  return provenance;
}

std::vector<FilePart> ReadParts(hid_t entry) {
  const std::vector<std::string> files = hdf5::ReadTextListAttribute(entry, kPartsAttribute);
  const std::vector<std::string> seals = hdf5::ReadTextListAttribute(entry, kPartSealsAttribute);
  if (files.size() != seals.size()) throw Hdf5Error("its list of parts is damaged");
  std::vector<FilePart> parts;
  for (size_t i = 0; i < files.size(); ++i) parts.push_back({files[i], seals[i]});
  return parts;
}

Record ReadFrame(hid_t group, const FileLimits& limits, const std::vector<FilePart>& parts,
                 const std::vector<Handle>& part_roots) {
  Record record;
  record.name = hdf5::ReadTextAttribute(group, kRecordNameAttribute);
  CheckGroup(group, record.name);
  CheckDataSets(group, parts, part_roots, limits);
  record.signal = hdf5::ReadTextAttribute(group, "signal");
  for (const std::string& name : hdf5::AttributeNames(group)) {
    if (IsSchemaAttribute(name)) continue;
    if (auto value = hdf5::ReadAttribute(group, name)) record.attributes[name] = std::move(*value);
  }
  for (const std::string& name : hdf5::ChildNames(group)) {
    if (hdf5::IsGroup(group, name)) continue;
    const Handle data_set = hdf5::OpenDataSet(group, name);
    const std::string role = hdf5::ReadTextAttribute(data_set.id(), kRoleAttribute);
    if (role == "axis") {
      record.axes.push_back(ReadAxis(group, name, data_set.id(), limits));
    } else if (role == "array") {
      record.arrays.push_back(ReadArrayFrame(data_set.id(), name));
    }
  }
  for (const Array& array : record.arrays) {
    CheckAxes(record, array, hdf5::OpenDataSet(group, array.name).id());
  }
  return record;
}

}  // namespace midscope
