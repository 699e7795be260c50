# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# awk -v name=<CASE> -f errors_of_case.awk <source> <output>: extracts from the compiler's output for all cases of a
# source the errors, with their notes, of one case. An error belongs to the case whose lines it names or whose lines
# requested the instantiation: g++ prints that before the error ("required from"), clang ("requested here") and nvcc
# ("at line") after it. g++ and clang do not repeat the instantiation for a further error in it. Errors that cannot be
# attributed are left out; the caller then compiles the case alone.

function flush_group(  i) {
  if (has_error) {
    if (!has_origin) is_of_case = previous_is_of_case
    previous_is_of_case = is_of_case
  }
  if (is_of_case)
    for (i = 1; i <= lines; i++) print group[i]
  lines = 0
  has_error = 0
  has_origin = 0
  is_of_case = 0
}

function look_for_lines(text, pattern,  number) {
  while (match(text, pattern)) {
    number = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
    if (number ~ /at line/) {
      sub(/.*at line /, "", number)
    } else {
      sub(/^[^(:]*[(:]/, "", number)
    }
    number += 0
    if (number >= first && number < after) is_of_case = 1
  }
}

FNR == NR {
  if (FNR == 1) {
    file = FILENAME
    sub(/.*\//, "", file)
    gsub(/\./, "[.]", file)
    after = 1000000
  }
  if ($0 ~ /defined\([A-Z0-9_]+\) *\/\/ expect: /) {
    if (first && after == 1000000) after = FNR
    if (index($0, "defined(" name ")")) first = FNR
  }
  next
}

{
  error = $0 ~ /error:|warning:|[)]: (error|warning) /
  context_before = $0 ~ /: In (instantiation|substitution|function|member|static|constructor|destructor|lambda)|^In file included from|^== with|required (from|by)/
  if (has_error && (error || context_before)) flush_group()
  if (error) has_error = 1
  group[++lines] = $0
  if (error && $0 ~ file) has_origin = 1
  if ($0 ~ /required (from|by)|requested here|while (substituting|checking)|detected during|^==/) has_origin = 1
  if (error || $0 ~ /required (from|by)|requested here|while (substituting|checking)/) look_for_lines($0, file "[(:][0-9]+")
  if ($0 ~ /at line [0-9]+ of /) look_for_lines($0, "at line [0-9]+ of [^ ]*" file)
}

END { flush_group() }
