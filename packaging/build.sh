#!/usr/bin/env bash
# Makes the packages of a program that is built already: packaging/build.sh [PROGRAM] [OUT]
#
#   basalt_VERSION_ARCHITECTURE.deb    the service for Debian and Ubuntu
#   basalt-VERSION-ARCHITECTURE.tar.gz the program, manual page, completions, configuration
#   basalt-VERSION.debug               line tables, for backtraces with file and line: put it beside the program
#   basalt-VERSION.spdx                what is in it, with licences (SPDX 2.3, tag-value)
#   SHA256SUMS                         of all of them
#
# BASALT_VERSION overrides the version, to try an upgrade.
set -euo pipefail
folder="$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
target="$(realpath -m "${CARGO_TARGET_DIR:-$folder/target}")"
program="$(realpath "${1:-$target/release/basalt}")"
out="$(realpath -m "${2:-$target/package}")"
cd "$folder"

version="${BASALT_VERSION:-$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)}"
architecture="$(uname -m)"
case "$architecture" in
  x86_64) debian_architecture=amd64 ;;
  aarch64) debian_architecture=arm64 ;;
  *) debian_architecture="$architecture" ;;
esac
rm -rf "$out"
mkdir -p "$out"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# The line tables go into a file of their own; the program says where to look for it.
debug="$out/basalt-$version.debug"
objcopy --only-keep-debug "$program" "$debug"
objcopy --strip-debug --add-gnu-debuglink="$debug" "$program" "$work/basalt"

# lay_out ROOT: the tree that is installed.
lay_out() {
  local root="$1"
  install -D -m 0755 "$work/basalt" "$root/usr/bin/basalt"
  install -D -m 0644 packaging/completions/basalt.bash "$root/usr/share/bash-completion/completions/basalt"
  install -D -m 0644 packaging/completions/_basalt "$root/usr/share/zsh/vendor-completions/_basalt"
  install -D -m 0644 packaging/completions/basalt.fish "$root/usr/share/fish/vendor_completions.d/basalt.fish"
  install -D -m 0644 LICENSE "$root/usr/share/doc/basalt/copyright"
  install -d "$root/usr/share/man/man1"
  gzip --best --no-name <packaging/basalt.1 >"$root/usr/share/man/man1/basalt.1.gz"
  install -D -m 0644 packaging/basalt.service "$root/lib/systemd/system/basalt.service"
  install -D -m 0640 packaging/basalt.conf "$root/etc/basalt/basalt.conf"
  chmod 0644 "$root/etc/basalt/basalt.conf"
}

debian="$work/debian"
lay_out "$debian"
install -d "$debian/DEBIAN"
echo /etc/basalt/basalt.conf >"$debian/DEBIAN/conffiles"
install -m 0755 packaging/deb/postinst packaging/deb/prerm packaging/deb/postrm "$debian/DEBIAN/"
kib="$(du -sk --exclude=DEBIAN "$debian" | cut -f 1)"
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$debian_architecture/" -e "s/@INSTALLED_KIB@/$kib/" \
  packaging/deb/control >"$debian/DEBIAN/control"
dpkg-deb --root-owner-group --build "$debian" "$out/basalt_${version}_$debian_architecture.deb"

name="basalt-$version-$architecture"
archive="$work/$name"
install -d "$archive/completions"
install -m 0755 "$work/basalt" "$archive/basalt"
install -m 0644 packaging/basalt.1 packaging/basalt.conf packaging/basalt.service LICENSE README.md CHANGELOG.md "$archive/"
install -m 0644 packaging/completions/* "$archive/completions/"
tar --create --gzip --owner=0 --group=0 --sort=name --directory "$work" --file "$out/$name.tar.gz" "$name"

# Cargo knows what is in the program; awk writes it down.
cargo tree --locked -p basalt -e normal --prefix none --format '{p}|{l}' |
  sed -e 's/ (\*)//' -e 's/ (proc-macro)//' | sort -u |
  awk -F '|' -v version="$version" -v created="$(date -u +%Y-%m-%dT%H:%M:%SZ)" '
    BEGIN {
      print "SPDXVersion: SPDX-2.3\nDataLicense: CC0-1.0\nSPDXID: SPDXRef-DOCUMENT"
      print "DocumentName: basalt-" version
      print "DocumentNamespace: urn:basalt:spdx:" version ":" created
      print "Creator: Tool: packaging/build.sh\nCreated: " created
    }
    NF {
      split($1, part, " "); sub(/^v/, "", part[2])
      own = $1 ~ /\(/; license = $2 == "" ? "NOASSERTION" : $2; gsub("/", " OR ", license)
      id = part[1] "-" part[2]; gsub(/[^A-Za-z0-9.-]/, "-", id)
      print "\nPackageName: " part[1] "\nSPDXID: SPDXRef-" id "\nPackageVersion: " part[2]
      print "PackageDownloadLocation: " (own ? "NOASSERTION" : "https://crates.io/crates/" part[1] "/" part[2])
      print "FilesAnalyzed: false\nPackageLicenseConcluded: NOASSERTION\nPackageLicenseDeclared: " license
      print "PackageCopyrightText: NOASSERTION"
      if (part[1] == "basalt") print "Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-" id
    }' >"$out/basalt-$version.spdx"

(cd "$out" && sha256sum ./*.deb ./*.tar.gz ./*.debug ./*.spdx | sed 's, \./, ,' >SHA256SUMS)
ls -l "$out"
