#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A card that answers every question with "not supported" (Jetson, some virtual cards) beside a sound one: it is billed
# like any other, its hours are not measured, nobody calls it idle, and the receipt says why.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
cat >"$work/cards.toml" <<'T'
[[card]]
model = "A100"
sm_util = 95
[[card]]
model = "A100"
unsupported = ["*"]
T
use_cards "$work/cards.toml"
"$SAWBILL" run --quiet --interval 100ms --price 3600 --format csv -o "$work/r.csv" -- sleep 3 2>"$work/err"
between "the sound card is measured" 2.5 3.2 "$(seconds useful "$work/r.csv")"
between "the silent one is not" 2.9 4 "$(seconds unmeasured "$work/r.csv")"
same "nothing is idle" "0.000 0.000" "$(seconds idle-held "$work/r.csv") $(seconds unused "$work/r.csv")"
said=$("$SAWBILL" report --price 3600 2>&1)
holds "both are billed" "$said" "2 × NVIDIA A100-SXM4-80GB"
holds "why" "$said" "Card 1 is there but gives no reading"
holds "what to do" "$said" "sawbill doctor"
said=$("$SAWBILL" report --price 3600 --lang zh 2>&1)
holds "in Chinese" "$said" "显卡 1 存在但没有任何读数"

# Alone: a bill without a verdict.
printf '[[card]]\nmodel = "A100"\nunsupported = ["*"]\n' >"$work/cards.toml"
"$SAWBILL" run --interval 100ms --price 3600 -- sleep 1 2>"$work/err"
holds "billed" "$(cat "$work/err")" "TOTAL COST"
holds "no verdict" "$(cat "$work/err")" "no card gave a reading"
lacks "no finding" "$(cat "$work/err")" "WHAT TO CHANGE"
finish
