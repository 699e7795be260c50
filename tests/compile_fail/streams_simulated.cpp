// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>

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
#if defined(EVENT_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: RECORD_IT_ON_A_STREAM_OF_ITS|record an event of that device
  e.record(t);
#endif
#if defined(STREAM_WAITS_FOR_ANOTHER_DEVICE)  // expect: CALL_before_OF_THE_EVENT|call event.before<
  t.wait(e);
#endif
#if defined(TENSOR_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: devplace: record_stream: the stream is of another place
  x.record_stream(t);
#endif
#if defined(STREAM_COPIED)  // expect: (A_STREAM_HAS_ONE_OWNER_PASS_A_REFERENCE|call to deleted constructor)
  dp::stream<dp::cuda<0>> copy = s;
#endif
#if defined(SCOPE_OF_A_TEMPORARY_STREAM)  // expect: KEEP_THE_STREAM_IN_A_VARIABLE_WHICH_OUTLIVES_THE_SCOPE
  { const dp::stream_scope lost(dp::stream<dp::cuda<0>>{}); }
#endif
#if defined(STREAM_OF_A_POINTER)  // expect: devplace: stream: a stream is made without arguments
  { dp::stream<dp::cuda<0>> adopted(s.native_handle()); }
#endif
#if defined(EVENT_OF_A_POINTER)  // expect: (no matching|no instance of constructor)
  { dp::event<dp::cuda<0>> adopted(s.native_handle()); }
#endif
#if defined(STREAM_OF_PINNED_MEMORY)  // expect: devplace: pinned is memory only and has no work of its own
  { dp::stream<dp::pinned> none; }
#endif
}

void copies(list<dp::cuda<0>>& x, list<dp::pinned>& p, list<dp::cpu>& c, const dp::stream<dp::cuda<0>>& s,
            const dp::stream<dp::cuda<1>>& t) {
  auto copy = dp::to_async<dp::on<dp::cuda<1>>>(p, t);
  auto into = dp::copy_async(x, p, s);
  copy.get() = std::move(copy).get();
  into.wait();
  dp::copy(c, x);
#if defined(ASYNC_FROM_PAGEABLE_MEMORY)  // expect: COPY_BETWEEN_pinned_AND_THE_DEVICE|between its memory and pinned
                                         // memory only
  dp::to_async<dp::on<dp::cuda<0>>>(c);
#endif
#if defined(ASYNC_TO_PAGEABLE_MEMORY)  // expect: COPY_BETWEEN_pinned_AND_THE_DEVICE|between its memory and pinned
                                       // memory only
  dp::to_async<dp::on<dp::cpu>>(x, s);
#endif
#if defined(ASYNC_COPY_FROM_PAGEABLE_MEMORY)  // expect: COPY_BETWEEN_pinned_AND_THE_DEVICE|copy\(to, from\) copies
  dp::copy_async(x, c, s);
#endif
#if defined(ASYNC_BETWEEN_DEVICES)  // expect: USE_to_OR_copy_BETWEEN_DEVICES|between its memory and pinned memory only
  dp::to_async<dp::on<dp::cuda<1>>>(x);
#endif
#if defined(ASYNC_WITHOUT_A_DEVICE)  // expect: USE_to_OR_copy_WHERE_NO_DEVICE_COPIES|pinned memory only
  dp::to_async<dp::on<dp::cpu>>(p);
#endif
#if defined(ASYNC_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: NAME_A_STREAM_OF_THE_DEVICE|the stream is of another device
                                                  // than the
  dp::to_async<dp::on<dp::cuda<0>>>(p, t);
#endif
#if defined(COPY_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: NAME_A_STREAM_OF_THE_DEVICE|the stream is of another device
                                                 // than the
  dp::copy_async(p, x, t);
#endif
#if defined(AFTER_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: NAME_A_STREAM_OF_THE_DEVICE|the stream is of another device
                                                  // than the
  copy.after(s);
#endif
#if defined(AFTER_OF_A_TEMPORARY)  // expect: KEEP_THE_PENDING_VALUE_IN_A_VARIABLE|give it a name first, or call get
  dp::to_async<dp::on<dp::cuda<0>>>(p).after();
#endif
#if defined(AFTER_OF_A_TEMPORARY_COPY)  // expect: KEEP_THE_PENDING_VALUE_IN_A_VARIABLE|give it a name first, or call
                                        // get
  dp::copy_async(x, p).after(s);
#endif
#if defined(PENDING_USED_AS_A_TENSOR)  // expect: GIVE_TENSORS_OR_VIEWS_COPY|copy: give tensors or views on one place
  dp::copy(x, copy);
#endif
#if defined(PENDING_COPIED)  // expect: (A_PENDING_COPY_HAS_ONE_OWNER_MOVE_IT|call to deleted constructor)
  auto second = copy;
#endif
#if defined(COPY_INTO_A_TEMPORARY)  // expect: devplace: copy_async: the destination is a temporary tensor
  { auto lost = dp::copy_async(list<dp::cuda<0>>{dp::extents<3>{}}, p); }
#endif
#if defined(ASYNC_COPY_OF_OTHER_TYPE)  // expect: devplace: copy: the element types differ
  { auto other = dp::copy_async(x, dp::tensor<double, dp::extents<3>, dp::on<dp::pinned>>{dp::extents<3>{}}); }
#endif
#if defined(ASYNC_WITHOUT_PLACE)  // expect: NAME_THE_PLACE_AS_IN_to_async|to_async: name the place in angle brackets
  { auto other = dp::to_async(p); }
#endif
#if defined(PENDING_ADDED)  // expect: CALL_get_FOR_THE_TENSOR|get\(\) waits for the pending copy
  { dp::tensor sum = copy + copy; }
#endif
#if defined(PENDING_AS_THE_TENSOR)  // expect: CALL_get_FOR_THE_TENSOR_OF_A_PENDING_COPY
  { list<dp::cuda<1>> there = std::move(copy); }
#endif
#if defined(SCOPE_OF_A_PLACE)  // expect: devplace: stream_scope: the argument is a stream in a variable
  { const dp::stream_scope on(dp::cuda<0>{}); }
#endif
#if defined(EVENT_WAITS_FOR_STREAM)  // expect: THE_HOST_WAITS_WITH_wait|the host waits with event.wait\(\)
  dp::event<dp::cuda<0>>().wait(s);
#endif
#if defined(TIME_BETWEEN_EVENTS)  // expect: MEASURE_WITH_A_CLOCK|events have no times
  { double ms = dp::event<dp::cuda<0>>().elapsed_time(dp::event<dp::cuda<0>>()); }
#endif
#if defined(STREAM_WITHOUT_PLACE)  // expect: devplace: stream: name the place whose queue it is
  dp::stream queue;
#endif
#if defined(EVENT_WITHOUT_PLACE)  // expect: devplace: event: name the place whose work it marks
  dp::event mark;
#endif
#if defined(STREAM_WAITS_FOR_STREAM)  // expect: RECORD_AN_EVENT_ON_THE_OTHER_STREAM|record one on the other stream
  dp::stream<dp::cuda<0>>().wait(dp::stream<dp::cuda<1>>());
#endif
}

int main() {}
