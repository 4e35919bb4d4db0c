#!/bin/sh
# Pins every dependency with its hashes. Run with the oldest supported Python, so that the pins fit all.
# The files hold no address: pip finds the packages wherever this machine finds its packages.
set -eu
cd "$(dirname "$0")/.."
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"${PYTHON:-python3.11}" -m venv "$tools"
"$tools/bin/pip" install --quiet pip-tools
compile() {
    out=$1
    shift
    "$tools/bin/pip-compile" --quiet --no-header --no-emit-index-url --no-emit-find-links \
        --generate-hashes --strip-extras --allow-unsafe --build-deps-for editable "$@" \
        --constraint requirements/constraints.txt \
        --output-file "$out" pyproject.toml
}
compile requirements/test.txt --extra dask --extra lab --extra test
compile requirements/lab.txt --extra lab --constraint requirements/test.txt
