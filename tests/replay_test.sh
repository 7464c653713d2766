#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sawbill replay FILE -- CMD` ends as CMD does, and as a shell would where it cannot be started.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
{
  echo "timestamp,gpu,sm_util,power_w"
  for s in $(seq 60); do echo "$((1772366400 + s)).000,0,95,300"; done
} >"$work/log.csv"
play() { "$SAWBILL" replay "$work/log.csv" "$@" 2>"$work/err"; }
status=0
play -- sh -c 'exit 7' || status=$?
same "the command's status" 7 $status
status=0
play -- no-such-program-here || status=$?
same "not found" 127 $status
holds "said" "$(cat "$work/err")" "no-such-program-here"
status=0
play -- /etc/passwd || status=$?
same "not executable" 126 $status
status=0
play --speed 1e9 -- true || status=$?
same "too fast" 2 $status
holds "the limit" "$(cat "$work/err")" "up to 100000"
play --speed 10 -- "$SAWBILL" record --quiet --interval 100ms --for 2s
holds "its cards are recorded" "$(cat "$SAWBILL_DATA"/gpu-*.csv)" ",0,95,"
finish
