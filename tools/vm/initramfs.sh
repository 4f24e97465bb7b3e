#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# First in the guest: the modules of its disks, then its root, then init.sh from the disk of programs.
b=/bin/busybox
$b mount -t devtmpfs none /dev
$b mount -t proc none /proc
for module in /modules/*; do $b insmod "$module" || echo "no $module"; done
# A disk appears a moment after its driver.
for disk in vda vdb; do
  tries=0
  while [ ! -b /dev/$disk ] && [ $tries -lt 200 ]; do $b usleep 50000; tries=$((tries + 1)); done
done
$b mount -t ext4 /dev/vda /root && $b mount -t ext4 -o ro /dev/vdb /root/cordon || { echo "no root"; $b poweroff -f; }
$b umount /proc
$b mount -o move /dev /root/dev
exec $b switch_root /root /bin/sh /cordon/init.sh
