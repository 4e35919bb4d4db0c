// Compiles an archive of Python's sources to bytecode of Pyodide's own Python:  node bytecode.mjs PYODIDE_FOLDER SOURCES.zip APP.zip
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, sources, app] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: folder });
python.unpackArchive(new Uint8Array(readFileSync(sources)), "zip", { extractDir: "/lib/app" });
python.runPython(`
import compileall, os, py_compile, zipfile
compileall.compile_dir("/lib/app", quiet=2, legacy=True, optimize=0, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
with zipfile.ZipFile("/home/app.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
    places = (os.path.join(folder, name) for folder, _, names in os.walk("/lib/app") for name in names)
    for place in sorted(place for place in places if not place.endswith(".py") and "__pycache__" not in place):
        packed.write(place, os.path.relpath(place, "/lib/app"))
`);
writeFileSync(app, python.FS.readFile("/home/app.zip"));
