// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

using two = dp::replicated<0, 1>;
using rows = dp::sharded<dp::axis<0>, 0, 1>;
using sums = dp::partial<dp::reduction::sum, 0, 1>;
inline auto some_rows() { return dp::ones<float, rows>(dp::extents<4, 3>{}); }
inline auto some_copies() { return dp::ones<float, two>(dp::extents<4, 3>{}); }
inline auto some_summands() { return dp::sum(dp::ones<float, rows>(dp::extents<4, 3>{}), dp::axis<0>{}); }

#if defined(REPLICATED_TWICE)  // one device twice
void program() {
  auto a = dp::ones<float, dp::replicated<0, 0>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(REPLICATED_OF_PLACES)  // places where ordinals belong
void program() {
  auto a = dp::ones<float, dp::replicated<dp::cuda<0>, dp::cuda<1>>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(REPLICATED_COUNT)  // run: the number of devices where ordinals belong
void program() {
  auto a = dp::ones<float, dp::replicated<4>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(SHARDED_WITHOUT_AXIS)  // an array in parts, without the axis
void program() {
  auto a = dp::ones<float, dp::sharded<0, 1>>(dp::extents<4>{});
  std::cout << a;
}
#endif

#if defined(SHARDED_NO_AXIS)  // parts along an axis that a matrix does not have
void program() {
  auto a = dp::scatter<dp::sharded<dp::axis<2>, 0, 1>>(some_matrix());
  std::cout << a;
}
#endif

#if defined(SCATTER_COPIES)  // scatter to copies
void program() {
  auto a = dp::scatter<two>(some_matrix());
  std::cout << a;
}
#endif

#if defined(SCATTER_WITHOUT_PLACE)  // scatter without a placement
void program() {
  auto a = dp::scatter(some_matrix());
  std::cout << a;
}
#endif

#if defined(SCATTER_PARTS)  // scatter of parts
void program() {
  auto a = dp::scatter<rows>(some_rows());
  std::cout << a;
}
#endif

#if defined(SCATTER_SIZES_DO_NOT_ADD_UP)  // run: sizes that do not add up
void program() {
  auto a = dp::scatter<rows>(some_matrix(), dp::split::sizes{2, 3});
  std::cout << a;
}
#endif

#if defined(SCATTER_SIZES_OF_THREE)  // run: three sizes for two devices
void program() {
  auto a = dp::scatter<rows>(dp::ones<float, host>(dp::extents<6>{}), dp::split::sizes{2, 2, 2});
  std::cout << a;
}
#endif

#if defined(SCATTER_COUNT)  // the number of parts, as torch.chunk has it
void program() {
  auto a = dp::scatter<rows>(some_matrix(), 2);
  std::cout << a;
}
#endif

#if defined(BROADCAST_PARTS)  // broadcast to parts
void program() {
  auto a = dp::broadcast<rows>(some_matrix());
  std::cout << a;
}
#endif

#if defined(GATHER_WITHOUT_PLACE)  // gather; where to is forgotten
void program() {
  auto a = dp::gather(some_rows());
  std::cout << a;
}
#endif

#if defined(GATHER_COPIES)  // gather of copies
void program() {
  auto a = dp::gather<host>(some_copies());
  std::cout << a;
}
#endif

#if defined(GATHER_SUMMANDS)  // gather of summands
void program() {
  auto a = dp::gather<host>(some_summands());
  std::cout << a;
}
#endif

#if defined(ALL_REDUCE_COPIES)  // all_reduce of copies
void program() {
  auto a = dp::all_reduce(some_copies());
  std::cout << a;
}
#endif

#if defined(ALL_REDUCE_PARTS)  // all_reduce of parts
void program() {
  auto a = dp::all_reduce(some_rows());
  std::cout << a;
}
#endif

#if defined(ALL_REDUCE_ONE)  // all_reduce on one place
void program() {
  auto a = dp::all_reduce(some_matrix());
  std::cout << a;
}
#endif

#if defined(ALL_GATHER_SUMMANDS)  // all_gather of summands
void program() {
  auto a = dp::all_gather(some_summands());
  std::cout << a;
}
#endif

#if defined(REDUCE_PARTS)  // reduce of parts
void program() {
  auto a = dp::reduce<host>(some_rows());
  std::cout << a;
}
#endif

#if defined(REDUCE_WITHOUT_PLACE)  // reduce; where to is forgotten
void program() {
  auto a = dp::reduce(some_summands());
  std::cout << a;
}
#endif

#if defined(TO_SEVERAL)  // to for copies
void program() {
  auto a = dp::to<two>(some_matrix());
  std::cout << a;
}
#endif

#if defined(TO_HOST_OF_PARTS)  // to for parts
void program() {
  auto a = dp::to<host>(some_rows());
  std::cout << a;
}
#endif

#if defined(ITEM_OF_SUMMANDS)  // the sum of an array in parts as a number
void program() {
  auto a = some_rows();
  std::cout << dp::item(dp::sum(a));
}
#endif

#if defined(ELEMENT_OF_PARTS)  // an element of an array in parts
void program() {
  auto a = some_rows();
  std::cout << a(0, 0);
}
#endif

#if defined(ROW_OF_PARTS)  // a row of an array in parts
void program() {
  auto a = some_rows();
  std::cout << a[0];
}
#endif

#if defined(SUMMANDS_PLUS_NUMBER)  // a number added to summands
void program() {
  auto a = some_summands();
  dp::tensor b = a + 1.0f;
  std::cout << b;
}
#endif

#if defined(RELU_OF_SUMMANDS)  // a function of summands
void program() {
  auto a = some_summands();
  dp::tensor b = dp::relu(a);
  std::cout << b;
}
#endif

#if defined(MEAN_OF_PARTS)  // the mean of parts
void program() {
  auto a = some_rows();
  auto b = dp::mean(a);
  std::cout << b;
}
#endif

#if defined(SUM_OF_ONE_PART)  // run: the sum of the first part, taken for the sum
void program() {
  auto a = some_rows();
  dp::tensor s = dp::sum(a.local(dp::cuda<0>{}));
  std::cout << dp::item(s);
}
#endif

#if defined(LOCAL_OF_OTHER)  // the part of a device that has none
void program() {
  auto a = some_rows();
  std::cout << a.local(dp::cuda<3>{});
}
#endif

#if defined(LOCAL_PAST_THE_END)  // run: the third part of two
void program() {
  auto a = some_rows();
  std::cout << a.local(2);
}
#endif

#if defined(LOCAL_OF_TEMPORARY)  // a part of an array that nobody keeps
void program() {
  auto a = some_rows().local(0);
  std::cout << a;
}
#endif

#if defined(PARTS_PLUS_ONE)  // parts plus an array of the host
void program() {
  auto a = some_rows();
  auto b = dp::ones<float, host>(dp::extents<3>{});
  dp::tensor c = a + b;
  std::cout << c;
}
#endif

#if defined(PARTS_OF_OTHER_SIZES)  // run: parts of other sizes
void program() {
  auto a = dp::scatter<rows>(dp::ones<float, host>(dp::extents<4>{}), dp::split::sizes{1, 3});
  auto b = dp::ones<float, rows>(dp::extents<4>{});
  dp::tensor c = a + b;
  std::cout << c;
}
#endif

#if defined(PARTS_TIMES_PARTS)  // a product of two arrays in parts
void program() {
  auto a = dp::ones<float, rows>(dp::extents<4, 4>{});
  auto b = dp::matmul(a, a);
  std::cout << b;
}
#endif

#if defined(SUMMANDS_OF_ONES)  // ones as summands
void program() {
  auto a = dp::ones<float, sums>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(PARTS_OF_LIST)  // parts from a list
void program() {
  dp::tensor<float, dp::extents<4>, rows> a{1, 2, 3, 4};
  std::cout << a;
}
#endif

#if defined(COPY_TO_COPIES)  // copy into all copies
void program() {
  auto a = some_copies();
  auto b = dp::ones<float, host>(dp::extents<4, 3>{});
  dp::copy(a, b);
  std::cout << a;
}
#endif

#if defined(ASSIGN_COPIES)  // a second array over several places by auto
void program() {
  auto a = some_copies();
  auto b = a;
  std::cout << b;
}
#endif

#if defined(MODEL_IN_PARTS)  // a model in parts
void program() {
  dp::model<net, rows> m{dp::seed{1}};
  std::cout << m.parameter_count();
}
#endif

#if defined(STEP_NOT_SCATTERED)  // a batch on the host for a model on two devices
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_samples(), some_labels());
}
#endif

#if defined(STEP_ON_FIRST_DEVICE)  // a batch on the first device for a model on two, as nn.DataParallel takes it
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(dp::to<dp::on<dp::cuda<0>>>(some_samples()), dp::to<dp::on<dp::cuda<0>>>(some_labels()));
}
#endif

#if defined(STEP_OF_COPIES)  // a full batch on each device
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(dp::broadcast<two>(some_samples()), dp::broadcast<two>(some_labels()));
}
#endif

#if defined(STEP_LABELS_NOT_SCATTERED)  // labels that were not scattered
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(dp::scatter<rows>(some_samples()), some_labels());
}
#endif

#if defined(STEP_OTHER_SPLIT)  // run: samples and labels split in two ways
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(dp::scatter<rows>(some_samples()), dp::scatter<rows>(some_labels(), dp::split::sizes{2, 4})).item();
}
#endif

#if defined(OUTPUT_OF_PARTS)  // an output's element, of a model on two devices
void program() {
  dp::model<net, two> m{dp::seed{1}};
  auto y = m.predict(dp::scatter<rows>(some_samples()));
  std::cout << y(0, 0);
}
#endif

#if defined(GRADIENTS_NOT_REDUCED)  // gradients that were not summed
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::optimizer rule{m, optim::sgd{}};
  auto x = dp::scatter<rows>(some_samples());
  auto [y, saved] = m.forward(x);
  rule.step(m, m.backward(std::move(saved), nn::cross_entropy{}(y, dp::scatter<rows>(some_labels())).gradient));
}
#endif

#if defined(GRADIENTS_REDUCED_TWICE)  // gradients that were summed twice
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::optimizer rule{m, optim::sgd{}};
  auto x = dp::scatter<rows>(some_samples());
  auto [y, saved] = m.forward(x);
  rule.step(m, dp::synchronize(dp::synchronize(
                   m.backward(std::move(saved), nn::cross_entropy{}(y, dp::scatter<rows>(some_labels())).gradient))));
}
#endif

#if defined(GRADIENT_OF_ONE_DEVICE)  // an update by one device's summand
void program() {
  dp::model<net, two> m{dp::seed{1}};
  auto x = dp::scatter<rows>(some_samples());
  auto [y, saved] = m.forward(x);
  auto g = m.backward(std::move(saved), nn::cross_entropy{}(y, dp::scatter<rows>(some_labels())).gradient);
  auto p = m.parameter<0>(0);
  p -= 0.1f * g.local<0>(0);
  std::cout << p;
}
#endif

#if defined(ONE_REPLICA_WRITTEN)  // one replica's parameter written, then a step
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  dp::fill(m.parameter<1>(1), 3.0f);
  step(dp::scatter<rows>(some_samples()), dp::scatter<rows>(some_labels()));
  std::cout << step.mean_loss();
}
#endif

#if defined(POLICY_BEFORE_RULE)  // the policy before the rule
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, collective::scatter_gather{}, optim::adam{}};
}
#endif

#if defined(POLICY_OF_ENGINE)  // an engine where a policy belongs
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}, collective::ring{}};
}
#endif

#if defined(POLICY_AFTER_ACCUMULATE)  // the policy after accumulate
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}, dp::accumulate<4>{}, collective::scatter_gather{}};
}
#endif

#if defined(ACCUMULATE_NONE)  // accumulation of no batches
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}, dp::accumulate<0>{}};
}
#endif

#if defined(PARALLEL_APPLY_SWAPPED)  // inputs in another order than models
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto [a, b] = dp::replicate<two>(m);
  auto x = dp::to<dp::on<dp::cuda<0>>>(some_samples());
  auto y = dp::to<dp::on<dp::cuda<1>>>(some_samples());
  auto r = dp::parallel_apply(std::tie(a, b), std::tie(y, x));
}
#endif

#if defined(PARALLEL_APPLY_WITHOUT_TUPLES)  // models and inputs without tuples
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto [a, b] = dp::replicate<two>(m);
  auto x = dp::to<dp::on<dp::cuda<0>>>(some_samples());
  auto r = dp::parallel_apply(a, x);
}
#endif

#if defined(PARALLEL_APPLY_TOO_FEW)  // one input for two models
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto [a, b] = dp::replicate<two>(m);
  auto x = dp::to<dp::on<dp::cuda<0>>>(some_samples());
  auto r = dp::parallel_apply(std::tie(a, b), std::tie(x));
}
#endif

#if defined(REPLICATE_WITHOUT_PLACES)  // replicate without devices
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto all = dp::replicate(m);
}
#endif

#if defined(DATA_PARALLEL)  // PyTorch's name
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto all = dp::data_parallel(m);
}
#endif

#if defined(CHECK_OF_TRAINER)  // check_replicas of a trainer
void program() {
  dp::model<net, two> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  dp::check_replicas(step);
}
#endif

#if defined(MSE_OF_SUMMANDS)  // a loss of summands
void program() {
  auto a = some_summands(), b = some_summands();
  auto [l, g] = nn::mse{}(a, b);
  std::cout << l;
}
#endif

#if defined(TRAFFIC_OF_NETWORK)  // the traffic of a network instead of a model
void program() { std::cout << dp::step_traffic<net, collective::all_reduce<>>{}; }
#endif
