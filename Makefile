# The commands a person types. What they do is in scripts/ and xtask/, so that it can be read and checked there.

.DEFAULT_GOAL := help
.PHONY: help demo dist test test-latest test-oldest check soak bench audit

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build mngr quickly and watch 24 agents mend a small project, verified and integrated
	@scripts/ensure-tools tmux git
	@scripts/demo.sh "$$(MNGR_BUILD_PROFILE=demo scripts/build-release)"

dist: ## Build what other people install: archive, Debian package, checksums, install script, formula (in dist/)
	@scripts/release

test: ## Install or name what is missing, then every check and every test
	@scripts/ensure-tools tmux git rsync openssh-server cron iproute2 libfaketime busybox git-lfs npm python3 python3-venv asciinema zsh fish groff-base rustfmt clippy cargo-nextest
	@$(MAKE) --no-print-directory check
	@scripts/run-tests
	@scripts/test-python -q || [ $$? -eq 3 ]

test-latest: ## The tests of the real coding agents with their newest versions, and what differs from the pinned ones
	@scripts/test-latest

test-oldest: ## The same with the oldest versions that are supported
	@scripts/test-latest --oldest

check: ## Format, lints, floors, file sizes and the generated reference, without the tests
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo xtask rooms
	cargo xtask budget
	cargo xtask gen --check

soak: ## The long tests, which `make test` leaves out
	@scripts/ensure-tools tmux git rsync openssh-server iproute2 libfaketime busybox git-lfs npm cargo-nextest
	@scripts/run-tests --profile soak

bench: ## Compare the release binary with the bare tools
	@scripts/ensure-tools tmux git
	cargo xtask bench

audit: ## Check licences, sources and advisories of the dependencies
	@scripts/ensure-tools cargo-deny
	cargo deny check
