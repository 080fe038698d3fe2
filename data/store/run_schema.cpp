// SPDX-License-Identifier: MIT
#include "data/store/run_schema.h"

#include "core/base/record.h"
#include "data/store/record_group.h"
#include "data/store/run_store.h"
#include "data/store/virtual_layout.h"

namespace midscope {
namespace {

constexpr const char* kRoot = "/";
constexpr const char* kEntry = "/entry";
constexpr const char* kProvenance = "/entry/provenance";
constexpr const char* kRecord = "/entry/RECORD";
constexpr const char* kAxis = "/entry/RECORD/AXIS";
constexpr const char* kLabel = "/entry/RECORD/AXIS_label";
constexpr const char* kArray = "/entry/RECORD/ARRAY";

void AddFileAttributes(std::vector<SchemaAttribute>& all) {
  all.insert(
      all.end(),
      {{kRoot, "NX_class", "text", true, "NXroot"},
       {kRoot, "schema_name", "text", true, "midscope"},
       {kRoot, "schema_version", "int64", true,
        std::to_string(kRunSchemaVersion) + "; a reader refuses a later one"},
       {kRoot, "creator", "text", true, "program and version that wrote the file"},
       {kRoot, "default", "text", true, "entry"},
       {kEntry, "NX_class", "text", true, "NXentry"},
       {kEntry, "default", "text", false, "the group whose plot a viewer shows first"},
       {kEntry, "plan_json", "text", false,
        "of a sweep: all that decides its numbers (task, seed, samples, places, settings, model's "
        "hash, dtype, ...), as JSON; sweeps of equal plans go on in one file"},
       {kEntry, kPartsAttribute, "texts", false,
        "of a virtual file: the files in its folder that hold its large arrays"},
       {kEntry, kPartSealsAttribute, "texts", false,
        "the checksum at each part's end; a part with another one is not what was joined"},
       {kProvenance, "NX_class", "text", true, "NXcollection"}});
  const Provenance fields;
  ForEachField(fields, [&](const char* name, const auto& value) {
    const bool text = std::is_same_v<std::decay_t<decltype(value)>, std::string>;
    all.push_back({kProvenance, name, text ? "text" : "int64", true, "see core/base/record.h"});
  });
}

void AddRecordAttributes(std::vector<SchemaAttribute>& all) {
  all.insert(all.end(),
             {{kRecord, "NX_class", "text", true, "NXdata"},
              {kRecord, kRecordNameAttribute, "text", true, "the record's name"},
              {kRecord, "signal", "text", false, "the array that a viewer plots"},
              {kRecord, "axes", "texts", false, "its axes, outermost first"},
              {kRecord, "AXIS_indices", "int64", false, "which dimension of the signal an axis is"},
              {kAxis, kRoleAttribute, "text", true, "axis"},
              {kAxis, kImpliedAttribute, "int64", false,
               "1 where the axis has no values of its own: 0, 1, ... are there"},
              {kAxis, "units", "text", false, "unit of the values"},
              {kAxis, "long_name", "text", true, "the axis' name"},
              {kLabel, kRoleAttribute, "text", true, "label"},
              {kArray, kRoleAttribute, "text", true, "array"},
              {kArray, "units", "text", false, "unit of the elements"},
              {kArray, "description", "text", false, "what it is, in one line"},
              {kArray, kKindAttribute, "text", false, "boolean, on uint8"},
              {kArray, kAxisNamesAttribute, "texts", false, "its axes, outermost first"},
              {kArray, "coordinates", "text", false,
               "the labels of its axes, by which xarray makes them coordinates (CF conventions)"}});
}

// Adds the attributes that the HDF5 library itself writes for dimension scales.
void AddScaleAttributes(std::vector<SchemaAttribute>& all) {
  all.insert(all.end(),
             {{kAxis, "CLASS", "text", true, "DIMENSION_SCALE (HDF5)"},
              {kAxis, "NAME", "text", true, "the axis' name (HDF5)"},
              {kAxis, "REFERENCE_LIST", "reference", false, "arrays that have the axis (HDF5)"},
              {kLabel, "DIMENSION_LIST", "reference", true, "the axis (HDF5)"},
              {kArray, "DIMENSION_LIST", "reference", false, "its axes (HDF5)"}});
}

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + cell + " |";
  return row + "\n";
}

}  // namespace

const std::vector<SchemaObject>& SchemaObjects() {
  static const std::vector<SchemaObject> objects = {
      {kRoot, "group", "the file"},
      {kEntry, "group", "all of it; its groups lie in the order in which they were written"},
      {kProvenance, "group", "where the numbers come from, one attribute a field"},
      {kRecord, "group",
       "one record, called RECORD, or RECORD_record where an array has that name; with the "
       "record's "
       "own attributes (text, int64, float64)"},
      {kAxis, "data set",
       "[place] int64 or float64: the axis' values, a dimension scale attached to its arrays"},
      {kLabel, "data set", "[place] text: one label a place, where the axis has labels"},
      {kArray, "data set",
       "float32, float64, int64, uint8 (booleans) or text, over the record's axes; a single value "
       "has none"}};
  return objects;
}

const std::vector<SchemaAttribute>& SchemaAttributes() {
  static const std::vector<SchemaAttribute> attributes = [] {
    std::vector<SchemaAttribute> all;
    AddFileAttributes(all);
    AddRecordAttributes(all);
    AddScaleAttributes(all);
    return all;
  }();
  return attributes;
}

std::string SchemaPage() {
  std::string page =
      "# Files of results, schema " + std::to_string(kRunSchemaVersion) +
      "\n\n"
      "Made from `data/store/run_schema.cpp` (`midscope help schema`); a test holds it against "
      "real "
      "files.\n\n"
      "HDF5 as NeXus (silx, h5web), h5py and xarray understand it. Names in capitals stand for "
      "many.\n\n"
      "| object | is | what |\n| --- | --- | --- |\n";
  for (const SchemaObject& object : SchemaObjects()) {
    page += Row({"`" + object.path + "`", object.kind, object.meaning});
  }
  page += "\n| of | attribute | type | always | what |\n| --- | --- | --- | --- | --- |\n";
  for (const SchemaAttribute& attribute : SchemaAttributes()) {
    page += Row({"`" + attribute.object + "`", "`" + attribute.name + "`", attribute.type,
                 attribute.always ? "yes" : "no", attribute.meaning});
  }
  return page +
         "\nText is variable-length UTF-8 without NUL; other bytes are stored as escapes. Arrays "
         "are chunked,\nshuffled and compressed by gzip, with chunks of about 1 MiB. NaN marks "
         "\"no value\".\n\n"
         "## Sweeps\n\n"
         "Record `sweep` has the axis `sample` in front; its values are the samples' numbers, "
         "ascending.\nAn axis whose length differs between samples (`key`) is as long as the "
         "longest: behind it is padding\n(NaN, -1, false, \"\"), and `AXIS_count [sample]` "
         "says "
         "how many places are real. Arrays over such an axis have\none chunk a sample, so that one "
         "sample is read alone. Record `failures` lists samples that could not be run. Where "
         "settings hold prompts\n"
         "of different lengths, `setting_failure [sample, setting]` says why a setting was not run "
         "on a sample (its\n"
         "answer_nll and generation_score are NaN there, `correct` is 0 and means nothing), and "
         "record\n"
         "`setting_failures` lists these.\n\n"
         "While a sweep goes on, finished samples wait in `FILE.journal`; checkpoints replace the "
         "file as a whole. Where\nseveral processes share it, each writes a part, `FILE.rankN`, "
         "with a journal of its own, and FILE is written\nover the parts in the end (virtual "
         "files, "
         "below). `midscope ls` says whether something waits.\n\n"
         "Places are ranks from 1 on (in tasks by depth place p is p - 1 percent). Record "
         "`outcome_means` has `place_share [place]`,\nthe share of the way from the task's first "
         "place to its last (0 to 1), and where places are printed as shares\n`place_text "
         "[place]`; "
         "its attributes `setting_N_as_given` are the settings as they were typed.\n"
         "With `--attention`, `key_label [sample, key]` is the text of each token.\n\n"
         "What a sample asked stands beside its numbers, [sample, place]: `question_text` (empty "
         "where the task marks no question),\n`answer_text`, whose likelihood is scored, with its "
         "leading space, and `expected_answers`, what generated text is scored\nagainst, a JSON "
         "list of texts.\n\n"
         "Where a task cuts long prompts, `prompt_cut [sample, place]` says which; "
         "`gold_token_begin` and `gold_token_end` are -1 where\nnothing is left of the gold piece, "
         "and `outcome_means` counts both: `cut_samples` and `gold_cut_samples [place]`.\n\n"
         "Where lines of one's own have different numbers of documents, `gold_rank [sample, "
         "place]` "
         "is the rank of the gold one, from 1 on.\nWhere two places of a sample have the same rank "
         "they share one run; `outcome_means` counts such samples: `repeated_samples [place]`.\n\n"
         "Sweeps that generate say what the text was, [sample, setting, place]: `generation_cut` "
         "(the limit of new tokens cut the answer),\n`generation_empty` (nothing in what is "
         "scored) and, of tasks whose pieces each have an answer, `answered_place` (the place of "
         "the\npiece whose answer the text gives, counted as the task counts its places; -1 for "
         "none) with `first_piece_place` and\n`last_piece_place [sample, place]`. Record "
         "`generated_outcomes` has their shares of the samples: `share_right`, "
         "`share_empty`,\n`share_cut`, `share_another`, `share_none [setting, place]` and "
         "`answered_place [setting, place, answered]`, by gold place and answered place.\n\n"
         "Arrays whose unit is `s` are wall times: `setting_seconds [sample, setting]`, and their "
         "means in `outcome_means`. They differ\nbetween runs that are otherwise equal; `midscope "
         "compare` leaves them out. `MEASURE_best_place` and `MEASURE_worst_place "
         "[setting]`\nof `setting_statistics` are -1 where all places are equal.\n\n"
         "Where a sample has choices, `choice_nll [sample, setting, place, choice]` is each one's "
         "negative log-likelihood and\n`choice_right [sample, place, choice]` says which are "
         "right; `choice` is an axis whose length differs. From these come\n`choice_correct`, or, "
         "by the task's rule, `right_share [sample, setting, place]`.\n\n"
         "Where a task reads several data sets, `sample_group [sample, place]` names the sample's "
         "(\"STEM/astronomy\"), and record\n`group_means` has means over the samples of each, "
         "over data sets and over groups. For `text` over "
         "documents it names the document, and record\n`document_perplexity` has `perplexity "
         "[document, setting]`.\n\n"
         "## Numbers and labels\n\n"
         "Integers are ids, offsets, indices and counts: programs should take no mean of them. "
         "Those with the unit `rank from 0`\n(`answer_rank`, `head_rank`, the axis `rank`) are "
         "ranks whose first is 0; `midscope show` prints them from 1 on.\n\n"
         "## Virtual files\n\n"
         "`midscope merge --virtual` writes tables and summaries, and makes virtual data sets "
         "(HDF5) of the samples' arrays that are of\ntext (but those three), over an axis of "
         "differing length, or "
         "over " +
         std::to_string(hdf5::kLargestWrittenBytes >> 10) +
         " KiB a sample: they lie in the files that `parts` of `/entry` names, under the same "
         "paths.\nFor what it does not find there HDF5 gives the fill value (NaN, -1, 0, \"\") "
         "without a word. Midscope compares\nevery part's checksum with `part_checksums` when it "
         "opens the file, and refuses it where a part is missing or has\nchanged; a script can do "
         "no less than look whether the files of `parts` are there. Move parts and file "
         "together:\nthe parts lie in its folder, are not links and belong to the same run; "
         "Midscope "
         "refuses "
         "others.\n\n"
         "## Changes\n\n"
         "A checksum follows the end of the HDF5 data (`data/store/file_seal.h`); programs "
         "that "
         "change the file cut it off.\nMidscope reads a file whose "
         "checksum agrees by itself. All others, and those over a GiB, may be damaged, which HDF5 "
         "can crash "
         "on:\na process with limits of memory and time reads them for it. Refused are links out "
         "of\nthe file, data in other bytes (external storage), "
         "filters "
         "but gzip, shuffle and fletcher32, and claims that the stored bytes\ncannot hold.\n\nNew "
         "arrays, records and attributes may come within a "
         "version; a change of what is here raises it.\n";
}

}  // namespace midscope
