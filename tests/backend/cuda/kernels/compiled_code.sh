#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# compiled_code.sh <nvcc> "<architecture>..." <source> [flag]...: compiles a file of kernels and examines the generated
# code for each architecture:
# - no kernel uses local memory: no stack frame and no spills;
# - optimizers compute no powers by the function for double;
# - optimizers, elementwise operations, reductions along contiguous memory, random numbers, dropout, scaled bytes, and
#   the kernels before and after products use 16-byte accesses;
# - softmax, log_softmax and cross-entropy of rows above 1,024 elements begin four 16-byte loads before they use the
#   first one's elements, in both passes over a row;
# - attention of 16-bit elements multiplies on tensor cores;
# - no kernel uses more registers than registers.txt records. RECORD=1 rewrites that file.
# The PTX of the first architecture serves all, because kernels do not depend on it; RECORD=1 compares it with the
# others'.
set -eu
nvcc=$1 architectures=$2 source=$3
shift 3
folder=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# make_ptx <architecture> [flag]...
make_ptx() {
  ptx=$work/$1.ptx architecture=$1
  shift
  "$nvcc" -std=c++20 -x cu "-arch=compute_${architecture#sm_}" "$@" -ptx "$source" -o "$ptx" >"$work/output" 2>&1 || {
    cat "$work/output"
    exit 1
  }
  sed '/^\.target/d' "$ptx" >"$ptx.compared"
}
include=$folder/../../../../include
if grep -rnE '__CUDA_ARCH__ *[<>=!]|NV_IF_(ELSE_)?TARGET|NV_(PROVIDES|IS_EXACTLY)' "$include"; then
  echo "Code depends on the architecture, so this script must generate PTX for each."
  exit 1
fi
first=${architectures%% *}
for architecture in $architectures; do
  if [ "$architecture" = "$first" ] || [ "${RECORD:-0}" = 1 ]; then
    make_ptx "$architecture" "$@"
    cmp "$ptx.compared" "$work/$first.ptx.compared" || {
      echo "The PTX depends on the architecture, so this script must generate it for each."
      exit 1
    }
  fi
done
ptx=$work/$first.ptx
ptxas=$(dirname "$nvcc")/ptxas
[ -x "$ptxas" ] || ptxas=ptxas
for architecture in $architectures; do
  "$ptxas" "-arch=$architecture" -v "$ptx" -o "$work/$architecture.cubin" >"$work/$architecture.output" 2>&1 &
done
wait

# The resource line of ptxas follows the mangled name of each kernel; names are demangled and shortened.
for architecture in $architectures; do
  [ -e "$work/$architecture.cubin" ] || {
    cat "$work/$architecture.output"
    exit 1
  }
  c++filt <"$work/$architecture.output" | awk -v architecture="$architecture" '
    /Compiling entry function/ {
      name = $0
      sub(/^[^\x27]*\x27/, "", name)
      sub(/\x27 for .*/, "", name)
      if (name !~ /simt_kernel</) { name = ""; next }
      sub(/^void devplace::detail::simt_kernel</, "", name)
      sub(/ ?>\(.*/, "", name)
      gsub(/devplace::((runtime|optim)::)?(detail::)?/, "", name)
    }
    /bytes stack frame/ && name { frame = $1; stores = $5; loads = $9 }
    /Used [0-9]+ registers/ && name {
      match($0, /Used [0-9]+/)
      print substr($0, RSTART + 5, RLENGTH - 5) + 0 "\t" frame + stores + loads "\t" architecture " " name
      name = ""
    }' | sort -t "$(printf '\t')" -k 3 >"$work/$architecture.kernels"
  count=$(wc -l <"$work/$architecture.kernels")
  if [ "$count" -lt 40 ]; then
    echo "Only $count kernels were found for $architecture; there must be 40 or more in $source."
    exit 1
  fi
  cat "$work/$architecture.kernels" >>"$work/kernels"
done
status=0
if awk -F '\t' '$2 != 0 { print "Local memory: " $2 " bytes in " $3; bad = 1 } END { exit !bad }' "$work/kernels"; then
  status=1
fi

# Counts the 16-byte accesses in each kernel, by its mangled name.
awk '
  function report() { if (name) print accesses "\t" name }
  /^\.(visible|weak) \.entry|^\.entry/ { report(); name = $0; accesses = 0 }
  /(ld|st)\.global\.v(4\.[fbu]32|2\.[fbu]64)/ { ++accesses }
  END { report() }' "$ptx" >"$work/accesses"

# wide_in <pattern>: counts the accesses of kernels whose elements have 32 or 64 bits.
wide_in() {
  awk -F '\t' -v pattern="$1" '$2 ~ pattern && $2 !~ /4bf16|4half/ { all += $1 } END { print all + 0 }' "$work/accesses"
}
# short_kernels <number> <accesses> <pattern>: requires so many kernels with 16-bit elements, with so many accesses
# each.
short_kernels() {
  awk -F '\t' -v number="$1" -v due="$2" -v pattern="$3" '
    $2 ~ pattern && $2 ~ /4bf16|4half/ {
      ++found
      if ($1 < due) { print $1 " accesses of 16 bytes, " due " are due: " $2; bad = 1 }
    }
    END {
      if (found != number) { print found + 0 " kernels, not " number ", have 16-bit elements and match " pattern; bad = 1 }
      exit bad
    }' "$work/accesses" || status=1
}

wide=$(wide_in update_kernel)
# Adam: 4 loads and 3 stores; momentum: 3 and 2; without it: 2 and 1. Each in float and double.
if [ "$wide" -lt 30 ]; then
  echo "Optimizers have $wide accesses of 16 bytes; at least 30 are expected."
  status=1
fi
if grep -q internal_accurate_pow "$ptx"; then
  echo "A kernel calls the power function for double, which takes about 190 instructions."
  status=1
fi
# Every assignment must have 16-byte stores, and such loads if it reads tensors; reductions along contiguous memory, too
# (first template argument true, source element_source).
awk -F '\t' '
  $2 ~ /wide_kernel|reduce_kernelILb1ENS[0-9]*_14element_source/ && $1 < ($2 ~ /linear_leaf|strided_leaf/ ? 2 : 1) {
    print "Accesses of 16 bytes are missing: " $2
    bad = 1
  }
  END { exit bad }' "$work/accesses" || status=1

products=$(wide_in 'finish_kernelI(fLj4|dLj2)|relu_gradient_sourceI(fLj4|dLj2)')
# After products: loads and stores of 4 rows, and of the bias; relu's gradient: 2 loads and a store for 4 rows, and for
# a remaining row. Each in float and double.
if [ "$products" -lt 48 ]; then
  echo "Kernels before and after products have $products accesses of 16 bytes; at least 48 are expected."
  status=1
fi

# Random numbers: one store each for uniform and normal ones; dropout: a load and a store, two each for double; bytes: a
# load and 16 / 4 or 16 / 2 stores. Each in float and double.
draws=$(wide_in 'random_kernel|dropout_kernel|scale_bytes_kernel')
if [ "$draws" -lt 24 ]; then
  echo "Random numbers, dropout and scaled bytes have $draws accesses of 16 bytes; at least 24 are expected."
  status=1
fi

# bf16 and half, 8 elements at a time. Roundings from and to float: one access and two. Adam: two for each of 4 loads
# and 3 stores of float, plus the rounded parameters. Dropout: a load and a store. Rows of more than 16 elements: one
# per 16-bit row, two for weights and terms in float. Embedding's gradient: a load, and two stores of float. Reductions
# of rows and of columns: a load of each array. batch_norm: loads and a store. Pooling and upsampling: 8 columns of each
# row that a thread reads or writes. Convolutions: a load and a store, two loads of sums in float, and a store of
# patches. The others as above.
short_kernels 4 3 'wide_kernel.*linear_leaf'
short_kernels 2 15 update_kernel
short_kernels 2 2 dropout_kernel
short_kernels 3 2 '11softmax_rowI.*Lj(16|32|512)'
short_kernels 3 3 'log_softmax_backward_rowI.*Lj(16|32|512)'
short_kernels 3 6 'normalize_rowIfLb1.*Lj(16|32|512)'
short_kernels 3 4 'normalize_rowIfLb0.*Lj(16|32|512)'
short_kernels 3 10 'normalize_backward_rowIfLb1.*Lj(16|32|512)'
short_kernels 1 3 embedding_gradient_kernel
short_kernels 4 1 'reduce_kernel.*14element_source.*Lj8'
short_kernels 2 1 'reduce_kernel.*12moment_terms.*Lj8'
short_kernels 2 2 'reduce_kernel.*25batch_norm_gradient_terms.*Lj8'
short_kernels 1 1 'reduce_kernel.*23convolution_bias_source'
short_kernels 2 2 'wide_kernelI.*(scale_channels|batch_norm_gradient)_functor'
short_kernels 2 2 'wide_kernelI.*(max|average)_pool_functor'
short_kernels 2 1 'wide_kernelI.*pool_gradient_functor'
short_kernels 2 1 'wide_kernelI.*upsample_(gradient_)?functor'
short_kernels 1 1 'wide_kernelI.*unfold_functor'
short_kernels 1 2 'wide_kernelI.*gather_functor'
short_kernels 1 3 'wide_kernelI.*finish_functor'
short_kernels 1 2 'wide_kernelI.*finish_images_functor'
short_kernels 2 9 'finish_kernelI[^L]*Lj8'
short_kernels 2 15 'relu_gradient_sourceI[^L]*Lj8'

# Counts in each kernel how often four loads precede the first use of what they load, without a branch between, and the
# instructions of tensor cores. Attention has 2 to 4 products of 16 rows, 16 or 32 other positions and the head's columns.
nvdisasm=$(dirname "$nvcc")/nvdisasm
if ! [ -x "$nvdisasm" ] && ! nvdisasm=$(command -v nvdisasm); then
  echo "There is no nvdisasm, which shows the order of loads. Run scripts/test cuda, which installs nvdisasm, or put it on PATH."
  exit 1
fi
for architecture in $architectures; do
  "$nvdisasm" -c "$work/$architecture.cubin" | awk '
    function end_of_group() { groups += loads >= 4; loads = 0; split("", loaded) }
    function end_of_kernel() {
      end_of_group()
      if (match(name, /attention_tiles_kernelI.*Lj[1-4]E/)) {
        ++attentions
        due = 12 * substr(name, RSTART + RLENGTH - 2, 1)
        if (products < due) { print products " instructions of tensor cores, " due " are due: " name; bad = 1 }
      }
      if (name !~ /(softmax|cross_entropy)_rowI.*Lj512/) return
      ++kernels
      if (groups < 2) { print groups " groups of four loads, 2 are due: " name; bad = 1 }
    }
    /^\.text\./ { end_of_kernel(); name = $0; groups = products = 0 }
    /HMMA\.16816\.F32/ { ++products }
    /^\.L|BRA|EXIT|BAR/ { end_of_group() }
    /\/\*[0-9a-f]+\*\// {
      rest = $0
      target = -1
      while (match(rest, /[^A-Z0-9_]R[0-9]+/)) {
        register = substr(rest, RSTART + 2, RLENGTH - 2) + 0
        rest = substr(rest, RSTART + RLENGTH)
        if (/LDG\.E\.128/ && target < 0) target = register
        else if (register in loaded) end_of_group()
      }
      if (target < 0) next
      ++loads
      for (k = 0; k < 4; ++k) loaded[target + k]
    }
    END {
      end_of_kernel()
      if (attentions != 15) { print attentions + 0 " kernels, not 15, compute attention"; bad = 1 }
      if (kernels != 7) { print kernels + 0 " kernels, not 7, have softmax or cross-entropy of rows above 1,024"; bad = 1 }
      exit bad
    }' || status=1
done

# Register counts depend on the compiler's version.
version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
recorded=$folder/registers.txt
for architecture in $architectures; do
  if [ "${RECORD:-0}" = 1 ]; then
    {
      grep -v "nvcc $version $architecture " "$recorded" 2>/dev/null || true
      awk -F '\t' -v version="$version" '{ print $1 "\tnvcc " version " " $3 }' "$work/$architecture.kernels"
    } >"$work/recorded"
    LC_ALL=C sort -t "$(printf '\t')" -k 2 "$work/recorded" >"$recorded"
  elif grep -q "nvcc $version $architecture " "$recorded"; then
    awk -F '\t' -v version="$version" '
      NR == FNR { known[$2] = $1; next }
      { key = "nvcc " version " " $3 }
      !(key in known) { print "Not recorded: " $1 " registers, " key; bad = 1; next }
      $1 > known[key] { print "More registers, " $1 " instead of " known[key] ": " key; bad = 1 }
      END { exit !bad }' "$recorded" "$work/$architecture.kernels" && status=1
  else
    echo "No registers are recorded for nvcc $version and $architecture."
  fi
done
[ $status -eq 0 ] && echo "$count kernels: all in registers, $wide accesses of 16 bytes in optimizers."
exit $status
