#!/usr/bin/env bash
# Runs every check, or the ones named, even after one has failed, and sums up. `./run test` sets up
# what they need and calls this; before that, with --known, only to have the names looked at.
set -uo pipefail

cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." || exit
export PATH="$PWD/.venv/bin:$PATH:/usr/sbin:/sbin" PYTHONPATH=workflow

readonly ALL=(ruff ruff_format mypy snakefmt clang_format clang_tidy shellcheck build_gcc
    build_clang unit workflow programs measured slurm)
readonly QUICK=(ruff ruff_format mypy snakefmt shellcheck unit_fast) # in a minute, without traffic

# check NAME: what the check consists of
check() {
    case $1 in
    ruff) ruff check . ;;
    ruff_format) ruff format --check --diff . ;;
    mypy) mypy ;;
    snakefmt) snakefmt --check --compact-diff Snakefile workflow/rules ;;
    clang_format) clang-format --dry-run -Werror src/*.[ch] src/*/*.[ch] tests/c/*.[ch] ;;
    clang_tidy) python -m tools.c_checks tidy ;;
    shellcheck) shellcheck run .ci/run tests/checks.sh workflow/scripts/*.sh tests/slurm/*.sh \
        workflow/copycost/{hosts/guest,simulation}/*.sh ;;
    build_gcc) python -m tools.c_checks compile --compiler gcc ;;
    build_clang) python -m tools.c_checks compile --compiler clang ;;
    unit) on_all_cpus loadscope tests/unit tests/tools tests/report ;;
    unit_fast) on_all_cpus loadscope tests/unit tests/tools -m "not slow" ;;
    workflow) on_all_cpus loadscope tests/workflow ;;
    programs) on_all_cpus worksteal tests/c ;;
    slurm) python -m pytest tests/slurm ;; # skips without Slurm, which `./run test slurm` installs
    measured) python -m pytest tests/measured ;; # alone: they wait for things to happen in time
    esac
}

usage() {
    cat <<USAGE
Usage: ./run test [CHECK...]    all checks and tests, about 10 minutes, or the named ones
       ./run test quick         what needs no traffic: ${QUICK[*]}

Checks: ${ALL[*]} unit_fast
USAGE
}

# is_known NAME: whether there is such a check
is_known() { [[ " ${ALL[*]} unit_fast quick " == *" $1 "* ]]; }

# on_all_cpus DISTRIBUTION FOLDER...: run tests side by side; `loadscope` keeps those of a file
# together, which share what is drawn or measured for them, `worksteal` does not
on_all_cpus() { python -m pytest -n auto --dist "$@"; }

only_look=false
if [[ ${1:-} == --known ]]; then
    only_look=true
    shift
fi
for name; do
    case $name in
    -h | --help)
        usage
        exit
        ;;
    esac
    if ! is_known "$name"; then
        echo "run: test $name: there is no such check; ./run test --help lists them" >&2
        exit 2
    fi
done
if $only_look; then exit 0; fi

failed=0
summary=()
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

names=("${@:-"${ALL[@]}"}")
if [[ ${names[*]} == quick ]]; then names=("${QUICK[@]}"); fi
for name in "${names[@]}"; do
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
