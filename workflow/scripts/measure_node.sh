#!/usr/bin/env bash
# Measures the machine that this runs on by the ordinary workflow, in a folder of its own, and brings
# the results back as one archive.
#
#   measure_node.sh PROJECT NAME CONFIG ARCHIVE
#
# PROJECT is the clone that asks for it, whose tracked files, Python environment and CONFIG are used;
# ARCHIVE (in PROJECT) is written whole or not at all. The folder stays on this machine, so that the
# next call measures only what is missing.
set -euo pipefail

readonly PROJECT=$1 NAME=$2 CONFIG=$3 ARCHIVE=$4
readonly PYTHON=$PROJECT/.venv/bin/python
say() { printf 'node %s: %s\n' "$NAME" "$*" >&2; }
die() {
    say "$*"
    exit 1
}

# A workflow inside of a job must not take itself for a step of that job.
while read -r name; do unset "$name"; done < <(compgen -v | grep -E '^(SLURM|SRUN|SBATCH|SNAKEMAKE)_')
unset PYTHONPATH OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS NUMEXPR_NUM_THREADS

[[ -x $PYTHON ]] || die "$PYTHON is not there; the folder $PROJECT must be shared with the nodes"
allowed=$(nproc) # which would believe OMP_NUM_THREADS
online=$(getconf _NPROCESSORS_ONLN)
((allowed == online)) ||
    die "this job may use $allowed of $online CPUs; a node is measured with all of them, so let the" \
        "job have it alone (--exclusive, all its CPUs)"

folder=${COPYCOST_NODE_FOLDER:-${TMPDIR:-/tmp}}/copycost_$(id -u)_$(cksum <<<"$PROJECT" | cut -d' ' -f1)_$NAME
(umask 077 && mkdir -p "$folder")
[[ -O $folder && ! -L $folder ]] || die "$folder belongs to somebody else; set COPYCOST_NODE_FOLDER"
exec 9>"$folder.lock"
flock -n 9 || die "another job measures this node into $folder"

# What is newer here would be measured again by its time, so times are kept.
(cd "$PROJECT" && tar -cf - Snakefile config.yaml config data envs profiles report run src workflow pyproject.toml) |
    tar -C "$folder" -xf -
cp -p "$CONFIG" "$folder/node.yaml"
cd "$folder"
export PATH=$PROJECT/.venv/bin:$PATH:/usr/sbin:/sbin
readonly LAUNCH=workflow/copycost/cli/launch.py

bring_back() { # FILE: the results so far
    [[ -d results/raw ]] || return 0
    "$PYTHON" -SP "$LAUNCH" copycost export "$folder/out.zip" --alias "$NAME" &&
        mkdir -p "$(dirname "$1")" && cp "$folder/out.zip" "$1.partial" && mv "$1.partial" "$1"
}

# The end of the job's time, a preemption or scancel: what was measured is brought back.
child=""
ended() {
    trap '' TERM
    say "ended from outside; what was measured stays in $folder, and is brought back as ${ARCHIVE%.zip}.part.zip"
    if [[ -n $child ]]; then kill -TERM "$child" 2>/dev/null || true; fi
    # Records are written whole or not at all, and little time is left: the child may end meanwhile.
    bring_back "${ARCHIVE%.zip}.part.zip"
    wait 2>/dev/null || true
    exit 143
}
trap ended TERM

"$PYTHON" -SP "$LAUNCH" snakemake --cores 1 --configfile node.yaml -- measure &
child=$!
status=0
wait "$child" || status=$?
child=""
if ((status != 0)); then
    bring_back "${ARCHIVE%.zip}.part.zip"
    die "the workflow ended with status $status; what was measured stays in $folder"
fi
bring_back "$ARCHIVE"
rm -f "${ARCHIVE%.zip}.part.zip"
