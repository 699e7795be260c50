#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# readme_commands.sh <checkout>: runs each command of README.md's block behind `<!-- run by tests/docs/readme_commands.sh
# -->` in a folder that looks like the checkout. Each must print that 90 % of the images or more are right. Skips (exit
# status 4) without g++.
set -eu
command -v g++ >/dev/null || { echo "skipped: this machine has no g++"; exit 4; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$1/include" "$1/examples" "$folder"
sed -n '/^<!-- run by tests.docs.readme_commands.sh -->$/,/^```$/p' "$1/README.md" | grep '^g++ ' >"$folder/commands"
[ "$(wc -l <"$folder/commands")" -eq 2 ] || { echo "README.md has no block of two commands"; exit 1; }
grep -q 'DEVPLACE_WITH_SIMULATED_CUDA=1' "$folder/commands" || { echo "no command has simulated GPUs"; exit 1; }
while read -r command; do
  rm -f "$folder/a.out"
  printed=$(cd "$folder" && eval "$command")
  echo "$command"
  echo "$printed"
  echo "$printed" | grep -qE '^9[0-9][.][0-9] % of the held-out images right$'
done <"$folder/commands"
