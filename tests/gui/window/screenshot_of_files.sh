#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: screenshot_of_files.sh WRITE_EXAMPLE MIDSCOPE_GUI FOLDER: pictures of files of results, with samples and without, come and
# the program ends; for a file that is none, for a
# session that cannot be opened and for a display that cannot be reached, it says so.
set -eu
mkdir -p "$3"
"$1" "$3"
for name in sweep probe; do
  rm -f "$3/$name.png"
  "$2" "$3/$name.h5" --screenshot "$3/$name.png" 2>"$3/error"
  test -s "$3/$name.png"
  if grep propagateSizeHints "$3/error"; then exit 1; fi
done
echo nothing >"$3/nothing.h5"
if "$2" "$3/nothing.h5" --screenshot "$3/nothing.png" 2>"$3/error"; then
  echo "a file that is none gave a picture" >&2
  exit 1
fi
grep -q nothing.h5 "$3/error"
printf '{"midscope_session":1,"model":"embedded","setting_b":"ratios(\\"%s/none.json\\")"}' "$3" >"$3/session.midscope"
if timeout 60 "$2" --session "$3/session.midscope" --screenshot "$3/session.png" 2>"$3/error"; then
  echo "a session whose ratios are not there gave a picture" >&2
  exit 1
fi
grep -q none.json "$3/error"
# Without its display, one line instead of Qt's text and a core dump.
status=0
env -u QT_QPA_PLATFORM -u WAYLAND_DISPLAY DISPLAY=:4711 "$2" 2>"$3/error" || status=$?
test "$status" = 1
test "$(wc -l <"$3/error")" = 1
grep -q "display ':4711': .*Set DISPLAY" "$3/error"
