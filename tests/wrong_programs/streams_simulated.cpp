// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

using device = dp::on<dp::cuda<0>>;
using pinned_row = dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>>;

#if defined(STREAM_WITHOUT_PLACE)  // a stream; its device is forgotten
void program() {
  dp::stream s;
  s.synchronize();
}
#endif

#if defined(STREAM_OF_PLACEMENT)  // right: a stream of a placement instead of a place
void program() {
  dp::stream<device> s;
  s.synchronize();
}
#endif

#if defined(STREAM_OF_PINNED)  // a stream of pinned memory
void program() {
  dp::stream<dp::pinned> s;
  s.synchronize();
}
#endif

#if defined(STREAM_WITH_PRIORITY)  // a stream with a priority
void program() {
  dp::stream<dp::cuda<0>> s(1);
  s.synchronize();
}
#endif

#if defined(STREAM_COPIED)  // a second handle of a stream
void program() {
  dp::stream<dp::cuda<0>> s;
  auto t = s;
  t.synchronize();
}
#endif

#if defined(STREAM_OF_OTHER_DEVICE)  // a copy on the stream of another device
void program() {
  pinned_row a{1, 2, 3};
  dp::stream<dp::cuda<1>> s;
  auto p = dp::to_async<device>(a, s);
  std::cout << p.get();
}
#endif

#if defined(STREAM_WAITS_FOR_STREAM)  // a stream that waits for a stream
void program() {
  dp::stream<dp::cuda<0>> s, t;
  s.wait(t);
}
#endif

#if defined(STREAM_SYNCHRONIZED_BY_FUNCTION)  // synchronize of a stream
void program() {
  dp::stream<dp::cuda<0>> s;
  dp::synchronize(s);
}
#endif

#if defined(SCOPE_WITHOUT_NAME)  // run: a scope that ends at once
void program() {
  dp::stream<dp::cuda<0>> s;
  dp::stream_scope{s};
  auto a = dp::ones<float, device>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(SCOPE_OF_DEVICE)  // a scope of a device instead of a stream
void program() {
  const dp::stream_scope on(dp::cuda<0>{});
  auto a = dp::ones<float, device>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(EVENT_WITHOUT_PLACE)  // an event; its device is forgotten
void program() {
  dp::event e;
  e.record();
}
#endif

#if defined(EVENT_OF_PLACEMENT)  // right: an event of a placement
void program() {
  dp::event<device> e;
  e.record();
}
#endif

#if defined(EVENT_ON_OTHER_STREAM)  // an event recorded on another device's stream
void program() {
  dp::event<dp::cuda<1>> e;
  dp::stream<dp::cuda<0>> s;
  e.record(s);
}
#endif

#if defined(EVENT_WAITS_FOR_STREAM)  // an event that waits for a stream
void program() {
  dp::event<dp::cuda<0>> e;
  dp::stream<dp::cuda<0>> s;
  e.wait(s);
}
#endif

#if defined(EVENT_TIME)  // the time between two events
void program() {
  dp::event<dp::cuda<0>> a, b;
  a.record();
  b.record();
  std::cout << a.elapsed_time(b);
}
#endif

#if defined(EVENT_BEFORE_HOST)  // an event before the host
void program() {
  dp::event<dp::cuda<0>> e;
  e.record();
  e.before<dp::cpu>();
}
#endif

#if defined(ASYNC_FROM_PAGEABLE)  // an asynchronous copy from ordinary memory
void program() {
  row a{1, 2, 3};
  auto p = dp::to_async<device>(a);
  std::cout << p.get();
}
#endif

#if defined(ASYNC_BETWEEN_DEVICES)  // an asynchronous copy between devices
void program() {
  auto a = dp::ones<float, device>(dp::extents<3>{});
  auto p = dp::to_async<dp::on<dp::cuda<1>>>(a);
  std::cout << p.get();
}
#endif

#if defined(ASYNC_TO_PLACE)  // right: a place where a placement belongs
void program() {
  pinned_row a{1, 2, 3};
  auto p = dp::to_async<dp::cuda<0>>(a);
  std::cout << p.get();
}
#endif

#if defined(ASYNC_WITHOUT_PLACE)  // an asynchronous copy; where to is forgotten
void program() {
  pinned_row a{1, 2, 3};
  auto p = dp::to_async(a);
  std::cout << p.get();
}
#endif

#if defined(PENDING_AS_TENSOR)  // a pending copy as an operand
void program() {
  pinned_row a{1, 2, 3};
  auto p = dp::to_async<device>(a);
  dp::tensor b = p + p;
  std::cout << b;
}
#endif

#if defined(PENDING_AS_RESULT)  // a pending copy as the tensor
void program() {
  pinned_row a{1, 2, 3};
  dp::tensor<float, dp::extents<3>, device> b = dp::to_async<device>(a);
  std::cout << b;
}
#endif

#if defined(PENDING_PRINTED)  // a pending copy printed
void program() {
  pinned_row a{1, 2, 3};
  std::cout << dp::to_async<device>(a);
}
#endif

#if defined(PENDING_COPIED)  // a second handle of a pending copy
void program() {
  pinned_row a{1, 2, 3};
  auto p = dp::to_async<device>(a);
  auto q = p;
  std::cout << q.get();
}
#endif

#if defined(PENDING_AFTER_OF_TEMPORARY)  // a tensor of a pending copy that nobody keeps
void program() {
  pinned_row a{1, 2, 3};
  auto& b = dp::to_async<device>(a).after();
  std::cout << b;
}
#endif

#if defined(PENDING_TAKEN_TWICE)  // run: a pending tensor taken twice
void program() {
  pinned_row a{1, 2, 3};
  auto p = dp::to_async<device>(a);
  auto b = std::move(p).get();
  auto c = std::move(p).get();
  dp::tensor d = c + c;
  std::cout << d << b;
}
#endif

#if defined(PENDING_ELEMENT)  // an element of a pending tensor on a device
void program() {
  pinned_row a{1, 2, 3};
  auto p = dp::to_async<device>(a);
  std::cout << p.get()(0);
}
#endif

#if defined(COPY_ASYNC_SWAPPED)  // run: copy_async(from, to)
void program() {
  pinned_row a{1, 2, 3};
  auto b = dp::zeros<float, device>(dp::extents<3>{});
  auto p = dp::copy_async(a, b);
  p.wait();
  std::cout << a;
}
#endif

#if defined(COPY_ASYNC_OTHER_SIZE)  // a copy of other extents
void program() {
  pinned_row a{1, 2, 3};
  auto b = dp::zeros<float, device>(dp::extents<4>{});
  auto p = dp::copy_async(b, a);
  p.wait();
}
#endif

#if defined(RECORD_OTHER_STREAM)  // an array recorded on another device's stream
void program() {
  auto a = dp::ones<float, device>(dp::extents<3>{});
  dp::stream<dp::cuda<1>> s;
  a.record_stream(s);
}
#endif

#if defined(RECORD_HOST)  // an array of the host recorded on a stream
void program() {
  row a{1, 2, 3};
  dp::stream<dp::cuda<0>> s;
  a.record_stream(s);
}
#endif
