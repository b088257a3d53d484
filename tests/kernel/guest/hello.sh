# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The harness itself: a machine that does what it is told on the command line.
# shellcheck shell=sh
case $(cat /proc/cmdline) in
*seed=fail*) exit 1 ;;
*seed=warn*) echo '<4>a seeded warning' >/dev/kmsg ;;
*seed=panic*) echo c >/proc/sysrq-trigger ;;
*seed=hang*) while :; do sleep 1; done ;;
esac
