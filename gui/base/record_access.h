// SPDX-License-Identifier: GPL-3.0-or-later
// Reading numbers and texts out of records for drawing. Nothing here throws: what is missing is
// empty or NaN, because a record may come from a file of another program.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Number of places along an axis; 0 where the record has no such axis.
int64_t AxisSize(const Record& record, const std::string& axis);
// What the places are: the axis' values, or 0, 1, ...
QVector<double> AxisValues(const Record& record, const std::string& axis);
// The labels of the axis, or its values as text.
QStringList AxisLabels(const Record& record, const std::string& axis);
// The place along `axis` that has the value; -1 for none.
int64_t AxisIndexOf(const Record& record, const std::string& axis, double value);

// Whether the array is there, over exactly these axes, with as many elements as they have places.
bool HasArray(const Record& record, const std::string& array, const std::vector<std::string>& axes);
// The array's last axis at the leading indices; empty where it is missing or out of range.
QVector<double> LastAxisRow(const Record& record, const std::string& array,
                            const std::vector<int64_t>& leading);
// One element; NaN where it is missing.
double ValueAt(const Record& record, const std::string& array, const std::vector<int64_t>& indices);
// The record at one index of an axis, which is then one long; as it is where it has no such axis or
// index.
Record AtIndex(const Record& record, const std::string& axis, int64_t index);
// All elements of an array of strings.
QStringList Texts(const Record& record, const std::string& array);

QString TextAttribute(const Record& record, const std::string& name);
int64_t IntegerAttribute(const Record& record, const std::string& name, int64_t otherwise);

// The first record of that name, or that has an array of that name; null for none.
const Record* FindRecord(const std::vector<Record>& records, const std::string& name);
const Record* FindRecordWithArray(const std::vector<Record>& records, const std::string& array);

// A token as it can be read in a label: line ends and tabs as \n and \t, quotes around it.
QString ShownToken(const QString& token);

}  // namespace midscope
