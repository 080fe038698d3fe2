// SPDX-License-Identifier: GPL-3.0-or-later
// Draws pictures of a results file without a window: the data from which panels draw them
// (Panel::Render), and the files that are written.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

#include "data/store/record_reader.h"
#include "gui/base/head_quantities.h"
#include "gui/base/view_types.h"

namespace midscope {

class Plot;

struct RenderRequest {
  QString file;  // path of a file such as RUN.h5, or the address of a group in it
  QString folder;
  QStringList formats;  // a subset of PlotFormats()
  // Empty: FilePictures chooses one. Of several, pictures with room for one head show the first.
  std::vector<HeadId> heads;
  std::optional<int64_t> channel;  // nullopt: the first in the file
  QStringList reference = {};      // files of midscope sweep, drawn beside the outcome
};

// A record of setting A, and the record of setting B if the window wrote the file; null if missing.
struct RecordSides {
  const Record* a = nullptr;
  const Record* b = nullptr;
};

// The head that is drawn if none is requested, and the reason, such as "most attention on the gold:
// 0.62"; "": the records do not decide.
struct HeadChoice {
  HeadId head;
  QString reason;
};
// Chooses the first head with the largest value, or the smallest. `reason` names the value; the
// result's reason is "" if the table has no values.
HeadChoice ChooseHead(const HeadTable& table, const QString& reason, bool smallest = false);

// Whether the record's axes layer and head contain the head.
bool HasHead(const Record& record, HeadId head);

class FilePictures {
 public:
  // The arguments must outlive this object. `whole`: the file, if `file` is only the record that
  // the request names; null: the same. `reference`: a record published_reference to show beside
  // outcomes; null: the one in the file.
  FilePictures(const RenderRequest& request, const RunFile& file, const RunFile* whole = nullptr,
               const Record* reference = nullptr);

  const RenderRequest& request() const { return request_; }
  // The records to draw.
  const std::vector<Record>& records() const { return records_; }
  // All records of the file: what is drawn may need the tokens of the gold from another record.
  const std::vector<Record>& all_records() const { return all_records_; }
  bool is_whole_file() const { return &records_ == &all_records_; }
  const Record* prompt() const { return prompt_; }        // null: none
  const Record* reference() const { return reference_; }  // null: none

  // The first records of A and B to draw that contain the array with exactly these axes.
  RecordSides Find(const std::string& array, const std::vector<std::string>& axes) const;
  // The first records of A and B in the whole file that contain the array with exactly these axes.
  RecordSides FindInFile(const std::string& array, const std::vector<std::string>& axes) const;
  // The setting that made the record. It is read from the record if the window wrote the file, or
  // from the prompt if midscope probe did; "" if neither has it.
  QString SettingText(const Record* record) const;
  // "title — setting", or, if `without` (A's record) is given, "title — B − A (setting of B;
  // setting of A)".
  QString Titled(const QString& title, const Record* record, const Record* without = nullptr) const;
  // The tokens of the gold; empty if the file does not have them.
  TokenSpan gold() const;
  // The head with the most attention on the gold; without gold, with the largest
  // position-awareness score; without scores, with the least attention on the first tokens.
  HeadChoice chosen_head() const;
  // The requested heads; without, `choice`. Throws Error (usage) if the record lacks a requested
  // head.
  std::vector<HeadId> HeadsIn(const Record& record, const HeadChoice& choice) const;
  // The head in a title: "L15H8", or with the reason of a choice: "L15H8 (most attention on ...)".
  QString HeadTitle(HeadId head, const HeadChoice& choice) const;
  // The first requested head, or the chosen one.
  HeadId head() const;

  // Writes the plot in all formats and its numbers as CSV, with model, task, settings and samples
  // below the picture; the CSV also lists the commands that made the file and the picture. If the
  // plot has error bars, the caption says that they are 95 % intervals, and `interval`, their
  // method
  // ("Student's t"; "": not stated). Throws Error (failure).
  void Write(Plot& plot, const QString& stem, const RecordSides& drawn = {},
             const QString& interval = {});
  // The paths of all written files, including CSV, in order.
  const QStringList& written() const { return written_; }

 private:
  QString RunCaption() const;

  const RenderRequest& request_;
  const std::vector<Record>& records_;
  const std::vector<Record>& all_records_;

  const Provenance& provenance_;
  const std::string& plan_json_;
  const Record* prompt_;
  const Record* reference_;
  QStringList written_;
};

}  // namespace midscope
