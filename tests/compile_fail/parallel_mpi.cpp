// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Without component mpi. No MPI has its header where compilers look by themselves.
#include <devplace/process/process_group.hpp>

#if defined(MPI_WITHOUT_THE_COMPONENT)  // expect: devplace: process/mpi.hpp needs MPI. Link devplace::mpi, found by
                                        // find_package
  #include <devplace/process/mpi.hpp>
#endif
