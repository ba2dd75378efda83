#!/usr/bin/env bash
# Pins newer Python packages: writes envs/*.txt from envs/*.in. Needs uv; `./run test` tries them.
set -euo pipefail
cd -- "$(dirname -- "$0")/../envs"
compile() { # NAME OPTION...
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
        --custom-compile-command tools/lock.sh "$1.in" -o "$1.txt" "${@:2}"
}
compile requirements --upgrade
compile requirements-dev --upgrade
compile requirements-measure --constraint requirements.txt --no-annotate
compile requirements-slurm --upgrade --no-deps
compile uv --upgrade
