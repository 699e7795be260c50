#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# printed_result.sh <README.md> <output>: checks that the block after `<!-- printed by scripts/quickstart -->` in the
# README matches the program's output. Words and bytes must be equal, the loss within 1 %, the accuracy within 0.3
# points (one of 360 images). Seconds and the last line's difference depend on the machine, so only their format is
# checked.
set -eu
compare() {
  awk '
  function number(text) { return text ~ /^[0-9]+([.][0-9]+)?$/ }
  function distance(a, b) { return a < b ? b - a : a - b }
  function agree(quoted, printed, before, after) {
    if (after == "s") return quoted ~ /^[0-9]+[.][0-9]$/ && printed ~ /^[0-9]+[.][0-9]$/
    if (before == "to") return quoted ~ /^[0-9][.][0-9]e-[0-9][0-9]$/ && printed ~ /^[0-9][.][0-9]e[-+][0-9][0-9]$/
    if (quoted == printed) return 1
    if (!number(quoted) || !number(printed)) return 0
    if (before == "loss") return distance(quoted, printed) <= 0.01 * printed
    if (after == "%") return distance(quoted, printed) <= 0.3
    return 0
  }
  FNR == NR {
    if (/^<!-- printed by scripts\/quickstart -->$/) marked = 1
    else if (marked && /^```/) { if (inside) marked = 0; inside = !inside }
    else if (inside) quote[++quoted_lines] = $0
    next
  }
  { output[++output_lines] = $0 }
  END {
    if (!quoted_lines) { print "README has no block behind <!-- printed by scripts/quickstart -->"; exit 1 }
    for (i = 1; i <= quoted_lines; ++i) {
      printed = output[output_lines - quoted_lines + i]
      n = split(quote[i], q)
      same = n == split(printed, p)
      for (k = 1; k <= n && same; ++k) same = agree(q[k], p[k], q[k - 1], q[k + 1])
      if (!same) { print "README: " quote[i] "\nprinted: " printed; bad = 1 }
    }
    exit bad
  }' "$1" "$2"
}
compare "$1" "$2"

# The check must detect each of these changes of the README.
changed=$(mktemp)
trap 'rm -f "$changed"' EXIT
for change in 's/ ([0-9]+)([0-9]) bytes/ \20 bytes/' 's/loss 0[.]0/loss 0.1/' 's/ [0-9]+[.][0-9] % right/ 90.0 % right/' \
  's/agree to .*e-/differ by e-/' 's/[0-9][.][0-9] s$/fast/' 's/^replicated<cuda:0, cuda:1/replicated<cuda:0/' \
  's/ bytes  loss/ loss/' '/printed by scripts/d'; do
  sed -E "$change" "$1" >"$changed"
  if compare "$changed" "$2" >/dev/null; then echo "printed_result.sh did not find the change $change"; exit 1; fi
done
