// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/tensor/copy.hpp>

namespace dp = devplace;

template <class P>
using list = dp::tensor<float, dp::extents<3>, dp::on<P>>;

void streams(const list<dp::cuda<0>>& x, const dp::stream<dp::cuda<0>>& s, const dp::stream<dp::cuda<1>>& t) {
  dp::event<dp::cuda<0>> e;
  e.record(s);
  s.wait(e);
  e.before(t);
  x.record_stream(s);
  const dp::stream_scope on(t);
#if defined(EVENT_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: RECORD_IT_ON_A_STREAM_OF_ITS_OWN_PLACE
  e.record(t);
#endif
#if defined(STREAM_WAITS_FOR_ANOTHER_DEVICE)  // expect: CALL_before_OF_THE_EVENT_TO_ORDER_ONE_DEVICE_BEHIND_ANOTHER
  t.wait(e);
#endif
#if defined(TENSOR_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: devplace: record_stream: the stream is of another place
  x.record_stream(t);
#endif
#if defined(STREAM_COPIED)  // expect: (use of deleted function|call to implicitly-deleted copy)
  dp::stream<dp::cuda<0>> copy = s;
#endif
#if defined(STREAM_OF_PINNED_MEMORY)  // expect: devplace: pinned is memory only and has no work of its own
  { dp::stream<dp::pinned> none; }
#endif
}

int main() {}
