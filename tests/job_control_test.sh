#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal: the command stops with us and goes on with us, ^C reaches it once, and it has the terminal.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
script -qec true /dev/null </dev/null >/dev/null 2>&1 || {
  echo "no script(1), or no terminals to be had here"
  exit 77
}
cat >"$work/session" <<S
set -m
"$SAWBILL" run --quiet -- sh -c 'test -t 0 && test -t 1 && echo terminal; kill -STOP \$\$; echo goes on; exit 4' 2>/dev/null &
sleep 2
jobs
fg >/dev/null
echo "status \$?"
S
# shellcheck disable=SC2016
said=$(script -qec "bash $work/session" /dev/null </dev/null | tr -d '\r')
holds "terminal" "$said" terminal
holds "stopped" "$said" Stopped
holds "continued" "$said" "goes on"
holds "status" "$said" "status 4"
finish
