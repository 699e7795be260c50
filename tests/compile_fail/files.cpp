// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

#include <devplace/data/idx.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/io/csv.hpp>
#include <devplace/io/dlpack.hpp>
#include <devplace/io/npy.hpp>
#include <devplace/io/npz.hpp>
#include <devplace/io/safetensors.hpp>

namespace dp = devplace;

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>;

void files(const matrix& x) {
  dp::write_npy("x.npy", x[0]);
  auto read = dp::read_npy<float, dp::extents<2, 3>>("x.npy");
  auto pixels = dp::read_idx<std::uint8_t, dp::extents<dp::dyn, 28, 28>>("images");
#if defined(NPY_WITHOUT_TYPES)  // expect: devplace: read_npy: the file's element type and extents are the template
  auto a = dp::read_npy("x.npy");
#endif
#if defined(NPY_WITHOUT_EXTENTS)  // expect: devplace: read_npy: the file's element type and extents are the template
  auto a = dp::read_npy<float>("x.npy");
#endif
#if defined(NPY_ON_A_PLACE)  // expect: devplace: read_npy: the file's element type and extents are the template
  auto a = dp::read_npy<float, dp::extents<2, 3>, dp::on<dp::cpu>>("x.npy");
#endif
#if defined(IDX_WITHOUT_EXTENTS)  // expect: devplace: read_idx: the file's element type and extents are the template
  auto a = dp::read_idx<std::uint8_t>("images");
#endif
#if defined(IDX_OF_INDICES)  // expect: devplace: read_idx: the file's element type and extents are the template
  auto a = dp::read_idx<std::int64_t, dp::extents<dp::dyn>>("images");
#endif
#if defined(SAFETENSORS_WITHOUT_TYPES)  // expect: devplace: safetensors_file: the tensor's element type and extents are
  auto a = dp::safetensors_file("x.safetensors").read("weight");
#endif
#if defined(NPZ_WITHOUT_TYPES)  // expect: devplace: npz_file: the array's element type and extents are the template
  auto a = dp::npz_file("x.npz").read("weight");
#endif
#if defined(CSV_OF_HALF)  // expect: devplace: read_csv: the element type \(float, double, std::int32_t, std::int64_t or
  auto a = dp::read_csv<dp::half, dp::extents<dp::dyn, 3>>("x.csv");
#endif
#if defined(CSV_OF_THREE_AXES)  // expect: devplace: read_csv: a file has rows and columns
  auto a = dp::read_csv<float, dp::dextents<3>>("x.csv");
#endif
#if defined(SAFETENSORS_OF_A_COLUMN)  // expect: devplace: this operation takes tensors and row-major views
  dp::write_safetensors("x.safetensors", {{"column", x.select(dp::axis<1>{}, 0)}});
#endif
#if defined(WRITE_BEFORE_ITS_NAME)  // expect: devplace: write_npy: the arguments are the file's name and a tensor
  dp::write_npy(x, "x.npy");
#endif
#if defined(WRITE_A_COLUMN)  // expect: devplace: this operation takes tensors and row-major views
  dp::write_npy("x.npy", x.slice(dp::axis<1>{}, 0, 2));
#endif
#if defined(DLPACK_OF_A_TENSOR_THAT_IS_KEPT)  // expect: devplace: to_dlpack: the consumer keeps the memory
  auto a = dp::to_dlpack(x);
#endif
#if defined(DLPACK_READ_ONLY_UNVERSIONED)  // expect: devplace: to_dlpack_unversioned: DLPack's struct from before
  auto a = dp::to_dlpack_unversioned(x.view(), 0);
#endif
#if defined(DLPACK_WITHOUT_TYPES)  // expect: devplace: from_dlpack, view_dlpack: the element type and extents are the
  auto a = dp::from_dlpack(dp::dlpack_handle());
#endif
#if defined(DLPACK_OF_CONST_ELEMENTS)  // expect: devplace: from_dlpack: tensors have no const elements
  auto a = dp::from_dlpack<const float, dp::extents<3>>(dp::dlpack_handle());
#endif
#if defined(DLPACK_ON_SHARED_MEMORY)  // expect: devplace: from_dlpack, view_dlpack: memory of another library lies on
  auto a = dp::from_dlpack<float, dp::extents<3>, dp::on<dp::shared_memory>>(dp::dlpack_handle());
#endif
#if defined(DLPACK_VIEW_OF_A_TEMPORARY)  // expect: devplace: view_dlpack: the view refers to the handle's memory
  auto a = dp::view_dlpack<float, dp::extents<3>>(dp::dlpack_handle());
#endif
}
