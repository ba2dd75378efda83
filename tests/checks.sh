#!/usr/bin/env bash
# Runs every check, or the ones named, even after one has failed, and sums up. `./run test` sets up
# what they need and calls this; before that, with --known, only to have the names looked at.
set -uo pipefail

cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." || exit
export PATH="$PWD/.venv/bin:$PATH:/usr/sbin:/sbin" PYTHONPATH=workflow

readonly LINTERS=(ruff ruff_format mypy snakefmt clang_format clang_tidy shellcheck build_gcc
    build_clang)
readonly ALL=("${LINTERS[@]}" unit quarto slurm programs workflow measured alone)
readonly QUICK=(ruff ruff_format mypy snakefmt shellcheck unit_fast) # in a minute, without traffic
# What these find does not depend on what else runs, so they run beside the unit tests. A cluster waits
# most of the time: for daemons, for the end of what is cancelled, for a queue to be asked again.
readonly BESIDE=("${LINTERS[@]}" quarto slurm programs)

# check NAME: what the check consists of
check() {
    case $1 in
    ruff) ruff check . ;;
    ruff_format) ruff format --check --diff . ;;
    mypy) mypy ;;
    snakefmt) snakefmt --check --compact-diff Snakefile workflow/rules ;;
    clang_format) clang-format --dry-run -Werror src/*.[ch] src/*/*.[ch] tests/c/*.[ch] ;;
    clang_tidy) tidy src/*.c src/*/*.c ;;
    shellcheck) shellcheck run .ci/run tests/checks.sh workflow/scripts/*.sh tests/slurm/*.sh \
        workflow/copycost/{hosts/guest,measure/simulated}/*.sh ;;
    build_gcc) python -m tools.compile_all --compiler gcc ;;
    build_clang) python -m tools.compile_all --compiler clang ;;
    unit) on_all_cpus loadscope tests/unit tests/tools tests/report ;;
    unit_fast) on_all_cpus loadscope tests/unit -m "not slow" ;;
    workflow) on_all_cpus loadscope --no-loadscope-reorder tests/workflow ;; # the longest first
    programs) on_all_cpus worksteal tests/c ;;
    quarto) with_quarto python -m pytest tests/quarto ;; # skips without one
    slurm) python -m pytest tests/slurm ;; # skips without Slurm, which `./run test slurm` installs
    measured) on_all_cpus loadscope tests/measured -m "not alone" ;; # they only ask what happens
    alone) python -m pytest tests/measured -m alone ;;               # these compare figures
    esac
}

usage() {
    cat <<USAGE
Usage: ./run test [CHECK...]    all checks and tests, about 13 minutes, or the named ones
       ./run test quick         what needs no traffic: ${QUICK[*]}

Checks: ${ALL[*]} unit_fast
USAGE
}

# is_known NAME: whether there is such a check
is_known() { [[ " ${ALL[*]} unit_fast quick " == *" $1 "* ]]; }

# on_all_cpus DISTRIBUTION FOLDER...: run tests side by side; `loadscope` keeps those of a file
# together, which share what is drawn or measured for them, `worksteal` does not
on_all_cpus() { python -m pytest -n auto --dist "$@"; }

# tidy FILE...: look at C files side by side, with the flags of a build
tidy() {
    local flags
    flags=$(python -c 'from copycost.build.toolchain import INCLUDE_FLAGS, compile_flags
print(*compile_flags(), *INCLUDE_FLAGS)') || return
    printf '%s\0' "$@" |
        xargs -0 -P "$(nproc)" -n 3 sh -c "clang-tidy --quiet \"\$@\" -- $flags" sh
}

# with_quarto COMMAND...: run it with a Quarto on the PATH, installed from beside this clone where none is
with_quarto() {
    local installer=../shared/quarto/install
    if ! command -v quarto >/dev/null && [[ -r $installer ]]; then
        bash "$installer" "$PWD/.quarto" && export PATH="$PWD/.quarto/bin:$PATH"
    fi
    "$@"
}

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
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
declare -A begun=() # process of each check that runs beside others

# shellcheck disable=SC2317 # the trap calls it
leave() {
    local process
    for process in $(jobs -rp); do kill -INT -- "-$process"; done # as Ctrl-C: pytest cleans up then
    wait
    rm -rf "$scratch"
}

# timed NAME: run a check; its verdict and duration [s] go to a file, whose lack is a failure
timed() {
    local start=$SECONDS verdict=ok
    check "$1" || verdict=FAILED
    printf '%-7s %4d s' "$verdict" $((SECONDS - start)) >"$scratch/$1.verdict"
}

# begin NAME: run a check in the background, in a process group of its own, which ends as a whole
begin() {
    set -m
    timed "$1" </dev/null >"$scratch/$1.output" 2>&1 &
    begun[$1]=$!
    set +m
}

# is_beside NAME: whether the check may run beside others
is_beside() { [[ " ${BESIDE[*]} " == *" $1 "* ]]; }

# begin_all NAME...: of these checks begin those that may run beside others, as many as there are CPUs
# at a time, besides the cluster
begin_all() {
    local name n_cpus
    n_cpus=$(nproc)
    if [[ " $* " == *" slurm "* ]]; then
        begin slurm
        n_cpus=$((n_cpus + 1))
    fi
    for name; do
        if ! is_beside "$name" || [[ -n ${begun[$name]:-} ]]; then continue; fi
        while (($(jobs -rp | wc -l) >= n_cpus)); do wait -n; done
        begin "$name"
    done
}

names=("${@:-"${ALL[@]}"}")
if [[ ${names[*]} == quick ]]; then names=("${QUICK[@]}"); fi
begin_all "${names[@]}"
for ((at = 0; at < ${#names[@]}; at++)); do
    name=${names[at]}
    if [[ -n ${begun[$name]:-} ]]; then
        wait "${begun[$name]}"
        printf '== %s\n' "$name"
        cat "$scratch/$name.output"
    else
        # the unit tests measure nothing; runs of the workflow wait half of the time, as measurements do
        if [[ $name != unit* ]]; then wait; fi
        if [[ $name == workflow && " ${names[*]:at} " == *" measured "* ]]; then begin measured; fi
        printf '== %s\n' "$name"
        timed "$name" 2>&1 | tee "$scratch/$name.output"
    fi
    verdict=$(cat "$scratch/$name.verdict" 2>/dev/null || echo "FAILED")
    if [[ $verdict != ok* ]]; then failed=1; fi
    summary+=("$(printf '%-13s %s  %s' "$name" "$verdict" \
        "$(tail -n 1 "$scratch/$name.output" | tr -d '=')")")
done

printf '\n== summary\n'
printf '%s\n' "${summary[@]}"
exit "$failed"
