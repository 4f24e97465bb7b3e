#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guest's pid 1: mounts what a Debian has mounted, control groups of version 2 alone, runs the job and ends the machine.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mount -t proc -o nosuid,nodev,noexec proc /proc
mount -t sysfs -o nosuid,nodev,noexec sysfs /sys
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs /dev/shm
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run
mount -t cgroup2 -o nsdelegate,memory_recursiveprot cgroup2 /sys/fs/cgroup
ln -sf /proc/self/fd /dev/fd
hostname -F /etc/hostname
ip link set lo up
for module in loop overlay nf_tables nft_tproxy vsock; do modprobe -q $module; done
# As systemd has it: every controller is given down to the group above a session's, and sessions live in leaves.
cd /sys/fs/cgroup && mkdir -p session.slice/session
for group in . session.slice; do
  for controller in $(cat $group/cgroup.controllers); do echo +$controller >$group/cgroup.subtree_control; done
done
cd /
# The port's node is there before it can be opened.
tries=0
until (: >/dev/vport0p1) 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -gt 2000 ] && { echo "the port does not open"; poweroff -f; }
  sleep 0.005
done
(
  ulimit -Hn 524288     # as systemd gives it to services and sessions
  sh -c 'echo $$ >/sys/fs/cgroup/session.slice/session/cgroup.procs; exec sh /cordon/job' </dev/null
  echo "vm: exit $?"
) >/dev/vport0p1 2>&1
sync
exec busybox reboot -f
