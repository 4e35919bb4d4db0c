// Asks the Python of a tab, in node:  node pyodide_answers.mjs PYODIDE_FOLDER APP.zip QUESTIONS.json ANSWERS.json
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, app, questions, answers] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: folder });
python.unpackArchive(new Uint8Array(readFileSync(app)), "zip", { extractDir: "/lib/app" });
python.globals.set("questions", readFileSync(questions, "utf8"));
writeFileSync(
  answers,
  python.runPython(`
import json, sys
from hashlib import sha256
sys.path.insert(0, "/lib/app")
from peerlab.features.site.tab import Tab
tab = Tab(nodes=2)
told = []
for question in json.loads(questions):
    text, columns = tab.answer(json.dumps(question))
    told.append([text, sha256(b"".join(columns)).hexdigest()])
json.dumps(told)
`),
);
