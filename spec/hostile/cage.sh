#!/bin/sh
# cage.sh STAGE PROGRAM [ARGUMENT...]
#
# Runs a program where a hostile call can do no harm. To be started as the root of new user, mount,
# network, pid, ipc and uts namespaces, which is the root of nothing outside:
#
#   unshare --user --map-root-user --mount --net --pid --ipc --uts --fork --mount-proc cage.sh ...
#
# Inside: a network of loopback alone, devices that hold nothing, and every file system read-only but
# STAGE/lab, which is made empty here and is gone with the last process, and /proc. The program gets a user of its
# own (1000), no capability over any of this, and no way to gain one. Whoever starts a row has to look
# first whether all that is true.
set -eu

stage=$1
shift

mount -n --make-rprivate /
ip link set lo up

# Read-only, with the options each mount has: those of the machine may not be dropped here.
# Of /proc only the settings of the kernel, for a process has files of its own there.
mount -n --bind /proc/sys /proc/sys
awk '$5 != "/proc" { sub(/^rw/, "ro", $6); print $6, $5 }' /proc/self/mountinfo |
    while read -r options place; do
        mount -n -o "remount,bind,$options" "$(printf '%b' "$place")"
    done

# Devices: what every program expects, and terminals of our own.
mount -n -t tmpfs -o mode=0755,size=64k dev "$stage/dev"
for device in null zero full random urandom tty; do
    : > "$stage/dev/$device"
    mount -n --bind "/dev/$device" "$stage/dev/$device"
done
mkdir "$stage/dev/pts"
mount -n -t devpts -o newinstance,mode=0600,ptmxmode=0666 pts "$stage/dev/pts"
mount -n -o remount,bind,ro "$stage/dev/pts"
ln -s pts/ptmx "$stage/dev/ptmx"
ln -s /proc/self/fd "$stage/dev/fd"
mount -n -o remount,bind,ro "$stage/dev"
mount -n --move "$stage/dev" /dev

# Where services of the machine listen.
mount -n -t tmpfs -o ro,mode=0755,size=4k run /run

mount -n -t tmpfs -o mode=0755,size=512m,nosuid,nodev lab "$stage/lab"

exec unshare --user --map-user=1000 --map-group=1000 setpriv --no-new-privs "$@"
