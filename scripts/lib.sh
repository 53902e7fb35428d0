# shellcheck shell=bash
# What the scripts share. Each begins with:
#   set -euo pipefail
#   cd "$(dirname "$0")/.."
#   . scripts/lib.sh

# What is slow to make is kept here, outside the tree.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/segue

# The tools, at the versions that everybody uses.
export golangci_lint=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
export cyclonedx=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
export vegeta=github.com/tsenart/vegeta/v12@v12.13.0
export benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

# say announces what happens next.
say() {
  printf '\n== %s\n' "$*" >&2
}

# die says why nothing more happens, and ends the script.
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# need_go puts Go on the PATH and refuses one that is older than go.mod asks.
need_go() {
  if ! command -v go >/dev/null; then
    PATH=$PATH:/usr/local/go/bin
  fi
  local want have
  want=$(awk '$1 == "go" { print $2 }' go.mod)
  command -v go >/dev/null || die "Go $want or later is needed: https://go.dev/doc/install"
  have=$(go env GOVERSION)
  have=${have#go}
  [[ $(printf '%s\n' "$want" "$have" | sort -V | head -n 1) == "$want" ]] ||
    die "Go $want or later is needed, this is $have: https://go.dev/doc/install"
}

# need_packages installs what scripts/packages.txt lists for the tasks in its
# arguments and the machine lacks. It names the packages before it installs.
need_packages() {
  local task proof package why missing=()
  while read -r task proof package why; do
    [[ " all $* " == *" $task "* ]] || continue
    if ! command -v "$proof" >/dev/null && [[ ! -e $proof ]]; then
      say "missing: $package ($why)"
      missing+=("$package")
    fi
  done < <(grep -v '^#' scripts/packages.txt)
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "install these Debian packages and try again: ${missing[*]}"
    as_root=(sudo)
  fi
  command -v apt-get >/dev/null || die "install the equivalent of these Debian packages and try again: ${missing[*]}"
  say "installing with apt-get: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq >/dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# tool prints the path of the program of a pinned Go module, which it builds
# into the cache the first time.
tool() {
  local name=${1%@*}
  name=${name%/v[0-9]*} # of a major version, which no program is called after
  name=${name##*/}
  local dir=$cache/tools/$name-${1##*@}
  if [[ ! -x $dir/$name ]]; then
    say "building $name ${1##*@} into $dir: minutes the first time, never again"
    GOBIN=$dir GOFLAGS='' go install "$1" >&2
  fi
  printf '%s\n' "$dir/$name"
}

# vcs_stamp prints whether Go can stamp the commit into a program: where git knows one.
vcs_stamp() {
  if git status --porcelain >/dev/null 2>&1; then
    echo true
  else
    echo false
  fi
}

# build_segue builds the static command of the tree in the current folder into
# the file $1. Where cmd/segue/entry has code for the system the kernel enters there.
build_segue() {
  local entry=
  if [[ $(go env GOOS)/$(go env GOARCH) == linux/amd64 ]]; then
    entry='-E github.com/segue-project/segue/cmd/segue/entry.start'
  fi
  CGO_ENABLED=0 go build -trimpath -buildvcs="$(vcs_stamp)" -ldflags="$entry" -o "$1" ./cmd/segue
}

# shipped_version prints the version of what is shipped: of VERSION, of git, or
# 0.0.0+date.commit where there is no tag. SOURCE_DATE_EPOCH is the commit's time.
shipped_version() {
  local version=${VERSION:-$(git describe --tags --match 'v*' 2>/dev/null | sed 's/^v//' || true)}
  printf '%s\n' "${version:-0.0.0+$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d).$(git rev-parse --short HEAD)}"
}

# shared_libraries prints the Debian packages of the libraries that the program $1
# links, as Depends has them: name (>= version), name (>= version)
shared_libraries() {
  local program work libraries
  program=$(realpath "$1")
  work=$(mktemp -d)
  mkdir "$work/debian"
  printf 'Source: segue\n\nPackage: segue-trainer\nArchitecture: any\n' >"$work/debian/control"
  libraries=$( (cd "$work" && dpkg-shlibdeps -O "$program" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p') || true
  rm -r "$work"
  [[ -n $libraries ]] || die "dpkg-shlibdeps does not say which libraries $1 needs"
  printf '%s\n' "$libraries"
}

# try_package installs the package called $1 in the file $2 into an empty root, runs
# the program there that the other arguments name, and removes the package: then
# nothing of it is left.
try_package() {
  local name=$1 package=$2 root file left
  root=$(mktemp -d)
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  touch "$root/var/lib/dpkg/status"
  local here=(dpkg "--root=$root" --log=/dev/null --force-not-root --force-bad-path --force-depends)
  "${here[@]}" --install "$package" >/dev/null 2>&1 || die "$package cannot be installed"
  "$root/$3" "${@:4}" >/dev/null || die "$package: what it installs does not run"
  while read -r file; do
    [[ -s $root/$file ]] || die "$package: $file is missing"
  done < <(shipped_files "$name")
  "${here[@]}" --purge "$name" >/dev/null 2>&1
  left=$(find "$root" -path "$root/var/lib/dpkg" -prune -o ! -type d -print)
  [[ -z $left ]] || die "$package leaves behind: $left"
  rm -rf "$root"
}

# shipped_files prints what a package must have besides its program.
shipped_files() {
  echo "usr/share/man/man1/$1.1.gz"
  [[ $1 != segue ]] || echo usr/lib/systemd/system/segue.service
}
