# shellcheck shell=bash
# Prepares the build of the packages that train with native libraries (build
# tag native): exports variables of cgo, nothing else. After scripts/lib.sh in a
# script, or by hand:
#   . scripts/native.sh; go test -tags native ./trainer/libtorch/
#
# It takes Debian's libtorch 1.13 (libtorch-dev), or with LIBTORCH=folder the
# official libtorch 2.1.0 unpacked there, for CPU or CUDA.

# native_environment makes what gotch needs to be compiled, once, in the cache
# outside the tree. The folder there is named after its content, and Go's build
# cache knows gotch again by that name: the first build takes minutes, later ones
# nothing.
native_environment() {
  local root header include flags='' link='' folders=()
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  header=$root/trainer/libtorch/compat/torch1.h

  include=${LIBTORCH:-/usr}/include
  if [[ ! -e $include/torch/csrc/api/include/torch/torch.h ]]; then
    printf 'error: no libtorch in %s: install libtorch-dev, or set LIBTORCH\n' "$include" >&2
    return 1
  fi
  if [[ -n ${LIBTORCH:-} ]]; then
    folders=("$LIBTORCH/lib" /usr/local/cuda/lib64)
    link="-L$LIBTORCH/lib -Wl,-rpath,$LIBTORCH/lib"
    # Which of the two binary interfaces of the C++ library it was built for.
    flags=-D$(grep -o -m 1 '_GLIBCXX_USE_CXX11_ABI=[01]' "$LIBTORCH/share/cmake/Torch/TorchConfig.cmake")
    if [[ -e $LIBTORCH/lib/libtorch_cuda.so ]]; then
      link+=" -Wl,--no-as-needed -ltorch_cuda" # nothing refers to it: it registers itself
    fi
  fi

  # gotch names the libraries of CUDA on its link line, whether there are any or
  # not. An empty archive stands for each that is missing.
  local name missing=()
  for name in cuda cudart cublas cudnn caffe2_nvrtc nvrtc-builtins nvrtc nvToolsExt c10_cuda torch_cuda; do
    native_library "$name" "${folders[@]}" || missing+=("$name")
  done

  # gotch asks for all optimisations and debugging symbols of 18,000 lines that
  # only pass arguments on. The last word saves more than half of their time.
  local compiler
  compiler=$(printf '#!/bin/sh\nexec %s "$@" -O1 -g0\n' "$(command -v g++)")

  local hash dir making
  hash=$({ cat "$header" && echo "${missing[*]} $compiler"; } | sha256sum)
  dir=${cache:-${XDG_CACHE_HOME:-$HOME/.cache}/segue}/native/${hash:0:16}
  if [[ ! -d $dir ]]; then
    mkdir -p "${dir%/*}"
    making=$(mktemp -d "$dir.XXXXXX")
    cp "$header" "$making/"
    printf '%s\n' "$compiler" >"$making/g++"
    chmod +x "$making/g++"
    for name in "${missing[@]}"; do
      ar rc "$making/lib$name.a"
    done
    mv -T "$making" "$dir" 2>/dev/null || rm -rf "$making" # another was faster
  fi

  export CGO_ENABLED=1
  export CXX=$dir/g++
  export CGO_CXXFLAGS="-w $flags -include $dir/torch1.h -I$include -I$include/torch/csrc/api/include"
  export CGO_LDFLAGS="$link -L$dir"
}

# native_library reports whether one of the folders after the first argument
# has the library of that name.
native_library() {
  local name=$1 folder
  shift
  for folder; do
    [[ ! -e $folder/lib$name.so ]] || return 0
  done
  return 1
}

native_environment
