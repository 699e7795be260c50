# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# awk -f errors_of_cases.awk <source>... <output>: prints "<case>: <error>" for each case of the sources whose message
# is in the compiler's output for all cases. The message must be in an error of the case, or in a note of such an error.
# An error belongs to the cases whose lines it names or whose lines requested the instantiation: g++ prints that before
# the error ("required from"), clang ("requested here") and nvcc ("at line") after it. g++ and clang do not repeat the
# instantiation for a further error in it. Errors that cannot be attributed are left out; the caller then compiles the
# case alone. All errors belong to an only case.

BEGIN {
  source_line = "[A-Za-z0-9_]+[.](cpp|cu)[:(][0-9]+"
  error_or_note = "(error|Error|assertion|note: candidate|note: '|instantiation of)"
}

function copy(from, to,  i) {
  split("", to)
  for (i in from) to[i]
}

function flush_group(  i, k) {
  if (cases == 1) owners[1]
  if (has_error) {
    if (!has_origin) copy(owners_before, owners)
    copy(owners, owners_before)
  }
  for (k in owners)
    for (i = 1; i <= lines && !(k in found); i++)
      if (group[i] ~ (error_or_note ".*(" message[k] ")")) {
        print name[k] ": " group[i]
        found[k]
      }
  split("", owners)
  lines = has_error = has_origin = 0
}

# Adds the case that the line of a source belongs to.
function add_owner(file_and_line) {
  sub(/[(]/, ":", file_and_line)
  if (file_and_line in case_of) owners[case_of[file_and_line]]
}

function find_lines(text) {
  while (match(text, source_line)) {
    add_owner(substr(text, RSTART, RLENGTH))
    text = substr(text, RSTART + RLENGTH)
  }
}

function find_lines_of_nvcc(text,  place, number) {
  while (match(text, /at line [0-9]+ of [^ ]*[.](cpp|cu)/)) {
    place = substr(text, RSTART + 8, RLENGTH - 8)
    text = substr(text, RSTART + RLENGTH)
    number = place + 0
    sub(/.*[\/ "]/, "", place)
    add_owner(place ":" number)
  }
}

FILENAME != ARGV[ARGC - 1] {
  if (FNR == 1) {
    file = FILENAME
    sub(/.*\//, "", file)
    in_a_case = 0
  }
  if ($0 ~ /defined\([A-Z0-9_]+\) *\/\/ expect: /) {
    in_a_case = 1
    name[++cases] = $0
    sub(/.*defined\(/, "", name[cases])
    sub(/\).*/, "", name[cases])
    message[cases] = $0
    sub(/.*\/\/ expect: /, "", message[cases])
    gsub(/[{]/, "[{]", message[cases])
  }
  if (in_a_case) case_of[file ":" FNR] = cases
  next
}

{
  error = $0 ~ /error:|warning:|[)]: (error|warning) /
  context_before = $0 ~ /: In (instantiation|substitution|function|member|static|constructor|destructor|lambda)|^In file included from|^== with|required (from|by)/
  requested = $0 ~ /required (from|by)|requested here|while (substituting|checking)/
  if (has_error && (error || context_before)) flush_group()
  if (error) has_error = 1
  group[++lines] = $0
  if ((error && $0 ~ source_line) || requested || /detected during|^==/) has_origin = 1
  if (error || requested) find_lines($0)
  find_lines_of_nvcc($0)
}

END { flush_group() }
