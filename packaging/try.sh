#!/usr/bin/env bash
# Tries the packages of a program that is built already: packaging/try.sh [PROGRAM]. Takes root, debootstrap and
# redis-cli. The package is installed into a fresh Debian root, run there by its unit's command line and
# as its unit's user, upgraded, removed and purged. Nothing outside of a temporary folder changes, and the server listens in
# a network of its own.
set -euo pipefail
folder="$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
target="$(realpath -m "${CARGO_TARGET_DIR:-$folder/target}")"
program="$(realpath "${1:-$target/release/basalt}")"

if [ -z "${BASALT_TRY_ROOT:-}" ]; then
  # A Debian root like this machine, from where this machine gets its packages; kept for the next time.
  suite="$(. /etc/os-release && echo "$VERSION_CODENAME")"
  mirror="$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)"
  base="${XDG_CACHE_HOME:-$HOME/.cache}/basalt-try-$suite"
  if [ ! -e "$base/made" ]; then
    rm -rf "$base"
    debootstrap --variant=minbase --include=adduser,libstdc++6,libgcc-s1 "$suite" "$base" "$mirror" >/dev/null
    touch "$base/made"
  fi
  # From here on in a network of its own, in which port 6379 is free.
  BASALT_TRY_ROOT="$base" exec unshare --net "$0" "$program"
fi
ip link set lo up

work="$(mktemp -d)"
server=
clean() {
  [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
  umount -l "$work/root/proc" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT
root="$work/root"
said() { echo "try: $*"; }
fail() {
  echo "try: FAILED: $*" >&2
  exit 1
}

"$folder/packaging/build.sh" "$program" "$work/one" >/dev/null
BASALT_VERSION=99.0.0 "$folder/packaging/build.sh" "$program" "$work/two" >/dev/null
(cd "$work/one" && sha256sum --quiet --check SHA256SUMS)
bytes="$(dpkg-deb --contents "$work"/one/*.deb | awk '$6 == "./usr/bin/basalt" { print $3 }')"
said "built, checksums agree; the program has $((bytes / 1000000)) MB"
[ "$bytes" -le 40000000 ] || fail "the program is larger than 40 MB"

cp -a "$BASALT_TRY_ROOT" "$root"
mount -t proc proc "$root/proc"
inside() { chroot "$root" "$@"; }
cp "$work"/one/*.deb "$root/one.deb"
cp "$work"/two/*.deb "$root/two.deb"
ask() { redis-cli -p 6379 "$@"; }

start() {
  local line user
  line="$(sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/basalt.service")"
  user="$(sed -n 's/^User=//p' "$root/lib/systemd/system/basalt.service")"
  # shellcheck disable=SC2086 # the line is words
  chroot --userspec="$user:$user" "$root" $line >"$work/log" 2>&1 &
  server=$!
  for _ in $(seq 200); do
    [ "$(ask ping 2>/dev/null)" = PONG ] && return
    sleep 0.1
  done
  cat "$work/log" >&2
  fail "it does not answer"
}
stop() {
  kill -TERM "$server"
  wait "$server" || fail "it ended with $?"
  server=
}

inside dpkg --install /one.deb >/dev/null
inside /usr/bin/basalt --version
inside dpkg --verify basalt
start
[ "$(ask set greeting hello)" = OK ] || fail "SET"
stop
said "installed, started by its unit's command line, stopped"

echo "# mine" >>"$root/etc/basalt/basalt.conf"
inside dpkg --force-confold --install /two.deb >/dev/null
grep -q '^# mine$' "$root/etc/basalt/basalt.conf" || fail "the upgrade lost the configuration"
start
[ "$(ask get greeting)" = hello ] || fail "the upgrade lost the data"
stop
said "upgraded; configuration and data are kept"

inside dpkg --remove basalt >/dev/null
[ ! -e "$root/usr/bin/basalt" ] || fail "the program is still there"
[ -d "$root/var/lib/basalt/journal" ] || fail "removing deleted the data"
inside dpkg --purge basalt >/dev/null
[ ! -e "$root/var/lib/basalt" ] || fail "purging left the data"
[ ! -e "$root/etc/basalt/basalt.conf" ] || fail "purging left the configuration"
said "removed and purged"

if command -v docker >/dev/null && docker info >/dev/null 2>&1; then
  docker build --tag basalt-try --file "$folder/packaging/Dockerfile" "$folder"
  docker run --rm basalt-try --version
  said "the container image is built and starts"
else
  said "the container image was NOT tried: no container engine"
fi
