.DEFAULT_GOAL := help
SHELL := /bin/bash

TEMPORAL_VERSION := v1.5.1
GOLANGCI_LINT_VERSION := v2.12.2

# A tool on PATH is used as it is; otherwise it is installed once into bin/.
ifeq ($(or $(TIDEMILL_TEMPORAL),$(shell command -v temporal)),)
TEMPORAL := bin/temporal
endif
ifeq ($(shell golangci-lint version 2>/dev/null | grep -cw '$(GOLANGCI_LINT_VERSION:v%=%)'),1)
GOLANGCI_LINT := golangci-lint
else
GOLANGCI_LINT := bin/golangci-lint
endif

# The race detector needs a C compiler; Go says whether it has one.
RACE := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

# What the linters remember holds file names, which are wrong in another checkout.
export GOLANGCI_LINT_CACHE := $(CURDIR)/bin/.golangci-cache

FUZZTIME ?= 1m

.PHONY: help
help: ## Print this message
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(TEMPORAL) ## The order-review story on a real server: start, pause, resume, result
	go run ./examples/order-review/cmd/demo

.PHONY: demo-admission
demo-admission: $(TEMPORAL) ## A tenant floods a service that three share: with admission and without, in numbers
	go run ./examples/admission/cmd/demo

.PHONY: dev
dev: $(TEMPORAL) ## Server with UI, a worker and the example graphs, until Ctrl-C
	go run ./internal/cmd/dev

.PHONY: check
check: lint determinism tidy-check test ## Everything CI runs

.PHONY: lint
lint: $(filter bin/%,$(GOLANGCI_LINT)) ## golangci-lint, formatters included
	$(GOLANGCI_LINT) run --allow-serial-runners ./...

.PHONY: determinism
determinism: ## Temporal's static check of workflow code
	go tool workflowcheck -test=false -config .workflowcheck.yaml ./...

.PHONY: tidy-check
tidy-check: ## Fail if go.mod is not tidy
	go mod tidy -diff

.PHONY: test
test: $(TEMPORAL) ## Everything but benchmarks and fuzzing: unit, workflow, replay, integration
	$(if $(RACE),,@echo "no C compiler: the race detector is off")
	go test $(RACE) -shuffle=on -timeout 15m ./...

.PHONY: golden
golden: ## Rewrite the golden files; read the diff
	grep -rlE 'flag\.Bool\("update"' --include='*_test.go' . | xargs -r -n 1 dirname | sort -u | xargs -r -I DIR go test DIR -update

.PHONY: histories
histories: $(TEMPORAL) ## Record the shapes of runs that have no recording yet
	go test ./workflows -run 'Histories$$' -update

.PHONY: histories-release
histories-release: ## Keep the recorded shapes as they are from now on: part of a release
	go test ./workflows -run '^TestRecordedHistories$$' -release

.PHONY: fuzz
fuzz: ## Each fuzz test for FUZZTIME (1m)
	grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sort | while IFS=: read -r file func; do \
		go test "$$(dirname "$$file")" -run '^$$' -fuzz "^$${func#func }$$" -fuzztime $(FUZZTIME) </dev/null || exit 1; \
	done

.PHONY: cover
cover: $(TEMPORAL) ## Coverage over all packages
	go test -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -1

.PHONY: bench
bench: $(TEMPORAL) ## Micro-benchmarks, then the ratios to hand-written Temporal code
	go test -run '^$$' -bench . -benchmem ./...
	go run ./internal/cmd/bench

.PHONY: soak
soak: $(TEMPORAL) ## 300 runs while workers are killed and the server is restarted; some minutes
	go run ./internal/cmd/soak

.PHONY: fix
fix: $(filter bin/%,$(GOLANGCI_LINT)) ## Format and apply safe fixes
	$(GOLANGCI_LINT) fmt
	$(GOLANGCI_LINT) run --fix ./...

.PHONY: tools
tools: $(TEMPORAL) $(filter bin/%,$(GOLANGCI_LINT)) ## Install what PATH lacks into bin/

bin/temporal: bin/.temporal-$(TEMPORAL_VERSION)
	GOBIN=$(CURDIR)/bin go install github.com/temporalio/cli/cmd/temporal@$(TEMPORAL_VERSION)
	touch $@

bin/golangci-lint: bin/.golangci-lint-$(GOLANGCI_LINT_VERSION)
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	touch $@

# The stamps hold the versions, so that a new version installs the tool anew.
bin/.temporal-%:
	mkdir -p bin && rm -f bin/.temporal-* && touch $@

bin/.golangci-lint-%:
	mkdir -p bin && rm -f bin/.golangci-lint-* && touch $@
