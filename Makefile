# SPDX-License-Identifier: Apache-2.0
# One place for every command. Each target is thin: the work is done by scripts/ and tools/, which can be called alone as well.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help run test check bench bench-diagnosis format asan tsan clang fuzz-smoke check-nvml-peers golden-update docs demo-recording install clean

PREFIX ?= /usr/local
DESTDIR ?=
# Seconds for each fuzz target, and steps of `make check` (all when empty: make check STEPS="format layers").
FUZZ_SECONDS ?= 15
STEPS ?=
# Parts of the ranges and runs of each scenario for `make bench-diagnosis`.
BAND ?= test
SEEDS ?= 6
PROGRAM := build/release/sawbill

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

run: ## build the program and show it at work
	@scripts/bootstrap run
	@scripts/build release -DSAWBILL_TESTS=OFF -- sawbill
	@scripts/show_program $(PROGRAM)

test: ## build and run all tests
	@scripts/bootstrap test
	@scripts/build release -DSAWBILL_TESTS=ON
	@scripts/run_tests release

check: ## everything that CI runs
	@scripts/bootstrap check
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/check $(STEPS)

bench: ## measure speed and memory; one line a figure
	@scripts/bootstrap run
	@scripts/build release -DSAWBILL_TESTS=OFF
	@scripts/bench

bench-diagnosis: ## score the diagnosis on simulated runs, with the thresholds of today's tools beside it (BAND=test SEEDS=6)
	@scripts/bootstrap run
	@scripts/build release -DSAWBILL_TESTS=OFF -- sawbill-bench-diagnosis
	@build/release/bench/sawbill-bench-diagnosis --band $(BAND) --seeds $(SEEDS)

format: ## put all C++ files into the house format
	@scripts/bootstrap check
	@tools/list_sources cc h | xargs clang-format-19 -i

asan: ## tests under AddressSanitizer and UndefinedBehaviourSanitizer
	@scripts/bootstrap test
	@scripts/build asan
	@scripts/run_tests asan

tsan: ## tests under ThreadSanitizer
	@scripts/bootstrap test
	@scripts/build tsan
	@scripts/run_tests tsan

clang: ## tests built by the second compiler
	@scripts/bootstrap check
	@scripts/build clang
	@scripts/run_tests clang

fuzz-smoke: ## each fuzz target for a few seconds (FUZZ_SECONDS=15)
	@scripts/bootstrap check
	@scripts/build fuzz
	@scripts/fuzz_smoke $(FUZZ_SECONDS)

check-nvml-peers: ## the real nvidia-smi, nvtop and pynvml on the scripted NVML (fetches non-free packages of Debian)
	@scripts/bootstrap test
	@scripts/build release -- sawbill_nvml
	@scripts/nvml_peers build/release

golden-update: ## write the expected outputs anew and show what changed
	@scripts/bootstrap test
	@scripts/build release -DSAWBILL_TESTS=ON
	@scripts/golden_update

docs: ## write the generated documents and the receipts in the READMEs anew
	@scripts/bootstrap check
	@scripts/build release -DSAWBILL_TESTS=OFF -- sawbill gen_docs
	@tools/gen_docs

demo-recording: ## make the example recording anew with the simulator
	@scripts/bootstrap run
	@scripts/build release -DSAWBILL_TESTS=OFF
	build/release/simulator/sawbill-simulate demo --out examples/demo --seed 7
	@git --no-pager diff --stat -- examples/demo

install: ## install below PREFIX=/usr/local (DESTDIR for packagers)
	@test -x $(PROGRAM) || { echo "install: build it first with 'make run'" >&2; exit 2; }
	install -D -m 755 $(PROGRAM) "$(DESTDIR)$(PREFIX)/bin/sawbill"
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/doc/sawbill" README.md README.zh-CN.md CHANGELOG.md LICENSE NOTICE
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/sawbill" examples/sawbill.toml
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/sawbill/rules" rules/*.toml
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/sawbill/prices" prices/*.toml

clean: ## remove everything that was built
	rm -rf build
