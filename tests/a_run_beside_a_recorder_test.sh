#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sawbill run` beside `sawbill record`: the recorder's samples are used, its folder knows the run with its cost, and the
# run's own folder shows the same bill.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
cat >"$work/cards.toml" <<'T'
[[card]]
model = "A100"
count = 2
sm_util = 95
mem_used_mib = 30000
T
use_cards "$work/cards.toml"
"$SAWBILL" record --quiet --interval 100ms &
recorder=$!
until_there "$SAWBILL_DATA/collector.json"
sleep 1
CUDA_VISIBLE_DEVICES=1 "$SAWBILL" run --job bert --project nlp --price 3600 -- sh -c 'sleep 2; exit 3' 2>"$work/err" || true
holds "a receipt" "$(cat "$work/err")" "TOTAL COST"
holds "of the one card that it sees" "$(cat "$work/err")" "1 × NVIDIA A100"
holds "where the samples are" "$(cat "$work/err")" "its samples are those of the recorder, in $SAWBILL_DATA"
# Before the recorder took the rows, and after.
for when in at-once later; do
  "$SAWBILL" report --price 3600 --job bert --format csv "$SAWBILL_DATA" >"$work/$when.csv"
  between "by --job, $when" 1.7 2.3 "$(seconds useful "$work/$when.csv")"
  holds "by job, $when" "$("$SAWBILL" report --price 3600 --by job "$SAWBILL_DATA")" " bert "
  holds "by run, $when" "$("$SAWBILL" report --price 3600 --by run "$SAWBILL_DATA")" " bert"
  sleep 0.6
done
rows=$(cat "$SAWBILL_DATA"/run-*.csv)
same "start and end, once each" 2 "$(grep -c ,bert, <<<"$rows")"
holds "the end in the recorder's own file" "$rows" ",1,end,3,sh,"
same "nothing waits any more" "" "$(ls "$SAWBILL_DATA/runs/.spool")"
"$SAWBILL" report --price 3600 --format csv "$SAWBILL_DATA"/runs/*bert* >"$work/own.csv"
between "the run's own folder" 1.7 2.3 "$(seconds useful "$work/own.csv")"
said=$("$SAWBILL" report --price 3600 "$SAWBILL_DATA"/runs/*bert*)
holds "its card alone" "$said" "1 × NVIDIA A100"
holds "its job and status" "$said" "job bert"
holds "its status" "$said" "exit status 3"

# Two at once on the same cards, of which nobody saw a process: each is billed its half.
"$SAWBILL" run --quiet --job a --price 3600 -- sleep 2 2>/dev/null &
"$SAWBILL" run --quiet --job b --price 3600 -- sleep 2 2>/dev/null
wait $!
for job in a b; do
  "$SAWBILL" report --price 3600 --job $job --format csv "$SAWBILL_DATA" >"$work/$job.csv"
  between "half of two cards for $job" 1.5 2.5 "$(seconds useful "$work/$job.csv")"
done

same "a command that cannot be started" 127 "$("$SAWBILL" run --quiet -- no-such-program 2>/dev/null || echo $?)"
kill -TERM $recorder
wait $recorder
lacks "is no run" "$(cat "$SAWBILL_DATA"/run-*.csv)" no-such-program
same "a recorder that ends takes what waits" "" "$(ls "$SAWBILL_DATA/runs/.spool")"
finish
