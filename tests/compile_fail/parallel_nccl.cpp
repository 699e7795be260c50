// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Without component nccl. Only nvcc finds NCCL's header by itself, in some toolkits.
#include <devplace/process/process_group.hpp>

#if defined(NCCL_WITHOUT_THE_COMPONENT)  // expect: devplace: parallel/nccl.hpp (needs NCCL|connects CUDA devices)
  #include <devplace/parallel/nccl.hpp>
#endif
