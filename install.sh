#!/usr/bin/env bash
# Builds and installs BSPlib: library, headers, the commands bspcc, bspf90 and bsprun, and the manual.
#
#   ./install.sh [--prefix DIR]       installs below DIR, which is /usr/local unless given
#   ./install.sh --uninstall          removes what was installed there
#   ./install.sh --no-build           installs what has been built already
set -euo pipefail

usage() {
  cat <<END
usage: ./install.sh [--prefix DIR] [--no-build] [--uninstall]

Builds libbsp and installs it below DIR (default /usr/local): the library in lib, headers in include, bspcc, bspf90
and bsprun in bin, the manual in share/man.

  --prefix DIR   where to
  --no-build     take the library that has been built
  --uninstall    remove what was installed there
  --help         print this

Needs Rust; gfortran only for the Fortran module. CARGO_TARGET_DIR says where to build. With DESTDIR, files go below it
and still name the prefix.
END
}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

prefix=/usr/local
is_removing=no
is_building=yes
while [[ $# -gt 0 ]]; do
  case $1 in
    --prefix)
      [[ $# -ge 2 ]] || fail "--prefix wants a folder"
      prefix=$2
      shift
      ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --no-build) is_building=no ;;
    --uninstall) is_removing=yes ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
  shift
done
[[ -n $prefix ]] || fail "--prefix wants a folder"
[[ $prefix == /* ]] || prefix=$PWD/$prefix
[[ $prefix == / ]] || prefix=${prefix%/}
[[ $prefix != *"'"* && $prefix != *$'\n'* ]] || fail "the prefix has a quote or a line break"

cd "$(dirname "${BASH_SOURCE[0]}")"
bsp=crates/bsp
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Installs a file with a mode below the prefix, or removes it.
place() {
  local source=$1 mode=$2 target=$3
  local path=${DESTDIR:-}$prefix/$target
  if [[ $is_removing == yes ]]; then
    if [[ -e $path || -L $path ]]; then
      echo "removes $path"
      rm -f "$path"
    fi
  else
    echo "installs $path"
    mkdir -p "$(dirname "$path")"
    # A new file takes the place of the old one, so that programs that run keep theirs.
    install -m "$mode" "$source" "$path.new"
    mv -f "$path.new" "$path"
  fi
}

# The same for a template, in which the prefix and the version are filled in.
place_filled() {
  local source=$1 mode=$2 target=$3
  local escaped
  escaped=$(printf '%s' "$prefix" | sed 's/[\\&|]/\\&/g')
  sed "s|@PREFIX@|$escaped|g; s|@VERSION@|$version|g" "$source" >"$work/filled"
  place "$work/filled" "$mode" "$target"
}

# A page under the first of its names, and under each other one, also as Fortran spells it, a page that points there.
place_page() {
  local source=$1 section=$2
  local first name alias
  first=$(basename "$source" ".$section")
  place "$source" 644 "share/man/man$section/$first.$section"
  for name in $(sed -n '/^\.SH NAME/{n;s/ *\\-.*//;s/,/ /g;p;q}' "$source"); do
    for alias in "$name" "${name//_/}"; do
      [[ $alias != "$first" ]] || continue
      # A function that Fortran lacks, and a name that both have, need no second page.
      if [[ $alias != "$name" ]] && ! grep -qw "$alias" "$source"; then continue; fi
      echo ".so man$section/$first.$section" >"$work/alias"
      place "$work/alias" 644 "share/man/man$section/$alias.$section"
    done
  done
}

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
release=$work
if [[ $is_removing == no ]]; then
  command -v cargo >/dev/null || fail "there is no cargo; install Rust first"
  if [[ $is_building == yes ]]; then
    echo "builds libbsp $version"
    cargo build --release -p superstep-bsp
  fi
  target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
  release=$target/release
  for library in libbsp.so libbsp.a; do
    [[ -f $release/$library ]] || fail "$release/$library has not been built"
  done
fi

place "$release/libbsp.so" 755 lib/libbsp.so
place "$release/libbsp.a" 644 lib/libbsp.a
place_filled "$bsp/bsp.pc.in" 644 lib/pkgconfig/bsp.pc
for header in bsp.h bspf.h bsp.f90; do
  place "$bsp/include/$header" 644 "include/$header"
done
if [[ $is_removing == yes ]]; then
  place "" 644 include/bsp.mod
elif command -v gfortran >/dev/null; then
  gfortran -J "$work" -c -o "$work/bsp.o" "$bsp/include/bsp.f90"
  place "$work/bsp.mod" 644 include/bsp.mod
else
  echo "does not install include/bsp.mod: there is no gfortran to build it from include/bsp.f90"
fi
place_filled "$bsp/bin/bspcc" 755 bin/bspcc
# Which language it compiles it tells by its name.
place_filled "$bsp/bin/bspcc" 755 bin/bspf90
place_filled "$bsp/bin/bsprun" 755 bin/bsprun
for section in 1 3; do
  for page in "$bsp"/man/*."$section"; do
    place_page "$page" "$section"
  done
done

if [[ $is_removing == no ]]; then
  echo "done; try: $prefix/bin/bspcc -o hello $bsp/programs/hello.c && $prefix/bin/bsprun -n 4 ./hello"
fi
