# shellcheck shell=bash
# Prepares the build of the packages that train with native libraries (build
# tag native): sets the CGO variables, nothing else. After scripts/lib.sh in a
# script, or by hand:
#   . scripts/native.sh; go test -tags native ./trainer/libtorch/
#
# Without further ado it takes Debian's libtorch 1.13 (libtorch-dev). With
# LIBTORCH=folder it takes the official libtorch 2.1.0 unpacked there, for CPU
# or CUDA.

# native_environment makes what gotch needs to be compiled, once, in the cache
# outside the tree, and exports the variables that point there. The folder is
# named after its content, so that Go's build cache knows gotch again: the first
# build takes minutes.
native_environment() {
  local root header include name dir libraries=()
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  header=$root/trainer/libtorch/compat/torch1.h

  # Where the libraries and headers of libtorch are.
  local link=''
  include=/usr/include
  if [[ -n ${LIBTORCH:-} ]]; then
    include=$LIBTORCH/include
    libraries=("$LIBTORCH/lib" /usr/local/cuda/lib64)
    link="-L$LIBTORCH/lib -Wl,-rpath,$LIBTORCH/lib"
  fi
  if [[ ! -e $include/torch/csrc/api/include/torch/torch.h ]]; then
    printf 'error: no libtorch in %s: install libtorch-dev, or set LIBTORCH\n' "$include" >&2
    return 1
  fi

  # gotch names the libraries of CUDA on its link line, whether there are any or
  # not. An empty archive stands for each that is missing.
  local missing=()
  for name in cuda cudart cublas cudnn caffe2_nvrtc nvrtc-builtins nvrtc nvToolsExt c10_cuda torch_cuda; do
    if ! native_library "$name" "${libraries[@]}"; then
      missing+=("$name")
    fi
  done

  local hash
  hash=$({ cat "$header" && echo "${missing[*]}"; } | sha256sum)
  dir=${cache:-${XDG_CACHE_HOME:-$HOME/.cache}/segue}/native/${hash:0:16}
  if [[ ! -d $dir ]]; then
    local making
    mkdir -p "${dir%/*}"
    making=$(mktemp -d "$dir.XXXXXX")
    cp "$header" "$making/"
    for name in "${missing[@]}"; do
      ar rc "$making/lib$name.a"
    done
    mv -T "$making" "$dir" 2>/dev/null || rm -rf "$making" # another was faster
  fi

  export CGO_ENABLED=1
  export CGO_CXXFLAGS="-O1 -g0 -w -include $dir/torch1.h -I$include -I$include/torch/csrc/api/include"
  export CGO_LDFLAGS="$link -L$dir"
  if [[ -e ${LIBTORCH:-}/lib/libtorch_cuda.so ]]; then
    CGO_LDFLAGS+=" -Wl,--no-as-needed -ltorch_cuda" # registers itself when it is loaded
  fi
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
