// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Headers of components that the program does not link.
// Compiled alone: nvcc stops at an #error.
#include <devplace/process/process_group.hpp>

// No MPI has its header where compilers look by themselves.
#if defined(MPI_WITHOUT_THE_COMPONENT)  // expect: devplace: process/mpi.hpp needs MPI. Link devplace::mpi, found by
                                        // find_package
  #include <devplace/process/mpi.hpp>
#endif

// Only nvcc finds NCCL's header by itself, in some toolkits.
#if defined(NCCL_WITHOUT_THE_COMPONENT)  // expect: devplace: parallel/nccl.hpp (needs NCCL|connects CUDA devices)
  #include <devplace/parallel/nccl.hpp>
#endif
