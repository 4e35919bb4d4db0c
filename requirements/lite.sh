#!/bin/sh
# Asks for the compiled parts that the labs would need in a browser (JupyterLite, Pyodide 314: Python 3.14, the platform
# of PEP 783), and says which of them cannot be had. What else is needed is pure Python. docs/launch.md tells the rest.
set -eu
python=$1
parts="contourpy markupsafe numpy pandas pillow pyyaml"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
missing=""
for part in $parts; do
    "$python" -m pip download --quiet --disable-pip-version-check --no-input --no-deps --only-binary=:all: \
        --python-version 3.14 --implementation cp --abi cp314 --platform pyemscripten_2026_0_wasm32 \
        --dest "$room" "$part" >"$room/said" 2>&1 && continue
    grep -q "No matching distribution" "$room/said" || { cat "$room/said" >&2; exit 1; }
    missing="$missing $part"
done
if [ -n "$missing" ]; then
    echo "make lite: no JupyterLite: PyPI has no wheel for a browser's Python (cp314, pyemscripten_2026_0_wasm32) of:$missing; docs/launch.md says more" >&2
else
    echo "make lite: every part can be had now; what is left is to write the build, see docs/launch.md" >&2
fi
exit 1
