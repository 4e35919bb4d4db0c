"""Write labs/solutions/: every lab that has exercises, with the answers filled in."""

import json
from pathlib import Path

from peerlab.features.exercises.catalogue import names
from peerlab.features.exercises.lessons.solved import solved

LABS = Path(__file__).parent

(LABS / "solutions").mkdir(exist_ok=True)
for lab in sorted(LABS.glob("*.ipynb")):
    if names(lab.stem[:2]):
        made = solved(json.loads(lab.read_text(encoding="utf-8")))
        text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
        (LABS / "solutions" / lab.name).write_text(text, encoding="utf-8")
