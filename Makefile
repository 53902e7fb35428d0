# Every target is a script of the same name in scripts/, or one line here.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help demo test check fmt bench load verify build dist dist-trainer e2e-slurm trainer clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## run the main job on a history and show its result (TRACE=file, NODES=n)
	@scripts/demo

test: ## run all tests; installs what they need, and names it first
	@scripts/test

check: ## the everyday loop: format, vet, lint, short tests (under 3 minutes)
	@scripts/check

fmt: ## format the Go files
	@scripts/fmt

bench: ## run the benchmarks beside an earlier commit's, but not load (BENCH=regex, BASE=commit)
	@scripts/bench

load: ## load a server by vegeta and print a table: two minutes (SECONDS_EACH=n)
	@scripts/load

verify: ## everything that a release needs: check, race, fuzz, and what is shipped, made twice
	@scripts/verify

build: ## build bin/segue, one static file
	@scripts/build

e2e-slurm: ## chains on a real Slurm that breaks down, an hour (SHORT=1: minutes; FIDELITY=1: the simulator beside it; OPERATOR=1: docs/operator.md)
	@scripts/e2e-slurm

dist: ## make what is shipped, in out/dist: programs, packages, checksums, SBOM
	@scripts/dist

dist-trainer: ## make a Debian package of segue-trainer, for this machine's release
	@scripts/dist-trainer

trainer: ## build bin/segue-trainer, which trains models; installs the libraries it links
	@scripts/trainer

clean: ## remove what was built and shown in the tree (bin/, out/)
	rm -rf bin out
