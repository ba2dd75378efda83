#!/usr/bin/env bash
# Runs every check, or the ones named, even after one has failed, and sums up. `./run test` sets up
# what they need and calls this.
set -uo pipefail

cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." || exit
export PATH="$PWD/.venv/bin:$PATH:/usr/sbin:/sbin" PYTHONPATH=workflow

readonly ALL=(ruff ruff_format mypy snakefmt clang_format clang_tidy shellcheck build_gcc
    build_clang unit measured)

# check NAME: what the check consists of; 2 where there is none of that name
check() {
    case $1 in
    ruff) ruff check . ;;
    ruff_format) ruff format --check --diff . ;;
    mypy) mypy ;;
    snakefmt) snakefmt --check --compact-diff Snakefile workflow/rules ;;
    clang_format) clang-format --dry-run -Werror src/*.[ch] src/*/*.[ch] ;;
    clang_tidy) python -m copycost.toolchain_checks tidy ;;
    shellcheck) shellcheck run .ci/run tests/checks.sh ;;
    build_gcc) python -m copycost.toolchain_checks compile --compiler gcc ;;
    build_clang) python -m copycost.toolchain_checks compile --compiler clang ;;
    unit) python -m pytest -n auto tests/unit tests/golden tests/report ;;
    measured) python -m pytest tests/c tests/workflow ;; # one process: they would disturb each other
    *)
        echo "no such check; there are: ${ALL[*]}"
        return 2
        ;;
    esac
}

failed=0
summary=()
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for name in "${@:-"${ALL[@]}"}"; do
    printf '== %s\n' "$name"
    start=$SECONDS
    verdict=ok
    if ! check "$name" 2>&1 | tee "$scratch/output"; then
        verdict=FAILED
        failed=1
    fi
    summary+=("$(printf '%-13s %-7s %4d s  %s' "$name" "$verdict" $((SECONDS - start)) \
        "$(tail -n 1 "$scratch/output" | tr -d '=')")")
done

printf '\n== summary\n'
printf '%s\n' "${summary[@]}"
exit "$failed"
