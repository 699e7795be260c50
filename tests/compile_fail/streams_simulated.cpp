// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>

namespace dp = devplace;

template <class P> using list = dp::tensor<float, dp::extents<3>, dp::on<P>>;

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void streams(const list<dp::cuda<0>>& x, const dp::stream<dp::cuda<0>>& s, const dp::stream<dp::cuda<1>>& t) {
  dp::event<dp::cuda<0>> e;
  e.record(s);
  s.wait(e);
  e.before(t);
  x.record_stream(s);
  const dp::stream_scope on(t);
#if defined(EVENT_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: devplace: event: the stream is of another device
  e.record(t);
#endif
#if defined(STREAM_WAITS_FOR_ANOTHER_DEVICE)  // expect: devplace: stream: the event is of another device
  t.wait(e);
#endif
#if defined(TENSOR_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: devplace: record_stream: the stream is of another place
  x.record_stream(t);
#endif
#if defined(SCOPE_OF_A_TEMPORARY_STREAM)  // expect: devplace: stream_scope: the temporary stream would be
  {
    const dp::stream_scope lost(dp::stream<dp::cuda<0>>{});
  }
#endif
#if defined(STREAM_OF_A_POINTER)  // expect: devplace: stream: a stream is made without arguments
  {
    dp::stream<dp::cuda<0>> adopted(s.native_handle());
  }
#endif
#if defined(EVENT_OF_A_POINTER)  // expect: (no matching|no instance of constructor)
  {
    dp::event<dp::cuda<0>> adopted(s.native_handle());
  }
#endif
#if defined(STREAM_OF_PINNED_MEMORY)  // expect: devplace: pinned is memory only and has no work of its own
  {
    dp::stream<dp::pinned> none;
  }
#endif
}

void copies(list<dp::cuda<0>>& x, list<dp::pinned>& p, list<dp::cpu>& c, const dp::stream<dp::cuda<0>>& s,
            const dp::stream<dp::cuda<1>>& t) {
  auto copy = dp::to_async<dp::on<dp::cuda<1>>>(p, t);
  auto into = dp::copy_async(x, p, s);
  copy.get() = std::move(copy).get();
  into.wait();
  dp::copy(c, x);
#if defined(ASYNC_FROM_PAGEABLE_MEMORY)  // expect: devplace: copy_async, to_async: a device copies asynchronously
  dp::to_async<dp::on<dp::cuda<0>>>(c);
#endif
#if defined(ASYNC_TO_PAGEABLE_MEMORY)  // expect: devplace: copy_async, to_async: a device copies asynchronously
  dp::to_async<dp::on<dp::cpu>>(x, s);
#endif
#if defined(ASYNC_COPY_FROM_PAGEABLE_MEMORY)  // expect: devplace: copy_async, to_async: a device copies asynchronously
  dp::copy_async(copy.get(), c, t);
#endif
#if defined(ASYNC_BETWEEN_DEVICES)  // expect: devplace: copy_async, to_async: a device copies asynchronously
  dp::to_async<dp::on<dp::cuda<1>>>(x);
#endif
#if defined(ASYNC_WITHOUT_A_DEVICE)  // expect: devplace: copy_async, to_async: a device copies asynchronously
  dp::to_async<dp::on<dp::cpu>>(p);
#endif
#if defined(ASYNC_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: devplace: copy_async, to_async: the stream is of
  dp::to_async<dp::on<dp::cuda<0>>>(p, t);
#endif
#if defined(COPY_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: devplace: copy_async, to_async: the stream is of
  dp::copy_async(p, x, t);
#endif
#if defined(AFTER_ON_A_STREAM_OF_ANOTHER_DEVICE)  // expect: devplace: after: the stream is of another device than the
  copy.after(s);
#endif
#if defined(AFTER_OF_A_TEMPORARY)  // expect: deleted (function|constructor|operator|member)
  dp::to_async<dp::on<dp::cuda<0>>>(p).after();
#endif
#if defined(AFTER_OF_A_TEMPORARY_COPY)  // expect: deleted (function|constructor|operator|member)
  dp::copy_async(x, p).after(s);
#endif
#if defined(PENDING_USED_AS_A_TENSOR)  // expect: devplace: the copy is pending
  dp::copy(x, copy);
#endif
#if defined(COPY_INTO_A_TEMPORARY)  // expect: devplace: copy_async: the destination is a temporary tensor
  {
    auto lost = dp::copy_async(list<dp::cuda<0>>{dp::extents<3>{}}, p);
  }
#endif
#if defined(ASYNC_COPY_OF_OTHER_TYPE)  // expect: devplace: copy: the element types differ
  {
    const dp::tensor<double, dp::extents<3>, dp::on<dp::pinned>> doubles{dp::extents<3>{}};
    in_a_template([](auto& to, auto& from) { auto other = dp::copy_async(to, from); }, x, doubles);
  }
#endif
#if defined(ASYNC_WITHOUT_PLACE)  // expect: devplace: to_async: name the place in angle brackets
  {
    auto other = dp::to_async(p);
  }
#endif
#if defined(PENDING_ADDED)  // expect: devplace: the copy is pending
  {
    dp::tensor sum = copy + copy;
  }
#endif
#if defined(PENDING_AS_THE_TENSOR)  // expect: devplace: the copy is pending
  {
    list<dp::cuda<1>> there = std::move(copy);
  }
#endif
#if defined(SCOPE_OF_A_PLACE)  // expect: devplace: stream_scope: the argument is a stream in a variable
  {
    const dp::stream_scope on(dp::cuda<0>{});
  }
#endif
#if defined(STREAM_WITHOUT_PLACE)  // expect: devplace: stream: name the place whose queue it is
  dp::stream queue;
#endif
#if defined(EVENT_WITHOUT_PLACE)  // expect: devplace: event: name the place whose work it marks
  dp::event mark;
#endif
}

int main() {}
