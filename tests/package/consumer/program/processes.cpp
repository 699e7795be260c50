// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/process/mpi.hpp>

#if !defined(DEVPLACE_WITH_MPI)
  #error "the component's macro is missing"
#endif

int main(int argc, char** argv) {
  const devplace::mpi_session session{argc, argv};
  return session.processes().all_reduce(1) == session.processes().size() ? 0 : 1;
}
