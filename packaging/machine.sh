# Sourced by `basalt` and `.ci/run`: installs the Debian packages of what a machine lacks.
# A package is named together with a command that succeeds where it is not needed.

missing=()

# need PACKAGE COMMAND...: COMMAND succeeds when PACKAGE is there.
need() {
  local package="$1"
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

have_libclang() { compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' || ldconfig -p | grep -q libclang; }

# What compiling RocksDB, jemalloc and Lua takes.
need_to_build() {
  need build-essential sh -c 'command -v g++ && command -v make'
  need libclang-dev have_libclang
}

# Installs what `need` has found missing; says what. Fails where there is no apt-get.
install_missing() {
  [ "${#missing[@]}" -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "missing: ${missing[*]} (names of Debian packages); install what your system calls them, and run again" >&2
    return 1
  fi
  echo "installing: ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    sudo=(sudo)
    if ! command -v sudo >/dev/null; then
      echo "installing takes root and there is no sudo: have these installed: ${missing[*]}" >&2
      return 1
    fi
  fi
  "${sudo[@]}" apt-get update -q
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}
