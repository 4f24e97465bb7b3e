#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A newer runsc than the distribution's own, out of its backports, into build/runsc-newer/: for tests and to try by hand (CORDON_RUNSC).
# Neither apt's sources and lists nor what is installed is changed. 77, with the reason: it cannot be had here.
set -euo pipefail
cd "${0%/*}/.."
into=$PWD/build/runsc-newer
keys=/usr/share/keyrings/debian-archive-keyring.gpg

cannot() { echo "newer_runsc: $1" >&2; exit 77; }

command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || cannot "no apt: this takes it out of Debian's packages"
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -r "$keys" ] || cannot "no $keys"
mirror=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
  sed -n "s/^Debian $codename main //p" | head -n 1)
[ -n "$mirror" ] || cannot "apt knows no mirror of Debian's: apt-get update, once"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"   # apt reads and downloads as a user of its own
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/got"
chmod 777 "$work/got"
echo "deb [signed-by=$keys] $mirror $codename-backports main" >"$work/sources.list"
apt() {
  apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
    -o Dir::Cache="$work/cache" -o Acquire::Languages=none -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@"
}
apt -o APT::Update::Error-Mode=any update >"$work/said" 2>&1 || { tail -n 3 "$work/said" >&2; cannot "$codename-backports cannot be read"; }
(cd "$work/got" && apt download "runsc/$codename-backports") >"$work/said" 2>&1 || { tail -n 3 "$work/said" >&2; cannot "it has no runsc"; }
dpkg-deb -x "$work"/got/runsc_*.deb "$work/tree"
mkdir -p "$into"
# As root Cordon runs only what nobody else can write.
install -m 0755 "$work/tree/usr/bin/runsc" "$into/runsc.new"
mv "$into/runsc.new" "$into/runsc"
echo "$into/runsc: $("$into/runsc" --version | head -n 1)"
