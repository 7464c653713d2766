#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two runs in one data folder at once, and one beside a recorder: each has its own receipt, none disturbs the other.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
cat >"$work/cards.toml" <<'T'
[[card]]
model = "A100"
sm_util = "95x3 4x1"
power_w = "350x3 90x1"
mem_used_mib = 30000
T
use_cards "$work/cards.toml"
for k in 1 2; do
  "$SAWBILL" run --interval 100ms --price 10 -- sleep 3 >"$work/out$k" 2>"$work/err$k" &
done
wait
for k in 1 2; do
  holds "receipt $k" "$(cat "$work/err$k")" "TOTAL COST"
  holds "a scripted driver is said to be one $k" "$(cat "$work/err$k")" "SIMULATED RECORDING"
  same "nothing on stdout $k" "" "$(cat "$work/out$k")"
done
same "folders" 2 "$(find "$SAWBILL_DATA/runs" -mindepth 1 -maxdepth 1 | wc -l)"
for file in "$SAWBILL_DATA"/runs/*/gpu-*.csv; do
  same "whole rows in ${file##*/runs/}" "" "$(awk -F , 'NF != 22' "$file")"
done

"$SAWBILL" record --quiet --interval 100ms &
recorder=$!
until_there "$SAWBILL_DATA/collector.json"
"$SAWBILL" run --price 10 -- sleep 2 2>"$work/err3" >/dev/null
holds "uses the recorder" "$(cat "$work/err3")" "its record is used"
holds "its receipt" "$(cat "$work/err3")" "TOTAL COST"
said=$("$SAWBILL" record 2>&1 || true)
holds "a second recorder is refused" "$said" "another recorder"
"$SAWBILL" pause --for 1m >/dev/null
same "device files after pause" 0 "$(find "/proc/$recorder/fd" -lname '/dev/nvidia*' 2>/dev/null | wc -l)"
holds "paused" "$(cat "$SAWBILL_DATA/collector.json")" '"paused": true'
"$SAWBILL" pause --resume >/dev/null
kill -TERM $recorder
wait $recorder
finish
