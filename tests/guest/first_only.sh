#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# first_only.sh CORDON_INIT: it serves as the first process of a pid namespace, and nowhere else. All of it in namespaces of their own: what
# it ends there it ends for nobody else. Needs root; 77 without.
set -u
[ "$(id -u)" -eq 0 ] || exit 77
init=$1
export init
unshare --pid --fork bash -c ': | "$init" stdio | cat; exit "${PIPESTATUS[1]}"'
[ $? -eq 1 ] || { echo "as a second process it goes on"; exit 1; }
: | unshare --pid --fork "$init" stdio | cat
[ "${PIPESTATUS[1]}" -eq 0 ] || { echo "the counter-arm: as the first it does not"; exit 1; }
