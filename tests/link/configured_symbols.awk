# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Reads `objdump -r` and finds devplace functions without a configuration in their name that refer to a symbol with one.
# In a file of another configuration, the function of that name would refer to another symbol, and the linker would keep
# only one of the two functions. Each inline function has its own section, .text.<name>.
function configured(name) {
  return index(name, "simulated_cuda") || index(name, "host_only_cuda") || index(name, "full_cuda") ||
         name ~ /[0-9]no_cuda/
}
/^RELOCATION RECORDS FOR / {
  known = configured($4)
  count += known
  watched = !known && $4 ~ /^\[\.text\._Z[A-Z]*8devplace/
  name = substr($4, 8, length($4) - 9)
}
watched && index($2, "R_") == 1 && configured($3) && index($3, ".text") != 1 {
  print "its code depends on the configuration and its name does not: " name
  found = 1
  watched = 0
}
END {
  print count + 0 " functions of the configuration"
  exit found || !count
}
