#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pictures of the window to look at: every mode in light and dark at 1024x700, 1600x1000 and with two pixels a point, and every
# panel alone. Nothing is compared.
#
#   tests/gui/window/screenshots.sh build/release/bin/midscope-gui FOLDER
set -euo pipefail
program=$1
folder=$2
mkdir -p "$folder"
export QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen}
# What the window remembers of its user stays as it is.
XDG_CONFIG_HOME=$(mktemp -d)
export XDG_CONFIG_HOME
trap 'rm -rf "$XDG_CONFIG_HOME"' EXIT

layouts=(explore parts samples text)
# It names the panels and fails.
panels=$({ "$program" --do 'panel none; quit' 2>&1 || true; } | sed -n "s/.*'none'.*(allowed: \(.*\)).*/\1/p; s/.*Known: //p" | tr -d ' ' | tr ',|' '  ')
begin='setting-b channel(100, factor=-1, layers=8-25)'

pictures() {  # of all layouts in one size; $2: a word in the names
  local script=$begin layout appearance
  for appearance in light dark; do
    for layout in "${layouts[@]}"; do
      script+="; appearance $appearance; size $1; layout-$layout; size $1; screenshot $folder/$layout-$2-$appearance.png"
    done
  done
  "$program" --do "$script; quit"
}

pictures 1024x700 small
pictures 1600x1000 large
QT_SCALE_FACTOR=2 pictures 1600x1000 twice
script="$begin; appearance light; size 1280x800; layout-explore"
for panel in $panels; do
  script+="; panel $panel; screenshot $folder/panel-$panel.png"
done
"$program" --do "$script; quit"
ls "$folder" | wc -l
