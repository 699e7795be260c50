// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(READ_WITHOUT_TYPES)  // an array of a file, as numpy reads it
void program() {
  auto a = dp::read_npy("a.npy");
  std::cout << a;
}
#endif

#if defined(READ_WITHOUT_EXTENTS)  // an array of a file; its rank is forgotten
void program() {
  auto a = dp::read_npy<float>("a.npy");
  std::cout << a;
}
#endif

#if defined(READ_RANK_AS_NUMBER)  // the rank as a number
void program() {
  auto a = dp::read_npy<float, 2>("a.npy");
  std::cout << a;
}
#endif

#if defined(READ_TO_PLACE)  // an array of a file on a place
void program() {
  auto a = dp::read_npy<float, dp::extents<dp::dyn, dp::dyn>, host>("a.npy");
  std::cout << a;
}
#endif

#if defined(READ_NO_FILE)  // run: a file that does not exist
void program() {
  auto a = dp::read_npy<float, dp::extents<dp::dyn, dp::dyn>>("no such file.npy");
  std::cout << a;
}
#endif

#if defined(READ_OTHER_TYPE)  // run: a file of double read as float
void program() {
  dp::write_npy("double.npy", dp::ones<double, host>(dp::extents<2, 3>{}));
  std::cout << dp::read_npy<float, dp::extents<dp::dyn, dp::dyn>>("double.npy");
}
#endif

#if defined(READ_OTHER_RANK)  // run: a file of a matrix read as an array
void program() {
  dp::write_npy("rank.npy", some_matrix());
  std::cout << dp::read_npy<float, dp::extents<dp::dyn>>("rank.npy");
}
#endif

#if defined(READ_OTHER_EXTENTS)  // run: a file of 2x3 read as 3x2
void program() {
  dp::write_npy("extents.npy", some_matrix());
  std::cout << dp::read_npy<float, dp::extents<3, 2>>("extents.npy");
}
#endif

#if defined(READ_TEXT)  // run: a text file read as an array
void program() {
  std::ofstream("text.csv") << "1,2,3\n4,5,6\n";
  std::cout << dp::read_npy<float, dp::extents<dp::dyn, dp::dyn>>("text.csv");
}
#endif

#if defined(WRITE_SWAPPED)  // the array before the file's name
void program() { dp::write_npy(some_matrix(), "swapped.npy"); }
#endif

#if defined(WRITE_EXPRESSION)  // an expression written
void program() {
  auto a = some_matrix();
  dp::write_npy("sum.npy", a + a);
}
#endif

#if defined(WRITE_VECTOR)  // a std::vector written
void program() {
  std::vector<float> v(6);
  dp::write_npy("vector.npy", v);
}
#endif

#if defined(WRITE_NO_FOLDER)  // run: a file in a folder that does not exist
void program() { dp::write_npy("no/such/folder.npy", some_matrix()); }
#endif

#if defined(WRITE_MODEL)  // a model written
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::write_npy("model.npy", m);
}
#endif

#if defined(MNIST_NO_FOLDER)  // run: a folder without the files
void program() {
  auto data = dp::read_mnist("nowhere");
  std::cout << data.train.size();
}
#endif

#if defined(IMAGES_ONE_FILE)  // images without labels
void program() {
  auto set = dp::read_image_set("images-idx3-ubyte");
  std::cout << set.size();
}
#endif

#if defined(IDX_WITHOUT_EXTENTS)  // a file of MNIST without its rank
void program() {
  auto a = dp::read_idx<std::uint8_t>("images-idx3-ubyte");
  std::cout << a;
}
#endif

#if defined(IDX_OF_FLOAT)  // pixels read as numbers
void program() {
  auto a = dp::read_idx<float, dp::extents<dp::dyn, dp::dyn, dp::dyn>>("images-idx3-ubyte");
  std::cout << a;
}
#endif

#if defined(IMAGE_SET_SWAPPED)  // labels before images
void program() {
  auto s = some_images();
  dp::image_set t{std::move(s.labels), std::move(s.images)};
  std::cout << t.size();
}
#endif

#if defined(IMAGE_SET_COPIED)  // a copy of a data set
void program() {
  auto s = some_images();
  auto t = s;
  std::cout << t.size();
}
#endif
