# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Makes devplace::kokkos for tests and benchmarks, if there is a Kokkos.
#
# Debian 12 has an older Kokkos as a part of Trilinos, whose package file makes no target.
find_package(Kokkos 4 QUIET)
set(kokkos Kokkos::kokkos)
if(NOT TARGET Kokkos::kokkos)
  find_path(DEVPLACE_KOKKOS_INCLUDE_DIR Kokkos_Core.hpp PATH_SUFFIXES trilinos)
  find_library(DEVPLACE_KOKKOS_LIBRARY trilinos_kokkoscore)
  mark_as_advanced(DEVPLACE_KOKKOS_INCLUDE_DIR DEVPLACE_KOKKOS_LIBRARY)
  set(kokkos ${DEVPLACE_KOKKOS_LIBRARY})
endif()
if(kokkos)
  add_library(devplace_kokkos INTERFACE)
  target_include_directories(devplace_kokkos SYSTEM INTERFACE ${DEVPLACE_KOKKOS_INCLUDE_DIR})
  target_link_libraries(devplace_kokkos INTERFACE ${kokkos})
  add_library(devplace::kokkos ALIAS devplace_kokkos)
endif()
