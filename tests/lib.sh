# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the whole-program tests share. Sourced.
set -euo pipefail
work=$(mktemp -d)
export SAWBILL_DATA=$work/data SAWBILL_TZ=UTC LC_ALL=C.UTF-8 SAWBILL_CONFIG=/dev/null
unset SAWBILL_JOB SAWBILL_PROJECT SAWBILL_PRICE CUDA_VISIBLE_DEVICES WORLD_SIZE RANK LOCAL_RANK SLURM_JOB_ID
failures=0
trap 'rm -rf "$work"' EXIT

# same WHAT EXPECTED ACTUAL
same() {
  [ "$2" = "$3" ] && return 0
  printf 'FAILED %s\n  expected: %s\n  actual:   %s\n' "$1" "$2" "$3"
  failures=$((failures + 1))
}
# holds WHAT TEXT NEEDLE
holds() {
  [[ $2 == *"$3"* ]] && return 0
  printf 'FAILED %s: no "%s" in:\n%s\n' "$1" "$3" "$2"
  failures=$((failures + 1))
}
# lacks WHAT TEXT NEEDLE
lacks() {
  [[ $2 != *"$3"* ]] && return 0
  printf 'FAILED %s: "%s" in:\n%s\n' "$1" "$3" "$2"
  failures=$((failures + 1))
}
# between WHAT LOW HIGH ACTUAL: numbers
between() {
  awk -v v="$4" -v low="$2" -v high="$3" 'BEGIN { exit !(v != "" && v + 0 >= low && v + 0 <= high) }' && return 0
  printf 'FAILED %s: "%s" is not from %s to %s\n' "$1" "$4" "$2" "$3"
  failures=$((failures + 1))
}
# seconds LINE CSV: card-seconds of a line of the ledger, of a receipt made with --format csv
seconds() { awk -F , -v line="$1" '$1 == "all" && $2 == line { print $3 }' "$2"; }
# pid_of FOLDER: of the recorder that is at work there
pid_of() { sed -n 's/^ *"pid": \([0-9]*\),*$/\1/p' "$1/collector.json"; }
# use_cards SCRIPT: from here on with the simulated driver. (Not a wrapper: `wrapper & kill $!` would meet a subshell.)
use_cards() {
  export SAWBILL_SIM_SCRIPT=$1 LD_LIBRARY_PATH=$NVML_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
# until_there FILE: at most five seconds
until_there() {
  for _ in $(seq 100); do
    [ ! -s "$1" ] || return 0
    sleep 0.05
  done
  same "a file in time" "$1" none
}
finish() {
  [ "$failures" = 0 ] || exit 1
  echo ok
}
