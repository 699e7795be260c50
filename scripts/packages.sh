# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sourced by the other scripts: finds missing packages and installs them by apt-get, or from PyPI.

# Whether g++ finds a header.
has_header() { echo "#include <$1>" | g++ -E -x c++ - >/dev/null 2>&1; }

# Whether an MPI's compiler wrapper and header exist.
has_mpi_header() { echo "#include <mpi.h>" | "$1" -E -x c++ - >/dev/null 2>&1; }

# Whether the contents of a Debian package are available, however they were installed.
has_package() {
  case $1 in
    ninja-build) command -v ninja ;;
    clang-16) command -v clang++-16 ;;
    libclang-rt-16-dev) [ -e "$(clang++-16 -print-file-name="libclang_rt.fuzzer-$(uname -m).a" 2>&1)" ] ;;
    lld-16) [ -e "$(clang++-16 -print-prog-name=ld.lld)" ] ;;
    python3-venv) python3 -c 'import ensurepip, venv' ;;
    python3-dev) command -v python3-config ;;
    python3-numpy) python3 -c 'import numpy' || /usr/bin/python3 -c 'import numpy' ;;
    catch2) has_header catch2/catch_test_macros.hpp || has_header catch2/catch.hpp ;;
    libopenblas-dev) has_header cblas.h ;;
    libopenblas-pthread-dev) has_header openblas-pthread/cblas.h ;;
    openmpi-bin) command -v mpirun.openmpi ;;
    libopenmpi-dev | libmpich-dev) has_mpi_header "mpicxx.$(echo "$1" | sed 's/lib\(.*\)-dev/\1/')" ;;
    mpich) command -v mpirun.mpich ;;
    iproute2) command -v ip ;;
    zlib1g-dev) has_header zlib.h ;;
    locales) [ -e /usr/share/i18n/locales/de_DE ] ;;
    libeigen3-dev) [ -e /usr/include/eigen3/Eigen/Core ] ;;
    libkokkos-dev) has_header Kokkos_Core.hpp ;;
    libtrilinos-kokkos-dev) [ -e /usr/include/trilinos/Kokkos_Core.hpp ] ;;
    *) command -v "$1" ;;
  esac >/dev/null 2>&1
}

# Prints the package with Kokkos, which is a part of Trilinos in Debian 12; nothing if there is none.
kokkos_package() {
  local package
  for package in libkokkos-dev libtrilinos-kokkos-dev; do
    if apt-cache show "$package" >/dev/null 2>&1; then
      echo "$package"
      return
    fi
  done
}

# install_missing <package>...: installs missing packages by apt-get with a message. If that is impossible, prints how
# to install them. Returns 1 if a package is still missing.
install_missing() {
  local package missing=() sudo=()
  for package in "$@"; do
    has_package "$package" || [[ " ${missing[*]} " == *" $package "* ]] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  if ! command -v apt-get >/dev/null || { [ ${#sudo[@]} -eq 1 ] && ! command -v sudo >/dev/null; }; then
    echo "Missing on this machine (Debian's package names): ${missing[*]}. Please install them."
    return 1
  fi
  echo "Installing by apt-get: ${missing[*]}"
  "${sudo[@]}" apt-get update -q >/dev/null
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >/dev/null
  for package in "${missing[@]}"; do
    has_package "$package" || { echo "Still missing: $package"; return 1; }
  done
}

# install_from_pypi <folder> <package==version>...: makes a Python environment with these packages in the folder, unless
# it has them. Returns 1 if that is impossible.
install_from_pypi() {
  local folder=$1
  shift
  [ "$(cat "$folder/versions" 2>&1)" = "$*" ] && return
  install_missing python3 python3-venv || return 1
  echo "Installing from PyPI: $*"
  mkdir -p "$folder" && python3 -m venv --clear "$folder" &&
    "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" && echo "$*" >"$folder/versions"
}

# Debian's clang-format does not know all of C++20, and other versions have other layouts.
install_formatter() { install_from_pypi build/format clang-format==23.1.5; }

# Adds nvdisasm to PATH. Toolkits for CUDA have it, but not those that consist of PyPI's packages.
install_disassembler() {
  command -v nvdisasm >/dev/null && return
  install_from_pypi build/nvdisasm nvidia-cuda-nvdisasm==13.5.37 || return 1
  PATH="$PATH:$(echo "$PWD"/build/nvdisasm/lib/python*/site-packages/nvidia/cu*/bin)"
}
