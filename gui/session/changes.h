// SPDX-License-Identifier: GPL-3.0-or-later
// Flags for the kinds of change to what a Session shows: the argument of Session::Changed.
#pragma once

#include <QFlags>

namespace midscope {

enum class Change {
  kModel = 1 << 0,        // model(), live(), file_records(), shows_file()
  kPrompts = 1 << 1,      // prompts(), place(), shown_prompt_request(), task()
  kSettings = 1 << 2,     // setting(), differs()
  kReference = 1 << 3,    // the published record
  kMeans = 1 << 4,        // MeansOf()
  kSampleFile = 1 << 5,   // a file with samples was opened or closed
  kSample = 1 << 6,       // another sample of the file is shown
  kScan = 1 << 10,        // the scan's record, or whether a scan runs
  kProbes = 1 << 11,      // probe_options()
  kChannels = 1 << 12,    // records of channels that carry position, or whether a search runs
  kGeneration = 1 << 13,  // generated text, or whether it is being generated
  kDocuments = 1 << 14,   // documents(), shown_document()
  kChannel = 1 << 15,     // channel(), before its records arrive
  kNotes = 1 << 16,       // notes()

  // The following three: records of A or B were added or removed, or now belong to an older setting
  // (ShownAsOlder). kWhatIfRecords: last-query attention and outcome, which every what-if computes.
  kWhatIfRecords = 1 << 7,
  // Score map, position ratios and hidden channels, which what-ifs compute only while all layers
  // are cached.
  kMapRecords = 1 << 8,
  // All other records, which only capture runs compute.
  kCaptureRecords = 1 << 9,
};
Q_DECLARE_FLAGS(Changes, Change)
Q_DECLARE_OPERATORS_FOR_FLAGS(Changes)

// All flags for the records of a side.
inline constexpr Changes kRecordChanges =
    Change::kWhatIfRecords | Change::kMapRecords | Change::kCaptureRecords;

}  // namespace midscope
