# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# From `objdump -dr`: functions of devplace without a configuration in their name that refer to one with it. Another
# file's function of that name would refer to another configuration's, and the linker would keep one of both.
BEGIN { configured = "[0-9](checked_simulated_cuda|simulated_cuda|host_only_cuda|full_cuda|no_cuda)(_with_cblas)?[0-9A-Z]" }
/^[0-9a-f]+ <.*>:$/ {
  name = substr($2, 2, length($2) - 3)
  watched = name ~ /^_ZN?K?[A-Z]*8devplace/ && name !~ configured
  count += name ~ configured
}
/: R_[A-Z0-9_]+/ {
  if (watched && $3 ~ configured && $3 !~ /^\.text/) {
    print "calls a function of its configuration and is none itself: " name
    found = 1
    watched = 0
  }
}
END {
  print count " functions of the configuration"
  exit found || !count
}
